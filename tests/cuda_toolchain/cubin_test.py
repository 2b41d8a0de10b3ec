"""What is in the cubins that the toolchain made."""

import pytest

from tests.cuda_toolchain.toolkit import RUNFILES, run

FOLDER = RUNFILES / "_main/tests/cuda_toolchain"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_architecture_and_tensor_core_instruction(arch: str) -> None:
    sass = run("cuobjdump", "-sass", FOLDER / f"mma_{arch}.cubin")
    assert [line.split()[-1] for line in sass.splitlines() if "code for" in line] == [arch]
    assert "HMMA.16816.F32.BF16" in sass


def test_warpgroup_instructions_are_on_sm_90a_only() -> None:
    assert "WARPGROUP.ARRIVE" in run("nvdisasm", FOLDER / "mma_sm_90a.cubin")
    assert "WARPGROUP" not in run("nvdisasm", FOLDER / "mma_sm_80.cubin")
