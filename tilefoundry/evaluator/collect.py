"""What one logical value the units hold together: reshards and results."""

from __future__ import annotations

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator.agreement import agreed, completed
from tilefoundry.evaluator.spread import Spread, Value, settled
from tilefoundry.evaluator.units import Units
from tilefoundry.ir.core.expr import Expr, Tuple
from tilefoundry.ir.core.metadata import span_of
from tilefoundry.ir.shard import Partial, ShardLayout
from tilefoundry.ir.types import StorageKind, TensorType

_GLOBAL = (StorageKind.GMEM, StorageKind.HOST)
_OF_A_CTA = (StorageKind.SMEM, StorageKind.TMEM)


def sharing(units: Units, storage: StorageKind) -> frozenset[int]:
    """The unit axes whose units have one memory of this kind between them."""
    if storage in _GLOBAL:
        return frozenset(range(units.rank))
    return units.of_levels(lambda level: level != "cta") if storage in _OF_A_CTA else frozenset()


def resharded(units: Units, value: Value, source: TensorType, target: TensorType, what: str) -> Value:
    """A value under another layout: terms are summed, copies collected; who owns an element is no part of a value.

    Units that neither layout names keep what is theirs: a CTA its tile while the tile is dealt out to threads.

    Raises:
        EvalError: copies that are collected disagree.
    """
    if not isinstance(value, Spread):
        return value
    data = value.data
    kept: set[int] = set()
    if isinstance(source.layout, ShardLayout):
        mesh = source.layout.mesh
        same = isinstance(target.layout, ShardLayout) and target.layout.mesh == mesh
        for axis, attr in enumerate(source.layout.attrs):
            if not isinstance(attr, Partial):
                data = agreed(units, data, units.of(mesh, axis), what)
            elif same and isinstance(target.layout, ShardLayout) and target.layout.attrs[axis] == attr:
                kept.update(units.of(mesh, axis))
            else:
                data = completed(data, units.of(mesh, axis), attr.reduction)
    together = sharing(units, target.storage) if target.storage in _OF_A_CTA else frozenset()
    if isinstance(target.layout, ShardLayout):
        together |= frozenset(units.of_mesh(target.layout.mesh))
    return settled(units, agreed(units, data, sorted(together - kept), what))


def collected(units: Units, value: Value, expr: Expr | int, what: str) -> Value:
    """The one value that all units hold of a result or an argument.

    Raises:
        EvalError: copies disagree; located where the value was written.
    """
    if isinstance(value, tuple):
        parts = expr.elements if isinstance(expr, Tuple) else (expr,) * len(value)
        return tuple(collected(units, v, e, f"{what}[{k}]") for k, (v, e) in enumerate(zip(value, parts, strict=True)))
    if not isinstance(value, Spread):
        return value
    try:
        return settled(units, agreed(units, value.data, value.varying, what))
    except EvalError as error:
        raise error.at(span_of(expr.metadata) if isinstance(expr, Expr) else None) from None


def check_complete(value: Expr | int, what: str) -> None:
    """Refuses a value that leaves the function as terms which nothing sums.

    Raises:
        EvalError: it is Partial.
    """
    if isinstance(value, Tuple):
        for k, part in enumerate(value.elements):
            check_complete(part, f"{what}[{k}]")
    elif isinstance(value, Expr) and isinstance(value.type, TensorType) and isinstance(value.type.layout, ShardLayout):
        layout = value.type.layout
        for axis, attr in enumerate(layout.attrs):
            if isinstance(attr, Partial):
                name = layout.mesh.names[axis] if layout.mesh.names else str(axis)
                raise EvalError(
                    f"{what} is {attr} along mesh axis '{name}': its terms never complete",
                    span=span_of(value.metadata),
                    remedy="complete it by tf.reshard, with a layout that is not Partial",
                )
