"""The layout of a result, placed or not, by naming the dimensions that the axes of its operands are.

What type rules use; the derivation of placements is `derive_output_shard_layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilefoundry.ir.core.op import TypeContext
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.derive import PartialRule, derive_output_shard_layout, no_partial
from tilefoundry.ir.hir.fresh import fresh_plain, lies_apart
from tilefoundry.ir.hir.relation import Relation
from tilefoundry.ir.types import AnyLayout, StorageKind, TensorType

Label = int | None


@dataclass(frozen=True, slots=True)
class Placed:
    """An operand and the dimension that each of its axes stands for; None for one that is broadcast from extent 1."""

    name: str
    type: TensorType
    labels: tuple[Label, ...]


def propagate(
    ctx: TypeContext,
    operands: Sequence[Placed],
    out_labels: Sequence[Label],
    out_shape: Sequence[Dim],
    storage: StorageKind,
    *,
    partial_rule: PartialRule = no_partial,
    reduced_is_partial: bool = False,
    alike: bool = False,
) -> AnyLayout | None:
    """The layout of a result.

    Args:
        out_labels: the dimension of each result axis; None for an axis that no operand places.
        partial_rule, alike: as `derive_output_shard_layout` takes them.
        reduced_is_partial: a split dimension that the result lacks leaves Partial("sum"), not Broadcast.
    """
    types = [op.type for op in operands]
    relation = Relation(tuple(op.labels for op in operands), tuple(out_labels), tuple(op.name for op in operands))
    reduced = {label for op in operands for label in op.labels if label is not None and label not in out_labels}
    layout = derive_output_shard_layout(
        types,
        relation,
        out_shape,
        partial_reduction_dims=reduced if reduced_is_partial else (),
        complete_reduction_dims=() if reduced_is_partial else reduced,
        fresh_strides=storage,
        partial_rule=partial_rule,
        alike=alike,
    )
    if layout is not None:
        return layout
    open_ = all(t.layout is None or not t.rank for t in types) and not lies_apart(storage)
    return None if open_ else fresh_plain(out_shape, storage)
