"""The canonical rendering: one statement a line, each value numbered once, loops as blocks. It has a form for all IR.

Statements of TIR, which are frozen dataclasses that hold expressions, are printed by their fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata, ExecutionDomainMetadata, IRMetadata
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.dims.dim_var import DimVar
from tilefoundry.ir.hir.grid_region import GridRegionExpr
from tilefoundry.ir.structure import structurally_equal
from tilefoundry.ir.text.values import ValuePrinter
from tilefoundry.ir.text.walk import Walk, inside_of, is_dim, is_inline, notes_of
from tilefoundry.ir.tir.items import unfold
from tilefoundry.ir.tir.prim_func import PrimFunction
from tilefoundry.ir.tir.stmt import Stmt
from tilefoundry.ir.tir.symbols import ShapeOf, SymbolRef
from tilefoundry.ir.traverse import FreeVars
from tilefoundry.target import Target


class CanonicalPrinter(Walk):
    """Prints functions into `lines`.

    Args:
        functions: names of the functions that calls may refer to, by identity; it grows by those that calls reach.
    """

    def __init__(self, functions: dict[int, str]) -> None:
        self.values = ValuePrinter(self.reference)
        self.lines: list[str] = []
        self.reached: list[Function] = []
        self.called: list[Function] = []
        self._functions = functions
        self._count = 0
        self._names: dict[int, str] = {}
        self._held: list[Expr] = []  # keeps ids unique while they are keys
        self._depth = 0

    # -- names

    def function_name(self, function: Function) -> str:
        """The name of a function; a new one is noted as reached. Equal ones have one name."""
        if id(function) not in self._functions:
            for known in self.called:
                if structurally_equal(known, function):
                    return self._functions[id(known)]
            self._functions[id(function)] = f"@{len(self._functions)}"
            self.reached.append(function)
            self.called.append(function)
        return self._functions[id(function)]

    def name(self, expr: Expr) -> str:
        """A new name for an expression."""
        self._held.append(expr)
        self._names[id(expr)] = f"%{self._count}"
        self._count += 1
        return self._names[id(expr)]

    def reference(self, expr: Expr) -> str:
        """How other text refers to an expression; printed first where that has not been done."""
        if isinstance(expr, (Constant, DimVar, ShapeOf, SymbolRef)) or is_dim(expr):
            return self._inline(expr)
        if id(expr) not in self._names:
            self.block((expr,))
        return self._names[id(expr)]

    def _inline(self, expr: Expr) -> str:
        if isinstance(expr, Constant):
            return f"Constant({expr.value!r}, {self.values.type(expr.type)})"
        if isinstance(expr, ShapeOf):
            return f"ShapeOf({self.reference(expr.param)}, {expr.axis})"
        if isinstance(expr, SymbolRef):
            return f"SymbolRef({self.values.value((expr.name, *expr.nested))})"
        return self.values.dim(expr)

    def operand(self, operand: Expr | int) -> str:
        """An operand of a call."""
        if isinstance(operand, int):
            return str(operand)
        if isinstance(operand, Tuple):
            parts = [self.operand(e) for e in operand.elements]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return self.reference(operand)

    # -- statements

    def line(self, text: str) -> None:
        """Adds a line at the current depth."""
        self.lines.append("  " * self._depth + text)

    def is_printed(self, expr: Expr) -> bool:
        """Whether a value has its number."""
        return id(expr) in self._names

    def stands_alone(self, expr: Expr) -> bool:
        """Every value that is not printed yet, but what is inline."""
        return not self.is_printed(expr) and not is_inline(expr)

    def assignment(self, expr: Expr) -> None:
        """``%n = ... : type``"""
        match expr:
            case Call(target, args):
                text = f"{self._target(target)}({', '.join(map(self.operand, args))})"
            case Var(name, _, is_const):
                text = f"var {name!r}{' const' if is_const else ''}"
            case _:
                text = self.values.value(expr)
        self.line(f"{self.name(expr)} = {text} : {self.values.type(expr.type)}{self._notes(expr.metadata)}")

    def _target(self, target: object) -> str:
        if isinstance(target, Function):
            return self.function_name(target)
        if isinstance(target, ChildEntry):
            return f"child {target.child!r}"
        assert isinstance(target, Op)
        attributes = ", ".join(f"{name}={self.values.value(value)}" for name, value in target.attributes())
        return f"{type(target).__name__}[{attributes}]" if attributes else type(target).__name__

    def loop(self, loop: GridRegionExpr, bound: frozenset[Var], free: FreeVars) -> None:
        """``for %n 'i' in (start, extent, step):``, its carries, its body, what it yields."""
        inits = [self.operand(init) for init in loop.init_args]
        bounds = ", ".join(self.values.dim(d) for d in (loop.start, loop.extent, loop.step))
        spread = f" spread {self.values.value(loop.spread)}" if loop.spread is not None else ""
        notes = self._notes(loop.metadata)
        self.line(f"for {self.name(loop.induction_var)} {loop.induction_var.name!r} in ({bounds}){spread}{notes}:")
        self._depth += 1
        for var, init in zip(loop.carried_args, inits, strict=True):
            self.line(f"carry {self.name(var)} {var.name!r} = {init} : {self.values.type(var.type)}")
        inside = inside_of(loop)
        self.block(inside, bound | {loop.induction_var, *loop.carried_args}, free)
        self.line(f"yield {', '.join(map(self.operand, inside))}")
        self._depth -= 1
        self.line(f"{self.name(loop)} = end : {self.values.type(loop.type)}")

    def _notes(self, metadata: Iterable[IRMetadata]) -> str:
        """Names, mesh scopes, constraints."""
        notes: list[str] = []
        for record in notes_of(metadata):
            match record:
                case BindingMetadata(name):
                    notes.append(f" as {name!r}")
                case ExecutionDomainMetadata(scopes):
                    notes.append(f" in ({', '.join(map(self.values.mesh, scopes))})")
                case _:
                    notes.append(f" with {self.values.value(record)}")
        return "".join(notes)

    # -- functions

    def function(self, function: Function, label: str = "") -> None:
        """Prints a function, its variants and converters, with names of its own for all values.

        What several functions or children share is printed in each, so that sharing makes no difference.
        """
        around = dict(self._names)
        number = f"{label} " if label else ""
        self.line(f"func {number}{function.name!r}{self._notes(function.metadata)}:")
        self._depth += 1
        for param in function.params:
            kind = "const" if param.is_const else "param"
            self.line(f"{kind} {self.name(param)} {param.name!r} : {self.values.type(param.type)}")
        for pattern in function.specializations:
            self.line(f"serves {self.values.value(pattern)}")
        if function.body is not None:
            self.block((function.body,), frozenset(function.params))
            self.line(f"return {self.operand(function.body)} : {self.values.type(function.return_type)}")
        else:
            self.line(f"prototype : {self.values.type(function.return_type)}")
        for variant in function.variants:
            self.function(variant)
        for weight, converter in function.converters:
            self.line(f"converter {weight!r}")
            self.function(converter)
        self._depth -= 1
        self._names = around

    def definition(self, definition: object) -> None:
        """Prints a kernel, or a statement of one, by the fields of its dataclass; a kernel has names of its own."""
        if isinstance(definition, Function):
            self.function(definition)
            return
        if not dataclasses.is_dataclass(definition) or isinstance(definition, type):
            self.line(self.values.value(definition))
            return
        around = self._names
        if isinstance(definition, PrimFunction):
            self._names = {}
        self.line(f"{type(definition).__name__}:")
        self._depth += 1
        for f in dataclasses.fields(definition):
            if f.compare:
                self._field(f.name, getattr(definition, f.name))
        self._depth -= 1
        if isinstance(definition, PrimFunction):
            self._names = around

    def _field(self, name: str, value: object) -> None:
        parts = value if isinstance(value, tuple) else (value,)
        if isinstance(value, Stmt):
            parts = tuple(unfold(value))  # bindings side by side, not one in another
        if isinstance(value, Op):
            self.line(f"{name} = {self._target(value)}")
        elif isinstance(value, Target):  # of a kernel or host function; the Module's own is no part of its text
            self.line(f"{name} = {value.canonical_text()}")
        elif all(isinstance(p, Expr) or type(p) is int for p in parts):
            # operands that are new here are printed first, on lines of their own
            self.line(f"{name} = ({', '.join([self.operand(p) for p in parts])})")
        elif any(_is_statement(p) for p in parts):
            self.line(f"{name}:")
            self._depth += 1
            for part in parts:
                self.definition(part)
            self._depth -= 1
        else:
            self.line(f"{name} = {self.values.value(value)}")


def _is_statement(value: object) -> bool:
    """Whether a value is a record that may hold expressions: one that is defined beside the TIR statements."""
    return dataclasses.is_dataclass(value) and type(value).__module__.startswith("tilefoundry.ir.tir")
