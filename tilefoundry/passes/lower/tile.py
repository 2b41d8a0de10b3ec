"""A tile of the value of an op, and how the tiles of its operands are named.

What rules build here are calls of primitive ops on windows of the operands; they lower as any others do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.hir import (
    Arange,
    BinaryKind,
    Flip,
    Reshard,
    Slice,
    Squeeze,
    Transpose,
    Unsqueeze,
    Zeros,
)
from tilefoundry.ir.shard import Mesh, row_major
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import ShapeDim, StorageKind, TensorType, make_tensor_type
from tilefoundry.passes.lower.context import tensor_type
from tilefoundry.passes.lower.expansion import Primitives
from tilefoundry.passes.lower.fragments import Modes, extent_of, spread_over
from tilefoundry.passes.lower.values import Scalar


@dataclass(frozen=True, slots=True)
class Tile:
    """The window of a result that is computed.

    Attributes:
        part: which result, of an op that has several.
        starts, sizes: for each axis of the result.
        steps: for each axis a number that divides its start, whatever loops run; 0 where the start is 0.
        modes: for each axis how it is spread over the mesh.
        rows: by extent, how tiles of the mesh are spread along axes that they hold whole; reductions read them so.
        several: what the results of an op with several are taken from, by the op's call and the tile.
    """

    part: int
    starts: tuple[Scalar, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    modes: tuple[Modes, ...]
    mesh: Mesh
    rows: dict[int, Modes] = field(default_factory=dict, compare=False)
    several: dict[Hashable, Expr] = field(default_factory=dict, compare=False)

    def placed(self, p: Primitives, x: Expr, *axes: Modes) -> Call:
        """``x`` in registers, its axes spread so; of rank 0, the number that each unit has."""
        return p.call(Reshard(spread_over(self.mesh, *axes), StorageKind.RMEM), x)

    def once(self, call: Call, compute: Callable[[], Expr]) -> Expr:
        """What all results of a call are taken from: one expression for the same tile of each."""
        key = (call, replace(self, part=0))
        if key not in self.several:
            self.several[key] = compute()
        return self.several[key]

    def matching(self, p: Primitives, x: Expr) -> Expr:
        """What the tile reads of an operand that broadcasts to the result: with extent 1 along axes that repeat."""
        t = tensor_type(x)
        if not t.shape:
            return x if t.storage is StorageKind.UMAT and not is_computed(x) else self.placed(p, x)
        first = len(self.sizes) - t.rank
        own = [(0, 1, ()) if e == 1 else self.axis(first + k) for k, e in enumerate(t.shape)]
        starts, sizes, modes = zip(*own, strict=True)
        return self.placed(p, window(p, x, starts, sizes, ()), *modes)

    def read(self, p: Primitives, x: Expr) -> Expr:
        """The tile of an operand of the result's shape."""
        return self.placed(p, window(p, x, self.starts, self.sizes, ()), *self.modes)

    def along(self, axis: int, start: Scalar, modes: Modes) -> Tile:
        """The tile with another part of an axis."""
        own = list(zip(self.starts, self.sizes, self.steps, self.modes, strict=True))
        own[axis] = (start, extent_of(modes), self.steps[axis] if start is self.starts[axis] else 1, modes)
        starts, sizes, steps, spread = zip(*own, strict=True)
        return replace(self, starts=starts, sizes=sizes, steps=steps, modes=spread)

    def coordinates(self, p: Primitives, axis: int) -> Call:
        """The place of each element along an axis of the whole value, with extent 1 along the others."""
        size = self.sizes[axis]
        shape = tuple(size if k == axis else 1 for k in range(len(self.sizes)))
        ramp = p.reshape(p.call(Arange(make_tensor_type((size,), "i64"))), shape)
        moved = ramp if self.starts[axis] == 0 else p.add(ramp, self.starts[axis])
        return self.placed(p, moved, *(self.modes[k] if k == axis else () for k in range(len(self.sizes))))

    def up_to(self, p: Primitives, x: Expr, axis: int, extent: ShapeDim, number: float | int | bool) -> Expr:
        """``x`` where it lies before the end of an axis, and a number beyond."""
        end = Constant(extent, INDEX_TYPE) if isinstance(extent, int) else extent
        return p.where(p.binary(BinaryKind.LT, self.coordinates(p, axis), end), x, number)

    def filled(self, p: Primitives, number: Expr) -> Expr:
        """One number everywhere in the tile."""
        zeros = self.placed(p, p.call(Zeros(make_tensor_type(self.sizes, tensor_type(number).dtype))), *self.modes)
        return p.where(p.binary(BinaryKind.EQ, zeros, zeros), number, zeros)

    def axis(self, k: int) -> tuple[Scalar, int, Modes]:
        """The start, the extent and the modes of an axis."""
        return self.starts[k], self.sizes[k], self.modes[k]


def is_computed(x: Expr) -> bool:
    """Whether a number is computed from tensors."""
    return any(isinstance(node.type, TensorType) and node.type.rank > 0 for node in post_order(x))


def lies_in_memory(x: Expr) -> bool:
    """Whether ``x`` is certainly a view of a global tensor of the function."""
    while isinstance(x, Call) and isinstance(x.target, (Slice, Transpose, Flip, Squeeze, Unsqueeze)):
        operand = x.args[0]
        assert isinstance(operand, Expr)
        x = operand
    return isinstance(x, Var)


def window(p: Primitives, x: Expr, starts: Sequence[Scalar], sizes: Sequence[ShapeDim], drop: tuple[int, ...]) -> Expr:
    """A box of a global tensor, zero beyond its extents; one that starts before the tensor too."""
    begin = tuple(Constant(s, INDEX_TYPE) if isinstance(s, int) and s < 0 else s for s in starts)
    return p.call(Slice(tuple(sizes), (), drop, ("zero",) * len(begin)), x, Tuple(begin))


def staged(p: Primitives, x: Expr, shape: Sequence[int]) -> Call:
    """A window in shared memory."""
    return p.call(Reshard(row_major(tuple(shape)), StorageKind.SMEM), x)
