"""Values as expressions: operators, numbers, calls of ops by their surface names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from tilefoundry.diagnostics import ExtractError, VerifyError
from tilefoundry.ir.core.expr import Call, CallTarget, Constant, Expr, Tuple
from tilefoundry.ir.core.metadata import Metadata
from tilefoundry.ir.core.op import MISSING, Op, OpSchema, inputs_of, op_names, schemas_named
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.dims.ops import Dim
from tilefoundry.ir.hir import Binary, BinaryKind, MatMul, Unary, UnaryKind
from tilefoundry.ir.overload import resolve_overload
from tilefoundry.ir.text.script.analysis import is_index_value
from tilefoundry.ir.text.script.literals import adopted_dtype, literal_type
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


class Expressions(ABC):
    """Prints the expressions of one function or kernel.

    Args:
        dialects: the modules of ops that may be called in it.
    """

    def __init__(self, values: ScriptValues, dialects: tuple[str, ...]) -> None:
        self.values = values
        self._dialects = dialects
        self._aliases = _alias_names()

    @abstractmethod
    def value(self, expr: Expr) -> Text:
        """How a value is written where it is used."""

    @abstractmethod
    def index(self, dim: Dim) -> str:
        """How an extent or index is written as an operand."""

    @abstractmethod
    def check(self, call: Call) -> None:
        """Refuses a call that would not read back as it is."""

    @abstractmethod
    def special(self, call: Call) -> Text | None:
        """A call that has a form of its own; None for any other."""

    def attribute(self, name: str, value: object) -> str:
        """A compile-time argument of an op; what is given as a layout may be written in sugar."""
        if name == "layout" and value is not None:
            return self.values.placement(value)  # type: ignore[arg-type]  # ops check their layouts
        return self.values.value(value)

    # -- operands

    def operands(self, operands: Sequence[Expr | int], least: int = 0) -> list[str]:
        """The operands of one op, in parentheses where they bind looser than `least`.

        Raises:
            ExtractError: a constant is not what the front end makes of its number.
        """
        return [text if level >= least else f"({text})" for text, level in self._texts(operands)]

    def _texts(self, operands: Sequence[Expr | int]) -> list[Text]:
        adopted = adopted_dtype(operands)
        return [self._text(o, adopted) for o in operands]

    def _text(self, operand: Expr | int, adopted: DType | None) -> Text:
        if isinstance(operand, Constant):
            if literal_type(operand.value, adopted) != operand.type:
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
        return self.value(operand)

    # -- calls

    def call(self, call: Call) -> Text:
        """What computes a value."""
        self.check(call)
        special = self.special(call)
        if special is not None:
            return special
        target = call.target
        assert isinstance(target, Op)
        match target:
            case Binary(kind) if kind in _INFIX and _is_tensor_arithmetic(call.args):
                symbol, level = _INFIX[kind]
                (left, left_level), (right, right_level) = self._texts(call.args)
                # comparisons do not chain, the others associate to the left
                left = left if (left_level >= level and level != COMPARISON) or left_level > level else f"({left})"
                right = right if right_level > level else f"({right})"
                return f"{left} {symbol} {right}", level
            case Unary(UnaryKind.NEG) if _is_tensor_arithmetic(call.args):
                return f"-{self.operands(call.args, SIGN)[0]}", SIGN
            case MatMul(None) if all(_is_tensor(a) for a in call.args):
                (left, left_level), (right, right_level) = self._texts(call.args)
                left = left if left_level >= PRODUCT else f"({left})"
                return f"{left} @ {right if right_level > PRODUCT else f'({right})'}", PRODUCT
        return self.by_name(target, call.args), ATOM

    def by_name(self, op: Op, args: Sequence[Expr | int]) -> str:
        """``tf.reduce(x, (-1,), kind=ReduceKind.SUM)``

        Raises:
            ExtractError: the op has no surface name, or its name with these arguments means another op.
        """
        name = self._aliases.get(op)
        schemas = schemas_named(op.dialect, name or op.op_name)
        found = [s for s in schemas if name is not None or s.build is type(op)]
        if op.dialect not in self._dialects or not found:
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
        types = [*map(_type_seen, args), *([None] * (len(texts) - len(keywords) - len(args)))]
        if resolve_overload(schemas, types, dict.fromkeys(keywords)) is not schema:
            raise ExtractError(
                f"{op.dialect}.{schema.name} with these arguments is no {type(op).__name__}",
                remedy="register the op under a name of its own",
            )
        return f"{self.values.names.dsl(op.dialect)}.{schema.name}({', '.join(texts)})"

    def _inputs(self, schema: OpSchema, args: Sequence[Expr | int]) -> list[str]:
        """The operands; a number for a scalar stands apart, and adopts no other operand's dtype."""
        last = len(schema.inputs) - 1  # takes all that follow, where it is variadic
        alone = [k for k in range(len(args)) if isinstance(schema.inputs[min(k, last)].pattern, ScalarPat)]
        peers = iter(self.operands([a for k, a in enumerate(args) if k not in alone]))
        return [self.operands((a,))[0] if k in alone else next(peers) for k, a in enumerate(args)]


def inferred_type(target: CallTarget, args: Sequence[Expr | int], metadata: Metadata = ()) -> Type:
    """The type that a call would have when it is read back.

    Raises:
        ExtractError: the target does not accept the operands.
    """
    try:
        return target.infer_type(tuple(args), metadata)
    except VerifyError as error:
        raise ExtractError(f"a call is not well typed: {error.message}", remedy="verify the program first") from error


def _is_tensor_arithmetic(args: Sequence[Expr | int]) -> bool:
    """Whether an operator on these operands makes an op: not on numbers alone, nor on extents."""
    return any(_is_tensor(a) for a in args) and not any(isinstance(a, Tuple) for a in args)


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
