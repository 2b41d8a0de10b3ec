"""Loops: one iteration after the other, and of iterations that are spread over units, one round of all units.

Where the bounds of a loop differ between units, each runs its own number of iterations: in the rounds that some of
them sit out, these keep what they carry and write nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.participants import elementwise, operand_of
from tilefoundry.evaluator.spread import Spread, Value, lift_index, settled, settled_index
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.ir.verify.spread import loop_result

if TYPE_CHECKING:
    from tilefoundry.evaluator.engine import Engine

Mask = torch.Tensor | None
_CONDITION = TensorType.umat_scalar(DType.bool)


def run_loop(engine: Engine, region: GridRegionExpr) -> Value:
    """The value of a loop: what it carries at the end, or the last value of its body."""
    units = engine.ctx.units
    nest = [region]
    if units is not None and region.spread is not None:
        while (inner := _inner(nest[-1])) is not None:
            nest.append(inner)
    innermost = nest[-1]
    carried = [engine.initial(*pair) for pair in zip(region.carried_args, region.init_args, strict=True)]
    last: Value | None = None
    for indices, mask in _iterations(engine, nest):
        values: dict[Var, Value] = dict(zip((loop.induction_var for loop in nest), indices, strict=True))
        for loop in nest:
            values.update(zip(loop.carried_args, carried, strict=True))
        with engine.frame(values, mask):
            new = [engine.value(value) for value in innermost.yield_values]
            if innermost.body is not None:
                last = engine.value(innermost.body)
        if mask is not None:
            assert units is not None
            pairs = zip(new, carried, strict=True)
            new = [_kept(engine, units, innermost, k, pair, mask) for k, pair in enumerate(pairs)]
        carried = new
    if not region.carried_args:
        if last is None:
            raise EvalError(
                f"the loop over '{region.induction_var.name}' carries nothing and ran no iteration, so it has no value",
                span=span_of(region.metadata),
                remedy="carry the value, from one that it has before the loop",
            )
        return last
    return carried[0] if len(carried) == 1 else tuple(carried)


def _inner(region: GridRegionExpr) -> GridRegionExpr | None:
    """The loop inside that is spread over the same axis; the two are perfectly nested, which the verifier has shown."""
    results = [loop_result(value) for value in region.yield_values]
    found = results[0][0] if results and results[0] is not None else None
    return found if found is not None and found.spread == region.spread else None


def _iterations(engine: Engine, nest: list[GridRegionExpr]) -> Iterator[tuple[tuple[Value, ...], Mask]]:
    """The variables of the loops in each round, and the units that take part where not all do."""
    units = engine.ctx.units
    bounds = [tuple(engine.value(b) for b in (loop.start, loop.extent, loop.step)) for loop in nest]
    differ = any(isinstance(b, Spread) for loop in bounds for b in loop)
    if units is not None and nest[0].spread is not None:
        if differ:
            raise EvalError(
                "the bounds of a loop that is spread over units differ between them",
                remedy="give the loop bounds that are equal on all units",
            )
        ranges = [range(*(int(b) for b in loop)) for loop in bounds]  # type: ignore[call-overload]
        yield from _rounds(engine, units, nest, ranges)
    elif units is not None and differ:
        yield from _own_rounds(engine, units, *bounds[0])
    else:
        for index in range(*(int(b) for b in bounds[0])):  # type: ignore[call-overload]
            yield (index,), None


def _rounds(
    engine: Engine, units: Units, nest: list[GridRegionExpr], ranges: list[range]
) -> Iterator[tuple[tuple[Value, ...], Mask]]:
    """Unit u of E runs the iterations u, u + E, u + 2E, ... of the whole nest."""
    axis = nest[0].spread
    assert axis is not None
    device = engine.ctx.device
    total = 1
    for r in ranges:
        total *= len(r)
    own = units.coordinate(axis, device)
    stride = own.numel()
    for first in range(0, total, stride):
        number = own + first
        mask = number < total if first + stride > total else None
        rest = number.clamp(max=total - 1)
        indices: list[Value] = []
        for r in reversed(ranges):
            indices.append(settled_index(units, r.start + r.step * (rest % len(r))))
            rest = rest // len(r)
        yield tuple(reversed(indices)), _under(engine, mask)


def _own_rounds(
    engine: Engine, units: Units, start: Value, extent: Value, step: Value
) -> Iterator[tuple[tuple[Value, ...], Mask]]:
    """Every unit walks its own bounds; who is done waits."""
    first, end, by = (lift_index(units, b, engine.ctx.device) for b in (start, extent, step))
    index = first
    while bool((running := index < end).any()):
        yield (settled_index(units, torch.where(running, index, first)),), _under(engine, running)
        index = index + by


def _under(engine: Engine, mask: Mask) -> Mask:
    """The units of a round that the loops around it let take part."""
    around = engine.active
    if mask is None or around is None:
        return around if mask is None else mask
    return mask & around


def _kept(
    engine: Engine, units: Units, region: GridRegionExpr, k: int, pair: tuple[Value, Value], mask: torch.Tensor
) -> Value:
    """The new value of a carry for the units that take part, the old one for the others."""
    new, old = pair
    var = region.carried_args[k]
    if new is old or _only_written(region, k):  # a write has left out who takes no part
        return new
    if not isinstance(var.type, TensorType):
        raise EvalError(
            f"'{var.name}' is a tuple, carried by a loop whose bounds differ between units",
            remedy="carry its elements by names of their own",
        )
    condition = settled(units, mask)
    types = (_CONDITION, var.type, var.type)
    extent = engine.ctx.extent
    operands = [operand_of(units, extent, t, v) for t, v in zip(types, (condition, new, old), strict=True)]
    return elementwise(units, extent, lambda v: torch.where(*v), operands, var.type)  # type: ignore[call-overload]


def _only_written(region: GridRegionExpr, k: int) -> bool:
    """Whether a carry changes by `insert_slice` alone."""
    var, value = region.carried_args[k], region.yield_values[k]
    while value is not var:
        result = loop_result(value)
        if result is not None:
            inner, index = result
            if not _only_written(inner, index):
                return False
            value = inner.init_args[index]
        elif isinstance(value, Call) and isinstance(value.target, InsertSlice) and isinstance(value.args[0], Expr):
            value = value.args[0]
        else:
            return False
    return True
