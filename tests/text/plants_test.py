"""What an author wrote is part of a program: dropping any of it changes the script, what is read back, and the key."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from tests.text.programs import PRELUDE
from tests.text.reading import assert_round_trip, execute, key_text
from tilefoundry import as_script
from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir import Call, Constant, Expr, Function, GridRegionExpr, Module, first_difference
from tilefoundry.ir.core import (
    BindingMetadata,
    ExecutionDomainMetadata,
    IRMetadata,
    ScheduleConstraintMetadata,
    binding_name,
    get_metadata,
    remove_metadata,
    replace_metadata,
)
from tilefoundry.ir.hir import FullLike, Reduce, Reshard
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.shard import Layout
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind

SOURCE = """\
@module(entry="f", target=CudaTarget("nvidia.h200_sxm"), topologies=(Topology("cta", 4), Topology("thread", 32)))
class Planted:
    @func
    def f(x: Tensor[(M, 64), "f32"]) -> Tensor[(M, 64), "f32"]:
        with Mesh(("cta",), (4,), ("c",)) as cta, Mesh(("thread",), (32,), ("t",)) as t:
            out = tf.zeros(Tensor[(M, 64), "f32"])
            for i in tile(M, 4) @ cta.c:
                staged: where(storage="smem", layout=(4, 32 @ t.t, 2)) = tf.exp(x[i])
                total = tf.reshard(x[i], Layout((4, 64), (64, 1)), "smem")
                zero = tf.full_like(total, 0.0)
                total = total + tf.reduce(total + zero, (-1,), kind=ReduceKind.SUM)
                out = tf.insert_slice(out, staged * 0.5, (i, 0))
                out = tf.insert_slice(out, total + zero, (i, 0))
        return out
"""


def planted() -> Module:
    module = execute(PRELUDE + SOURCE)["Planted"]
    assert isinstance(module, Module)
    return module


def edited(module: Module, chosen: Callable[[Expr], bool], change: Callable[[Expr], Expr]) -> Module:
    """The module with the first value that is chosen changed."""
    (function,) = module.functions
    assert isinstance(function, Function) and function.body is not None
    node = next(e for e in post_order(function.body) if chosen(e))
    body = Rewriter({}, parts=((node, change(node)),)).expr(function.body)
    return dataclasses.replace(module, functions=(dataclasses.replace(function, body=body),))


def named(name: str) -> Callable[[Expr], bool]:
    return lambda e: binding_name(e) == name


def is_op(kind: type) -> Callable[[Expr], bool]:
    return lambda e: isinstance(e, Call) and isinstance(e.target, kind)


def has(kind: type[IRMetadata]) -> Callable[[Expr], bool]:
    return lambda e: get_metadata(e, kind) is not None


def retargeted(target: object) -> Callable[[Expr], Expr]:
    def change(expr: Expr) -> Expr:
        assert isinstance(expr, Call)
        return Call(target, expr.args, metadata=expr.metadata)  # type: ignore[arg-type]

    return change


PLANTS: dict[str, tuple[Callable[[Expr], bool], Callable[[Expr], Expr]]] = {
    "a mesh scope is dropped": (named("zero"), lambda e: remove_metadata(e, ExecutionDomainMetadata)),
    "an outer mesh scope is dropped": (
        named("zero"),
        lambda e: replace_metadata(
            e,
            ExecutionDomainMetadata(get_metadata(e, ExecutionDomainMetadata).scopes[1:]),  # type: ignore[union-attr]
        ),
    ),
    "a schedule constraint is dropped": (
        has(ScheduleConstraintMetadata),
        lambda e: remove_metadata(e, ScheduleConstraintMetadata),
    ),
    "the storage of a constraint": (
        has(ScheduleConstraintMetadata),
        lambda e: replace_metadata(e, ScheduleConstraintMetadata(storage=StorageKind.SMEM)),
    ),
    "a binding name is dropped": (named("staged"), lambda e: remove_metadata(e, BindingMetadata)),
    "a binding name is another": (named("zero"), lambda e: replace_metadata(e, BindingMetadata("nought"))),
    "an explicit layout is dropped": (
        lambda e: is_op(Reshard)(e) and binding_name(e) == "total",
        retargeted(Reshard(Layout((4, 64)), StorageKind.SMEM)),
    ),
    "an explicit layout is another": (
        lambda e: is_op(Reshard)(e) and binding_name(e) == "total",
        retargeted(Reshard(Layout((4, 64), (1, 4)), StorageKind.SMEM)),
    ),
    "the sign of a zero": (is_op(FullLike), retargeted(FullLike(-0.0))),
    "an attribute": (is_op(Reduce), retargeted(Reduce((-1,)))),
    "a literal": (
        lambda e: isinstance(e, Constant) and e.value == 0.5,
        lambda e: Constant(0.5000000000000001, e.type),
    ),
    "a loop that is spread no more": (
        lambda e: isinstance(e, GridRegionExpr),
        lambda e: dataclasses.replace(e, spread=None),  # type: ignore[type-var]
    ),
}


@pytest.mark.parametrize("plant", sorted(PLANTS))
def test_a_plant_is_seen(plant: str) -> None:
    module = planted()
    changed = edited(module, *PLANTS[plant])
    assert first_difference(module, changed) is not None
    assert first_difference(changed, module) is not None
    assert key_text(changed) != key_text(module)
    try:
        script = as_script(changed)
    except ExtractError as error:  # said by name, not printed as something else
        assert "schedule constraint on a value without name" in error.message, error  # noqa: PT017
    else:
        assert script != as_script(module)
        assert_round_trip(changed)


def test_the_program_itself_is_sound() -> None:
    assert_round_trip(planted())
