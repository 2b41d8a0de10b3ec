"""What Concat, Stack and Pad share: a value of parts, held where they are or written part by part to its place."""

from __future__ import annotations

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims import dim_add
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.index.reads import write_chosen
from tilefoundry.passes.lower.shape.place import number_of, write
from tilefoundry.passes.lower.shape.windows import exact, factored, fresh_type
from tilefoundry.passes.lower.values import Chosen, Join, Ramp, Reshaped, Scalar, Uniform, Value, Window


def joined(ctx: Lowering, call: Call, value: Value) -> Value:
    """The value in registers or shared memory, where its type lies there; else as it is, until a reshard says where."""
    to = tensor_type(call)
    if to.storage not in (StorageKind.RMEM, StorageKind.SMEM):
        return value
    dst = ctx.alloc(call_hint(call), fresh_type(to) if to.storage is StorageKind.SMEM else to)
    write(ctx, call, value, dst)
    return dst


def call_hint(call: Call) -> str:
    """What a tensor for the value of a call is named."""
    name = binding_name(call)
    return name if name is not None else call.target.op_name if isinstance(call.target, Op) else "value"


def write_parts(ctx: Lowering, at: Expr, value: Value, out: Window, everywhere: bool) -> None:
    """Emits what writes a value into a window of global memory, each part of it into its own part.

    Args:
        everywhere: the instances of all CTAs share the work, not those of one.
    """
    match value:
        case Join(axis, parts, sizes):
            start: ShapeDim = 0
            for part, size in zip(parts, sizes, strict=True):
                if size != 0:
                    write_parts(ctx, at, part, narrowed(out, axis, start, size), everywhere)
                start = dim_add(start, size)
        case Window():
            ctx.emit(tir.WholeCopy(everywhere), exact(ctx, value), exact(ctx, out))
        case Uniform(number):
            dtype = tensor_type(out.tensor).dtype
            scalar = Constant(number_of(number, dtype), TensorType.umat_scalar(dtype))
            ctx.emit(tir.WholeFill(everywhere), scalar, exact(ctx, out))
        case Chosen():
            write_chosen(ctx, value, out, everywhere=everywhere)
        case Ramp(axis, start, step):
            ctx.emit(tir.WholeIota(axis, step, everywhere), start, exact(ctx, out))
        case Var() if tensor_type(value).shape:
            box = tuple(size for t in out.kept if isinstance(size := out.sizes[t], int))
            if len(box) != len(out.kept):
                ctx.refuse(at, "a tile has static extents", remedy="walk the axis with `for i in tile(extent, step)`")
            ctx.emit(tir.TileStore(box), value, exact(ctx, out), Tuple((0,) * len(box)))
        case Reshaped(inner, former):
            write_parts(ctx, at, inner, _factored(ctx, at, out, former), everywhere)
        case Expr():
            ctx.emit(tir.WholeFill(everywhere), value, exact(ctx, out))
        case _:
            ctx.refuse(
                at,
                f"cannot write {ctx.describe(value)} to global memory",
                remedy="place it in registers first: tf.reshard(x, <layout over the thread mesh>, 'rmem')",
            )


def _factored(ctx: Lowering, at: Expr, out: Window, shape: tuple[ShapeDim, ...]) -> Window:
    """The window with its axes split into factors; other extents are refused."""
    whole = exact(ctx, out)
    view = factored(ctx, whole, shape)
    if view is None:
        ctx.refuse(
            at,
            f"a value of the extents ({', '.join(map(format_dim, shape))}) that is counted as "
            f"({', '.join(map(format_dim, tensor_type(whole).shape))}) cannot go straight to global memory, whose axes "
            "may have any strides",
            remedy="place it first: tf.reshard(x, <layout over the thread mesh>, 'rmem') of each tile of it",
        )
    return view


def narrowed(window: Window, axis: int, start: Scalar, size: ShapeDim) -> Window:
    """A window of a window along one of its axes."""
    t = window.kept[axis]
    return Window(
        window.tensor,
        tuple(dim_add(s, start) if k == t else s for k, s in enumerate(window.starts)),
        tuple(size if k == t else s for k, s in enumerate(window.sizes)),
        window.drop,
    )
