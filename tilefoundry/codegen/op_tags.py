"""The runtime's names of op kinds: ``tilefoundry::op::<tag>``."""

from __future__ import annotations

from tilefoundry.ir.hir import BinaryKind, ReduceKind, UnaryKind

BINARY = {
    BinaryKind.ADD: "add",
    BinaryKind.SUB: "sub",
    BinaryKind.MUL: "mul",
    BinaryKind.DIV: "div",
    BinaryKind.FLOOR_DIV: "floor_div",
    BinaryKind.MOD: "mod",
    BinaryKind.MIN: "min",
    BinaryKind.MAX: "max",
    BinaryKind.EQ: "eq",
    BinaryKind.NE: "ne",
    BinaryKind.LT: "lt",
    BinaryKind.LE: "le",
    BinaryKind.GT: "gt",
    BinaryKind.GE: "ge",
    BinaryKind.AND: "logical_and",
    BinaryKind.OR: "logical_or",
    BinaryKind.POW: "pow",
}
UNARY = {
    UnaryKind.NEG: "neg",
    UnaryKind.ABS: "abs",
    UnaryKind.RSQRT: "rsqrt",
    UnaryKind.NOT: "logical_not",
    UnaryKind.RELU: "relu",
    UnaryKind.SQUARE: "square",
    UnaryKind.EXP: "exp",
    UnaryKind.LOG: "log",
    UnaryKind.CEIL: "ceil",
    UnaryKind.ROUND: "round",
    UnaryKind.EXP2: "exp2",
    UnaryKind.LOG2: "log2",
    UnaryKind.LOG1P: "log1p",
    UnaryKind.SQRT: "sqrt",
    UnaryKind.SIN: "sin",
    UnaryKind.COS: "cos",
    UnaryKind.ERF: "erf",
    UnaryKind.TANH: "tanh",
    UnaryKind.SIGMOID: "sigmoid",
    UnaryKind.FLOOR: "floor",
    UnaryKind.ISNAN: "isnan",
    UnaryKind.ISINF: "isinf",
}
REDUCE = {
    ReduceKind.SUM: "sum",
    ReduceKind.MEAN: "mean",
    ReduceKind.MAX: "max",
    ReduceKind.ABS_MAX: "absmax",
    ReduceKind.MIN: "min",
    ReduceKind.PROD: "prod",
    ReduceKind.ANY: "any",
    ReduceKind.ALL: "all",
}
