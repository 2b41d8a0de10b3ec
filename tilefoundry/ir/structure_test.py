"""What counts as a difference, and that the first one is named."""

from __future__ import annotations

import dataclasses

import pytest

from tilefoundry.ir import first_difference, structurally_equal, tir
from tilefoundry.ir.core import (
    BindingMetadata,
    Call,
    Constant,
    ExecutionDomainMetadata,
    Expr,
    Function,
    Module,
    ScheduleConstraintMetadata,
    SourceSpanMetadata,
    Tuple,
    Var,
    replace_metadata,
)
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, dim_add
from tilefoundry.ir.hir import BinaryKind, FullLike, GridRegionExpr, Reshape, Unary, UnaryKind
from tilefoundry.ir.samples import CTA, CTAS, THREADS, attention, binary, call
from tilefoundry.ir.types import StorageKind, TensorType, make_tensor_type
from tilefoundry.target import CpuTarget

T = make_tensor_type((8, 8), "f32")


def exp(x: Expr) -> Call:
    return call(Unary(UnaryKind.EXP), x)


def test_programs_built_twice_are_equal() -> None:
    assert structurally_equal(attention(), attention())
    assert "attribute" not in str(first_difference(attention(), attention(scale=0.25)))
    assert first_difference(attention(), attention(scale=0.25))


def test_spans_do_not_count() -> None:
    x = Var("x", T)
    located = Call(Unary(UnaryKind.EXP), (x,), metadata=(SourceSpanMetadata("a.py", 3, 1, 3, 2),))
    assert structurally_equal(located, exp(x))


@pytest.mark.parametrize(
    "record",
    [
        BindingMetadata("y"),
        ExecutionDomainMetadata((THREADS,)),
        ScheduleConstraintMetadata(storage=StorageKind.SMEM),
    ],
    ids=lambda record: type(record).__name__,
)
def test_what_an_author_wrote_counts(record: object) -> None:
    x = Var("x", T)
    noted = replace_metadata(exp(x), record)  # type: ignore[type-var]
    assert type(record).__name__ in str(first_difference(noted, exp(x)))
    assert noted == exp(x), "equality of expressions leaves metadata out"


@pytest.mark.parametrize(
    ("a", "b"),
    [(0.0, -0.0), (1, 1.0), (True, 1), (float("inf"), float("-inf")), (0.1, 0.1 + 2**-56), (float("nan"), 0.0)],
)
def test_numbers_are_compared_exactly(a: float, b: float) -> None:
    kind = TensorType.scalar("f64")
    assert first_difference(Constant(a, kind), Constant(b, kind))
    assert structurally_equal(Constant(a, kind), Constant(a, kind))


def test_nan_is_equal_to_itself() -> None:
    x = Var("x", T)
    one, other = (call(FullLike(float(text)), x) for text in ("nan", "nan"))
    assert structurally_equal(one, other)


def test_sharing_counts_but_not_of_tuples_and_constants() -> None:
    x = Var("x", T)
    shared, e = exp(x), exp(x)
    once, twice = binary(BinaryKind.ADD, shared, shared), binary(BinaryKind.ADD, e, exp(x))
    assert "which value is used" in str(first_difference(once, twice))
    assert first_difference(twice, once)
    two = Tuple((x,))
    assert structurally_equal(Tuple((x, x)), Tuple((x, x)))
    assert structurally_equal(two, Tuple((x,)))


def test_variables_correspond_by_place_and_name() -> None:
    def fn(name: str, other: str, swap: bool = False) -> Function:
        a, b = Var(name, T), Var(other, T)
        body = binary(BinaryKind.SUB, b, a) if swap else binary(BinaryKind.SUB, a, b)
        return Function("f", (a, b), body, T)

    assert structurally_equal(fn("a", "b"), fn("a", "b"))
    assert "parameters" in str(first_difference(fn("a", "b"), fn("a", "c")))
    assert "which value is used" in str(first_difference(fn("a", "b"), fn("a", "b", swap=True)))


def test_a_weight_is_no_activation() -> None:
    def fn(is_const: bool) -> Function:
        x = Var("x", T, is_const)
        return Function("f", (x,), exp(x), T)

    assert structurally_equal(fn(True), fn(True))
    assert "is_const" in str(first_difference(fn(True), fn(False)))


