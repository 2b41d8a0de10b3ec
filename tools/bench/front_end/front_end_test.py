"""The benchmark of the front end measures what it says, and the front end keeps what we promise."""

import cProfile
import linecache
import pstats
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tilefoundry import as_script, normalize_to_module
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.text import canonical_module_text
from tools.bench.front_end import long
from tools.bench.front_end import main as bench
from tools.bench.front_end.decoder import decoder_source


def decoder(layers: int, folder: Path) -> Module:
    """The module that a decoder's source defines."""
    path = folder / "decoder.py"
    path.write_text(decoder_source(layers), encoding="utf-8")
    scope: dict[str, object] = {"__name__": "decoder"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), scope)
    found = scope["Decoder"]
    assert isinstance(found, Module)
    return found


def test_the_decoder_is_one_module_with_a_child_for_each_layer(tmp_path: Path) -> None:
    module = decoder(3, tmp_path)
    assert [child.name for child in module.modules] == ["layer0", "layer1", "layer2"]
    assert list(module.weights) == ["norm"]
    assert len(module.modules[0].weights) == 9


@pytest.mark.parametrize("name", ["tilefoundry", "tilefoundry.dsl", "tilefoundry.python", "tilefoundry.target"])
def test_importing_loads_no_tensor_library(name: str) -> None:
    code = f"import sys, {name}; assert not {{'torch', 'numpy', 'tvm_ffi'}} & set(sys.modules), sorted(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=bench.environment())
    assert done.returncode == 0, done.stderr


def test_what_we_promise_is_kept(tmp_path: Path) -> None:
    """By the processor's time of the fastest run, which what else the machine does hardly changes."""
    (tmp_path / "decoder.py").write_text(decoder_source(64), encoding="utf-8")
    assert min(bench.timed(bench.IMPORT, 5, tmp_path).processor) <= bench.IMPORT_MS
    assert min(bench.timed(bench.PARSE, 2, tmp_path, "64").processor) <= bench.PARSE_MS


def calls_made(source: str, folder: Path) -> int:
    """How many Python calls it takes to parse a program and to print it in both forms: the same in every run."""
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    linecache.checkcache(str(path))
    scope: dict[str, object] = {"__name__": "program"}
    code = compile(source, str(path), "exec", dont_inherit=True)

    def work() -> None:
        exec(code, scope)
        program = normalize_to_module(scope["program"])  # type: ignore[arg-type]  # refuses what is none
        canonical_module_text(program)
        as_script(program)

    profile = cProfile.Profile()
    profile.runcall(work)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # known to no stub


@pytest.mark.parametrize(
    ("make", "size", "larger", "values"),
    [
        (long.statements, 100, 400, 4),
        (long.loops, 50, 200, 4),
        (long.chain, 40, 81, 4),  # 820 and 3321 values
        (long.doubling, 8, 10, 4),
    ],
)
def test_time_grows_as_the_values_do(
    make: Callable[[int], str], size: int, larger: int, values: int, tmp_path: Path
) -> None:
    calls_made(make(size), tmp_path)  # what is made on first use
    few, many = (calls_made(make(n), tmp_path) for n in (size, larger))
    assert many <= 1.1 * values * few, f"{many} calls, where {values} times less took {few}"


def test_a_program_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ModuleNotFoundError"):
        bench.timed("import tilefoundry.no_such_module", 1, tmp_path)


def test_a_median_above_the_promise_fails(capsys: pytest.CaptureFixture[str]) -> None:
    times = bench.Times((10.0, 30.0, 20.0), (9.0, 9.0, 9.0))
    assert bench.report("one", times, 20.0)
    assert not bench.report("two", times, 19.9)
    assert capsys.readouterr().out.splitlines() == [
        "one: median 20.0 ms, fastest 10.0 ms of 3; processor: median 9.0 ms; promised: 20 ms",
        "two: median 20.0 ms, fastest 10.0 ms of 3; processor: median 9.0 ms; promised: 20 ms",
    ]
