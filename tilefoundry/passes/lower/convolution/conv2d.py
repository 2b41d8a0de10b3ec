"""Conv2d: a tile of its result is computed where it is placed, from the channels in steps.

A step stages the part of the image under the tile, with its halo, and the kernels of the tile's channels in shared
memory. Each position of the kernel is then a product of (channels out, channels in) by (channels in, pixels), with the
pixels where that position meets them: an implicit matrix product, which tensor cores run where they can.
"""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE, dim_add, dim_floordiv, dim_mul, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Conv2d, GridRegionExpr, MatMul, Reshard, Slice, Zeros
from tilefoundry.ir.types import StorageKind, make_tensor_type
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.convolution.matrices import channels_innermost, matrix_of
from tilefoundry.passes.lower.deferred import computes_tiles, deferred
from tilefoundry.passes.lower.expansion import Primitives, compute_dtype, operand
from tilefoundry.passes.lower.fragments import Modes
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.tile import Tile, window
from tilefoundry.passes.lower.values import Scalar, Value

_UNROLLED = 25  # positions of a kernel; of larger ones the rows are a loop
_STAGED = 48 << 10  # bytes of one step, of which two are in flight


@lowers(Conv2d)
def lower_conv2d(ctx: Lowering, call: Call) -> Value:
    storage = tensor_type(call).storage
    if storage is not StorageKind.GMEM:
        ctx.refuse(
            call,
            f"tf.conv2d of tiles in {storage} cannot be compiled: they lack the halo of a window",
            remedy="leave the operands in global memory, and place windows of the result: "
            "tf.reshard(tf.conv2d(x, w)[n, o, i, j], <layout over the thread mesh>, 'rmem')",
        )
    return deferred(call)


@computes_tiles(Conv2d)
def conv2d_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    return _TileOfConvolution(p, call, tile).compute()


