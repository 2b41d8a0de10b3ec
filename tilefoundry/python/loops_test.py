"""Loops as authors write them, and what they become."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Constant, Tuple
from tilefoundry.ir.hir import GridRegionExpr, Slice
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import TensorType, TupleType
from tilefoundry.python.testing import body_of, load_function


def test_loops_over_range() -> None:
    body = body_of(
        load_function("y = x", "for i in range(1, M, 2):", "    y = y + x[0] * tf.cast(i, 'f32')", "return y")
    )
    assert isinstance(body, GridRegionExpr)
    assert (body.start, str(body.extent), body.step, len(body.carried_args)) == (1, "M", 2, 1)
    assert isinstance(body.type, TensorType)


def test_loops_over_tiles_and_windows_that_move() -> None:
    lines = ("y = x[0:4]", "for i in tile(8, 4):", "    y = y + x[i] + x[i - 1] + x[1 + i]", "return y")
    body = body_of(load_function(*lines, result='Tensor[(4,), "f32"]'))
    assert isinstance(body, GridRegionExpr)
    assert (body.start, body.extent, body.step) == (0, 8, 4)
    windows = [
        e.target for e in post_order(body.yield_values[0]) if isinstance(e, Call) and isinstance(e.target, Slice)
    ]
    assert [w.sizes for w in windows] == [(4,)] * 3


def test_several_carries_give_a_tuple() -> None:
    found = load_function("a, b = x, x", "for i in range(4):", "    a, b = b, a + b", "return a * b")
    loops = [e for e in post_order(body_of(found)) if isinstance(e, GridRegionExpr)]
    assert isinstance(loops[0].type, TupleType)


def test_what_a_loop_carries_nothing_for_has_its_value_of_the_last_iteration() -> None:
    lines = ("for i in range(1, 8, 3):", "    for j in tile(8, 4):", "        y = x[j] * x[i]", "return y")
    found = load_function(*lines, result='Tensor[(4,), "f32"]')
    assert not any(isinstance(e, GridRegionExpr) for e in post_order(body_of(found)))
    slices = [e.args[1] for e in post_order(body_of(found)) if isinstance(e, Call) and isinstance(e.target, Slice)]
    starts = [s.elements[0] for s in slices if isinstance(s, Tuple)]
    assert [s.value for s in starts if isinstance(s, Constant)] == [4, 7]