def test_extents_of_loop_variables_are_compared_whatever_their_age() -> None:
    def loop(order: tuple[str, str]) -> Expr:
        made = {name: Var("i", INDEX_TYPE) for name in order}  # of one name: normal forms order them by age
        i, j = made["outer"], made["inner"]
        x = Var("x", T)
        c, d = Var("c", T), Var("d", T)
        inner = GridRegionExpr(j, (d,), (c,), None, (exp(d),), dim_add(dim_add(i, j), 1) if False else 4, 1, i)
        return GridRegionExpr(i, (c,), (x,), None, (inner,), 8)

    assert structurally_equal(loop(("outer", "inner")), loop(("inner", "outer")))


def test_deep_programs_are_compared_without_recursion() -> None:
    def deep(n: int, last: UnaryKind) -> Expr:
        x: Expr = Var("x", T)
        for _ in range(n):
            x = binary(BinaryKind.ADD, x, x)
        return call(Unary(last), x)

    assert structurally_equal(deep(5000, UnaryKind.EXP), deep(5000, UnaryKind.EXP))
    assert first_difference(deep(5000, UnaryKind.EXP), deep(5001, UnaryKind.EXP))
    assert len(str(first_difference(deep(5000, UnaryKind.EXP), deep(5001, UnaryKind.EXP)))) < 2000


def module(**changes: object) -> Module:
    x = Var("x", make_tensor_type((DimVar("N", 1, 9), 8), "f32"))
    fields: dict[str, object] = {
        "name": "m",
        "functions": (Function("f", (x,), exp(x), x.type),),
        "entry": "f",
        "topologies": (CTA,),
        "methods": {"forward": _step},
    }
    return Module(**{**fields, **changes})  # type: ignore[arg-type]


def _scaled(by: object) -> Module:
    def forward(self: object, x: object) -> object:
        return self, x, by

    return module(methods={"forward": forward})


def test_what_methods_capture_counts_at_any_depth() -> None:
    def extent(innermost: int) -> Expr:
        dim: Expr | int = innermost
        for _ in range(6):
            dim = (DimVar("n", 1, 9) + dim) // 2  # type: ignore[operator]
        assert isinstance(dim, Expr)
        return dim

    for make in (extent, lambda k: (1, extent(k)), lambda k: make_tensor_type((extent(k),), "f32")):
        assert structurally_equal(_scaled(make(3)), _scaled(make(3)))
        assert "method 'forward'" in str(first_difference(_scaled(make(3)), _scaled(make(4))))


def _step(self: object, x: object) -> object:
    return x


def _other_step(self: object, x: object) -> object:
    return self


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "n"}, "name"),
        ({"entry": None}, "entry"),
        ({"target": CpuTarget()}, "target"),
        ({"topologies": ()}, "topologies"),
        ({"functions": ()}, "functions"),
        ({"modules": (Module("c", ()),)}, "children"),
        ({"methods": {}}, "methods"),
        ({"methods": {"forward": _other_step}}, "method 'forward'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_fields_of_modules_count(changes: dict[str, object], words: str) -> None:
    assert structurally_equal(module(), module())
    assert words in str(first_difference(module(), module(**changes)))


def test_a_child_under_its_owner_has_its_context() -> None:
    owned = Module("root", (), modules=(module(topologies=None).renamed("c"),), topologies=(CTA,)).child_named("c")
    assert owned is not None
    assert structurally_equal(owned, module().renamed("c"))
    inherits, declares = (Module("r", (), modules=(module(topologies=t),)) for t in (None, ()))
    assert "topologies" in str(first_difference(inherits, declares))


def test_attributes_and_kernels_are_compared_by_their_fields() -> None:
    x = Var("x", T)
    assert "new_shape" in str(first_difference(call(Reshape((64,)), x), call(Reshape((4, 16)), x)))
    r = Var("r", T)

    def kernel(value: float) -> tir.PrimFunction:
        fill = tir.Evaluate(tir.Fill(value), (r,))
        body = tir.LetStmt(r, Call(tir.AllocTensor(T), (), T), tir.Sequential((fill, fill)))
        return tir.PrimFunction("k", (x,), body)

    assert structurally_equal(kernel(0.0), kernel(0.0))
    assert "-0.0" in str(first_difference(kernel(0.0), kernel(-0.0)))
    assert first_difference(kernel(0.0), dataclasses.replace(kernel(0.0), name="other"))


def test_mesh_scopes_of_other_order_differ() -> None:
    x = Var("x", T)
    a, b = (replace_metadata(exp(x), ExecutionDomainMetadata(s)) for s in ((CTAS, THREADS), (THREADS, CTAS)))
    assert not structurally_equal(a, b)