class _TileOfConvolution:
    """One tile: some channels of some pixels of one image."""

    def __init__(self, p: Primitives, call: Call, tile: Tile) -> None:
        assert isinstance(call.target, Conv2d)
        self.p, self.tile, self.op = p, tile, call.target
        self.x, self.w = operand(call, 0), operand(call, 1)
        self.bias = operand(call, 2) if len(call.args) == 3 else None
        self.dtype = tensor_type(self.x).dtype
        if tile.sizes[0] != 1:
            p.refuse(
                f"a tile of tf.conv2d covers one image, got {tile.sizes[0]}",
                "walk the images, `for n in range(N)`, and index the result by n",
            )
        self.kernel = tuple(self._static(extent) for extent in tensor_type(self.w).shape[2:])
        # What the pixels of the tile are computed from.
        self.reach = tuple(
            (size - 1) * stride + (extent - 1) * dilation + 1
            for size, stride, dilation, extent in zip(
                tile.sizes[2:], self._pair("stride"), self._pair("dilation"), self.kernel, strict=True
            )
        )
        self.corner: tuple[Scalar, ...] = tuple(
            dim_sub(dim_mul(start, stride), padding)
            for start, stride, padding in zip(tile.starts[2:], self._pair("stride"), self._pair("padding"), strict=True)
        )

    def compute(self) -> Expr:
        p, out = self.p, tensor_type(self.w).shape[0]
        own, extent = dim_floordiv(out, self.op.groups), tensor_type(self.w).shape[1]
        if self.op.groups > 1 and own == 1 and extent == 1:
            acc = self._depthwise()
        else:
            acc = p.reshape(self._channels(dim_mul(self._group(own), extent), extent), self.tile.sizes[1:])
        if self.bias is not None:
            bias = window(p, self.bias, (self.tile.starts[1],), (self.tile.sizes[1],), ())
            placed = p.wide(self.tile.placed(p, bias, self.tile.modes[1]))
            acc = p.add(acc, p.reshape(placed, (self.tile.sizes[1], 1, 1)))
        return p.cast(acc, self.dtype)

    # ---- products -----------------------------------------------------------------------------------------------

    def _channels(self, first: Dim, extent: Dim) -> Expr:
        """The sum over the channels from `first` on, as a matrix of channels by pixels."""
        p, tile = self.p, self.tile
        zero = self._zero()
        if extent == 0:
            return zero
        channel = Var("c", INDEX_TYPE)
        step = self._step(extent)
        at = dim_add(first, channel)
        image = self._staged(
            window(p, self.x, (tile.starts[0], at, *self.corner), (1, step, *self.reach), (0,)),
            (step, *self.reach),
            0,
        )
        kernels = self._staged(
            window(p, self.w, (tile.starts[1], channel, 0, 0), (tile.sizes[1], step, *self.kernel), ()),
            (tile.sizes[1], step, *self.kernel),
            1,
        )
        acc = Var("acc", zero.type)
        total: Expr = acc
        rows, columns = self.kernel
        if rows * columns <= _UNROLLED:
            for row in range(rows):
                total = self._row(total, image, kernels, step, row)
        else:
            row_var, inner = Var("row", INDEX_TYPE), Var("sum", zero.type)
            total = GridRegionExpr(
                row_var, (inner,), (acc,), None, (self._row(inner, image, kernels, step, row_var),), rows
            )
        return GridRegionExpr(channel, (acc,), (zero,), None, (total,), extent, step)

    def _row(self, total: Expr, image: Expr, kernels: Expr, step: int, row: Scalar) -> Expr:
        """Adds the products of one row of the kernel."""
        p, out = self.p, self.tile.sizes[1]
        height, width = self._pair("dilation")
        for column in range(self.kernel[1]):
            lhs = matrix_of(p, kernels, (0, 0, row, column), (out, step, 1, 1), ((0,), (1,)))
            rhs = matrix_of(
                p,
                image,
                (0, dim_mul(row, height), column * width),
                (step, *self.tile.sizes[2:]),
                ((0,), (1, 2)),
                (1, *self._pair("stride")),
            )
            product = p.call(MatMul(compute_dtype(self.dtype)), lhs, rhs)
            total = p.add(total, self.tile.placed(p, product, self.tile.modes[1], self._pixels()))
        return total

    def _zero(self) -> Call:
        p, tile = self.p, self.tile
        shape = (tile.sizes[1], tile.sizes[2] * tile.sizes[3])
        zeros = p.call(Zeros(make_tensor_type(shape, compute_dtype(self.dtype))))
        return tile.placed(p, zeros, tile.modes[1], self._pixels())

    def _pixels(self) -> Modes:
        return self.tile.modes[2] + self.tile.modes[3]

    def _step(self, extent: Dim) -> int:
        """Channels of one step: what fits, and within a group, whose neighbours are other channels, a divisor."""
        half = self.dtype.bits == 16
        step, least = (64, 16) if half else (16, 4)
        places = self.reach[0] * self.reach[1] + self.tile.sizes[1] * self.kernel[0] * self.kernel[1]
        while step > least and places * (step + 8) * self.dtype.bits // 8 > _STAGED:
            step //= 2
        if not isinstance(extent, int):
            return step if self.op.groups == 1 else 1
        if self.op.groups > 1:
            return max(d for d in range(1, min(step, extent) + 1) if extent % d == 0)
        return min(step, -(-extent // least) * least)

    def _group(self, own: Dim) -> Dim:
        """The group that the channels of the tile belong to."""
        start, size = self.tile.starts[1], self.tile.sizes[1]
        if self.op.groups == 1:
            return 0
        aligned = isinstance(own, int) and own % size == 0 and self.tile.steps[1] % size == 0
        if size != 1 and not aligned:
            self.p.refuse(
                f"a tile of tf.conv2d over {size} channels cannot be proven to lie in one group of {format_dim(own)}",
                "walk the channels in tiles of a number that divides a group, or one by one",
            )
        return dim_floordiv(start, own)

    # ---- one channel for each ------------------------------------------------------------------------------------

    def _depthwise(self) -> Expr:
        """Each channel of the result is that of one channel of the image: no products of matrices."""
        p, tile = self.p, self.tile
        channels, *pixels = tile.sizes[1:]
        at = (tile.starts[0], tile.starts[1], *self.corner)
        image = self._staged(window(p, self.x, at, (1, channels, *self.reach), (0,)), (channels, *self.reach), None)
        total: Expr | None = None
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                dilation = self._pair("dilation")
                starts = (0, row * dilation[0], column * dilation[1])
                part = p.call(Slice((channels, *pixels), (1, *self._pair("stride"))), image, Tuple(starts))
                weight = window(p, self.w, (tile.starts[1], 0, row, column), (channels, 1, 1, 1), (1, 2, 3))
                factor = p.reshape(p.wide(tile.placed(p, weight, tile.modes[1])), (channels, 1, 1))
                term = p.mul(p.wide(tile.placed(p, part, *tile.modes[1:])), factor)
                total = term if total is None else p.add(total, term)
        assert total is not None  # a kernel has a position
        return total

    # ---- helpers ------------------------------------------------------------------------------------------------

    def _staged(self, x: Expr, shape: tuple[int, ...], channel: int | None) -> Call:
        bits = self.dtype.bits
        layout = channels_innermost(shape, channel if channel is not None else len(shape) - 1, bits)
        return self.p.call(Reshard(layout, StorageKind.SMEM), x)

    def _pair(self, name: str) -> tuple[int, int]:
        value = getattr(self.op, name)
        assert isinstance(value, tuple)  # made so when the op was built
        return value

    def _static(self, extent: Dim) -> int:
        if not isinstance(extent, int):
            self.p.refuse(
                f"a tile of tf.conv2d has a static kernel, got an extent of {format_dim(extent)}",
                "declare the kernel's axes with numbers, or specialise the module",
            )
        return extent
