"""Units of different shape in one binary, at several optimisation levels: all right, and no weak symbol shared."""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from tilefoundry.runtime.include.tests.compiler import HERE, compile_source

# Process-level services have one meaning for every unit, and one thread pool is wanted per library.
_SHARED_BY_DESIGN = "tilefoundry::host::"


def _weak_symbols(path: Path) -> set[str]:
    listing = subprocess.run(["nm", "-C", "--defined-only", str(path)], capture_output=True, text=True, check=True)
    kinds = (line[17:].partition(" ") for line in listing.stdout.splitlines())
    return {name for kind, _, name in kinds if kind and kind in "VvWwu"}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_units_do_not_share_functions(level: str, tmp_path: Path) -> None:
    units = {"first": ("k_first", 128, 2), "second": ("k_second", 32, 8)}
    for name, (unit, threads, ctas) in units.items():
        done = compile_source(
            HERE / "unit_kernel.cc",
            "-std=c++17",
            level,
            "-fno-inline" if level == "-O1" else "-g0",
            "-DTILEFOUNDRY_TARGET_CPU=1",
            f"-DTILEFOUNDRY_UNIT={unit}",
            f"-DTEST_UNIT={name}",
            f"-DTEST_THREADS={threads}",
            f"-DTEST_CTAS={ctas}",
            "-c",
            "-o",
            f"{name}.o",
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    main = compile_source(HERE / "units_main.cc", "first.o", "second.o", "-pthread", "-o", "units", cwd=tmp_path)
    assert main.returncode == 0, main.stderr
    ran = subprocess.run([str(tmp_path / "units")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout

    first, second = _weak_symbols(tmp_path / "first.o"), _weak_symbols(tmp_path / "second.o")
    assert any("tilefoundry::k_first::" in name for name in first), "the objects hold nothing to compare"
    ours = {name for name in first & second if "tilefoundry" in name}
    assert {name for name in ours if _SHARED_BY_DESIGN not in name} == set()


def test_units_of_all_ops_share_nothing() -> None:
    """The libraries that the tests of the ops run: an op that lay outside of its unit would be in several."""
    libraries = sorted(HERE.glob("libops_*_on_cpu.a"))
    if not libraries:
        pytest.skip("only Bazel builds the libraries of the ops' tests")
    owners = defaultdict(list)
    for library in libraries:
        for name in _weak_symbols(library):
            owners[name].append(library.name)
    ours = {name: names for name, names in owners.items() if "tilefoundry::" in name}
    assert len({names[0] for names in ours.values()}) == len(libraries) >= 10
    assert {name for name, names in ours.items() if len(names) > 1 and _SHARED_BY_DESIGN not in name} == set()
