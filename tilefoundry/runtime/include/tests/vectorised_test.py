"""A CTA without ops across instances is a plain loop: the compiler vectorises it, over instances as well."""

import platform
import re
from pathlib import Path

import pytest

from tilefoundry.runtime.include.tests.compiler import HERE, compile_source

# family of CPUs: how the kernels of the project are compiled for it, and a product of a whole vector
_VECTORS = {
    "x86_64": (["-march=x86-64-v3"], re.compile(r"\bvmulps\s.*%ymm")),
    "aarch64": (["-march=armv8-a"], re.compile(r"\bfmul\s+v\d+\.4s")),
}
_FLAGS, _PRODUCT = _VECTORS[platform.machine()]


def _products(threads: int, collective: bool, *flags: str, cwd: Path) -> int:
    done = compile_source(
        HERE / "vectorised_kernel.cc",
        *("-std=c++17", "-O3", "-DNDEBUG", "-fno-trapping-math", *_FLAGS, "-DTILEFOUNDRY_TARGET_CPU=1"),
        *(f"-DTEST_THREADS={threads}", f"-DTEST_COLLECTIVE={str(collective).lower()}"),
        *(*flags, "-S", "-o", "kernel.s"),
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return len(_PRODUCT.findall((cwd / "kernel.s").read_text()))


@pytest.mark.parametrize("threads", [1, 128, 1024])
def test_a_plain_loop_is_vectorised(threads: int, tmp_path: Path) -> None:
    assert _products(threads, False, cwd=tmp_path) > 0


def test_fibres_are_not(tmp_path: Path) -> None:
    assert _products(1024, True, cwd=tmp_path) == 0


def test_what_is_counted_is_the_vectoriser_s(tmp_path: Path) -> None:
    assert _products(1024, False, "-fno-tree-vectorize", "-fno-tree-slp-vectorize", cwd=tmp_path) == 0
