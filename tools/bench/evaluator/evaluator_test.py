"""An evaluation unit by unit is right, and keeps the time and the memory that we promise."""

import pytest
import torch

from tilefoundry import evaluate
from tilefoundry.evaluator.expansion import asks_for_units
from tools.bench.evaluator import main as bench
from tools.bench.evaluator.rows import expected


@pytest.mark.parametrize("name", bench.PROGRAMS)
def test_what_we_promise_is_kept(name: str) -> None:
    found = bench.alone(name, 4096, 2)
    assert found["error"] < 1e-5
    assert found["seconds"] <= bench.SECONDS  # it takes a tenth of that, so a busy machine makes no difference
    assert 1 <= found["memory"] <= bench.MEMORY  # less than input and result would be a measurement that misses them


@pytest.mark.parametrize("name", bench.PROGRAMS)
def test_the_programs_need_units(name: str) -> None:
    module = bench.PROGRAMS[name](512)
    assert asks_for_units(module.entry_function().body)
    x = torch.randn(512, 512)
    value = evaluate(module, x, precision="f64")
    torch.testing.assert_close(value, expected(x)[:, : value.shape[1]], rtol=1e-12, atol=1e-9)
