"""Expressions of tensor programs: a value is read by its name, or written where it is used."""

from __future__ import annotations

from collections.abc import Callable

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.dims.format import format_dim
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import InsertSlice, MeshCoordinate, Slice
from tilefoundry.ir.text.script.analysis import Analysis, index_vars
from tilefoundry.ir.text.script.blocks import LocalNames
from tilefoundry.ir.text.script.expressions import ATOM, Expressions, Text, inferred_type
from tilefoundry.ir.text.script.subscripts import inserted, subscript
from tilefoundry.ir.text.script.values import ScriptValues


class FunctionExpressions(Expressions):
    """Prints the expressions of one function.

    Args:
        child: the spelling of a child module, by its name.
        callee: the spelling of a prototype that is called.
    """

    def __init__(
        self,
        analysis: Analysis,
        names: LocalNames,
        values: Callable[[Callable[[Expr], str]], ScriptValues],
        child: Callable[[str], str],
        callee: Callable[[Function], str],
    ) -> None:
        super().__init__(values(self._atom), ("tf",))
        self.analysis = analysis
        self.names = names
        self._child = child
        self._callee = callee
        self._windows_as_numbers = False

    def _atom(self, atom: Expr) -> str:
        if isinstance(atom, Var) and atom in self.analysis.tiles and self._windows_as_numbers:
            return self.names.scalar(atom)
        if isinstance(atom, Call) and isinstance(atom.target, MeshCoordinate):
            return self.values.mesh_axis(atom.target.axis)
        spelling = self.names.spelling(atom)
        if spelling is None:
            raise ExtractError(
                f"an extent uses {format_dim(atom)}, which has no name here", remedy="give the value a name"
            )
        return spelling

    def index(self, dim: Dim) -> str:
        """An extent or index where a ``tile`` variable counts as its first element."""
        tiles = [var for var in index_vars(dim) if var in self.analysis.tiles]
        return self.values.dim(dim) if len(tiles) <= 1 else self.number(dim)

    def number(self, dim: Dim) -> str:
        """An extent or index where a ``tile`` variable would be a window."""
        self._windows_as_numbers = True
        try:
            return self.values.dim(dim)
        finally:
            self._windows_as_numbers = False

    def attribute(self, name: str, value: object) -> str:
        """A compile-time argument of an op, which cannot be a window."""
        self._windows_as_numbers = True
        try:
            return super().attribute(name, value)
        finally:
            self._windows_as_numbers = False

    def value(self, expr: Expr) -> Text:
        """The name of a value, or what computes it."""
        if id(expr) in self.analysis.inline:
            assert isinstance(expr, Call)
            self.names.used(expr)
            return self.call(expr)
        return self.names.read(expr), ATOM

    def check(self, call: Call) -> None:
        """A call is an op's, a child's or a prototype's, and has the type that they give it."""
        target = call.target
        if isinstance(target, Function) and not target.variants:
            raise ExtractError(
                f"a call of function '{target.name}' stands in the IR; the front end elaborates calls",
                remedy="elaborate it, or print the canonical text",
            )
        inferred = inferred_type(target, call.args, call.metadata)
        if inferred != call.type:
            raise ExtractError(
                f"a call has the type {call.type}, but what is read back would have {inferred}",
                remedy="let the op infer its type",
            )

    def special(self, call: Call) -> Text | None:
        """Calls of children and prototypes; windows."""
        match call.target:
            case Function() as prototype:
                name = self._callee(prototype)
                if self.names.is_local(name):
                    raise ExtractError(
                        f"the prototype '{name}' is called where a value has its name", remedy="rename the value"
                    )
                return f"{name}({', '.join(self.operands(call.args))})", ATOM
            case ChildEntry(child):
                return f"{self._child(child)}({', '.join(self.operands(call.args))})", ATOM
            case Slice() as op:
                text = subscript(self, op, call)
                return None if text is None else (text, ATOM)
            case InsertSlice() as op:
                return inserted(self, op, call), ATOM
        return None
