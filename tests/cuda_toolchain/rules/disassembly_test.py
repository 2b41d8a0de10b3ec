"""What is in the objects that the rules made."""

import re

from tests.cuda_toolchain.toolkit import RUNFILES, run

FOLDER = RUNFILES / "_main/tests/cuda_toolchain/rules"


def architectures(option: str, library: str) -> set[str]:
    return set(re.findall(r"sm_\w+", run("cuobjdump", option, FOLDER / library)))


def test_library_holds_each_architecture() -> None:
    assert architectures("-lelf", "libaxpy.a") == {"sm_80", "sm_90a"}
    assert architectures("-lptx", "libaxpy.a") == {"sm_80"}


def test_files_of_one_name_are_all_there() -> None:
    sass = run("cuobjdump", "-sass", FOLDER / "libscale.a")
    assert set(re.findall(r"scale_(\w+?)_kernel", sass)) == {"one", "two", "three"}


def test_ptxas_options_take_effect() -> None:
    def registers(library: str) -> int:
        usage = run("cuobjdump", "-res-usage", FOLDER / library)
        [count] = re.findall(r"REG:(\d+)", usage)
        return int(count)

    assert registers("libmany_registers.a") > 32
    assert registers("libmany_registers_capped.a") <= 32


def test_device_code_of_all_files_is_linked() -> None:
    sass = run("cuobjdump", "-sass", FOLDER / "librelocatable.a")
    members = dict(re.findall(r"member \S+:(\S+):\n(.*?)(?=\nmember|\Z)", sass, re.DOTALL))
    linked = members["relocatable_dlink.pic.o"]
    assert linked.count("code for") == 2
    for function in ["launcher", "quadruple", "twice", "__cudaCDP2LaunchDeviceV2"]:
        assert linked.count(f"Function : {function}") + len(re.findall(rf"Function : _Z\w*{function}", linked)) == 2
    assert "twice" not in members["relocatable.pic.o"]
