import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir import elaborate
from tilefoundry.ir.core import Call, Constant, DimVarRangePat, Function, Var
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.dims.ops import DimOp
from tilefoundry.ir.elaborate import CallValues, Elaborator, called_prototypes, functions_reached
from tilefoundry.ir.hir import Binary, BinaryKind, Zeros
from tilefoundry.ir.samples import binary, call
from tilefoundry.ir.shard import Broadcast, Split, make_mesh
from tilefoundry.ir.specialize import specialize_function
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, make_shard_tensor_type, make_tensor_type

N, K = DimVar("N", 1, 9), DimVar("K", 1, 100)
VECTOR = make_tensor_type((N,), "f32")
MESH = make_mesh((4,), topology="thread")


def doubled():
    """x + x, of any extent."""
    x = Var("x", VECTOR)
    return Function("double", (x,), binary(BinaryKind.ADD, x, x), VECTOR)


def caller(callee, type_, times=1):
    y = value = Var("y", type_)
    for _ in range(times):
        value = Call(callee, (value,))
    return Function("caller", (y,), value, type_)


M = DimVar("M", 2, 5)
# Types that a formal vector without layout accepts.
TYPES = [
    *(make_tensor_type((e,), "f32", storage) for e in (4, 8, N, M, M + 1, M * 2 - 1) for storage in ("gmem", "smem")),
    *(make_shard_tensor_type((e,), "f32", "rmem", MESH, (a,)) for e in (4, 8) for a in (Split(0), Broadcast())),
]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_elaboration_is_idempotent_and_memoised(type_):
    session, fn = Elaborator(), doubled()
    once = session.elaborate(fn, (type_,))
    assert once.params[0].type == type_
    assert (once.body.type.shape, once.body.type.storage) == (type_.shape, type_.storage)
    placed, held = once.body.type.layout, type_.layout  # of the argument, not the open one of the formal
    assert (placed is None) == (held is None and type_.storage is not StorageKind.RMEM)
    assert held is None or (placed.attrs, placed.mesh) == (held.attrs, held.mesh)
    assert session.elaborate(fn, (type_,)) is once
    assert session.elaborate(once, (type_,)) is once
    assert Elaborator().elaborate(once, (type_,)) is once  # nothing to rebuild: also by an elaborator of its own


def test_one_instance_for_each_callee_and_tuple_of_types():
    session, fn, other = Elaborator(), doubled(), doubled()
    instances = [session.elaborate(f, (type_,)) for f in (fn, other) for type_ in TYPES]
    assert len({id(i) for i in instances}) == len(instances)
    assert [session.elaborate(f, (type_,)) for f in (fn, other) for type_ in TYPES] == instances


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_calls_leave_nothing_but_their_expressions(type_, times):
    y = value = Var("y", type_)
    for _ in range(times):
        value = Call(doubled(), (value,))
    fn = Elaborator().without_calls(Function("f", (y,), value, make_tensor_type(type_.shape, "f32", type_.storage)))
    targets = [e.target for e in post_order(fn.body) if isinstance(e, Call) and not isinstance(e.target, DimOp)]
    assert [type(t) for t in targets] == [Binary] * times
    assert Elaborator().without_calls(fn) is fn


def test_calls_inside_of_callees_are_elaborated_too():
    inside = caller(doubled(), VECTOR)
    fn = Elaborator().without_calls(caller(inside, make_tensor_type((4,), "f32"), 2))
    assert [type(e.target) for e in post_order(fn.body) if isinstance(e, Call)] == [Binary, Binary]


def test_extents_are_replaced_in_attributes():
    x = Var("x", VECTOR)
    fn = Function("f", (x,), binary(BinaryKind.ADD, x, call(Zeros(VECTOR))), VECTOR)
    instance = Elaborator().elaborate(fn, (make_tensor_type((5,), "f32"),))
    assert instance.body.args[1].target == Zeros(make_tensor_type((5,), "f32"))


