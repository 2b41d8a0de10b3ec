"""Who reads a value."""

from __future__ import annotations

from collections.abc import Iterable

from tilefoundry.ir.core.expr import Call, Expr
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.hir import InsertSlice, MatMul, Reshard, Transpose, WgmmaSm90
from tilefoundry.ir.shard import Layout, ShardLayout
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes.lower.reach import children_of


class Uses:
    """The readers of each value of a function.

    Args:
        results: what the function returns; a result is read by its caller.
    """

    def __init__(self, results: Iterable[Expr]) -> None:
        roots = tuple(results)
        self._held = roots  # keeps ids unique while they are keys
        self._readers: dict[int, list[Expr | None]] = {id(root): [None] for root in roots}
        nodes = tuple(post_order(*roots))
        self._authored = frozenset(map(id, nodes))
        self._known = set(self._authored)
        self._read_by(nodes)

    def include(self, value: Expr) -> None:
        """Adds the readers within a value that a rule has built; the value itself is read in a way of its own."""
        self._held = (*self._held, value)
        self._readers.setdefault(id(value), []).append(None)
        nodes = tuple(post_order(value, known=lambda node: id(node) in self._known))
        self._known.update(map(id, nodes))
        self._read_by(nodes)

    def _read_by(self, nodes: Iterable[Expr]) -> None:
        for node in nodes:
            for child in children_of(node):
                self._readers.setdefault(id(child), []).append(node)

    def is_authored(self, expr: Expr) -> bool:
        """Whether a value is of the program, and not of what a rule has built."""
        return id(expr) in self._authored

    def only_inserted(self, expr: Expr) -> bool:
        """Whether nothing but insertions reads a value, so that what lies beyond the result is of no matter."""
        readers = self._readers.get(id(expr), [None])
        return all(isinstance(reader, Call) and isinstance(reader.target, InsertSlice) for reader in readers)

    def any_reader(self, expr: Expr, ops: tuple[type[Op], ...]) -> bool:
        """Whether a call of one of these ops reads a value."""
        readers = self._readers.get(id(expr), [None])
        return any(isinstance(reader, Call) and isinstance(reader.target, ops) for reader in readers)

    def only_placed(self, expr: Expr) -> bool:
        """Whether a value goes nowhere but to registers, spread over a mesh."""
        return self._only_in_registers(expr, ShardLayout)

    def only_held_whole(self, expr: Expr) -> bool:
        """Whether a value goes nowhere but to registers in which every thread has it whole."""
        return self._only_in_registers(expr, Layout)

    def _only_in_registers(self, expr: Expr, layout: type[Layout] | type[ShardLayout]) -> bool:
        readers = self._readers.get(id(expr), [None])
        return all(
            isinstance(reader, Call)
            and isinstance(reader.target, Reshard)
            and reader.target.storage is StorageKind.RMEM
            and isinstance(reader.target.layout, layout)
            for reader in readers
        )

    def only_products(self, expr: Expr) -> bool:
        """Whether nothing but matrix products reads a value, as it is or transposed."""
        return all(
            isinstance(reader, Call)
            and (
                isinstance(reader.target, (MatMul, WgmmaSm90))
                or (isinstance(reader.target, Transpose) and self.only_products(reader))
            )
            for reader in self._readers.get(id(expr), [None])
        )

    def only_instructions(self, expr: Expr) -> bool:
        """Whether nothing but warpgroup instructions reads a value."""
        readers = self._readers.get(id(expr), [None])
        return all(isinstance(reader, Call) and isinstance(reader.target, WgmmaSm90) for reader in readers)

    def only_left_operand(self, expr: Expr) -> bool:
        """Whether nothing reads a value but matrix products whose left operand it is."""
        return all(
            isinstance(reader, Call)
            and isinstance(reader.target, MatMul)
            and reader.args[0] is expr
            and reader.args[1] is not expr
            for reader in self._readers.get(id(expr), [None])
        )
