"""Which loops a value depends on."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir import GridRegionExpr


class Reach:
    """For each node, the ids of the loop variables and carries that its value depends on; remembered by identity."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expr, frozenset[int]]] = {}

    def of(self, root: Expr) -> frozenset[int]:
        """The ids of the Vars that `root` reaches and that no loop inside it binds."""
        todo: list[tuple[Expr, bool]] = [(root, False)]
        while todo:
            node, children_known = todo.pop()
            if id(node) in self._known:
                continue
            children = children_of(node)
            if not children_known:
                todo.append((node, True))
                todo.extend((child, False) for child in children)
                continue
            reached: set[int] = {id(node)} if isinstance(node, Var) else set()
            for child in children:
                reached |= self._known[id(child)][1]
            if isinstance(node, GridRegionExpr):
                reached -= {id(v) for v in (node.induction_var, *node.carried_args)}
                for outside in node.init_args:
                    reached |= self._known[id(outside)][1]
            self._known[id(node)] = (node, frozenset(reached))
        return self._known[id(root)][1]


def children_of(node: Expr) -> list[Expr]:
    """What a node is computed from, the values that a loop yields included."""
    match node:
        case Call(args=args):
            operands: tuple[Expr | int, ...] = args
        case Tuple(elements=elements):
            operands = elements
        case GridRegionExpr():
            bounds = (node.start, node.extent, node.step)
            operands = (*bounds, *node.init_args, *node.yield_values)
        case _:
            operands = ()
    return [operand for operand in operands if isinstance(operand, Expr)]