def test_the_variant_that_serves_the_call_is_taken():
    def variant(kind, lo, hi):
        x = Var("x", VECTOR)
        return Function("f", (x,), binary(kind, x, x), VECTOR, (DimVarRangePat("N", lo, hi),))

    variants = (variant(BinaryKind.ADD, 1, 5), variant(BinaryKind.MUL, 5, 9))
    fn = Function("f", (Var("x", VECTOR),), None, VECTOR, variants=variants)
    cases = ((4, BinaryKind.ADD), (5, BinaryKind.MUL), (DimVar("M", 6, 8), BinaryKind.MUL), (M * 1, BinaryKind.ADD))
    for extent, kind in cases:
        instance = Elaborator().elaborate(fn, (make_tensor_type((extent,), "f32"),))
        assert instance.body.target.kind is kind
    wide = make_tensor_type((DimVar("M", 3, 8),), "f32")
    assert Elaborator().elaborate(fn, (wide,)) is fn
    undecided = Elaborator().without_calls(caller(fn, wide))
    (called,) = called_prototypes(undecided)
    assert called.target is fn and called.type == wide
    assert functions_reached(undecided) == (undecided, fn)
    for extents, kind in (({"M": 4}, BinaryKind.ADD), ({"M": DimVar("M", 5, 8)}, BinaryKind.MUL)):
        decided = Elaborator().without_calls(specialize_function(undecided, extents))
        assert decided.body.target.kind is kind and called_prototypes(decided) == ()
    # an instance under narrower types decides what was open
    assert (
        Elaborator().elaborate(caller(fn, VECTOR), (make_tensor_type((7,), "f32"),)).body.target.kind is BinaryKind.MUL
    )


def test_malformed_prototypes_are_refused():
    fn = Function("f", (Var("x", VECTOR),), None, VECTOR, variants=(doubled(),))
    with pytest.raises(VerifyError, match="a variant of 'f' has 0 pattern"):
        Elaborator().elaborate(fn, (VECTOR,))


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (make_tensor_type((4,), "bf16"), r"'double': parameter 'x' is .*\(type mismatch\)"),
        (make_tensor_type((4, 1), "f32"), "type mismatch"),
        (make_tensor_type((9,), "f32"), "type mismatch"),
        (make_tensor_type((K,), "f32"), r"extent K in \[1, 100\) does not fit N in \[1, 9\)"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(type_, words):
    with pytest.raises(VerifyError, match=words):
        Elaborator().elaborate(doubled(), (type_,))


def test_a_formal_with_a_layout_must_be_met_exactly():
    placed = make_shard_tensor_type((8,), "f32", "rmem", MESH, (Split(0),))
    x = Var("x", placed)
    fn = Function("f", (x,), x, placed)
    assert Elaborator().elaborate(fn, (placed,)) is fn
    with pytest.raises(VerifyError, match="type mismatch"):
        Elaborator().elaborate(fn, (make_shard_tensor_type((8,), "f32", "rmem", MESH, (Broadcast(),)),))


def test_an_index_is_no_tensor():
    with pytest.raises(VerifyError, match="type mismatch"):
        Call(doubled(), (3,))
    with pytest.raises(VerifyError, match="type mismatch"):
        Call(doubled(), (Constant(1.0, make_tensor_type((), "f32")),))


def levels(count, second):
    """Functions of which each calls the one before it twice: with its argument, and with ``second`` of it."""
    fn = caller(doubled(), VECTOR)
    for _ in range(count):
        x = Var("x", VECTOR)
        calls = (Call(fn, (x,)), Call(fn, (second(x),)))
        fn = Elaborator().without_calls(Function("twice", (x,), binary(BinaryKind.ADD, *calls), VECTOR))
    return fn


def test_equal_calls_are_one_value():
    """Shared, so that a diamond of calls is as large as it is deep."""
    fn = levels(40, lambda x: x)
    assert fn.body.args[0] is fn.body.args[1]
    assert len(list(post_order(fn.body))) == 1 + 1 + 40


def test_calls_with_other_arguments_are_other_values():
    fn = levels(1, lambda x: binary(BinaryKind.MUL, x, x))
    assert fn.body.args[0] is not fn.body.args[1]


def test_equal_calls_in_other_mesh_scopes_are_other_values():
    fn, session, values = doubled(), Elaborator(), CallValues()
    y = Var("y", VECTOR)
    placed = (ExecutionDomainMetadata((MESH,)),)
    first, second, third = (session.inline(fn, (y,), metadata, values) for metadata in ((), placed, placed))
    assert first is not second and second is third


def test_a_value_of_a_loop_is_not_one_after_it():
    fn, session, values = doubled(), Elaborator(), CallValues()
    y, z = Var("y", VECTOR), Var("z", VECTOR)
    before = session.inline(fn, (y,), (), values)
    scope = values.inner()
    assert session.inline(fn, (y,), (), values) is before
    inside = session.inline(fn, (z,), (), values)
    values.outer(scope)
    assert session.inline(fn, (z,), (), values) is not inside
    assert session.inline(fn, (y,), (), values) is before


def test_a_function_that_doubles_with_each_level_is_refused(monkeypatch):
    monkeypatch.setattr(elaborate, "MAX_INLINED", 1000)
    with pytest.raises(VerifyError, match=r"of 'twice' make the function larger than 1000 expressions") as refused:
        levels(40, lambda x: binary(BinaryKind.MUL, x, x))
    assert "call it once" in refused.value.remedy
