"""What counts as the results of a body."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Call, Tuple, Var
from tilefoundry.ir.hir import TopK, TupleGetItem
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.passes.results import results_of

X = Var("x", make_tensor_type((4, 8), "f32"))
BOTH = Call(TopK(3), (X,))


def test_each_of_several_values_is_a_result() -> None:
    assert results_of(X) == (X,)
    assert results_of(Tuple((X, X))) == (X, X)
    assert results_of(BOTH) == tuple(Call(TupleGetItem(k), (BOTH,)) for k in range(2))


def test_a_tuple_among_results_is_refused() -> None:
    with pytest.raises(VerifyError, match="result 1 is a tuple of 2 tensors") as refused:
        results_of(Tuple((X, BOTH)))
    assert "a, b = ..." in (refused.value.remedy or "")
