"""``x[start:start + K]`` where the start is a scalar that the program is given or computes."""

from __future__ import annotations

import pytest
import torch

from tests.text.programs import PRELUDE
from tests.text.reading import assert_round_trip, execute
from tilefoundry import evaluate
from tilefoundry.ir import Function

X = torch.arange(64.0).reshape(16, 4)

SIGNATURE = """\
@func
def f(x: Tensor[(16, 4), "f32"], i: Tensor[(), "{dtype}"], j: Tensor[(), "{dtype}"]) -> Tensor[({rows}, 4), "f32"]:
    n = i + j
    return x[{window}]
"""


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize(
    ("window", "start", "rows", "step"),
    [
        ("i:i + 2", 3, 2, 1),
        ("i:2 + i", 3, 2, 1),
        ("i - 1:i + 1", 2, 2, 1),
        ("i * 4 - j:i * 4 + 2 - j", 10, 2, 1),
        ("i * 2 + j:j + i * 2 + 3", 8, 3, 1),
        ("n:n + 4", 5, 4, 1),
        ("n // 2:n // 2 + 2", 2, 2, 1),
        ("i:i + 5:2", 3, 3, 2),
        ("i:i + 2, :", 3, 2, 1),
    ],
)
def test_a_window_starts_where_the_scalars_say(dtype: str, window: str, start: int, rows: int, step: int) -> None:
    f = execute(PRELUDE + SIGNATURE.format(dtype=dtype, window=window, rows=rows))["f"]
    assert isinstance(f, Function)
    scalars = [torch.tensor(value, dtype=torch.int32 if dtype == "i32" else torch.int64) for value in (3, 2)]
    assert torch.equal(evaluate(f, X, *scalars), X[start : start + rows * step : step])
    assert_round_trip(f)
