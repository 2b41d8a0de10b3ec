"""The state of parsing one function: scope, mesh stack, and how everything is refused.

Handlers for the kinds of syntax live in their own files and take the parser as first argument; the tables that map
``ast`` classes to them are given at construction.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from tilefoundry.diagnostics import TileFoundryError, VerifyError
from tilefoundry.ir.core.expr import Call, CallTarget, Expr
from tilefoundry.ir.core.metadata import (
    BindingMetadata,
    ExecutionDomainMetadata,
    Metadata,
    SourceSpanMetadata,
    binding_name,
)
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.elaborate import CallValues, Elaborator
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.shard import Mesh, MeshAxis, Topology
from tilefoundry.python.names import Resolver
from tilefoundry.python.source import FunctionSource

MAX_DEPTH = 200  # nesting of one expression; far below Python's own recursion limit


@dataclass
class Session:
    """What the functions of one module share while they are parsed.

    Attributes:
        topologies: the levels that ``with Mesh`` may name; None when no module declares them.
        elaborator: instances of called functions.
    """

    topologies: tuple[Topology, ...] | None = None
    elaborator: Elaborator = field(default_factory=Elaborator)


ExpressionHandler = Callable[["Parser", ast.AST], object]
StatementHandler = Callable[["Parser", ast.AST], None]


@dataclass
class Parser:
    """Parses the body of one function.

    Attributes:
        scope: values of the local names.
        meshes: the ``with Mesh`` scopes that are open, outermost first.
        gone: local names that were bound, and why they no longer are.
        loops: how many loops enclose the current statement.
        result: the returned value, once a ``return`` was parsed.
        returned: what that ``return`` returns, as it is written.
        coordinates: the mesh coordinates that were read, by axis and scopes.
        calls: the values of the calls of functions.
    """

    source: FunctionSource
    resolver: Resolver
    session: Session
    expressions: Mapping[type[ast.AST], ExpressionHandler]
    statements: Mapping[type[ast.AST], StatementHandler]
    scope: dict[str, object] = field(default_factory=dict)
    meshes: list[Mesh] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    loops: int = 0
    result: Expr | None = None
    returned: ast.AST | None = None
    coordinates: dict[tuple[MeshAxis, tuple[Mesh, ...]], Call] = field(default_factory=dict)
    calls: CallValues = field(default_factory=CallValues)
    _depth: int = 0

    def refuse(self, node: ast.AST, message: str, remedy: str) -> NoReturn:
        """Raises a VerifyError at `node`: what was expected and found, and what to do about it."""
        raise VerifyError(message, span=self.source.span(node), remedy=remedy)

    @contextmanager
    def located(self, node: ast.AST, remedy: str | None = None) -> Iterator[None]:
        """Turns what the IR's constructors and type rules refuse into a VerifyError at `node`.

        Args:
            remedy: for a refusal that has none of its own.
        """
        try:
            yield
        except TileFoundryError as error:
            located = isinstance(error, VerifyError) and error.span is not None
            if located and (error.remedy is not None or remedy is None):
                raise
            kind = type(error) if isinstance(error, VerifyError) else VerifyError
            span = error.span or self.source.span(node)
            raise kind(error.message, span=span, remedy=error.remedy or remedy) from error
        except (TypeError, ValueError, ArithmeticError) as error:
            raise VerifyError(
                # what C reports has a number before its words
                str(error.args[-1] if isinstance(error, OverflowError) and error.args else error),
                span=self.source.span(node),
                remedy="change the values: this is computed while the function is parsed",
            ) from error

    def evaluate(self, node: ast.AST) -> object:
        """The value of an expression: an `Expr`, or a parse-time value."""
        handler = self.expressions.get(type(node))
        if handler is None:
            self.refuse(
                node,
                f"expected an expression of the tensor language, got {construct_name(node)}",
                remedy=construct_remedy(
                    node, "use arithmetic, comparisons, subscripts and tf calls; compute the rest outside"
                ),
            )
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.refuse(
                node,
                f"expression nested deeper than {MAX_DEPTH} levels",
                remedy="give its parts names, one statement each",
            )
        try:
            return handler(self, node)
        finally:
            self._depth -= 1

    def run(self, statements: list[ast.stmt]) -> None:
        """Parses a block; stops after a ``return``."""
        for i, statement in enumerate(statements):
            handler = self.statements.get(type(statement))
            if handler is None:
                self.refuse(
                    statement,
                    f"expected a statement of the tensor language, got {construct_name(statement)}",
                    remedy=construct_remedy(
                        statement, "use assignments, 'for', 'with Mesh', 'if' on compile-time values, and 'return'"
                    ),
                )
            handler(self, statement)
            if self.result is not None:
                if isinstance(statement, ast.Return) and i + 1 < len(statements):
                    self.refuse(statements[i + 1], "this statement follows a 'return' and never runs", "remove it")
                return

    def metadata(self, node: ast.AST) -> Metadata:
        """The records of an expression written at `node`."""
        s = self.source.span(node)
        span = SourceSpanMetadata(s.file, s.line, s.column, s.end_line, s.end_column)
        return (span, ExecutionDomainMetadata(tuple(self.meshes))) if self.meshes else (span,)

    def call(self, node: ast.AST, target: CallTarget, args: tuple[Expr | int, ...]) -> Call:
        """A typed call written at `node`."""
        rule = re.split(r"\.\s", type(target).__doc__ or "", maxsplit=1)[0]
        remedy = f"tf.{target.op_name} gives: {' '.join(rule.split())}" if isinstance(target, Op) else None
        with self.located(node, remedy):
            return Call(target, args, metadata=self.metadata(node))

    def levelled(self, node: ast.AST, values: Sequence[object]) -> Sequence[object]:
        """The operands of one op as they meet; dtypes of a tensor program never promote."""
        return values

    def bind(self, name: str, value: object) -> None:
        """Gives a local name a value; a run-time value without a name takes this one."""
        if isinstance(value, (Call, GridRegionExpr)) and binding_name(value) is None:
            value = named(value, name)
        self.scope[name] = value
        self.gone.pop(name, None)


def named(value: Call | GridRegionExpr, name: str) -> Expr:
    """The same expression under an authored name."""
    return dataclasses.replace(value, metadata=(*value.metadata, BindingMetadata(name)))


def construct_name(node: ast.AST) -> str:
    """A kind of syntax as an author would call it."""
    return _CONSTRUCTS.get(type(node).__name__, (f"'{type(node).__name__}'", ""))[0]


def construct_remedy(node: ast.AST, otherwise: str) -> str:
    """What to write in place of a kind of syntax."""
    return _CONSTRUCTS.get(type(node).__name__, ("", ""))[1] or otherwise


_FUNCTION = "define it outside, with @func, and call it by its name"
_LOOP = "write 'for i in range(n):' with a static n, or tf.where(condition, a, b)"
_IMPORT = "import at the top of the file"
_COMPREHENSION = "write the elements one by one, or compute the list outside of the function"
_PLAIN = "compute it outside of the function and capture the value by name"

# by the name of the ast class: what an author calls it, and what to write in its place
_CONSTRUCTS = {
    "AnnAssign": ("an annotated assignment", ""),
    "Assert": ("'assert'", "check extents outside of the function; a DimVar's bounds are checked by every call"),
    "AsyncFor": ("'async for'", "remove 'async'"),
    "AsyncWith": ("'async with'", "remove 'async'"),
    "Await": ("'await'", "remove 'await'"),
    "Break": ("'break'", _LOOP),
    "ClassDef": ("a class definition", "define it outside of the function"),
    "Continue": ("'continue'", _LOOP),
    "Delete": ("'del'", "leave it out: a value that is not used costs nothing"),
    "Dict": ("a dict", _PLAIN),
    "DictComp": ("a comprehension", _COMPREHENSION),
    "FunctionDef": ("a nested function", _FUNCTION),
    "AsyncFunctionDef": ("a nested async function", _FUNCTION),
    "GeneratorExp": ("a generator expression", _COMPREHENSION),
    "Global": ("'global'", "return the value: a tensor program changes nothing outside"),
    "Import": ("'import'", _IMPORT),
    "ImportFrom": ("'import'", _IMPORT),
    "JoinedStr": ("an f-string", _PLAIN),
    "Lambda": ("a lambda", _FUNCTION),
    "ListComp": ("a comprehension", _COMPREHENSION),
    "Match": ("'match'", "write 'if' on compile-time values, or tf.where(condition, a, b)"),
    "NamedExpr": ("an assignment expression ':='", "assign in a statement of its own"),
    "Nonlocal": ("'nonlocal'", "return the value: a tensor program changes nothing outside"),
    "Raise": ("'raise'", "check extents outside of the function"),
    "SetComp": ("a comprehension", _COMPREHENSION),
    "Slice": ("a slice outside a subscript", "subscript a tensor with it: x[a:b]"),
    "Starred": ("a starred expression", "write the elements one by one"),
    "Try": ("'try'", "leave it out: a tensor program raises nothing"),
    "TryStar": ("'try'", "leave it out: a tensor program raises nothing"),
    "TypeAlias": ("a type alias", "define it outside of the function"),
    "While": ("'while'", _LOOP),
    "Yield": ("'yield'", "return a tuple of tensors"),
    "YieldFrom": ("'yield from'", "return a tuple of tensors"),
}
