"""What `tilefoundry_kernel` builds for a CPU is what `jit` builds."""

from pathlib import Path

import torch

from tilefoundry.driver import CompilerOptions, load
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.scale_program import TWICE
from tilefoundry.target import CpuTarget

HERE = Path(__file__).absolute().parent


def test_it_runs() -> None:
    scale = load(HERE / "scale_cpu.so")
    x = torch.randn(37, 64)
    assert torch.equal(scale(x), 2 * x)  # type: ignore[arg-type]
    assert list(scale.sources) == ["scale.cc", "host_entry.cc"]
    assert scale.build_info is not None and scale.build_info.origin == "library"


def test_its_key_is_that_of_jit() -> None:
    linked = load(HERE / "scale_cpu.so").linked
    assert linked is not None and linked.key == module_key(TWICE, CpuTarget(), CompilerOptions())


def test_options_of_the_rule_are_those_of_jit() -> None:
    options = CompilerOptions(stages=3, min_ctas_per_sm=2, unroll_loops=True)
    tuned = load(HERE / "scale_tuned.so")
    x = torch.randn(37, 64)
    assert torch.equal(tuned(x), 2 * x)  # type: ignore[arg-type]
    assert tuned.linked is not None and tuned.linked.key == module_key(TWICE, CpuTarget(), options)
    assert CompilerOptions(**tuned.linked.options) == options  # type: ignore[arg-type]


def test_it_does_not_tell_where_it_was_built() -> None:
    content = (HERE / "scale_cpu.so").read_bytes()
    for trace in (b"/external/", b"/execroot/", b".runfiles/", b"/tmp/"):
        assert trace not in content
