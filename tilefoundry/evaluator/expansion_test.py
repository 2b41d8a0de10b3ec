"""Which programs are evaluated over units, over how many, and with the same result as on logical tensors."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Mesh, P, ReduceKind, Tensor, Topology, tf, tile
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.expansion import asks_for_units
from tilefoundry.evaluator.placement import placement_of
from tilefoundry.evaluator.testing import assert_same
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.shard import Dynamic, Layout, ShardLayout, Split
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python import func, module

G, N = DimVar("G", 1, 100), DimVar("N", 1, 1000)
THREAD = Topology("thread", 8)


def launch(ctas: int) -> Mesh:
    return Mesh((Topology("cta", ctas),), Layout((ctas,)))


@func(topologies=(Topology("cta", 3), THREAD))
def placed(a: Tensor[(N, 16), "f32"], b: Tensor[(16, 6), "f32"]) -> Tensor[(N, 6), "f32"]:
    with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:
        out = tf.zeros(Tensor[(N, 6), "f32"])
        for i in tile(N, 4) @ c.c:
            left = tf.reshard(a[i], (4 @ m.w, 16), "rmem")
            left = tf.reshard(left / tf.reduce(left, (0, 1), True, ReduceKind.MAX), (4, 16 @ m.w), "rmem")
            terms = left @ tf.reshard(b, (16 @ m.w, 6), "rmem")
            total = tf.reshard(terms * 2.0, (4, 6 @ m.l), "rmem")
            out = tf.insert_slice(out, tf.reshard(total, (4, 6), "gmem"), (i, 0))
        return out


@pytest.mark.parametrize("n", [1, 3, 4, 12, 13, 50])
def test_what_needs_no_units_has_the_same_value_over_units(n: int) -> None:
    assert not asks_for_units(placed.entry_function().body)
    a, b = torch.rand(n, 16) + 1, torch.rand(16, 6)
    mesh = Mesh((Topology("cta", 3), THREAD), Layout((3, 8)))
    expected = torch.cat([2 * (part / part.max()) @ b.double() for part in a.double().split(4)])
    for precision, tolerance in (("f64", 1e-14), ("declared", 1e-6)):
        for value in (
            evaluate(placed, a, b, precision=precision),
            evaluate(placed, a, b, precision=precision, mesh=mesh),
        ):
            torch.testing.assert_close(value.double(), expected, rtol=tolerance, atol=0)


def test_a_mesh_agrees_with_the_program() -> None:
    a, b = torch.rand(4, 16), torch.rand(16, 6)
    with pytest.raises(EvalError, match="level 'cta' has 4 units, the program declares 3"):
        evaluate(placed, a, b, mesh=launch(4))
    with pytest.raises(EvalError, match="has the size G, expected an int"):
        evaluate(placed, a, b, mesh=Mesh((Topology("cta", G),), Layout((G,))))
    with pytest.raises(TypeError, match="mesh must be a Mesh, got int"):
        evaluate(placed, a, b, mesh=3)


@func(topologies=(Topology("cta", G), THREAD))
def launched(x: Tensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
    with Mesh(("cta",), (G,), ("c",)) as c:
        out = tf.zeros(Tensor[(N,), "f32"])
        for i in tile(N, 2) @ c.c:
            out = tf.insert_slice(out, x[i] + tf.cast(c.c, "f32"), (i,))
        return out


def test_a_mesh_gives_the_size_of_a_launched_level() -> None:
    x = torch.zeros(9)
    for ctas in (1, 2, 5, 8):
        value = evaluate(launched, x, mesh=launch(ctas))
        assert_same(value, (torch.arange(9) // 2 % ctas).float())
    with pytest.raises(EvalError, match="number of units G is provided by a launch") as caught:
        evaluate(launched, x)
    assert "mesh=Mesh(" in caught.value.remedy
    with pytest.raises(EvalError, match=r"level 'cta' has 100 units, outside its envelope \[1, 100\)"):
        evaluate(launched, x, mesh=launch(100))


CTAS = Mesh((Topology("cta", 4),), Layout((4,)), ("c",))
BY_ROWS = ShardLayout(Layout((N, 2), (2, 1)), (Split(0),), CTAS)
UNKNOWN = ShardLayout(Layout((8, 2), (2, 1)), (Dynamic(),), CTAS)


def test_elements_that_nobody_owns() -> None:
    @func(topologies=(Topology("cta", 4),))
    def f(x: Tensor[(N, 2), "f32", BY_ROWS]) -> Tensor[(N, 2), "f32"]:
        with Mesh(("cta",), (4,), ("c",)) as c:
            return tf.reshard(x + tf.cast(c.c, "f32"), (N, 2), "gmem")

    assert_same(evaluate(f, torch.zeros(8, 2)), torch.arange(8).div(2, rounding_mode="floor").float().repeat(2, 1).T)
    with pytest.raises(
        EvalError, match="mode 0 of extent 9 does not divide among 4 units: the last 1 element.* nobody"
    ):
        evaluate(f, torch.zeros(9, 2))
    with pytest.raises(EvalError, match="placement is Dynamic"):
        placement_of(Units([CTAS], int), TensorType((8, 2), DType.f32, UNKNOWN), (8, 2), int)


def test_copies_that_are_nan_agree() -> None:
    @func(topologies=(THREAD,))
    def f(x: Tensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
        with Mesh(("thread",), (4, 2), ("w", "l")) as m:
            return x * (tf.cast(m.w, "f32") + 1.0)

    nan = torch.tensor([torch.nan, 0.0])
    assert_same(evaluate(f, nan), nan)
    with pytest.raises(EvalError, match=r"copies disagree at element \(1,\): thread 0 holds 1.0, thread 2 holds 2.0"):
        evaluate(f, torch.tensor([torch.nan, 1.0]))


def test_the_terms_of_an_input_are_unknown() -> None:
    m = Mesh((THREAD,), Layout((4, 2), (2, 1)), ("w", "l"))

    @func(topologies=(THREAD,))
    def f(x: Tensor[(8,), "f32", ((8,), {m.w @ P("sum")}), "rmem"]) -> Tensor[(8,), "f32"]:
        return tf.reshard(x, (8,), "gmem")

    with pytest.raises(EvalError, match="input 'x' is Partial(.|\n)*declare it complete"):
        evaluate(f, torch.zeros(8), mesh=Mesh((THREAD,), Layout((8,))))


def test_meshes_that_do_not_nest() -> None:
    @func(topologies=(Topology("thread", 12),))
    def f(x: Tensor[(12,), "f32"]) -> Tensor[(12,), "f32"]:
        with Mesh(("thread",), (3, 4), ("a", "b")) as m:
            y = tf.reshard(tf.reshard(x, (12 @ (m.a, m.b),), "rmem") + tf.cast(m.b, "f32"), (12,), "gmem")
        with Mesh(("thread",), (2, 6), ("c", "d")) as m:
            return tf.reshard(tf.reshard(y, (12 @ (m.c, m.d),), "rmem") + tf.cast(m.d, "f32"), (12,), "gmem")

    @func(topologies=(THREAD,))
    def g(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        with Mesh(("thread",), (4, 2), ("w", "l"))[2:4] as m:
            y = x + tf.cast(m.w, "f32")
        with Mesh(("thread",), (8,), ("t",)) as m:
            return y + tf.cast(m.t, "f32")

    with pytest.raises(EvalError, match="count the units of 'thread' in steps of 4 and of 6, which do not nest"):
        evaluate(f, torch.zeros(12))
    with pytest.raises(EvalError, match="coordinates of a mesh and of a slice of it") as caught:
        evaluate(g, torch.zeros(8))
    assert caught.value.span is not None


def test_variants() -> None:
    @module(entry="f", topologies=(THREAD,))
    class Program:
        @func
        def f(x: Tensor[(N,), "f32"]) -> Tensor[(8, N), "f32"]:
            pass

        @f.specialize(DimVarRangePat("N", 1, 5))
        def short(x: Tensor[(N,), "f32"]) -> Tensor[(8, N), "f32"]:
            with Mesh(("thread",), (8,), ("t",)) as m:
                return tf.insert_slice(tf.zeros(Tensor[(8, N), "f32"]), x + tf.cast(m.t, "f32"), (m.t, 0))

        @f.specialize(DimVarRangePat("N", 5, 1000))
        def long(x: Tensor[(N,), "f32"]) -> Tensor[(8, N), "f32"]:
            return tf.zeros(Tensor[(8, N), "f32"]) + x

    short, long = torch.rand(3), torch.rand(6)
    assert_same(evaluate(Program, short), short + torch.arange(8.0)[:, None])
    assert_same(evaluate(Program, long), long.expand(8, 6).clone())


def test_functions_and_children() -> None:
    @module(entry="scale")
    class Child:
        @func
        def scale(x: Tensor[(4,), "f32"], g: ConstTensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
            return x * g

    @module(entry="f", topologies=(THREAD,))
    class Program:
        child = Child

        @func
        def plus(x: Tensor[(4,), "f32"], y: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
            return x + y

        @func
        def f(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
            with Mesh(("thread",), (4, 2), ("w", "l")) as m:
                r = tf.reshard(x, (4 @ m.w,), "rmem")
                y = tf.reshard(r + tf.cast(m.w, "f32"), (4,), "gmem")
            return plus(child(y), y)

        @func
        def g(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
            with Mesh(("thread",), (4, 2), ("w", "l")) as m:
                return child(x + tf.cast(m.w, "f32"))

    x, weight = torch.rand(4), torch.rand(4)
    children = {"child": lambda y: y * weight}
    y = x + torch.arange(4.0)
    assert_same(evaluate(Program, x, children=children), y * weight + y)
    with pytest.raises(EvalError, match="activation 'x'.*: copies disagree at element"):
        evaluate(Program.function_named("g")[0], x, children=children)


def test_loops_keep_what_they_carry_for_units_that_are_done() -> None:
    @func(topologies=(THREAD,))
    def f(x: Tensor[(8,), "f32"]) -> tuple[Tensor[(8,), "f32"], Tensor[(8,), "i64"]]:
        with Mesh(("thread",), (8,), ("t",)) as m:
            r = tf.reshard(x, (8 @ m.t,), "rmem")
            n = tf.reshard(tf.zeros(Tensor[(1,), "i64"]), (1,), "rmem")
            for i in range(m.t):
                for j in range(i, m.t, 2):
                    r = r * 2.0 + 1.0
                    n = n + j
            out = tf.insert_slice(tf.zeros(Tensor[(8,), "i64"]), n, (m.t,))
            return tf.reshard(r, (8,), "gmem"), out

    x = torch.rand(8)
    expected, counts = x.clone(), torch.zeros(8, dtype=torch.int64)
    for t in range(8):
        for i in range(t):
            for j in range(i, t, 2):
                expected[t] = expected[t] * 2 + 1
                counts[t] += j
    value, count = evaluate(f, x)
    assert_same(value, expected)
    assert_same(count, counts)


def test_a_partial_that_stays_partial() -> None:
    @func(topologies=(THREAD,))
    def f(x: Tensor[(4, 8), "f32"]) -> Tensor[(4, 4), "f32"]:
        with Mesh(("thread",), (4, 2), ("w", "l")) as m:
            left = tf.reshard(x, (4 @ m.w, 8 @ m.l), "rmem")
            right = tf.reshard(tf.transpose(x, perm=(1, 0)), (8 @ m.l, 4), "rmem")
            terms = left @ right
            kept = tf.reshard(terms, ((4 @ m.w, 4), {m.l @ P("sum")}), "rmem")
            return tf.reshard(kept * tf.cast(m.l + 1, "f32"), (4, 4), "gmem")

    x = torch.rand(4, 8)
    torch.testing.assert_close(evaluate(f, x), x[:, :4] @ x[:, :4].T + 2 * x[:, 4:] @ x[:, 4:].T)
