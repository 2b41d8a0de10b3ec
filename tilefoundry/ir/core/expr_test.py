import copy
import dataclasses

import pytest

from tilefoundry.ir.core import (
    BindingMetadata,
    Call,
    Constant,
    ExecutionDomainMetadata,
    Function,
    IRMetadata,
    SourceSpanMetadata,
    Tuple,
    Var,
    binding_name,
    diagnostic_location,
    get_metadata,
    remove_metadata,
    replace_metadata,
)
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import Binary, BinaryKind, GridRegionExpr, Reduce, TupleGetItem
from tilefoundry.ir.samples import CTAS, THREADS, binary, call
from tilefoundry.ir.types import TensorType, make_tensor_type

X = Var("x", make_tensor_type((4,), "f32"))
SPAN = SourceSpanMetadata("f.py", 3, 5, 3, 9)


def doubled(times):
    value = X
    for _ in range(times):
        value = binary(BinaryKind.ADD, value, value)
    return value


def test_equality_is_structural_and_vars_are_themselves():
    assert doubled(3) == doubled(3)
    assert doubled(3) != doubled(2)
    assert Var("x", X.type) != X
    assert len({doubled(3), doubled(3)}) == 1


def test_shared_operands_cost_nothing_twice():
    # 2**300 paths through 300 nodes; and deeper than Python's stack
    assert doubled(300) == doubled(300)
    assert doubled(5000) == doubled(5000)


def test_the_repr_of_shared_operands_is_bounded():
    add = "Call(Binary(kind=<BinaryKind.ADD: 'add'>), {0}, {0})".format
    assert repr(doubled(1)) == add("x")
    assert repr(doubled(2)) == add(add("x"))
    assert repr(doubled(5000)) == add(add(add("Call(...)")))
    assert repr(Tuple((X,) * 10 + (3,))) == f"Tuple({'x, ' * 8}... 3 more)"
    assert repr(Tuple((DimVar("B", 1, 9) + 1, Constant(0.5, X.type), 3))) == (
        "Tuple(Call(DimAdd(), DimVar(name='B', lo=1, hi=9), 1), 0.5, 3)"
    )
    double = Function("double", (X,), doubled(1), X.type)
    assert repr(Call(double, (doubled(0),))) == "Call(double, x)"
    assert repr(Call(ChildEntry("layer", double), (X,))) == "Call(layer, x)"
    bounds = {"extent": 4, "body": None}
    i, acc, value = Var("i", INDEX_TYPE), Var("acc", X.type), X
    for _ in range(50):
        value = GridRegionExpr(i, (acc, acc), (value, value), yield_values=(acc, acc), **bounds)
        value = binary(BinaryKind.ADD, *(call(TupleGetItem(k), value) for k in (0, 1)))
    assert "GridRegionExpr(i, 0, 4, 1, Call(...), Call(...), acc, acc)" in repr(value)


def test_constants_differ_by_kind_sign_and_type():
    scalar = TensorType.scalar
    values = [
        Constant(v, scalar(d)) for v, d in ((0.0, "f32"), (-0.0, "f32"), (0.0, "bf16"), (0, "i32"), (False, "bool"))
    ]
    assert len(set(values)) == 5
    assert Constant(float("nan"), scalar("f32")) == Constant(float("nan"), scalar("f32"))


def test_metadata_is_no_part_of_the_value():
    plain = call(Binary(BinaryKind.ADD), X, X)
    named = Call(Binary(BinaryKind.ADD), (X, X), metadata=(BindingMetadata("y"), SPAN))
    assert plain == named
    assert hash(plain) == hash(named)
    assert "metadata" not in repr(named)
    assert (binding_name(named), diagnostic_location(named)) == ("y", "f.py:3:5")
    assert diagnostic_location(remove_metadata(named, SourceSpanMetadata)) == "y"
    assert diagnostic_location(plain) is None
    renamed = replace_metadata(named, BindingMetadata("z"))
    assert (binding_name(renamed), get_metadata(renamed, SourceSpanMetadata)) == ("z", SPAN)


def test_records_of_all_classes_travel_alike():
    @dataclasses.dataclass(frozen=True)
    class Note(IRMetadata):
        text: str

    @dataclasses.dataclass(frozen=True)
    class Remark(Note):
        pass

    records = (BindingMetadata("y"), SPAN, ExecutionDomainMetadata((CTAS, THREADS)), Note("n"), Remark("r"))
    plain = call(Binary(BinaryKind.ADD), X, X)
    whole = replace_metadata(plain, *records)
    assert whole.metadata == records
    assert (plain == whole, hash(plain) == hash(whole), repr(plain) == repr(whole)) == (True, True, True)
    for record in records:  # by exact class: a Remark is no Note
        assert get_metadata(whole, type(record)) is record
        rest = remove_metadata(whole, type(record))
        assert rest.metadata == tuple(r for r in records if r is not record)
        assert rest == whole
    assert get_metadata(plain, Note) is None
    assert get_metadata(whole, ExecutionDomainMetadata).scopes == (CTAS, THREADS)
    assert remove_metadata(whole, *(type(r) for r in records)).metadata == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda records: Constant(1, INDEX_TYPE, records),
        lambda records: Tuple((X,), records),
        lambda records: Call(Binary(BinaryKind.ADD), (X, X), metadata=records),
        lambda records: Var("v", X.type, metadata=records),
    ],
)
def test_every_expression_carries_records_and_none_shows_them(make):
    expr = make((BindingMetadata("name"), SPAN))
    assert (binding_name(expr), diagnostic_location(expr)) == ("name", "f.py:3:5")
    assert "f.py" not in repr(expr)
    for field in ("type", "metadata"):
        # a base's slot: CPython's frozen classes with slots say TypeError there
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            setattr(expr, field, ())
    with pytest.raises(ValueError, match="more than one BindingMetadata"):
        make((BindingMetadata("a"), BindingMetadata("b")))


def test_two_records_of_one_class_are_refused():
    with pytest.raises(ValueError, match="BindingMetadata"):
        Call(Binary(BinaryKind.ADD), (X, X), metadata=(BindingMetadata("y"), BindingMetadata("z")))


def test_the_metadata_of_a_var_cannot_change():
    with pytest.raises(TypeError, match="identity"):
        replace_metadata(X, BindingMetadata("y"))


def test_expressions_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        doubled(1).args = ()


@pytest.mark.parametrize("bad", [(X, True), (X, 1.5), (X, None), "xy", 3])
def test_operands_must_be_expressions_or_ints(bad):
    with pytest.raises(TypeError):
        Call(Binary(BinaryKind.ADD), bad)
    with pytest.raises(TypeError):
        Tuple(bad)


def test_a_call_is_typed_by_its_target_and_located():
    with pytest.raises(Exception, match=r"f\.py:3:5: reduce: expected 1 operand") as caught:
        Call(Reduce((0,)), (X, X), metadata=(SPAN,))
    assert caught.value.span == SPAN.span
    with pytest.raises(TypeError, match="target"):
        Call("add", (X, X))


def test_dim_arithmetic_is_for_dims_only():
    with pytest.raises(TypeError):
        doubled(1) + doubled(1)
    assert copy.deepcopy(DimVar("B", 1, 9)) is DimVar("B", 1, 9)
    assert Tuple((DimVar("B", 1, 9) + 1, 3)).type.fields[0] == INDEX_TYPE
