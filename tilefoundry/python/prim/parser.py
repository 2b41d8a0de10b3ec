"""The parser of a kernel's body: what a statement adds to its block, and what a value may be.

It resolves names, literals and layouts as that of tensor programs does. Where that one builds values, this one keeps a
list of bindings and statements: a name that is assigned a run-time value is bound once, for the rest of its block.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, CallTarget, Constant, Expr, Var, type_of
from tilefoundry.ir.core.metadata import BindingMetadata, Metadata
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import IntLiteralType
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import Cast
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python.parser import Parser, construct_name


@dataclass(frozen=True)
class Effect:
    """What the call of a statement gives: its items, and no value."""

    name: str
    items: tuple[tir.Item, ...]


@dataclass
class PrimParser(Parser):
    """Parses the body of one ``@prim_func``.

    Attributes:
        items: the bindings and statements of the block that is open.
        outer: names that the blocks around it have bound; they cannot be bound again inside.
        params: the parameters, whose dynamic extents are read by ``x.shape``.
        callees: the functions that symbols name, by their names.
        expanding: the intrinsics whose bodies are being written out, outermost first.
        at: the statement that is being parsed.
    """

    items: list[tir.Item] = field(default_factory=list)
    outer: frozenset[str] = frozenset()
    params: frozenset[Var] = frozenset()
    callees: dict[str, tir.PrimFunction] = field(default_factory=dict)
    expanding: tuple[object, ...] = ()
    at: ast.AST = field(default_factory=ast.Pass)

    def run(self, statements: list[ast.stmt]) -> None:
        """Parses a block."""
        for i, statement in enumerate(statements):
            self.at = statement
            handler = self.statements.get(type(statement))
            if handler is None:
                self.refuse(
                    statement,
                    f"expected a statement of a kernel, got {construct_name(statement)}",
                    remedy="use assignments, T ops, launch, calls of @prim_func functions, 'with Mesh', 'for', "
                    "'while', 'if' and 'return'",
                )
            handler(self, statement)
            if self.items and isinstance(self.items[-1], (tir.Return, tir.Abort)) and i + 1 < len(statements):
                what = "a 'return'" if isinstance(self.items[-1], tir.Return) else "T.abort"
                self.refuse(statements[i + 1], f"this statement follows {what} and never runs", "remove it")

    def block(self, what: str, node: ast.AST, fill: Callable[[], None]) -> tir.Stmt:
        """The block that `fill` writes; what it binds is gone after it."""
        items, scope, outer = self.items, self.scope, self.outer
        self.items, self.scope, self.outer = [], dict(scope), frozenset(scope)
        fill()
        body = tir.fold(self.items)
        line = self.source.span(node).line
        for name in self.scope:
            if name not in scope:
                self.gone[name] = f"it was bound only inside the {what} at line {line}"
        self.items, self.scope, self.outer = items, scope, outer
        return body

    def place(self, node: ast.AST) -> Metadata:
        """The record of where a statement was written."""
        return self.metadata(node)[:1]

    # -- values

    def bind(self, name: str, value: object) -> None:
        """Gives a local name a value; a run-time value is bound by a LetStmt."""
        if isinstance(value, Effect):
            self.refuse(self.at, f"{value.name} has no value", f"write {value.name}(...) as a statement of its own")
        if name in self.outer:
            self.refuse(
                self.at,
                f"'{name}' is bound already outside of this block",
                remedy=f"write into it, T.copy(..., {name}), or use another name",
            )
        self.scope[name] = self.let(name, value) if isinstance(value, Expr) else value
        self.gone.pop(name, None)

    def let(self, name: str, value: Expr) -> Expr:
        """The variable that holds `value` from here on; what has a name already keeps it."""
        if isinstance(value, (Var, DimVar, Constant)):
            return value
        where = self.place(self.at)
        var = Var(name, value.type, metadata=(*where, BindingMetadata(name)))
        self.items.append(tir.Binding(var, value, metadata=where))
        return var

    def call(self, node: ast.AST, target: CallTarget, args: tuple[Expr | int, ...]) -> Call:
        """A typed call of an op written at `node`; an effect's is a statement (`Effect`)."""
        if isinstance(target, (tir.ValueOp, tir.EffectOp)):
            args = tuple(self.operand(node, arg) for arg in args)
            return self._typed(node, target, args)
        if any(_is_tensor(arg) for arg in args) or not isinstance(target, Op):
            self._refuse_tensors(node, target)
        inputs = tuple(self.operand(node, arg) for arg in args)
        with self.located(node):
            type_ = target.infer_type(tuple(map(_as_scalar, inputs)), self.metadata(node))
        if not isinstance(type_, TensorType) or type_.shape:
            self._refuse_tensors(node, target)
        return Call(target, inputs, TensorType.umat_scalar(type_.dtype), self.metadata(node))

    def levelled(self, node: ast.AST, values: Sequence[object]) -> Sequence[object]:
        """Integer scalars meet in i64: extents are passed as i32, coordinates and loop variables are i64."""
        dtypes = [v.type.dtype for v in values if isinstance(v, Expr) and isinstance(v.type, TensorType)]
        runtime = [v for v in values if isinstance(v, Expr)]
        if not all(map(is_scalar, runtime)) or not all(d.is_integer for d in dtypes) or len(set(dtypes)) < 2:
            return values
        return [
            self.call(node, Cast(DType.i64), (v,))
            if isinstance(v, Expr) and isinstance(v.type, TensorType) and v.type.dtype != DType.i64
            else v
            for v in values
        ]

    def _typed(self, node: ast.AST, target: tir.ValueOp | tir.EffectOp, args: tuple[Expr | int, ...]) -> Call:
        with self.located(node):
            if isinstance(target, tir.ValueOp):
                return Call(target, args, metadata=self.place(node))
            target.infer_type(args, self.place(node))
        statement = tir.Evaluate(target, args, metadata=self.place(node))  # type: ignore[arg-type]  # ints are indices
        return Effect(f"T.{target.op_name}", (statement,))  # type: ignore[return-value]  # `bind` refuses it as a value

    def operand(self, node: ast.AST, arg: Expr | int) -> Expr | int:
        """A value op among the operands gets a name of its own; memory must have the author's."""
        if not (isinstance(arg, Call) and isinstance(arg.target, tir.ValueOp)):
            return arg
        if isinstance(arg.target, (tir.AllocTensor, tir.MemorySpan, tir.Pipeline)):
            name = f"T.{arg.target.op_name}"
            self.refuse(node, f"{name} must be given a name", f"bind it first: x = {name}(...)")
        return self.let(f"{arg.target.op_name}_{len(self.items)}", arg)

    def _refuse_tensors(self, node: ast.AST, target: CallTarget) -> NoReturn:
        name = getattr(target, "op_name", "this function")
        self.refuse(
            node,
            f"{name} gives a new tensor; a kernel writes into memory that it has allocated",
            remedy="use the op of T with a destination, such as T.binary(a, b, dst, kind=BinaryKind.ADD)",
        )


def is_scalar(value: object) -> bool:
    """Whether a value is a run-time scalar: rank 0, of an element type."""
    return isinstance(value, Expr) and isinstance(value.type, TensorType) and not value.type.shape


def _is_tensor(arg: Expr | int) -> bool:
    type_ = type_of(arg)
    return not isinstance(type_, IntLiteralType) and not (isinstance(type_, TensorType) and not type_.shape)


def _as_scalar(arg: Expr | int) -> Expr | int:
    """The operand as type rules see it: the memory that a scalar is read from makes no difference."""
    if isinstance(arg, (int, Constant, DimVar)) or not isinstance(arg.type, TensorType):
        return arg
    return Var("x", TensorType.umat_scalar(arg.type.dtype))
