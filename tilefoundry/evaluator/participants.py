"""One op where units hold different values.

The op is evaluated on logical tensors, mapped over the unit axes along which operands vary. That leaves the unit axes
that split one operand while another varies along them: there each owner's elements meet the value that *this* owner
holds. An elementwise op computes on factors, where the two line up; a matrix product on what each unit owns; of any
other op the result is computed for every unit, and each element is taken from its owner. Of an op that leaves terms,
each unit computes its own from what it owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tilefoundry.evaluator.agreement import agreed
from tilefoundry.evaluator.batched import Evaluate, mapped
from tilefoundry.evaluator.placement import Placement, joined, owned, ownership, picked, placement_of
from tilefoundry.evaluator.spread import Spread, Value, lift, settled, spreads
from tilefoundry.evaluator.units import Extent, Units
from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.hir import MatMul
from tilefoundry.ir.shard import Partial, ShardLayout
from tilefoundry.ir.types import INDEX_TYPE, TensorType


@dataclass(frozen=True)
class Operand:
    """An operand of an op: its type, its value, and the unit axes that split it."""

    type: TensorType
    value: Value
    owners: frozenset[int]


def terms_of(units: Units, call: Call) -> frozenset[int]:
    """The unit axes along which an op leaves terms that no operand has: a product whose inner axis is split, say."""
    found: set[int] = set()
    for leaf in leaves(call.type):
        if isinstance(leaf.layout, ShardLayout):
            for axis, attr in enumerate(leaf.layout.attrs):
                if isinstance(attr, Partial) and not any(_is_partial(arg, leaf.layout, axis) for arg in call.args):
                    found.update(units.of(leaf.layout.mesh, axis))
    return frozenset(found)


def evaluate_spread(units: Units, extent: Extent, call: Call, values: tuple[Value, ...], evaluate: Evaluate) -> Value:
    """The value of an op on operands that may differ between units.

    Args:
        evaluate: the op's evaluation on logical tensors.

    Raises:
        EvalError: the op needs one value where units hold several; or its evaluation cannot be mapped.
    """
    assert isinstance(call.target, Op)
    operands = [_operand(units, extent, arg, value) for arg, value in zip(call.args, values, strict=True)]
    varying = {u for value in values for s in spreads(value) for u in s.varying}
    contested = frozenset(u for o in operands for u in o.owners & varying)
    terms = terms_of(units, call)
    results = leaves(call.type)
    if call.target.category == "elementwise" and len(results) == 1:
        return elementwise(units, extent, evaluate, operands, results[0])
    if (contested or terms) and isinstance(call.target, MatMul):
        return _on_parts(units, extent, call, operands, evaluate, contested | terms)
    if terms:
        values = (_masked(units, extent, call, operands[0], terms), *values[1:])
        contested -= terms
    kept = frozenset.intersection(*(_owners(units, extent, leaf) for leaf in results)) if results else frozenset()
    one = contested - kept
    if one:
        values = tuple(_one_copy(units, call, o, one) for o in operands)
    result = mapped(units, call.target.op_name, evaluate, values)
    return _from_owners(units, extent, call.type, result, contested & kept)


def elementwise(
    units: Units, extent: Extent, evaluate: Evaluate, operands: Sequence[Operand], result: TensorType
) -> Value:
    """An elementwise op: all operands viewed by the factors of the result, where torch's broadcasting lines them up."""
    shape = tuple(extent(n) for n in result.shape)
    placement = placement_of(units, result, shape, extent)
    parts = tuple(_by_factors(units, placement, o) for o in operands)
    data = evaluate(parts)
    assert isinstance(data, torch.Tensor)
    full = tuple(data.shape[: units.rank]) + tuple(n for _, n in placement.flat)
    return settled(units, data.expand(full).reshape(full[: units.rank] + shape))


def leaves(type_: object) -> tuple[TensorType, ...]:
    """The tensor types of a result."""
    if isinstance(type_, TupleType):
        return tuple(leaf for field in type_.fields for leaf in leaves(field))
    return (type_,) if isinstance(type_, TensorType) else ()


def operand_of(units: Units, extent: Extent, type_: TensorType, value: Value) -> Operand:
    """An operand from its type and value."""
    return Operand(type_, value, _owners(units, extent, type_))


