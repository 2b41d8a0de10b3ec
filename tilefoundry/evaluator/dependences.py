"""Which loop variables a node depends on, so that it is evaluated in the innermost loop that it needs."""

from __future__ import annotations

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.hir import GridRegionExpr

Node = Expr | int


def operands_of(node: Expr) -> tuple[Node, ...]:
    """What must have a value before `node` is computed; the body of a loop is not among it."""
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Tuple):
        return node.elements
    if isinstance(node, GridRegionExpr):
        return (*node.init_args, node.start, node.extent, node.step)
    return ()


def dependences(body: Expr) -> tuple[dict[int, frozenset[int]], list[Expr]]:
    """For each node, by id, the ids of the loop variables and carried values that it depends on; and all nodes."""
    nodes: list[Expr] = []
    found: dict[int, frozenset[int]] = {}
    loop_vars: set[int] = set()
    stack: list[Expr] = [body]
    while stack:
        node = stack[-1]
        if id(node) in found:
            stack.pop()
            continue
        children = [c for c in _children(node) if not isinstance(c, int)]
        if isinstance(node, GridRegionExpr):
            loop_vars.update(id(v) for v in (node.induction_var, *node.carried_args))
        missing = [c for c in children if id(c) not in found]
        if missing:
            stack.extend(missing)
            continue
        depends = frozenset().union(*(found[id(c)] for c in children)) if children else frozenset()
        if isinstance(node, GridRegionExpr):
            depends -= {id(v) for v in (node.induction_var, *node.carried_args)}
        elif isinstance(node, Var) and id(node) in loop_vars:
            depends = frozenset((id(node),))
        found[id(node)] = depends
        nodes.append(node)
        stack.pop()
    return found, nodes


def _children(node: Expr) -> tuple[Node, ...]:
    if isinstance(node, GridRegionExpr):
        return (
            *operands_of(node),
            *node.carried_args,
            node.induction_var,
            *node.yield_values,
            *(() if node.body is None else (node.body,)),
        )
    return operands_of(node)
