"""Calls between kernels, by name or by extent: the callee's statements, with arguments in place of its parameters.

A call is a device call inside the same kernel, so it leaves nothing behind but statements.
"""

from __future__ import annotations

from dataclasses import replace

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.ir.types.matching import Bindings, bind_type
from tilefoundry.ir.verify.prim_calls import resolve_symbol

_FLAG = TensorType.umat_scalar(DType.bool)


def inline_calls(module: Module, kernel: tir.PrimFunction, around: tuple[str, ...] = ()) -> tir.PrimFunction:
    """The kernel without calls of other kernels and without dispatches.

    Args:
        around: the kernels whose calls led here, outermost first.

    Raises:
        CompileError: kernels call each other in a circle, or a callee cannot stand in its caller; at the call.
    """

    def block(stmt: tir.Stmt) -> tir.Stmt:
        items: list[tir.Item] = []
        for item in tir.unfold(stmt):
            if isinstance(item, tir.Evaluate) and isinstance(item.callable, tir.SymbolRef):
                items += _callee(module, kernel, item, item.callable, (*around, kernel.name))
            elif isinstance(item, tir.DispatchCall):
                items.append(block(_branches(item)))
            else:
                items.append(item if isinstance(item, tir.Binding) else tir.map_blocks(item, block))
        return tir.fold(items)

    return replace(kernel, body=block(kernel.body))


def _branches(dispatch: tir.DispatchCall) -> tir.Stmt:
    """A dispatch as tests of its extent, one case after the other."""
    (subject,) = dispatch.subjects
    rest = dispatch.fallback
    for pattern, call in reversed(tuple(zip(dispatch.case_patterns, dispatch.case_calls, strict=True))):
        low, high = (Constant(bound, tir.EXTENT_TYPE) for bound in (pattern.lo, pattern.hi))
        above = Call(Binary(BinaryKind.GE), (subject, low), _FLAG)
        below = Call(Binary(BinaryKind.LT), (subject, high), _FLAG)
        inside = Call(Binary(BinaryKind.AND), (above, below), _FLAG)
        rest = tir.If(inside, call, rest, metadata=dispatch.metadata)
    return rest


def _callee(
    module: Module, kernel: tir.PrimFunction, call: tir.Evaluate, symbol: tir.SymbolRef, around: tuple[str, ...]
) -> list[tir.Item]:
    span = call.span or kernel.span
    callee = resolve_symbol(kernel, module, symbol, span)
    if callee.name in around:
        raise CompileError(
            f"kernels call each other: {' -> '.join((*around, callee.name))}",
            span=span,
            remedy="write the repetition as a loop",
        )
    bindings: Bindings = {}
    for param, arg in zip(callee.params, call.args, strict=True):
        if isinstance(param.type, TensorType) and param.type.shape:
            bind_type(param.type, arg.type, bindings)
    if any(extent is not var for var, extent in bindings.items()):
        raise CompileError(
            f"a call of '{symbol}' under other extents than it declares cannot be compiled yet",
            span=span,
            remedy="declare caller and callee over the same DimVars",
        )
    body = inline_calls(module, callee, around).body
    if any(isinstance(item, tir.Return) for item in tir.items_within(tir.unfold(body))):
        raise CompileError(
            f"a call of '{symbol}', which returns early, cannot be compiled yet",
            span=span,
            remedy="use 'if' around the rest of it",
        )
    return tir.unfold(_Substitution(dict(zip(callee.params, call.args, strict=True))).block(body))


class _Substitution:
    """Statements with values in place of variables; every variable that they bind is made anew."""

    def __init__(self, values: dict[Var, Expr]) -> None:
        self.values = values

    def block(self, stmt: tir.Stmt) -> tir.Stmt:
        return tir.fold([self.item(item) for item in tir.unfold(stmt)])

    def item(self, item: tir.Item) -> tir.Item:
        match item:
            case tir.Binding(var, value):
                value = self.expr(value)
                return replace(item, var=self.fresh(var), value=value)
            case tir.Evaluate(args=args):
                return replace(item, args=tuple(self.operand(arg) for arg in args))
            case tir.For(start=start, extent=extent, step=step):
                start, extent, step = (self.operand(bound) for bound in (start, extent, step))
                var = self.fresh(item.var)
                return replace(item, var=var, start=start, extent=extent, step=step, body=self.block(item.body))
            case tir.While(condition) | tir.If(condition):
                item = replace(item, condition=self.expr(condition))
        return tir.map_blocks(item, self.block)

    def fresh(self, var: Var) -> Var:
        new = Var(var.name, var.type, var.is_const, var.metadata)
        self.values[var] = new
        return new

    def operand(self, operand: Expr | int) -> Expr:
        return self.expr(operand) if isinstance(operand, Expr) else operand  # type: ignore[return-value]  # an index

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case Var():
                return self.values.get(expr, expr)
            case tir.ShapeOf(param, axis):
                value = self.values.get(param, param)
                assert isinstance(value, Var) and isinstance(value.type, TensorType)
                extent = value.type.shape[axis]
                if isinstance(extent, int):
                    return Constant(extent, tir.EXTENT_TYPE)
                return tir.ShapeOf(value, axis, expr.metadata)
            case Call(target, args, type_):
                return Call(target, tuple(self.operand(arg) for arg in args), type_, expr.metadata)
            case Tuple(elements):
                return Tuple(tuple(self.operand(e) for e in elements), expr.metadata)
        return expr
