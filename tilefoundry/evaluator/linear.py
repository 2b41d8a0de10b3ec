"""Carries that a loop only writes windows into: their buffer can be updated in place instead of copied each time.

The value of such a carry has one reader, the write that makes the next value; so nobody can see that it changed.
"""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir import GridRegionExpr, InsertSlice

Node = Expr | int


class LinearCarries:
    """Which carried Vars of a program are only written into.

    Args:
        nodes: every expression of the program, each once.
        result: the value of the program, which counts as a reader.
    """

    def __init__(self, nodes: list[Expr], result: Expr) -> None:
        self._readers: dict[int, int] = {id(result): 1}
        for node in nodes:
            for operand in _operands(node):
                if not isinstance(operand, int):
                    self._readers[id(operand)] = self._readers.get(id(operand), 0) + 1
        self.vars: set[int] = set()
        for node in nodes:
            if isinstance(node, GridRegionExpr):
                self.vars.update(
                    id(var) for k, var in enumerate(node.carried_args) if self._is_written_only(node, k, var)
                )

    def __contains__(self, var: object) -> bool:
        return isinstance(var, Var) and id(var) in self.vars

    def _is_written_only(self, region: GridRegionExpr, k: int, var: Var) -> bool:
        while True:
            out = region.yield_values[k]
            if self._readers.get(id(var), 0) != 1 or self._readers[id(out)] != 1:
                return False
            if isinstance(out, Call):
                return isinstance(out.target, InsertSlice) and out.args[0] is var
            if not isinstance(out, GridRegionExpr) or len(out.init_args) != 1 or out.init_args[0] is not var:
                return False
            region, k, var = out, 0, out.carried_args[0]


def _operands(node: Expr) -> tuple[Node, ...]:
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Tuple):
        return node.elements
    if isinstance(node, GridRegionExpr):
        body = () if node.body is None else (node.body,)
        return (*node.init_args, node.start, node.extent, node.step, *node.yield_values, *body)
    return ()
