import pytest

from tilefoundry.diagnostics import SourceSpan, VerifyError
from tilefoundry.ir.core import (
    Call,
    ExecutionDomainMetadata,
    Function,
    Module,
    SourceSpanMetadata,
    Tuple,
    Var,
)
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import BinaryKind, GridRegionExpr, InsertSlice, Reshard, Slice, TupleGetItem, Zeros
from tilefoundry.ir.samples import CTA, CTAS, THREAD, THREADS, attention, binary, call
from tilefoundry.ir.shard import Layout, Mesh, MeshAxis, Placed, Topology, composed, layout_from_sugar
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.ir.verify import verify_function, verify_module
from tilefoundry.target import CudaTarget

IO = make_tensor_type((8, 8), "f32")
ROW = make_tensor_type((8,), "f32")
C = MeshAxis(CTAS, 0)
INSERT = InsertSlice((1, 8))
SPAN = SourceSpanMetadata("author.py", 7, 3, 7, 9)
UNORDERED = "iterations spread over 'c' run in no order; a carry may only be written by insert_slice"


def index(name="i"):
    return Var(name, INDEX_TYPE)


def insert(dst, update, at, metadata=()):
    return Call(INSERT, (dst, update, Tuple((at, 0))), metadata=metadata)


def loop(var, carried, inits, yields, extent=8, spread=C, metadata=()):
    return GridRegionExpr(var, carried, inits, None, yields, extent, spread=spread, metadata=metadata)


def function(body, *params):
    return Function("f", params, body, body.type)


def zeros(t=IO):
    return call(Zeros(t))


def test_the_attention_program_is_well_formed():
    for head in (32, 64, 128):
        verify_module(attention(head))


def test_a_spread_loop_may_write_windows():
    i, out = index(), Var("out", IO)
    verify_function(function(loop(i, (out,), (zeros(),), (insert(out, zeros(ROW), i),))))
    twice = insert(insert(out, zeros(ROW), i), zeros(ROW), i)
    verify_function(function(loop(i, (out,), (zeros(),), (twice,))))
    verify_function(function(loop(i, (out,), (zeros(),), (out,))))


def test_a_spread_loop_may_write_through_an_ordered_loop_inside():
    i, j, out, inner_out = index(), index("j"), Var("out", IO), Var("out", IO)
    inner = loop(j, (inner_out,), (out,), (insert(inner_out, zeros(ROW), j),), spread=None)
    verify_function(function(loop(i, (out,), (zeros(),), (inner,))))


def spread_faults():
    i, out = index(), Var("out", IO)
    read = call(Slice((1, 8), drop=(0,)), out, Tuple((i, 0)))
    other = Var("other", IO)
    yield "a sum", loop(i, (out,), (zeros(),), (binary(BinaryKind.ADD, out, out),))
    yield "a fresh value", loop(i, (out,), (zeros(),), (zeros(),))
    yield "a read of what others write", loop(i, (out,), (zeros(),), (insert(out, read, i),))
    yield (
        "carries that swap",
        loop(i, (out, other), (zeros(), zeros()), (insert(other, zeros(ROW), i), insert(out, zeros(ROW), i))),
    )
    yield (
        "one carry read by the other's update",
        loop(
            i,
            (out, other),
            (zeros(), zeros()),
            (
                insert(out, zeros(ROW), i),
                insert(other, call(Slice((1, 8), drop=(0,)), out, Tuple((i, 0))), i),
            ),
        ),
    )
    j, inner_out = index("j"), Var("out", IO)
    inner = loop(j, (inner_out,), (out,), (binary(BinaryKind.ADD, inner_out, inner_out),), spread=None)
    yield "a sum in an inner loop", loop(i, (out,), (zeros(),), (inner,))


@pytest.mark.parametrize("fault", [pytest.param(body, id=name) for name, body in spread_faults()])
def test_a_spread_loop_may_carry_nothing_else(fault):
    body = fault if len(fault.carried_args) == 1 else call(TupleGetItem(0), fault)
    with pytest.raises(VerifyError, match=UNORDERED):
        verify_function(function(body))


def test_the_message_points_at_the_value_that_is_carried():
    i, out = index(), Var("out", IO)
    bad = Call(binary(BinaryKind.ADD, out, out).target, (out, out), metadata=(SPAN,))
    with pytest.raises(VerifyError) as caught:
        verify_function(function(loop(i, (out,), (zeros(),), (bad,))))
    assert caught.value.span == SourceSpan("author.py", 7, 3, 7, 9)
    assert str(caught.value).startswith("author.py:7:3: iterations spread")


def test_a_spread_loop_must_carry_something():
    i = index()
    body = GridRegionExpr(i, (), (), zeros(), (), 8, spread=C)
    with pytest.raises(VerifyError, match=r"carries nothing(.|\n)*tf\.insert_slice"):
        verify_function(function(body))


def nested(wrap):
    i, j, outer_out, inner_out = index(), index("j"), Var("out", IO), Var("out", IO)
    inner = loop(j, (inner_out,), (outer_out,), (insert(inner_out, zeros(ROW), j),))
    return function(loop(i, (outer_out,), (zeros(),), (wrap(inner, outer_out, i),)))


