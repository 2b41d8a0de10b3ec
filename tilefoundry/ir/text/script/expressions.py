"""Values as expressions: operators, subscripts, calls of ops by their surface names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilefoundry.diagnostics import ExtractError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.op import MISSING, Op, OpSchema, inputs_of, op_names, schemas_named
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Binary, BinaryKind, InsertSlice, MatMul, MeshCoordinate, Slice, Unary, UnaryKind
from tilefoundry.ir.overload import resolve_overload
from tilefoundry.ir.text.script.analysis import Analysis, index_vars, is_index_value
from tilefoundry.ir.text.script.blocks import LocalNames
from tilefoundry.ir.text.script.literals import adopted_dtype, literal_type
from tilefoundry.ir.text.script.subscripts import inserted, subscript
from tilefoundry.ir.text.script.values import ScriptValues
from tilefoundry.ir.types import DType, TensorType

# How tight an expression binds, loosest first.
COMPARISON, SUM, PRODUCT, SIGN, ATOM = range(1, 6)

_INFIX = {
    BinaryKind.ADD: ("+", SUM), BinaryKind.SUB: ("-", SUM), BinaryKind.MUL: ("*", PRODUCT),
    BinaryKind.DIV: ("/", PRODUCT), BinaryKind.FLOOR_DIV: ("//", PRODUCT), BinaryKind.MOD: ("%", PRODUCT),
    BinaryKind.EQ: ("==", COMPARISON), BinaryKind.NE: ("!=", COMPARISON), BinaryKind.LT: ("<", COMPARISON),
    BinaryKind.LE: ("<=", COMPARISON), BinaryKind.GT: (">", COMPARISON), BinaryKind.GE: (">=", COMPARISON),
}  # fmt: skip

Text = tuple[str, int]


class Expressions:
    """Prints the expressions of one function.

    Args:
        child: the spelling of a child module, by its name.
    """

    def __init__(
        self,
        analysis: Analysis,
        names: LocalNames,
        values: Callable[[Callable[[Expr], str]], ScriptValues],
        child: Callable[[str], str],
    ) -> None:
        self.analysis = analysis
        self.names = names
        self.values = values(self._atom)
        self._child = child
        self._aliases = _alias_names()
        self._windows_as_numbers = False

    # -- extents and indices

    def _atom(self, atom: Expr) -> str:
        if isinstance(atom, Var) and atom in self.analysis.tiles and self._windows_as_numbers:
            return self.names.scalar(atom)
        if isinstance(atom, Call) and isinstance(atom.target, MeshCoordinate):
            return self.values.mesh_axis(atom.target.axis)
        spelling = self.names.spelling(atom)
        if spelling is None:
            raise ExtractError(
                f"an extent uses {atom!r}, which has no name in a script", remedy="give the value a name"
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
        """A compile-time argument of an op; what is given as a layout may be written in sugar."""
        self._windows_as_numbers = True
        try:
            return self.values.placement(value) if name == "layout" and value is not None else self.values.value(value)  # type: ignore[arg-type]  # ops check their layouts
        finally:
            self._windows_as_numbers = False

    # -- operands

    def expression(self, expr: Expr) -> str:
        """What computes a value."""
        if isinstance(expr, Call):
            return self._call(expr)[0]
        return self.operands((expr,))[0]

    def operands(self, operands: Sequence[Expr | int], least: int = 0) -> list[str]:
        """The operands of one op, in parentheses where they bind looser than `least`.

        Raises:
            ExtractError: a constant is not what the front end makes of its number.
        """
        return [text if level >= least else f"({text})" for text, level in self._texts(operands)]

    def _texts(self, operands: Sequence[Expr | int]) -> list[Text]:
        adopted = adopted_dtype(operands)
        return [self._text(o, adopted) for o in operands]

    def _text(self, operand: Expr | int, adopted: object) -> Text:
        if isinstance(operand, Constant):
            if literal_type(operand.value, adopted) != operand.type:  # type: ignore[arg-type]  # a DType or None
                raise ExtractError(
                    f"the constant {operand.value!r} of type {operand.type} has no spelling among these operands",
                    remedy="a number adopts the dtype of the tensors beside it, and lies nowhere",
                )
            text = self.values.value(operand.value)
            return text, SIGN if text.startswith("-") else ATOM
        if isinstance(operand, int):
            raise ExtractError(
                f"the plain int {operand} is an operand of an op", remedy="use Constant(value, INDEX_TYPE) there"
            )
        if is_index_value(operand):
            text = self.index(operand)
            return text, ATOM if text.isidentifier() else 0
        if isinstance(operand, Tuple):
            if any(isinstance(e, (int, Tuple)) for e in operand.elements):
                raise ExtractError(f"{operand!r} has no spelling as an operand", remedy="nest no tuples")
            parts = self.operands(operand.elements)
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})", ATOM
        if id(operand) in self.analysis.inline:
            assert isinstance(operand, Call)
            self.names.used(operand)
            return self._call(operand)
        return self.names.read(operand), ATOM

    # -- calls

    def _call(self, call: Call) -> Text:
        target = call.target
        if isinstance(target, Function):
            raise ExtractError(
                f"a call of function '{target.name}' stands in the IR; the front end elaborates calls",
                remedy="elaborate it, or print the canonical text",
            )
        inferred = target.infer_type(call.args, call.metadata)
        if inferred != call.type:
            raise ExtractError(
                f"a call has the type {call.type}, but what is read back would have {inferred}",
                remedy="let the op infer its type",
            )
        if isinstance(target, ChildEntry):
            return f"{self._child(target.child)}({', '.join(self.operands(call.args))})", ATOM
        assert isinstance(target, Op)
        match target:
            case Binary(kind) if kind in _INFIX and self._is_tensor_arithmetic(call.args):
                symbol, level = _INFIX[kind]
                (left, left_level), (right, right_level) = self._texts(call.args)
                # comparisons do not chain, the others associate to the left
                left = left if (left_level >= level and level != COMPARISON) or left_level > level else f"({left})"
                right = right if right_level > level else f"({right})"
                return f"{left} {symbol} {right}", level
            case Unary(UnaryKind.NEG) if self._is_tensor_arithmetic(call.args):
                return f"-{self.operands(call.args, SIGN)[0]}", SIGN
            case MatMul(None) if all(_is_tensor(a) for a in call.args):
                (left, left_level), (right, right_level) = self._texts(call.args)
                left = left if left_level >= PRODUCT else f"({left})"
                return f"{left} @ {right if right_level > PRODUCT else f'({right})'}", PRODUCT
            case Slice():
                text = subscript(self, target, call)
                if text is not None:
                    return text, ATOM
            case InsertSlice():
                return inserted(self, target, call), ATOM
        return self._by_name(target, call.args), ATOM

    def _is_tensor_arithmetic(self, args: Sequence[Expr | int]) -> bool:
        """Whether an operator on these operands makes an op: not on numbers alone, nor on extents."""
        return any(_is_tensor(a) for a in args) and not any(isinstance(a, Tuple) for a in args)

    def _by_name(self, op: Op, args: Sequence[Expr | int]) -> str:
        """``tf.reduce(x, axes=(-1,))``"""
        name = self._aliases.get(op)
        found = [s for s in schemas_named("tf", name or op.op_name) if name is not None or s.build is type(op)]
        if op.dialect != "tf" or not found:
            raise ExtractError(
                f"the op {type(op).__name__} has no name in a program", remedy="print the canonical text instead"
            )
        schema = found[0]
        texts = self._inputs(schema, args)
        by_place = len(args) == len(schema.inputs) and not any(p.variadic for p in schema.inputs)
        keywords: list[str] = []
        for p in () if name is not None else schema.attributes:
            value = getattr(op, p.name)
            if p.default is not MISSING and type(value) is type(p.default) and repr(value) == repr(p.default):
                by_place = False  # left out, so those that follow are given by name
                continue
            if not by_place:
                keywords.append(p.name)
            texts.append(f"{'' if by_place else f'{p.name}='}{self.attribute(p.name, value)}")
        self._check_choice(op, schema, args, len(texts) - len(keywords), keywords)
        return f"{self.names.names.dsl('tf')}.{schema.name}({', '.join(texts)})"

    def _inputs(self, schema: OpSchema, args: Sequence[Expr | int]) -> list[str]:
        """The operands; a number for a scalar stands apart, and adopts no other operand's dtype."""
        alone = [k for k, p in enumerate(schema.inputs) if isinstance(p.pattern, ScalarPat) and k < len(args)]
        peers = iter(self.operands([a for k, a in enumerate(args) if k not in alone]))
        return [self.operands((a,))[0] if k in alone else next(peers) for k, a in enumerate(args)]

    def _check_choice(
        self, op: Op, schema: OpSchema, args: Sequence[Expr | int], count: int, keywords: list[str]
    ) -> None:
        """Refuses a call that the front end would resolve to another schema."""
        types = [*map(_type_seen, args), *([None] * (count - len(args)))]
        if resolve_overload(schemas_named("tf", schema.name), types, dict.fromkeys(keywords)) is not schema:
            raise ExtractError(f"tf.{schema.name} with these arguments is no {type(op).__name__}")


def _type_seen(operand: Expr | int) -> Type:
    """The type by which the front end chooses among overloads: of a number, that of a scalar of whatever dtype."""
    if isinstance(operand, Constant):
        return TensorType.umat_scalar(DType.bool if isinstance(operand.value, bool) else DType.f32)
    return INDEX_TYPE if isinstance(operand, int) or is_index_value(operand) else operand.type


def _is_tensor(operand: Expr | int) -> bool:
    """Whether the front end sees a run-time value that is neither a number nor an index."""
    return isinstance(operand, Expr) and not isinstance(operand, Constant) and not is_index_value(operand)


def _alias_names() -> dict[Op, str]:
    """Surface names that preset all attributes of an op; the longest of several, ``maximum`` rather than ``max``."""
    found: dict[Op, str] = {}
    for name in sorted(op_names("tf"), key=lambda n: (-len(n), n)):
        for schema in schemas_named("tf", name):
            if schema.is_alias and not schema.attributes:
                op = schema.build()
                if schema.params == inputs_of(type(op)):
                    found.setdefault(op, name)
    return found
