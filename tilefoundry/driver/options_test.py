"""What options may be, that they are part of the key, and that they reach what they are about."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import CompilerOptions, lower
from tilefoundry.driver.flags import cpu_kernel
from tilefoundry.driver.kernel_main import main
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.scale_program import TWICE
from tilefoundry.driver.toolchain import HostToolchain
from tilefoundry.ir.samples import attention
from tilefoundry.target import CpuTarget, CudaTarget

CUDA = CudaTarget("nvidia.h200_sxm")
OTHERS = {
    "optimization_level": 2,
    "fast_math": True,
    "line_info": True,
    "stages": 3,
    "min_ctas_per_sm": 2,
    "unroll_loops": True,
    "checking": True,
}


def test_each_option_is_part_of_the_key() -> None:
    assert set(OTHERS) == {field.name for field in dataclasses.fields(CompilerOptions)}
    options = [CompilerOptions(), *(CompilerOptions(**{name: value}) for name, value in OTHERS.items())]  # type: ignore[arg-type]
    assert len({o.canonical_text() for o in options}) == len({module_key(TWICE, CUDA, o) for o in options}) == 8
    assert CompilerOptions().canonical_text() == (
        "options checking=False fast_math=False line_info=False min_ctas_per_sm=None optimization_level=3 stages=None "
        "unroll_loops=False"
    )


@pytest.mark.parametrize(
    ("name", "value", "kind", "words"),
    [
        ("optimization_level", 4, ValueError, "optimization_level is 4, expected 0 to 3"),
        ("optimization_level", None, TypeError, "optimization_level must be an int, got None"),
        ("stages", 0, ValueError, "stages is 0, expected 1 to 16"),
        ("stages", 17, ValueError, "stages is 17"),
        ("stages", True, TypeError, "stages must be an int, got True"),
        ("stages", 2.0, TypeError, "stages must be an int, got 2.0"),
        ("min_ctas_per_sm", -1, ValueError, "min_ctas_per_sm is -1, expected 1 to 32"),
        ("min_ctas_per_sm", "2", TypeError, "min_ctas_per_sm must be an int, got '2'"),
        ("fast_math", 1, TypeError, "fast_math must be a bool, got 1"),
        ("line_info", None, TypeError, "line_info must be a bool, got None"),
        ("checking", "yes", TypeError, "checking must be a bool, got 'yes'"),
        ("unroll_loops", 4, TypeError, "unroll_loops must be a bool, got 4"),
    ],
)
def test_a_wrong_value_is_refused(name: str, value: object, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        CompilerOptions(**{name: value})  # type: ignore[arg-type]


def test_stages_reach_the_passes() -> None:
    sources = {}
    for stages in (None, 1, 2, 3, 4):
        module = lower(attention(), CUDA, options=CompilerOptions(stages=stages))
        (unit,) = emit_module(module, CUDA).units
        sources[stages] = unit.source
        assert ("Pipeline<2>" in unit.source, "Pipeline<4>" in unit.source) == (stages in (None, 2), stages == 4)
    assert sources[None] == sources[2] and len(set(sources.values())) == 4
    with pytest.raises(CompileError, match="bytes of shared memory"):
        lower(attention(), CUDA, options=CompilerOptions(stages=16))


def test_the_number_of_ctas_is_a_launch_bound() -> None:
    module = lower(attention(), CUDA)
    (plain,), (bounded,) = (emit_module(module, CUDA, min_ctas_per_sm=n).units for n in (None, 3))
    assert plain.source.count("__launch_bounds__(128)") == 2
    assert bounded.source == plain.source.replace("__launch_bounds__(128)", "__launch_bounds__(128, 3)")
    on_cpu = lower(attention(), CpuTarget())
    one, other = (emit_module(on_cpu, CpuTarget(), min_ctas_per_sm=n).units for n in (None, 3))
    assert one == other


def test_unrolling_is_the_host_compilers() -> None:
    (unit,) = emit_module(lower(TWICE, CpuTarget()), CpuTarget()).units
    toolchain = HostToolchain(Path("g++"), (), Path("libtvm_ffi.so"))
    plain, unrolled = (
        cpu_kernel(toolchain, CpuTarget(), CompilerOptions(unroll_loops=on), unit, "a.cc", "a.o")
        for on in (False, True)
    )
    assert [flag for flag in unrolled if flag not in plain] == ["-funroll-loops"]


def test_ahead_of_time_they_are_arguments(tmp_path: Path) -> None:
    program = ["--module", "tilefoundry.driver.scale_program:TWICE", "--name", "scale", "--out", str(tmp_path)]
    chosen = ["--stages", "3", "--min-ctas-per-sm", "2", "--unroll-loops", "--optimization-level", "2"]
    assert main([*program, "--target", "cpu", *chosen]) == 0
    options = CompilerOptions(optimization_level=2, stages=3, min_ctas_per_sm=2, unroll_loops=True)
    key = module_key(TWICE, CpuTarget(), options)
    assert (tmp_path / "scale.key").read_text() == f"x86-64-v3 {key}\n"
    described = json.loads((tmp_path / "scale.abi.json").read_text())["options"]
    assert CompilerOptions(**described) == options
    assert main([*program, "--target", "cpu", "--stages", "99"]) == 1


def test_ahead_of_time_a_cpu_of_another_family_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = ["--module", "tilefoundry.driver.scale_program:TWICE", "--name", "scale", "--out", str(tmp_path)]
    other = next(isa for isa in CpuTarget.ISAS if CpuTarget(isa).family != CpuTarget.default().family)
    assert main([*program, "--target", "cpu", "--arch", other]) == 1
    assert f"scale: a library for 'cpu isa={other}' is built on" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
