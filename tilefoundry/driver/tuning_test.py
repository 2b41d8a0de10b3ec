"""tune measures, compares, refuses, and chooses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import torch

from tilefoundry.diagnostics import CompileError, LaunchError, WrongTypeError, WrongValueError
from tilefoundry.driver import CompilerOptions, DumpScope, jit, tune
from tilefoundry.driver import tuning as tuning_module
from tilefoundry.driver.matmul_program import MATMUL
from tilefoundry.driver.scale_program import THRICE, TWICE
from tilefoundry.driver.tune_report import TuneReport, TuneRow, differences
from tilefoundry.driver.tuning import default_candidates
from tilefoundry.runtime import CompiledModule, Equal
from tilefoundry.runtime.measure.timing import Timing
from tilefoundry.target import CpuTarget, CudaTarget

DEFAULT, PLAIN, OTHER = CompilerOptions(), CompilerOptions(optimization_level=1), CompilerOptions(unroll_loops=True)
X = torch.arange(37 * 64, dtype=torch.float32).reshape(37, 64)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TILEFOUNDRY_CACHE_DIR", str(root))
    yield
    jit.cache_clear()


def timed(monkeypatch: pytest.MonkeyPatch, *medians: float) -> None:
    """Lets the candidates that run take so long, in their order."""

    def times(works: Sequence[Callable[[], object]], *, on_cuda: bool) -> list[Timing]:
        for work in works:
            work()
        assert not on_cuda and len(works) == len(medians)
        return [Timing((median,)) for median in medians]

    monkeypatch.setattr(tuning_module, "time_in_turns", times)


def replaced(
    monkeypatch: pytest.MonkeyPatch, options: CompilerOptions, other: Callable[[CompiledModule], object]
) -> None:
    """Lets the compiler make something else of one configuration."""

    def compile_(program: object, *, target: object, options: CompilerOptions) -> object:
        compiled = jit(program, target=target, options=options)  # type: ignore[arg-type]
        return other(compiled) if options == wanted else compiled

    wanted = options
    monkeypatch.setattr(tuning_module, "jit", compile_)


def test_a_staged_product(capfd: pytest.CaptureFixture[str]) -> None:
    a, b = torch.randn(32, 256), torch.randn(256, 32)
    candidates = [DEFAULT, CompilerOptions(stages=2), CompilerOptions(stages=3), CompilerOptions(stages=16)]
    report = tune.report(MATMUL, a, b, target="cpu", candidates=candidates)
    assert [row.options for row in report.rows] == candidates
    assert [row.status for row in report.rows] == ["measured", "same code", "measured", "refused"]
    assert "286720 bytes of shared memory" in report.rows[3].note and report.rows[1].note == "as default"
    assert report.best in (DEFAULT, candidates[2]) and report.entry == "matmul"
    timing = report.rows[0].timing
    assert timing is not None and 0 < timing.best <= timing.median < 1
    assert capfd.readouterr() == ("", "")
    compiled = jit(MATMUL, target="cpu", options=report.best)
    assert torch.allclose(compiled(a, b), a @ b, atol=1e-3)  # type: ignore[arg-type]
    assert jit.cache_info() == {"size": 2}, "the candidates, of which the best is one"


def test_it_returns_what_the_report_calls_best(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, 2e-6, 1e-6)
    assert tune(TWICE, X, target="cpu", candidates=(DEFAULT, PLAIN)) == PLAIN


@pytest.mark.parametrize(("second", "best"), [(0.995e-6, DEFAULT), (0.95e-6, PLAIN), (3e-6, DEFAULT)])
def test_within_a_percent_the_first_wins(second: float, best: CompilerOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, 1e-6, second)
    report = tune.report(TWICE, X, target="cpu", candidates=iter((DEFAULT, PLAIN)))
    assert report.best == best and [row.status for row in report.rows] == ["measured", "measured"]


def test_a_candidate_that_disagrees_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced(monkeypatch, PLAIN, lambda _: jit(THRICE, target="cpu"))
    timed(monkeypatch, 1e-6)
    with pytest.warns(RuntimeWarning, match="gives other results with optimization_level=1, which is left out: output"):
        report = tune.report(TWICE, X, target="cpu", candidates=(DEFAULT, PLAIN))
    assert report.best == DEFAULT and report.rows[1].status == "disagrees" and "FAIL" in report.rows[1].note


def test_the_bound_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    def nearly(compiled: CompiledModule) -> object:
        wrapped = CompiledModule(compiled.type, lambda x, out: out.copy_(2 * x * (1 + 1e-7)), compiled.linked)
        return wrapped

    replaced(monkeypatch, PLAIN, nearly)
    x = X + 0.3
    timed(monkeypatch, 2e-6, 1e-6)
    assert tune(TWICE, x, target="cpu", candidates=(DEFAULT, PLAIN)) == PLAIN
    timed(monkeypatch, 2e-6)
    with pytest.warns(RuntimeWarning, match="equal"):
        assert tune(TWICE, x, target="cpu", candidates=(DEFAULT, PLAIN), expect={"output": [Equal()]}) == DEFAULT


def test_what_the_device_refuses_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise LaunchError("too many resources requested")

    replaced(monkeypatch, DEFAULT, lambda compiled: CompiledModule(compiled.type, refuse, compiled.linked))
    report = tune.report(TWICE, X, target="cpu", candidates=(DEFAULT, PLAIN))
    assert [row.status for row in report.rows] == ["refused", "measured"] and report.best == PLAIN
    assert report.rows[0].note == "too many resources requested"


def test_if_all_are_refused_it_says_why() -> None:
    a, b = torch.randn(32, 256), torch.randn(256, 32)
    candidates = (CompilerOptions(stages=15), CompilerOptions(stages=16))
    with pytest.raises(CompileError, match="every candidate for 'matmul' is refused:\n  stages=15: the tiles of"):
        tune(MATMUL, a, b, target="cpu", candidates=candidates)


def test_an_input_that_is_updated_in_place_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(TWICE, target="cpu")
    abi = dataclasses.replace(compiled.type, aliases=((compiled.type.output_params[0].name, "x"),))
    in_place = CompiledModule(abi, lambda x, out: out.mul_(2), compiled.linked)
    monkeypatch.setattr(tuning_module, "jit", lambda *_, **__: in_place)
    x = X.clone()
    report = tune.report(TWICE, x, target="cpu", candidates=(DEFAULT, PLAIN))
    assert torch.equal(x, X) and [row.status for row in report.rows] == ["measured", "measured"]


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ((), r"tune: 'scale' takes 1 input\(s\) \(x\), got 0"),
        ((X, X), r"takes 1 input\(s\) \(x\), got 2"),
        ((X.double(),), "argument 'x' has dtype f64, expected f32"),
    ],
)
def test_wrong_inputs_are_the_callers_fault(inputs: tuple[object, ...], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        tune(TWICE, *inputs, target="cpu", candidates=(DEFAULT,))


def test_wrong_candidates_are_refused() -> None:
    with pytest.raises(WrongTypeError, match="candidates must be several CompilerOptions, got CompilerOptions"):
        tune(TWICE, X, candidates=DEFAULT)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="a candidate must be CompilerOptions, got 3"):
        tune(TWICE, X, candidates=(DEFAULT, 3))  # type: ignore[arg-type]
    with pytest.raises(WrongValueError, match="candidates is empty"):
        tune(TWICE, X, candidates=())
    with pytest.raises(WrongTypeError, match="expected Function or Module"):
        tune(lambda x: x, X)  # type: ignore[arg-type]


def test_dumps_show_what_is_compiled(tmp_path: Path) -> None:
    jit.cache_clear()
    with DumpScope(tmp_path) as scope:
        tune(TWICE, X, target="cpu", candidates=(DEFAULT, OTHER, CompilerOptions(stages=2)))
    assert [folder.name for folder in scope.folders] == ["001_jit_Scale", "002_jit_Scale"], (
        "one has the code of another"
    )


def test_default_candidates() -> None:
    cuda = default_candidates(CudaTarget("nvidia.h200_sxm"))
    assert cuda[0] == DEFAULT and len(cuda) == len(set(cuda)) == 12
    assert {(o.stages, o.min_ctas_per_sm) for o in cuda} == {(s, c) for s in (None, 1, 3, 4) for c in (None, 1, 2)}
    base = CompilerOptions(line_info=True)
    cpu = default_candidates(CpuTarget(), base)
    assert cpu[0] == base and len(set(cpu)) == 5 and all(o.line_info for o in cpu)


def test_the_table() -> None:
    rows = (
        TuneRow(DEFAULT, "measured", Timing((2e-6, 3e-6, 4e-6))),
        TuneRow(CompilerOptions(stages=2), "same code", note="as default"),
        TuneRow(CompilerOptions(stages=3, min_ctas_per_sm=1), "measured", Timing((1e-6,))),
        TuneRow(CompilerOptions(stages=4), "refused", note="too much\n  help: less"),
    )
    report = TuneReport("matmul", "cuda", rows, rows[2].options)
    assert str(report).splitlines() == [
        "matmul on cuda",
        "  options                     status     median   best     note",
        "  default                     measured   3.00 us  2.00 us",
        "  stages=2                    same code                    as default",
        "* stages=3 min_ctas_per_sm=1  measured   1.00 us  1.00 us",
        "  stages=4                    refused                      too much",
    ]
    assert differences(DEFAULT) == "default"
