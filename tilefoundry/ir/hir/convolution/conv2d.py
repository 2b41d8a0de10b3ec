"""Conv2d: a two-dimensional convolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.op import Op, ParamDef, TypeContext, register_op
from tilefoundry.ir.dims.arith import dim_add, dim_floordiv, dim_mod, dim_mul, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir.attributes import plain_int
from tilefoundry.ir.hir.common import common_dtype, merge_storage, tensor_operand
from tilefoundry.ir.hir.extents import equal_extents
from tilefoundry.ir.hir.movement import is_split, whole_axis
from tilefoundry.ir.hir.propagate import Placed, propagate
from tilefoundry.ir.shard import Broadcast, Partial, ShardAttr
from tilefoundry.ir.types import TensorType

# The dimensions of the iteration.
_N, _O, _C = range(3)


@register_op(category="convolution")
@dataclass(frozen=True, slots=True)
class Conv2d(Op):
    """The cross-correlation of images with kernels, as ``torch.nn.functional.conv2d``.

    Shapes: input (N, C, H, W), weight (O, C // groups, KH, KW), bias (O) -> (N, O,
        (H + 2 * padding[0] - dilation[0] * (KH - 1) - 1) // stride[0] + 1,
        (W + 2 * padding[1] - dilation[1] * (KW - 1) - 1) // stride[1] + 1)

    Of `groups`, each maps its C / groups channels to O / groups. All dtypes equal, of f16, bf16, f32 or f64.

    Attributes:
        stride, padding, dilation: an int for both axes, or (for H, for W).

    Placement: N and O may be split. C may be split alike in input and weight, without groups and bias: Partial("sum").
    Splits of H, W (whose units would need the halo of their neighbours) and of the kernel's axes are refused.

    Partial: the convolution is linear in the input and in the weight, so a sum passes from one of them where the other
    is replicated; the bias must be a sum along the same mesh axis then, or absent, since each unit adds its own.
    """

    input: ClassVar[ParamDef] = ParamDef()
    weight: ClassVar[ParamDef] = ParamDef()
    bias: ClassVar[ParamDef] = ParamDef(optional=True)
    stride: int | tuple[int, int] = 1
    padding: int | tuple[int, int] = 0
    dilation: int | tuple[int, int] = 1
    groups: int = 1

    def __post_init__(self) -> None:
        for name, least in (("stride", 1), ("padding", 0), ("dilation", 1)):
            value = getattr(self, name)
            pair = (value, value) if type(value) is int else value
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(type(v) is int for v in pair):
                raise WrongTypeError(
                    f"conv2d: {name} must be an int or a pair of ints, got {value!r}",
                    remedy="write one int, or (for H, for W)",
                )
            if min(pair) < least:
                raise WrongValueError(
                    f"conv2d: {name} must be at least {least}, got {value!r}", remedy="write a larger number"
                )
            object.__setattr__(self, name, tuple(pair))
        if plain_int("conv2d", "groups", self.groups) < 1:
            raise WrongValueError(f"conv2d: groups must be at least 1, got {self.groups}", remedy="write 1 or more")

    def type_rule(  # type: ignore[override]
        self, ctx: TypeContext, input: Expr | int, weight: Expr | int, bias: Expr | int | None = None
    ) -> TensorType:
        """Shape (N, O, H', W')."""
        given = [("input", input, 4), ("weight", weight, 4)] + ([("bias", bias, 1)] if bias is not None else [])
        types = []
        for name, operand, rank in given:
            t = tensor_operand(ctx, name, operand)
            if t.rank != rank:
                ctx.error(f"'{name}' must have rank {rank}, got {t}", "tf.reshape it")
            types.append(t)
        dtype = common_dtype(ctx, [(name, operand) for name, operand, _ in given])
        if not dtype.is_float or dtype.bits < 16:
            ctx.error(f"operands must be of f16, bf16, f32 or f64, got {dtype}", 'cast them, as in tf.cast(x, "f32")')
        shape = self._shape(ctx, types)
        self._check_splits(ctx, types)
        labels = ((_N, _C, None, None), (_O, _C if self.groups == 1 else None, None, None), (_O,))
        operands = [Placed(given[k][0], t, labels[k]) for k, t in enumerate(types)]
        if self.groups > 1:
            operands[0] = Placed("input", types[0], (_N, None, None, None))
        storage = merge_storage(ctx, types)
        out = (_N, _O, None, None)
        layout = propagate(ctx, operands, out, shape, storage, partial_rule=_partial, reduced_is_partial=True)
        return TensorType(shape, dtype, layout, storage)

    def _shape(self, ctx: TypeContext, types: Sequence[TensorType]) -> tuple[Dim, ...]:
        x, w = types[0].shape, types[1].shape
        for what, extent in (("'input'", x[1]), ("the result", w[0])):
            if dim_mod(extent, self.groups) != 0:
                ctx.error(
                    f"the {format_dim(extent)} channels of {what} do not divide into {self.groups} groups",
                    "use a number of groups that divides the channels",
                )
        per_group = "the channels of 'input' in a group and axis 1 of 'weight'"
        equal_extents(ctx, per_group, dim_floordiv(x[1], self.groups), w[1])
        if len(types) == 3:
            equal_extents(ctx, "the extents of 'bias' and of axis 0 of 'weight'", types[2].shape[0], w[0])
        return (x[0], w[0], *(self._extent(ctx, k, x[2 + k], w[2 + k]) for k in range(2)))

    def _extent(self, ctx: TypeContext, k: int, extent: Dim, kernel: Dim) -> Dim:
        """The extent of the result along H (k = 0) or W (k = 1)."""
        stride, padding, dilation = (_pair(v)[k] for v in (self.stride, self.padding, self.dilation))
        reach = dim_add(dim_mul(dim_sub(kernel, 1), dilation), 1)
        room = dim_sub(dim_add(extent, 2 * padding), reach)
        if (isinstance(room, int) and room < 0) or kernel == 0:
            ctx.error(
                f"a kernel that reaches over {format_dim(reach)} elements does not fit axis {2 + k} of 'input', "
                f"of extent {format_dim(extent)} and padding {padding}",
                "pad the input, or use a smaller kernel",
            )
        return dim_add(dim_floordiv(room, stride), 1)

    def _check_splits(self, ctx: TypeContext, types: Sequence[TensorType]) -> None:
        for axis in (2, 3):
            if is_split(types[0], axis):
                why = "convolved: units would need the halo of their neighbours"
                whole_axis(ctx, "input", types[0], axis, why)
            whole_axis(ctx, "weight", types[1], axis, "convolved")
        if self.groups > 1:
            for name, t, axis in (("input", types[0], 1), ("weight", types[1], 0), ("weight", types[1], 1)):
                whole_axis(ctx, name, t, axis, "convolved in groups")
        if len(types) == 3:
            for name, t in (("input", types[0]), ("weight", types[1])):
                whole_axis(ctx, name, t, 1, "summed beside a bias, which each unit would add")


def _pair(value: int | tuple[int, int]) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else value


def _partial(states: Sequence[ShardAttr]) -> Partial | None:
    input, weight, *bias = states
    for held, other in ((input, weight), (weight, input)):
        if held == Partial("sum") and isinstance(other, Broadcast) and all(b == held for b in bias):
            return Partial("sum")
    return None
