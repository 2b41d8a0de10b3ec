"""What printing a function needs to know: who uses what, what is written where it is used, which loops tile."""

from __future__ import annotations

from collections import Counter

from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, binding_name, find_metadata
from tilefoundry.ir.core.schedule import ScheduleConstraintMetadata
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.dims import INDEX_TYPE, dim_atoms, dim_sub, is_dim_expr
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import InsertSlice, MeshCoordinate, Slice, TupleGetItem
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.shard import Mesh
from tilefoundry.ir.text.walk import is_dim
from tilefoundry.ir.traverse import operands_of, post_order

_DEEPEST = 24  # nesting of one printed expression; the front end takes 200
_FOREVER = 1 << 30


def scopes_of(expr: Expr) -> tuple[Mesh, ...]:
    """The mesh scopes that a value was written in."""
    record = find_metadata(expr.metadata, ExecutionDomainMetadata)
    return record.scopes if record is not None else ()


def is_index_value(value: object) -> bool:
    """Whether the front end takes a value for an extent or index: loop variables, coordinates, arithmetic on these."""
    return is_dim_expr(value) or is_coordinate(value) or (isinstance(value, Var) and value.type == INDEX_TYPE)


def is_coordinate(value: object) -> bool:
    """Whether a value is a mesh coordinate, which is written where it is used."""
    return isinstance(value, Call) and isinstance(value.target, MeshCoordinate)


class Analysis:
    """Facts about the body of one function, by the id of each expression.

    Attributes:
        scopes: the mesh scopes of the ``return``.
        refs: how often a value is mentioned in the text.
        inline: the calls that are written where they are used.
        results: of each loop with several carries, the values taken from it.
        parts: of each other tuple, the values taken from it.
        tiles: the loop variables that stand for windows.
    """

    def __init__(self, body: Expr) -> None:
        self.body = body
        self.scopes = _return_scopes(body)
        self.refs: Counter[int] = Counter()
        self.inline: set[int] = set()
        self.results: dict[int, list[Call]] = {}
        self.parts: dict[int, list[Call]] = {}
        self.tiles: set[Var] = set()
        order = list(post_order(body))
        loops = {e.induction_var: e for e in order if isinstance(e, GridRegionExpr)}
        for expr in order:
            if isinstance(expr, Call):
                self._note_item(expr)
                self._note_windows(expr, loops)
        self._count(order)
        self._measure(order)

    def _note_item(self, call: Call) -> None:
        if isinstance(call.target, TupleGetItem) and isinstance(source := call.args[0], Expr):
            group = self.results if isinstance(source, GridRegionExpr) else self.parts
            group.setdefault(id(source), []).append(call)

    def _note_windows(self, call: Call, loops: dict[Var, GridRegionExpr]) -> None:
        for start, size in windows_of(call):
            for var in index_vars(start):
                loop = loops.get(var)
                if loop is not None and (loop.start, loop.step) == (0, size) and moves_by_one(start, var):
                    self.tiles.add(var)
                    break

    def _count(self, order: list[Expr]) -> None:
        """Parents come before operands, so that a value inside a tuple that is written twice counts twice."""
        users: dict[int, Expr | None] = {id(self.body): None}
        self.refs[id(self.body)] += 1
        for expr in reversed(order):
            if self._is_inline(expr, users):
                self.inline.add(id(expr))
            times = self.refs[id(expr)] if isinstance(expr, Tuple) else 1
            for operand in operands_of(expr):
                self.refs[id(operand)] += times
                users[id(operand)] = users.get(id(expr)) if isinstance(expr, Tuple) else expr
            if is_dim(expr):
                for atom in dim_atoms(expr):
                    self.refs[id(atom)] = _FOREVER  # extents in types and attributes are not counted

    def _is_inline(self, expr: Expr, users: dict[int, Expr | None]) -> bool:
        if (
            not isinstance(expr, Call)
            or is_dim(expr)
            or is_coordinate(expr)
            or self.refs[id(expr)] != 1
            or id(expr) in self.parts
        ):
            return False
        if isinstance(expr.target, TupleGetItem) and isinstance(expr.args[0], GridRegionExpr):
            return False
        if binding_name(expr) is not None or find_metadata(expr.metadata, ScheduleConstraintMetadata) is not None:
            return False
        user = users[id(expr)]
        if isinstance(user, GridRegionExpr) or (user is not None and is_dim(user)):
            return False
        return scopes_of(expr) == (self.scopes if user is None else scopes_of(user))

    def _measure(self, order: list[Expr]) -> None:
        """Expressions that would nest too deep are cut."""
        depth: dict[int, int] = {}
        for expr in order:
            below = (depth[id(o)] for o in operands_of(expr) if id(o) in self.inline or isinstance(o, Tuple))
            depth[id(expr)] = 1 + max(below, default=0)
            if depth[id(expr)] > _DEEPEST:
                self.inline.discard(id(expr))


def windows_of(call: Call) -> list[tuple[Dim, Dim]]:
    """Start and size of the axes of which a call takes a window that may overhang."""
    match call.target:
        case Slice(sizes=sizes, boundary=boundary):
            starts = call.args[1]
        case InsertSlice(sizes=sizes, boundary=boundary):
            starts = call.args[2]
        case _:
            return []
    assert isinstance(starts, Tuple)
    return [(s, size) for s, size, b in zip(starts.elements, sizes, boundary, strict=True) if b != "error"]


def index_vars(dim: Dim) -> list[Var]:
    """The variables that an index is made of, in the order of its text."""
    if isinstance(dim, Var):
        return [dim]
    found = dim_atoms(dim) if isinstance(dim, Expr) else ()
    ordered = [e for e in post_order(dim) if e in found] if isinstance(dim, Expr) else []
    return [atom for atom in ordered if isinstance(atom, Var)]


def moves_by_one(start: Dim, var: Var) -> bool:
    """Whether an index is `var` plus something without `var`."""
    return var not in index_vars(dim_sub(start, var))


def _return_scopes(body: Expr) -> tuple[Mesh, ...]:
    """The scopes of the returned value; of a tuple, those of its first computed element."""
    while isinstance(body, Tuple):
        computed = [e for e in body.elements if isinstance(e, (Call, GridRegionExpr, Tuple))]
        if not computed:
            return ()
        body = computed[0]
    return scopes_of(body)


def unpacked(source: Call, items: list[Call]) -> list[Call | None] | None:
    """The targets of ``a, b = source``, None where a part is not used; None if its parts are not taken this way."""
    if not isinstance(source.type, TupleType):
        return None
    targets: list[Call | None] = [None] * len(source.type.fields)
    for item in items:
        assert isinstance(item.target, TupleGetItem)
        plain = binding_name(item) is not None and scopes_of(item) == scopes_of(source)
        if not plain or targets[item.target.index] is not None:
            return None
        if find_metadata(item.metadata, ScheduleConstraintMetadata) is not None:
            return None
        targets[item.target.index] = item
    names = [binding_name(t) for t in targets if t is not None]
    return targets if len(set(names)) == len(names) else None
