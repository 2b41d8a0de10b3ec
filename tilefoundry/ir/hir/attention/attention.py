"""Attention: scaled dot products of queries and keys weigh values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_floordiv, dim_mod
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.normal_form import dim_equal
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.common import bool_attribute, float_operand, merge_storage, real_attribute, tensor_operand
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.fresh import fresh_plain
from tilefoundry.ir.hir.propagate import Label, Placed, propagate
from tilefoundry.ir.hir.refine import refined
from tilefoundry.ir.shard import Layout, format_int_tuple
from tilefoundry.ir.types import BoolDType, DType, TensorType

# the dimensions of the iteration: a head of the queries is a group of one head of the keys
_B, _HKV, _GROUP, _S, _T, _D, _DV = range(7)


@register_op(category="attention")
@dataclass(frozen=True, slots=True)
class Attention(Op):
    """``softmax(scale * q @ k.mT + mask) @ v`` for each head, as ``torch.nn.functional.scaled_dot_product_attention``.

    Shapes: q (B, H, S, D), k (B, Hkv, T, D), v (B, Hkv, T, Dv), mask (*M) -> (B, H, S, Dv)

    H is a multiple of Hkv: query head h reads key head h // (H / Hkv) (grouped queries; one key head is multi-query
    attention). Computed in f32 (f64 for f64) and rounded once to the dtype of `q`. A query that may attend to nothing
    gives zeros.

    Attributes:
        scale: factor of the dot products; None is 1 / sqrt(D).
        causal: query i attends to the keys j <= i + T - S: the last query sees all keys, as in a decoder whose cache
            holds T - S tokens already. With S > T the first S - T queries attend to nothing. (torch's ``is_causal``
            aligns the first query instead; both agree where S = T.)

    The optional operand `mask` broadcasts to (B, H, S, T): bool (True: may attend), or added to the scaled products.
    Source: Vaswani et al., "Attention Is All You Need" (2017); Ainslie et al., "GQA" (2023).
    """

    q: ClassVar[ParamDef] = ParamDef()
    k: ClassVar[ParamDef] = ParamDef()
    v: ClassVar[ParamDef] = ParamDef()
    mask: ClassVar[ParamDef] = ParamDef(optional=True)
    scale: float | None = None
    causal: bool = False

    def __post_init__(self) -> None:
        bool_attribute("attention", "causal", self.causal)
        if self.scale is not None:
            object.__setattr__(self, "scale", float(real_attribute("attention", "scale", self.scale)))
            if self.scale in (float("inf"), float("-inf")):
                raise WrongValueError(
                    f"attention: scale must be finite, got {self.scale}",
                    remedy="give a finite number, or leave it out for 1 / sqrt(D)",
                )

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, q: Expr | int, k: Expr | int, v: Expr | int, mask: Expr | int | None = None
    ) -> TensorType:
        """(B, H, S, Dv), placed as `q` and, along Dv, as `v`. Keys split over mesh axes are combined by the op."""
        names = ("q", "k", "v")
        types = [float_operand(ctx, n, e) for n, e in zip(names, (q, k, v), strict=True)]
        for name, t in zip(names, types, strict=True):
            if t.rank != 4:
                ctx.error(f"'{name}' must have rank 4, (batch, heads, length, width), got {t}", "reshape it")
            if t.dtype != types[0].dtype:
                ctx.error(
                    f"'q' and '{name}' have dtypes {types[0].dtype} and {t.dtype}; dtypes never promote",
                    f'cast one of them, tf.cast({name}, "{types[0].dtype}")',
                )
        tq, tk, tv = types
        for what, a, b in (
            ("batches of 'q' and 'k'", tq.shape[0], tk.shape[0]),
            ("batches of 'k' and 'v'", tk.shape[0], tv.shape[0]),
            ("heads of 'k' and 'v'", tk.shape[1], tv.shape[1]),
            ("lengths of 'k' and 'v'", tk.shape[2], tv.shape[2]),
            ("widths of 'q' and 'k'", tq.shape[3], tk.shape[3]),
        ):
            equal_extents(ctx, f"the {what}", a, b)
        group = _group(ctx, tq.shape[1], tk.shape[1])
        parts = (tk.shape[1], group)
        operands = [
            _by_group("q", tq, 1, parts, (_B, _HKV, _GROUP, _S, _D)),
            Placed("k", tk, (_B, _HKV, _T, _D)),
            Placed("v", tv, (_B, _HKV, _T, _DV)),
        ]
        if mask is not None:
            scores = (tq.shape[0], tq.shape[1], tq.shape[2], tk.shape[2])
            operands.append(_mask(ctx, tensor_operand(ctx, "mask", mask), scores, parts, tq.dtype))
        storage = merge_storage(ctx, [operand.type for operand in operands])
        shape = (*tq.shape[:3], tv.shape[3])
        by_group = ((_B, shape[0]), (_HKV, parts[0]), (_GROUP, group), (_S, shape[2]), (_DV, shape[3]))
        kept = [(label, extent) for label, extent in by_group if label != _GROUP or extent != 1]
        layout = propagate(ctx, operands, [label for label, _ in kept], [extent for _, extent in kept], storage)
        if isinstance(layout, Layout):
            layout = fresh_plain(shape, storage)
        return TensorType(shape, tq.dtype, layout, storage)


def _group(ctx: TypeContext, heads: Dim, key_heads: Dim) -> Dim:
    """How many query heads share a key head."""
    if key_heads == 0 or not dim_equal(dim_mod(heads, key_heads), 0):
        ctx.error(
            f"{format_dim(heads)} heads of 'q' must be a multiple of the {format_dim(key_heads)} of 'k'",
            "each key head serves a whole group of query heads",
        )
    return dim_floordiv(heads, key_heads)


def _by_group(name: str, t: TensorType, axis: int, parts: tuple[Dim, Dim], labels: tuple[Label, ...]) -> Placed:
    """An operand whose head axis counts as two: the key head, and the query head within its group."""
    return Placed(name, refined(t, (*t.shape[:axis], *parts, *t.shape[axis + 1 :])), labels)


def _mask(ctx: TypeContext, t: TensorType, scores: tuple[Dim, ...], parts: tuple[Dim, Dim], dtype: DType) -> Placed:
    """The mask, right-aligned with the scores (B, H, S, T)."""
    if not isinstance(t.dtype, BoolDType) and t.dtype not in (dtype, DType.f32):
        ctx.error(f"'mask' must be of bool, {dtype} or f32, got {t.dtype}", f'cast it, tf.cast(mask, "{dtype}")')
    if t.rank > 4:
        ctx.error(f"'mask' must broadcast to (batch, heads, queries, keys), got {t}", "drop its leading axes")
    first = 4 - t.rank
    labels: list[Label] = []
    for axis, extent in enumerate(t.shape, first):
        wide = scores[axis]
        if extent != 1 and not dim_equal(extent, wide):
            ctx.error(
                f"'mask' must broadcast to {format_int_tuple(scores)}, got {format_int_tuple(t.shape)}: "
                f"{format_dim(extent)} against {format_dim(wide)} at axis {axis - 4}",
                "give each axis its own extent or 1",
            )
        spread = extent == 1 != wide
        own = (_HKV, _GROUP) if axis == 1 else ((_B, None, _S, _T)[axis],)
        labels.extend(None if spread else label for label in own)
    if t.rank < 3:
        return Placed("mask", t, tuple(labels))
    return _by_group("mask", t, t.rank - 3, (1, 1) if t.shape[-3] == 1 else parts, tuple(labels))
