"""What the attention kernel compiles to: tensor core instructions fed by ldmatrix and cp.async, registers only."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.cuda_toolchain.toolkit import RUNFILES, TOOLKIT, run

_INCLUDE = RUNFILES / "_main/tilefoundry/runtime/include"
_FOLDER = _INCLUDE / "tests"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_instructions(arch: str) -> None:
    sass = run("cuobjdump", "-sass", "-fun", "attention__vector", _FOLDER / f"attention_{arch}.cubin")
    # 64 x 64 scores over D = 64, and 64 x 64 outputs over 64 keys, by four warps: 8 * 4 blocks of 16x8x16 each.
    assert len(re.findall(r"\bHMMA\.16816\.F32\.BF16", sass)) == 64
    assert len(re.findall(r"\bLDSM\.16\.M88\.4", sass)) == 24, "Q, K and P as they lie"
    assert len(re.findall(r"\bLDSM\.16\.MT88\.4", sass)) == 16, "V transposed"
    assert re.search(r"\bLDGSTS\.E\.BYPASS\.(LTC128B\.)?128", sass), "cp.async of 16 bytes"
    assert not re.search(r"\b(LDL|STL)\b", sass), "registers were spilled or indexed"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_no_stack(arch: str) -> None:
    usage = run("cuobjdump", "-res-usage", _FOLDER / f"attention_{arch}.cubin")
    found = dict(re.findall(r"Function (\w+):\s+REG:\d+ STACK:(\d+)", usage))
    assert found == {"attention__vector": "0", "attention__general": "0"}


def test_a_warp_specialised_product() -> None:
    """Bulk copies feed warpgroup instructions; a release is no fence of the whole GPU; nothing is spilled."""
    sass = run("cuobjdump", "-sass", "-fun", "gemm__vector", _FOLDER / "gemm_sm_90a.cubin")
    assert re.search(r"\bHGMMA\.64x256x16\.F32\.BF16", sass)
    assert re.search(r"\bUTMALDG\.2D\.MULTICAST", sass) and re.search(r"\bUTMALDG\.2D ", sass)
    assert re.search(r"\bUTMASTG\.2D", sass)
    assert len(re.findall(r"\bUSETMAXREG", sass)) == 3, "a role that gives registers up and two that claim them"
    assert not re.search(r"\b(LDL|STL)\b", sass), "registers were spilled or indexed"
    # The assembler says so in passing, and not as a warning, where it makes each product wait for the one before.
    fences, multiplied = (len(re.findall(rf"\b{name}", sass)) for name in ("WARPGROUP.ARRIVE", "HGMMA"))
    assert multiplied == 4 * fences, "the products of a stage start together"
    # Between the first and the last product, apart from the one fence when the pipeline is made.
    products = sass[sass.index("HGMMA") : sass.rindex("HGMMA")]
    assert "MEMBAR.ALL.GPU" not in products


@pytest.mark.parametrize(
    ("kernel", "accesses"),
    [
        ("relu__vector", {"LDG.E.128": 1, "STG.E.128": 2}),
        ("relu__general", {"LDG.E.U16": 8, "STG.E": 8}),
        ("iota__vector", {"STG.E.128": 2}),
        ("iota__general", {"STG.E": 8}),
    ],
)
def test_elementwise_ops_move_packs_where_types_prove_them(kernel: str, accesses: dict[str, int]) -> None:
    sass = run("cuobjdump", "-sass", "-fun", kernel, _FOLDER / "elementwise_sm_90a.cubin")
    assert Counter(re.findall(r"\b(?:LDG|STG)[.A-Z0-9]*", sass)) == accesses


def test_numbers_of_a_whole_tensor_move_in_packs() -> None:
    sass = run("cuobjdump", "-sass", "-fun", "whole_iota__vector", _FOLDER / "elementwise_sm_90a.cubin")
    assert set(re.findall(r"\bSTG[.A-Z0-9]*", sass)) == {"STG.E.128"}


_CALLER = """
#include <tilefoundry/runtime.h>
namespace tilefoundry {{ inline namespace TILEFOUNDRY_UNIT {{
{attribute} void call() {{ ops::sync<SyncKind::cta>(); }}
}} }}
"""


def _compile(source: str | Path, folder: Path, *options: str) -> None:
    """Compiles a CUDA source or its text; any warning, of nvcc or of the host's compiler, is an error."""
    path = source if isinstance(source, Path) else folder / "source.cu"
    if isinstance(source, str):
        path.write_text(source)
    includes = [RUNFILES / "tilefoundry_cutlass/include", TOOLKIT / "include", TOOLKIT / "include/cccl"]
    system = [flag for path in includes for flag in ("-isystem", path)]
    warnings = ["-Werror=all-warnings", "-Xcompiler=-Wall,-Wextra,-Werror"]
    target = ["-arch=sm_90a", "-DTILEFOUNDRY_TARGET_CUDA=1", "-objtemp", "-noprof"]
    run("nvcc", *target, *warnings, *options, "-I", _INCLUDE, *system, path, "-o", folder / "output")


def test_ops_are_for_device_code(tmp_path: Path) -> None:
    _compile(_CALLER.format(attribute="__device__"), tmp_path, "-std=c++17", "-cubin")
    with pytest.raises(AssertionError, match="calling a __device__ function.*from a __host__ function"):
        # -cubin does not look at host functions.
        _compile(_CALLER.format(attribute=""), tmp_path, "-std=c++17", "-cuda")


_DEVICE = sorted(
    str(path.relative_to(_INCLUDE))
    for part in ("core/*.h", "cuda/*.cuh")
    for path in (_INCLUDE / "tilefoundry/runtime").glob(part)
)


@pytest.mark.parametrize(
    ("header", "standard"),
    [*((h, "c++17") for h in _DEVICE), ("tilefoundry/runtime.h", "c++20")],
)
def test_compiles_alone(header: str, standard: str, tmp_path: Path) -> None:
    assert len(_DEVICE) > 40
    _compile(f"#include <{header}>\n", tmp_path, f"-std={standard}", "-cubin")


def test_the_umbrella_gives_every_name_of_the_specification(tmp_path: Path) -> None:
    _compile(f'#include "{_FOLDER}/spec_names.h"\n', tmp_path, "-std=c++17", "-cubin")


@pytest.mark.parametrize("kernel", ["attention", "elementwise", "gemm"])
def test_kernels_compile_without_a_warning(kernel: str, tmp_path: Path) -> None:
    """As C++20; as C++17 those of the device tests are built so (device.bzl)."""
    _compile(_FOLDER / f"{kernel}_kernel.cu", tmp_path, "-std=c++20", "-cubin")