def test_loops_over_one_axis_must_be_perfectly_nested():
    verify_function(nested(lambda inner, out, i: inner))
    with pytest.raises(VerifyError, match="'i' and 'j' are both spread over 'c' but not perfectly nested"):
        verify_function(nested(lambda inner, out, i: insert(inner, zeros(ROW), i)))


def test_an_inner_loop_on_the_same_axis_may_not_feed_the_update():
    i, j, out, scratch = index(), index("j"), Var("out", IO), Var("scratch", IO)
    inner = loop(j, (scratch,), (zeros(),), (insert(scratch, zeros(ROW), j),))
    row = call(Slice((1, 8), drop=(0,)), inner, Tuple((0, 0)))
    with pytest.raises(VerifyError, match="not perfectly nested"):
        verify_function(function(loop(i, (out,), (zeros(),), (insert(out, row, i),))))


def test_variables_are_bound_once_and_used_inside():
    i, out = index(), Var("out", IO)
    one = loop(i, (out,), (zeros(),), (out,), spread=None)
    with pytest.raises(VerifyError, match="'i' is bound twice"):
        verify_function(function(loop(i, (Var("o", IO),), (one,), (zeros(),), spread=None)))
    with pytest.raises(VerifyError, match="uses 'out' outside of the loop"):
        verify_function(function(binary(BinaryKind.ADD, one, out)))
    with pytest.raises(VerifyError, match="uses 'x' outside"):
        verify_function(function(Var("x", IO)))


def over(mesh, axis=0, metadata=()):
    layout = layout_from_sugar((Placed(8, (MeshAxis(mesh, axis),)), 8))
    x = Var("x", IO)
    return function(Call(Reshard(layout, "rmem"), (x,), metadata=metadata), x)


def test_meshes_use_declared_levels():
    fn = over(THREADS)
    verify_function(fn)
    verify_module(Module("m", (fn,), topologies=(CTA, THREAD)))
    for levels in ((), (CTA,), (Topology("thread", 64),)):
        with pytest.raises(VerifyError, match=r"topology 'thread' of size 128 not declared(.|\n)*the module declares"):
            verify_module(Module("m", (fn,), topologies=levels))


def test_meshes_fit_their_levels():
    with pytest.raises(VerifyError, match="do not fit the levels"):
        verify_function(over(Mesh((THREAD,), Layout((8, 4)), ("a", "b"))))


def test_meshes_must_be_in_scope():
    verify_function(over(THREADS, metadata=(ExecutionDomainMetadata((CTAS, THREADS)),)))
    verify_function(over(composed((CTAS, THREADS)), 1, metadata=(ExecutionDomainMetadata((CTAS, THREADS)),)))
    with pytest.raises(VerifyError, match=r"axes \('w', 'g', 't'\) is not in scope"):
        verify_function(over(THREADS, metadata=(ExecutionDomainMetadata((CTAS,)), SPAN)))


def test_modules_are_held_against_their_target():
    for levels, words in (
        ((Topology("warp", 4),), "no topology level 'warp'"),
        ((Topology("thread", 2048),), "limit 1024"),
    ):
        with pytest.raises(VerifyError, match=words):
            verify_module(Module("m", (), target=CudaTarget(), topologies=levels))
    with pytest.raises(VerifyError, match="no function 'f'"):
        verify_module(Module("m", (), entry="f"))
    child = Module("child", (), topologies=(Topology("warp", 4),))
    with pytest.raises(VerifyError, match="'child'"):
        verify_module(Module("m", (), modules=(child,), target=CudaTarget()))


def test_deep_programs_are_walked_without_recursion():
    x = Var("x", IO)
    value = x
    for _ in range(3000):
        value = binary(BinaryKind.ADD, value, value)
    verify_function(function(value, x))


M, N = DimVar("M", 1, 9), DimVar("N", 1, 9)


@pytest.mark.parametrize(
    ("shapes", "result", "words"),
    [
        ([(M * N,)], (4,), r"extent M \* N of the parameter 'x0' needs M, N, which no axis of a parameter tells"),
        ([(M * N,), (M,)], (4,), r"extent M \* N of the parameter 'x0' needs N"),
        ([(M // 2,)], (4,), r"extent M // 2 of the parameter 'x0' needs M(.|\n)*M on an axis, alone or as"),
        ([(4,)], (N,), "extent N of the result needs N"),
        ([(M * 2,)], (M,), None),
        ([(M * 2 + 1,), (M * N,), (N,)], (M * N,), None),
        ([(M, 3 - N)], (N,), None),
    ],
)
def test_each_extent_is_told_by_an_axis(shapes, result, words):
    params = tuple(Var(f"x{i}", make_tensor_type(s, "f32"), metadata=(SPAN,)) for i, s in enumerate(shapes))
    type_ = make_tensor_type(result, "f32")
    fn = Function("f", params, call(Zeros(type_)), type_, metadata=(SPAN,))
    if words is None:
        verify_function(fn)
        return
    with pytest.raises(VerifyError, match=words) as caught:
        verify_function(fn)
    assert caught.value.span == SPAN.span
