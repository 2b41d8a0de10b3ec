"""Kinds of elementwise and reduction ops, shared by HIR and TIR."""

from __future__ import annotations

from enum import Enum


class BinaryKind(Enum):
    """Two operands, one result."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    FLOOR_DIV = "floor_div"
    MOD = "mod"
    MIN = "min"
    MAX = "max"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    AND = "and"
    OR = "or"
    POW = "pow"

    @property
    def is_comparison(self) -> bool:
        """Whether the result is bool for operands of any dtype."""
        return self in _COMPARISONS

    @property
    def is_logical(self) -> bool:
        """Whether operands and result are bool."""
        return self in (BinaryKind.AND, BinaryKind.OR)


_COMPARISONS = frozenset((BinaryKind.EQ, BinaryKind.NE, BinaryKind.LT, BinaryKind.LE, BinaryKind.GT, BinaryKind.GE))


class UnaryKind(Enum):
    """One operand, one result of the same type, or of bool."""

    NEG = "neg"
    ABS = "abs"
    RSQRT = "rsqrt"
    CAST = "cast"
    NOT = "not"
    RELU = "relu"
    SQUARE = "square"
    EXP = "exp"
    LOG = "log"
    CEIL = "ceil"
    ROUND = "round"
    EXP2 = "exp2"
    LOG2 = "log2"
    LOG1P = "log1p"
    SQRT = "sqrt"
    SIN = "sin"
    COS = "cos"
    ERF = "erf"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    FLOOR = "floor"
    ISNAN = "isnan"
    ISINF = "isinf"

    @property
    def is_test(self) -> bool:
        """Whether the result is bool for operands of any dtype."""
        return self in (UnaryKind.ISNAN, UnaryKind.ISINF)


class ReduceKind(Enum):
    """How elements along reduced axes become one."""

    MEAN = "mean"
    SUM = "sum"
    ABS_MAX = "abs_max"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    ANY = "any"
    ALL = "all"

    @property
    def is_logical(self) -> bool:
        """Whether operands and result are bool."""
        return self in (ReduceKind.ANY, ReduceKind.ALL)
