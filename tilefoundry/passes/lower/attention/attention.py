"""Attention: a tile of its result is computed in a loop over tiles of keys, where the tile is placed.

Of global tensors any window of the result can be placed, over one batch and one head of the keys at a time: the loop
stages the keys and values of each step in shared memory, in a pipeline. Operands that are the tiles of one head
already, in shared memory or in registers, are multiplied at once.
"""

from __future__ import annotations

import math

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.dims import dim_add, dim_equal, dim_floordiv, dim_min, dim_sub
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Attention
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.attention.online import Attending
from tilefoundry.passes.lower.attention.scores import Scores
from tilefoundry.passes.lower.context import Lowering, tensor_type
from tilefoundry.passes.lower.deferred import computes_tiles, deferred, place
from tilefoundry.passes.lower.expansion import Primitives, operand
from tilefoundry.passes.lower.fragments import Modes, alike, extent_of
from tilefoundry.passes.lower.registry import lowers
from tilefoundry.passes.lower.tile import Tile, staged, window
from tilefoundry.passes.lower.values import Value


@lowers(Attention)
def lower_attention(ctx: Lowering, call: Call) -> Value:
    value, type_ = deferred(call), tensor_type(call)
    return place(ctx, call, value, ctx.held_type(type_)) if type_.storage is StorageKind.RMEM else value


@computes_tiles(Attention)
def attention_tile(p: Primitives, call: Call, tile: Tile) -> Expr:
    if tile.sizes[0] != 1:
        p.refuse(
            f"a tile of tf.attention covers one batch, got {tile.sizes[0]}",
            "walk the batches, `for b in range(B)`, and index the result by b",
        )
    if tensor_type(call).storage is StorageKind.GMEM:
        return _of_windows(p, call, tile)
    return _of_tiles(p, call, tile)


def _of_windows(p: Primitives, call: Call, tile: Tile) -> Expr:
    q, k, v = (operand(call, i) for i in range(3))
    batch, head, first, column = tile.starts
    _, heads, length, columns = tile.sizes
    width = _static(p, "width", tensor_type(q).shape[3])
    key_head, extent = _key_head(p, call, tile), tensor_type(k).shape[2]
    step = keys_of_a_step(tensor_type(q).dtype.bits, max(width, columns))
    keys = alike(tile.modes[3], min(step, extent) if isinstance(extent, int) else step)
    step = extent_of(keys)
    queries = window(p, q, (batch, head, first, 0), (1, heads, length, width), _dropped(heads, length))

    def load(key: Expr) -> tuple[Expr, Expr]:
        at = (batch, key_head, key)
        ks = window(p, k, (*at, 0), (1, 1, step, width), (0, 1))
        vs = window(p, v, (*at, column), (1, 1, step, columns), (0, 1))
        return staged(p, ks, (step, width)), staged(p, vs, (step, columns))

    last: Dim = extent
    assert isinstance(call.target, Attention)
    if call.target.causal:
        # The last query of the tile sees the keys up to its own place, counted from the last key.
        seen = dim_add(dim_add(first, length), dim_sub(extent, tensor_type(q).shape[2]))
        last = dim_min(extent, seen)
    matrix = _matrix(p, queries, heads, length, width)
    return _attending(p, call, tile, matrix, keys).over(last, load)


def _of_tiles(p: Primitives, call: Call, tile: Tile) -> Expr:
    """Operands that are the tiles of one key head, in shared memory or in registers."""
    operands = [operand(call, i) for i in range(3)]
    shapes = [tensor_type(x).shape for x in operands]
    if shapes[1][1] != 1 or tile.sizes != tensor_type(call).shape:
        p.refuse(
            f"tf.attention of tiles in {tensor_type(call).storage} computes the whole result over one key head, got "
            f"{format_dim(shapes[1][1])} key heads and a window of {tile.sizes}",
            "leave q, k and v in global memory: tf.reshard(tf.attention(q, k, v)[b, h, i], <layout>, 'rmem')",
        )
    matrices = []
    for x, shape in zip(operands, shapes, strict=True):
        extents = [_static(p, "shape", extent) for extent in shape]
        stored = x if tensor_type(x).storage is StorageKind.SMEM else staged(p, x, extents)
        matrices.append(p.reshape(stored, (math.prod(extents[:3]), extents[3])))
    keys = alike(tile.modes[3], _static(p, "number of keys", shapes[1][2]), exact=True)
    return _attending(p, call, tile, matrices[0], keys).at_once(matrices[1], matrices[2])


def _attending(p: Primitives, call: Call, tile: Tile, queries: Expr, keys: Modes) -> Attending:
    scores = Scores(p, call, tile, keys)
    return Attending(p, tile.mesh, queries, tile.modes[1] + tile.modes[2], keys, tile.modes[3], scores.exponents)


def keys_of_a_step(bits: int, width: int) -> int:
    """Keys of one step: what registers hold of the scores, and shared memory of two stages of keys and values.

    Measured on an H200 (examples/attention): with 16-bit types 64 keys for 64 dims and 128 for 128; with f32 64, 32.
    """
    if bits == 16:
        return 64 if width <= 64 or 128 < width <= 256 else 128 if width <= 128 else 32
    return max(16, (64 if width <= 64 else 32 if width <= 128 else 16) * 32 // bits)


def _key_head(p: Primitives, call: Call, tile: Tile) -> Dim:
    """The key head that the query heads of the tile read."""
    heads, key_heads = tensor_type(operand(call)).shape[1], tensor_type(operand(call, 1)).shape[1]
    if key_heads == 1:
        return 0
    if dim_equal(heads, key_heads):
        if tile.sizes[1] == 1:
            return tile.starts[1]
    else:
        group = dim_floordiv(heads, key_heads)
        aligned = isinstance(group, int) and group % tile.sizes[1] == 0 and tile.steps[1] % tile.sizes[1] == 0
        if tile.sizes[1] == 1 or aligned:
            return dim_floordiv(tile.starts[1], group)
    p.refuse(
        f"a tile of tf.attention over {tile.sizes[1]} heads cannot be proven to read one key head, of "
        f"{format_dim(heads)} heads in {format_dim(key_heads)} groups",
        "walk the heads one by one, `for h in range(H)`, or in tiles of a number that divides a group",
    )


def _dropped(heads: int, length: int) -> tuple[int, ...]:
    """The batch, and of the heads and the queries what has extent 1; a matrix has two axes."""
    return (0, 1) if heads == 1 else (0, 2) if length == 1 else (0,)


def _matrix(p: Primitives, queries: Expr, heads: int, length: int, width: int) -> Expr:
    """The queries in shared memory, the rows of one head after those of another."""
    if heads == 1 or length == 1:
        return staged(p, queries, (heads * length, width))
    return p.reshape(staged(p, queries, (heads, length, width)), (heads * length, width))


def _static(p: Primitives, what: str, extent: Dim) -> int:
    if not isinstance(extent, int):
        p.refuse(
            f"a tile of tf.attention has a static {what}, got {format_dim(extent)}",
            "declare the axis with a number, or specialise the module",
        )
    return extent
