"""Kernels: the statements of a ``@prim_func``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.metadata import binding_name
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.text.script.blocks import INDENT
from tilefoundry.ir.text.script.kernel_expressions import KernelExpressions, KernelValues
from tilefoundry.ir.text.script.names import GlobalNames, authored
from tilefoundry.ir.text.script.values import quoted
from tilefoundry.ir.tir import (
    Abort,
    Binding,
    DispatchCall,
    Evaluate,
    For,
    If,
    Item,
    Launch,
    MeshScope,
    PrimFunction,
    Return,
    ShapeOf,
    Stmt,
    SymbolRef,
    ValueOp,
    While,
    items_within,
    unfold,
)
from tilefoundry.ir.traverse import operands_of, post_order
from tilefoundry.ir.types import DType, TensorType


class KernelPrinter:
    """Prints the body of one kernel.

    Args:
        levels: the topology levels that the module declares.
        symbol: the spelling of another kernel, by its name.
    """

    def __init__(
        self, kernel: PrimFunction, names: GlobalNames, levels: tuple[Topology, ...], symbol: Callable[[SymbolRef], str]
    ) -> None:
        self._kernel, self._symbol, self._names = kernel, symbol, names
        self._spellings: dict[Var, str] = {p: p.name for p in kernel.params}
        self._holders: dict[str, Var | None] = {p.name: p for p in kernel.params}
        self._holders.update((extent.hidden_name, None) for extent in kernel.hidden_params)
        self._outer: frozenset[str] = frozenset()  # names bound around the block, which it cannot bind again
        self._used = set(self._holders)
        self._uses = _count_uses(kernel.body)
        self._text = KernelExpressions(lambda atom: KernelValues(names, levels, atom), self._variable)

    def lines(self) -> list[str]:
        """The statements, without indentation."""
        return self._block(self._kernel.body, top=True)

    def _variable(self, var: Var) -> str:
        if var not in self._spellings:
            raise ExtractError(f"'{var.name}' is used where it is not bound", remedy="bind it before")
        self._uses[var] -= 1
        return self._spellings[var]

    # -- blocks

    def _block(self, body: Stmt, top: bool = False, opened: Callable[[], None] = lambda: None) -> list[str]:
        around = (dict(self._spellings), dict(self._holders), self._outer)
        if not top:
            self._outer = frozenset(self._holders)
        opened()
        lines: list[str] = []
        run: list[tuple[int, Binding]] = []  # bindings that may be written inside of the statement that follows
        for place, item in enumerate(unfold(body)):
            if isinstance(item, Binding) and self._is_unnamed(item, place):
                run.append((place, item))
                continue
            if run and not self._joins(run, item):
                lines += [line for _, binding in run for line in self._item(binding)]
                run = []
            self._text.written_inside = {binding.var: binding.value for _, binding in run}
            lines += self._item(item)
            self._text.written_inside = {}
            run = []
        lines += [line for _, binding in run for line in self._item(binding)]
        self._spellings, self._holders, self._outer = around
        return lines or ["pass"]

    def _is_unnamed(self, binding: Binding, place: int) -> bool:
        """Whether the front end gives this name to a view that is written as an operand here."""
        value = binding.value
        return (
            isinstance(value, Call)
            and isinstance(value.target, ValueOp)
            and binding.var.name == f"{value.target.op_name}_{place}"
            and self._uses[binding.var] == 1
        )

    def _joins(self, run: Sequence[tuple[int, Binding]], item: Item) -> bool:
        """Whether writing the bindings of a run inside `item` gives the same bindings in the same order."""
        values = {binding.var: binding.value for _, binding in run}
        root: object = item.value if isinstance(item, Binding) else item
        args: Sequence[Expr | int] = ()
        match root:
            case Evaluate(callable=Op() as op, args=given) if not isinstance(op, Launch):
                args = given
            case Call(target=ValueOp(), args=given):
                args = given
        found = _bound_by(args, values)
        return found == [binding.var for _, binding in run]

    # -- statements

    def _item(self, item: Item) -> list[str]:
        text = self._text
        match item:
            case Binding(var, value):
                return self._bind(var, text.scalar(value))
            case Evaluate(callable=SymbolRef() as callee, args=args):
                return [f"{self._symbol(callee)}({', '.join(text.operands(args))})"]
            case Evaluate(callable=Launch() as op, args=args):
                return [self._launch(op, args)]
            case Evaluate(callable=op, args=args):
                assert isinstance(op, Op)
                return [text.effect(op, args)]
            case For(var, start, extent, step, body):
                return [self._for_header(var, start, extent, step), *_inside(self._loop_body(var, body))]
            case While(condition, body):
                return [f"while {self._condition(condition)}:", *_inside(self._block(body))]
            case If(condition, then_body, else_body):
                lines = [f"if {self._condition(condition)}:", *_inside(self._block(then_body))]
                return lines if else_body is None else [*lines, "else:", *_inside(self._block(else_body))]
            case MeshScope():
                return self._scope(item)
            case Return():
                return ["return"]
            case Abort(message):
                return [f"{self._names.dsl('T')}.abort({quoted(message)})"]
            case DispatchCall():
                return [self._dispatch(item)]
        raise ExtractError(f"a statement {type(item).__name__} has no spelling in a script", remedy=_CANONICAL)

    def _bind(self, var: Var, written: str) -> list[str]:
        name = authored(var.name, "a value")
        if name in self._outer or binding_name(var) not in (None, name):
            raise ExtractError(f"'{name}' is bound again inside of a block", remedy="give each value a name of its own")
        lines = []
        holder = self._holders.get(name)
        if holder is not None and self._spellings.get(holder) == name and self._uses[holder] > 0:
            kept = self._spellings[holder] = self._names.local(f"{name}_1", self._used)
            self._used.add(kept)
            self._holders[kept] = holder
            lines.append(f"{kept} = {name}")
        self._spellings[var], self._holders[name] = name, var
        return [*lines, f"{name} = {written}"]

    def _condition(self, condition: Expr) -> str:
        type_ = condition.type
        if isinstance(condition, Constant) or not isinstance(type_, TensorType) or type_.dtype != DType.bool:
            raise ExtractError(f"{condition!r} is no condition in a script", remedy="compare scalars")
        return self._text.scalar(condition)

    def _for_header(self, var: Var, start: Expr | int, extent: Expr | int, step: Expr | int) -> str:
        name = authored(var.name, "a loop variable")
        if name in self._holders:
            raise ExtractError(f"the loop variable '{name}' has the name of a value around it", remedy="rename it")
        bounds = [self._text.scalar(b) for b in (start, extent, step)]
        if step == 1:
            bounds = bounds[1:2] if start == 0 else bounds[:2]
        return f"for {name} in {self._names.builtin('range')}({', '.join(bounds)}):"

    def _loop_body(self, var: Var, body: Stmt) -> list[str]:
        def opened() -> None:
            self._spellings[var], self._holders[var.name] = var.name, var
            self._outer |= {var.name}

        return self._block(body, opened=opened)

    def _scope(self, scope: MeshScope) -> list[str]:
        values = self._text.values
        header = f"with {values.mesh_call(scope.mesh)}"
        name = "" if scope.binding is None else authored(scope.binding, "a mesh")
        if name in self._holders:
            raise ExtractError(f"the mesh '{name}' has the name of a value around it", remedy="rename it")

        def opened() -> None:
            if name:
                self._holders[name] = None
                self._outer |= {name}

        values.open.append((scope.mesh, name))
        body = self._block(scope.body, opened=opened)
        values.open.pop()
        return [f"{header} as {name}:" if name else f"{header}:", *_inside(body)]

    def _launch(self, op: Launch, args: Sequence[Expr]) -> str:
        callee, passed, grid, block = args
        assert isinstance(callee, SymbolRef) and isinstance(passed, Tuple) and isinstance(block, Tuple)
        given = [self._symbol(callee), *self._text.operands(passed.elements)]
        given += [f"grid={self._extents(grid)}", f"block={self._extents(block)}"] if block.elements else []
        given += [
            f"{name}={self._text.values.value(value)}"
            for name, value in op.attributes()
            if value != getattr(Launch(), name)
        ]
        return f"{self._names.dsl('launch')}({', '.join(given)})"

    def _extents(self, extents: Expr) -> str:
        assert isinstance(extents, Tuple)
        parts = [
            str(e.value) if isinstance(e, Constant) and e.type == _EXTENT else self._text.scalar(e)
            for e in extents.elements
        ]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def _dispatch(self, call: DispatchCall) -> str:
        make = self._names.dsl("DimVarRangePat")
        cases = []
        for pattern, case in zip(call.case_patterns, call.case_calls, strict=True):
            assert isinstance(case.callable, SymbolRef)
            where = f"{make}({quoted(pattern.dim_var)}, {pattern.lo}, {pattern.hi})"
            cases.append(f"({where}, {self._symbol(case.callable)})")
        passed = {tuple(self._text.operands(case.args)) for case in call.case_calls}
        if len(passed) != 1 or len(call.subjects) != 1 or not isinstance(call.fallback, Abort):
            raise ExtractError(f"the dispatch of '{call.callee_name}' has no spelling in a script", remedy=_CANONICAL)
        args = passed.pop()
        given = [quoted(call.callee_name), self._text.scalar(call.subjects[0]), *cases]
        given += [
            f"args=({', '.join(args)}{',' if len(args) == 1 else ''})",
            f"otherwise={quoted(call.fallback.message)}",
        ]
        return f"{self._names.dsl('T')}.dispatch({', '.join(given)})"


_EXTENT = TensorType.umat_scalar(DType.i32)
_CANONICAL = "print the canonical text instead"


def _inside(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _bound_by(args: Sequence[Expr | int], values: dict[Var, Expr]) -> list[Var]:
    """The variables that the front end makes for views among these operands, in the order in which it makes them."""
    own = [a for a in args if isinstance(a, Var) and a in values]
    inner = [v for var in own for v in _bound_by(_call_args(values[var]), values)]
    return [*inner, *own]


def _call_args(value: Expr) -> tuple[Expr | int, ...]:
    return value.args if isinstance(value, Call) else ()


def _count_uses(body: Stmt) -> Counter[Var]:
    """How often each variable is mentioned; more than once counts as often."""
    uses: Counter[Var] = Counter()
    for item in items_within(unfold(body)):
        for expr in _expressions_of(item):
            for part in post_order(expr):
                for operand in operands_of(part):
                    if isinstance(operand, Var):
                        uses[operand] += 1
                if isinstance(part, ShapeOf):
                    uses[part.param] += 1
            if isinstance(expr, Var):
                uses[expr] += 1
    return uses


def _expressions_of(item: Item) -> list[Expr]:
    match item:
        case Binding(value=value):
            found: list[object] = [value]
        case Evaluate(args=args):
            found = list(args)
        case For(start=start, extent=extent, step=step):
            found = [start, extent, step]
        case While(condition=condition) | If(condition=condition):
            found = [condition]
        case DispatchCall(subjects=subjects, case_calls=calls):
            found = [*subjects, *(a for call in calls for a in call.args)]
        case _:
            found = []
    return [e for e in found if isinstance(e, Expr)]