def _operand(units: Units, extent: Extent, arg: Expr | int, value: Value) -> Operand:
    type_ = INDEX_TYPE if isinstance(arg, int) else arg.type
    if not isinstance(type_, TensorType):  # a tuple of index scalars, say
        return Operand(INDEX_TYPE, value, frozenset())
    return operand_of(units, extent, type_, value)


def _owners(units: Units, extent: Extent, type_: TensorType) -> frozenset[int]:
    return placement_of(units, type_, tuple(extent(n) for n in type_.shape), extent).owners()


def _by_factors(units: Units, placement: Placement, operand: Operand) -> Value:
    """An operand, right-aligned, on the factors of the result; what it varies along an owner goes to its factor."""
    value = operand.value
    if isinstance(value, (int, float)):
        return value
    data = lift(units, value)
    shape = tuple(data.shape[units.rank :])
    split: list[int] = []
    if shape == placement.shape:
        split = [n for _, n in placement.flat]
    else:  # of lower rank, or of extent 1 along some axes
        aligned = (1,) * (len(placement.factors) - len(shape)) + shape
        for n, factors in zip(aligned, placement.factors, strict=True):
            split += [1] * len(factors) if n == 1 else [m for _, m in factors]
    data = data.reshape(tuple(data.shape[: units.rank]) + tuple(split))
    for i, (u, n) in enumerate(placement.flat):
        if u is not None and data.shape[u] > 1:
            assert data.shape[units.rank + i] == 1 or n == 1, "split and varying along one unit axis"
            data = data.transpose(u, units.rank + i)
    return data


def _on_parts(
    units: Units, extent: Extent, call: Call, operands: list[Operand], evaluate: Evaluate, axes: frozenset[int]
) -> Value:
    """The op on what each unit owns along some axes; its result becomes logical again where they split it."""
    parts = []
    for o in operands:
        data = lift(units, o.value)
        placement = placement_of(units, o.type, data.shape[units.rank :], extent)
        parts.append(settled(units, owned(units, placement, data, axes & o.owners)))
    assert isinstance(call.target, Op) and isinstance(call.type, TensorType)
    result = mapped(units, call.target.op_name, evaluate, tuple(parts))
    placement = placement_of(units, call.type, tuple(extent(n) for n in call.type.shape), extent)
    assert isinstance(result, (torch.Tensor, Spread))
    data = lift(units, result)
    return settled(units, joined(units, placement, data, axes & placement.owners()))


def _masked(units: Units, extent: Extent, call: Call, operand: Operand, axes: frozenset[int]) -> Value:
    """The operand in which a sum is linear, for each unit with zeros for what it does not own.

    Such are the input of a convolution and the tensor that rows are taken from; with it, each unit computes its term.
    """
    assert axes <= operand.owners, call  # of every op but a product, the first operand's split makes the terms
    data = lift(units, operand.value)
    placement = placement_of(units, operand.type, data.shape[units.rank :], extent)
    mask = ownership(units, placement, axes, data.device)
    return settled(units, torch.where(mask, data, torch.zeros_like(data)))


def _from_owners(units: Units, extent: Extent, type_: object, value: Value, axes: frozenset[int]) -> Value:
    if isinstance(value, tuple) and isinstance(type_, TupleType):
        pairs = zip(type_.fields, value, strict=True)
        return tuple(_from_owners(units, extent, field, part, axes) for field, part in pairs)
    if not axes or not isinstance(value, Spread) or not isinstance(type_, TensorType):
        return value
    placement = placement_of(units, type_, value.data.shape[units.rank :], extent)
    return settled(units, picked(units, placement, value.data, axes))


def _one_copy(units: Units, call: Call, operand: Operand, axes: frozenset[int]) -> Value:
    if not isinstance(operand.value, Spread):
        return operand.value
    assert isinstance(call.target, Op)
    name = binding_name(call)
    what = f"{call.target.op_name}{f' ({name})' if name else ''} combines what several units own with one operand"
    return settled(units, agreed(units, operand.value.data, axes, what))


def _is_partial(arg: Expr | int, like: ShardLayout, axis: int) -> bool:
    layout = arg.type.layout if isinstance(arg, Expr) and isinstance(arg.type, TensorType) else None
    return isinstance(layout, ShardLayout) and layout.mesh == like.mesh and isinstance(layout.attrs[axis], Partial)
