"""Which schema of a surface name serves: arity first, then patterns, in lookup order."""

import pytest

from tilefoundry.diagnostics import OverloadError, VerifyError
from tilefoundry.ir.core import Op, OpSchema, ParamDef, UnitType
from tilefoundry.ir.core.pattern import AndPat, ScalarPat, TensorPat
from tilefoundry.ir.overload import resolve_overload
from tilefoundry.ir.types import TensorType, make_tensor_type

SCALAR, VECTOR, MATRIX = TensorType.umat_scalar("f32"), make_tensor_type((4,), "f32"), make_tensor_type((4, 4), "bf16")


def schema(*params: ParamDef) -> OpSchema:
    return OpSchema("test", "", "f", params, Op)


def x(pattern=None, **facts):
    return ParamDef(name="x", pattern=pattern, **facts)


K = ParamDef("attribute", name="k", default=0)
BY_SCALAR, BY_MATRIX, BY_ANY = schema(x(ScalarPat()), K), schema(x(TensorPat(2)), K), schema(x(), K)
PAIR = schema(x(), ParamDef(name="y"))
MANY = schema(ParamDef(name="xs", variadic=True, pattern=TensorPat(1)), K)


@pytest.mark.parametrize(
    ("schemas", "positional", "keywords", "chosen"),
    [
        ((BY_SCALAR, BY_MATRIX, BY_ANY), (SCALAR,), {}, BY_SCALAR),
        ((BY_SCALAR, BY_MATRIX, BY_ANY), (MATRIX,), {}, BY_MATRIX),
        ((BY_SCALAR, BY_MATRIX, BY_ANY), (VECTOR,), {}, BY_ANY),
        ((BY_ANY, BY_SCALAR), (SCALAR,), {}, BY_ANY),  # the first that matches, not the best
        ((BY_SCALAR, BY_MATRIX), (), {"x": MATRIX, "k": None}, BY_MATRIX),
        ((BY_ANY, PAIR), (VECTOR, VECTOR), {}, BY_ANY),  # the second is the attribute k
        ((PAIR, BY_ANY), (VECTOR, VECTOR), {}, PAIR),
        ((BY_ANY, PAIR), (VECTOR,), {"y": VECTOR}, PAIR),
        ((BY_SCALAR, MANY), (VECTOR, VECTOR, VECTOR), {"k": None}, MANY),
        ((BY_ANY,), (UnitType(),), {}, BY_ANY),
    ],
)
def test_the_first_that_matches(schemas, positional, keywords, chosen):
    assert resolve_overload(schemas, positional, keywords) is chosen


@pytest.mark.parametrize(
    ("schemas", "positional", "keywords", "words"),
    [
        ((BY_SCALAR,), (VECTOR,), {}, r"f: 'x' must be a scalar, got Tensor(.|\n)*call f\(x, k=\.\.\.\)"),
        ((BY_SCALAR,), (None,), {}, "'x' must be a scalar, got no tensor"),
        ((MANY,), (VECTOR, MATRIX), {}, "'xs' must be a tensor of rank 1"),
        ((BY_SCALAR, BY_MATRIX), (VECTOR,), {}, r"no way to call it(.|\n)*a scalar(.|\n)*a tensor of rank 2"),
        ((PAIR, BY_SCALAR), (VECTOR,), {"z": None}, r"f\(x, y\): got 1 positional argument\(s\) and z"),
        ((schema(x(AndPat((TensorPat(2), TensorPat(dtype="f32"))))),), (MATRIX,), {}, "of rank 2 and a tensor of f32"),
    ],
)
def test_no_schema_serves(schemas, positional, keywords, words):
    with pytest.raises(OverloadError, match=words) as caught:
        resolve_overload(schemas, positional, keywords)
    assert isinstance(caught.value, VerifyError)
