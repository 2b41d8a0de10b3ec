"""Calls in a kernel: of other kernels, launches, dispatches, intrinsics, and what tensor programs may call."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tilefoundry.dsl.cuda import atom
from tilefoundry.dsl.markers import Launcher, Statement, abort, dispatch
from tilefoundry.ir import dims, shard, tir, types
from tilefoundry.ir.core.expr import Constant, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.types import TensorType
from tilefoundry.python import calls
from tilefoundry.python.calls import Given
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.literals import literal, operands
from tilefoundry.python.operators import ARITHMETIC, apply
from tilefoundry.python.parser import Parser
from tilefoundry.python.prim.intrinsics import Intrinsic, expand
from tilefoundry.python.prim.parser import Effect, PrimParser, is_scalar
from tilefoundry.python.values import describe, is_index, is_number

# Beside what tensor programs may call: types, which they write as Tensor[...].
PURE: tuple[Callable[..., object], ...] = (
    DimVarRangePat, TensorType, atom, shard.canonical_shard_layout, types.make_shard_tensor_type,
    types.make_tensor_type,
)  # fmt: skip

EXTENT_ARGUMENTS = ("grid", "block")
LAUNCH_ATTRIBUTES = ("cluster", "dynamic_smem", "stream", "attrs")


def call(p: Parser, node: ast.AST) -> object:
    """The value of a call, or the statement that it is."""
    assert isinstance(node, ast.Call) and isinstance(p, PrimParser)
    function = p.evaluate(node.func)
    known = any(function is f for f in PURE)
    if not known and not isinstance(function, (Statement, tir.PrimFunction, Intrinsic)):
        if function is min or function is max or function is dims.ceildiv:
            positional, keywords = calls.given(p, node)
            values = [read_coordinate(p, where, value) for where, value in positional]
            if not keywords and len(values) > 1 and any(is_scalar(v) and not is_index(v) for v in values):
                return _extremum(p, node, function, values)
        if isinstance(function, (Function, Module)):
            p.refuse(
                node,
                f"'{function.name}' is written in HIR, and a kernel calls kernels",
                remedy="call a @prim_func or an @intrinsic; HIR is lowered by itself",
            )
        return calls.call(p, node)
    positional, keywords = calls.given(p, node)
    if known:
        assert callable(function)
        with p.located(node):
            return function(*(v for _, v in positional), **{name: v for name, (_, v) in keywords.items()})
    if isinstance(function, tir.PrimFunction):
        args = _arguments(p, node, function, positional, keywords)
        statement = tir.Evaluate(symbol(p, node, function), args, metadata=p.place(node))
        return Effect(function.name, (statement,))
    if isinstance(function, Intrinsic):
        return expand(p, node, function, positional, keywords)
    if isinstance(function, Launcher):
        return _launch(p, node, positional, keywords)
    if function is abort:
        return _abort(p, node, positional, keywords)
    assert function is dispatch
    return _dispatch(p, node, positional, keywords)


def _arguments(
    p: PrimParser, node: ast.Call, callee: tir.PrimFunction, positional: list[Given], keywords: dict[str, Given]
) -> tuple[Expr, ...]:
    """What a call gives to the parameters of a kernel; a number becomes a scalar of its parameter's type."""
    params = {param.name: param for param in callee.params}

    def typed(param: Var | None, given: Given) -> Given:
        where, value = given
        if param is None or not is_number(value) or not is_scalar(param):
            return given
        assert isinstance(param.type, TensorType)
        return where, literal(p, where, value, param.type.dtype)  # type: ignore[arg-type]  # a number

    listed = [typed(callee.params[k] if k < len(params) else None, given) for k, given in enumerate(positional)]
    named = {name: typed(params.get(name), given) for name, given in keywords.items()}
    args = calls.arguments(p, node, callee.name, list(params), listed, named)
    return tuple(p.operand(node, arg) for arg in args)  # type: ignore[misc]  # an Expr gives an Expr


def symbol(p: PrimParser, node: ast.AST, function: tir.PrimFunction) -> tir.SymbolRef:
    """The name of another kernel; one that is no member of the class is remembered as a callee."""
    own = p.resolver.members
    if not (function.name in own.names and own.find(function.name) is function):
        known = p.callees.setdefault(function.name, function)
        if known is not function:
            p.refuse(node, f"two functions called '{function.name}' are called here", "give each a name of its own")
    return tir.SymbolRef(function.name, metadata=p.place(node))


def _extremum(p: PrimParser, node: ast.Call, function: object, values: list[object]) -> object:
    """min, max and ceildiv of scalars that are no indices, such as extents of parameters."""
    if function is dims.ceildiv:
        if len(values) != 2:
            p.refuse(node, f"ceildiv takes two arguments, got {len(values)}", "write ceildiv(a, b)")
        a, b = values
        above = apply(p, node, ARITHMETIC[ast.Sub], apply(p, node, ARITHMETIC[ast.Add], a, b), 1)
        return apply(p, node, ARITHMETIC[ast.FloorDiv], above, b)
    kind = BinaryKind.MIN if function is min else BinaryKind.MAX
    result = values[0]
    for value in values[1:]:
        result = p.call(node, Binary(kind), operands(p, node, (result, value)))
    return result


def _launch(p: PrimParser, node: ast.Call, positional: list[Given], keywords: dict[str, Given]) -> Effect:
    usage = "write launch(kernel, *args, grid=(x, y, z), block=(x, y, z)), or neither for the kernel's own meshes"
    if not positional or not isinstance(positional[0][1], tir.PrimFunction):
        where, got = positional[0] if positional else (node, None)
        p.refuse(where, f"launch: expected a @prim_func first, got {describe(got)}", usage)
    kernel = positional[0][1]
    for name, (where, _) in keywords.items():
        if name not in EXTENT_ARGUMENTS + LAUNCH_ATTRIBUTES:
            p.refuse(where, f"launch: no parameter '{name}'", usage)
    given = [name for name in EXTENT_ARGUMENTS if name in keywords]
    for name in EXTENT_ARGUMENTS if given else ():
        if name not in given:
            p.refuse(node, f"launch: '{name}' is missing", usage)
    args = _arguments(p, node, kernel, positional[1:], {})
    grid, block = (_extents(p, n, *keywords[n]) if given else Tuple(()) for n in EXTENT_ARGUMENTS)
    with p.located(node):
        op = tir.Launch(**{n: v for n, (_, v) in keywords.items() if n in LAUNCH_ATTRIBUTES})  # type: ignore[arg-type]
        launched = (symbol(p, node, kernel), Tuple(args), grid, block)
        op.infer_type(launched, p.place(node))
    return Effect("launch", (tir.Evaluate(op, launched, metadata=p.place(node)),))


def _extents(p: PrimParser, name: str, where: ast.AST, value: object) -> Tuple:
    parts = value if isinstance(value, tuple) else (value,)
    extents: list[Expr] = []
    for part in parts:
        extent = read_coordinate(p, where, part)
        if isinstance(extent, int) and not isinstance(extent, bool):
            if extent < 1:
                p.refuse(where, f"launch: an extent of '{name}' must be positive, got {extent}", "launch 1 or more")
            extent = Constant(extent, tir.EXTENT_TYPE)
        if not isinstance(extent, Expr):
            p.refuse(where, f"launch: expected extents as '{name}', got {describe(part)}", f"write {name}=(1, 1, 1)")
        extents.append(extent)
    return Tuple(tuple(extents), metadata=p.place(where))


def _abort(p: PrimParser, node: ast.Call, positional: list[Given], keywords: dict[str, Given]) -> Effect:
    if keywords or len(positional) != 1 or not isinstance(positional[0][1], str):
        p.refuse(node, "T.abort takes one message", 'write T.abort("what went wrong")')
    return Effect("T.abort", (tir.Abort(positional[0][1], metadata=p.place(node)),))


def _dispatch(p: PrimParser, node: ast.Call, positional: list[Given], keywords: dict[str, Given]) -> Effect:
    """``T.dispatch("f", x.shape[0], (DimVarRangePat("N", 1, 5), small), ..., args=(x, o), otherwise="message")``."""
    usage = 'write T.dispatch("f", x.shape[0], (DimVarRangePat("N", 1, 5), small), args=(x, o), otherwise="no variant")'
    name, subject, *cases = [value for _, value in positional] if len(positional) > 2 else [None, None]
    args = keywords.get("args", (node, None))[1]
    message = keywords.get("otherwise", (node, None))[1]
    if (
        not isinstance(name, str)
        or not isinstance(subject, Expr)
        or not isinstance(args, tuple)
        or not isinstance(message, str)
        or not {*keywords} <= {"args", "otherwise"}
    ):
        p.refuse(node, "T.dispatch takes a name, an extent, cases, 'args' and 'otherwise'", usage)
    patterns: list[DimVarRangePat] = []
    chosen: list[tir.Evaluate] = []
    for (where, _), case in zip(positional[2:], cases, strict=True):
        if not isinstance(case, tuple) or len(case) != 2 or not isinstance(case[1], tir.PrimFunction):
            p.refuse(where, f"expected (pattern, @prim_func) as a case, got {describe(case)}", usage)
        pattern, callee = case
        if not isinstance(pattern, DimVarRangePat):
            p.refuse(where, f"expected a DimVarRangePat, got {describe(pattern)}", usage)
        args_of_case = _arguments(p, node, callee, [(node, a) for a in args], {})
        patterns.append(pattern)
        chosen.append(tir.Evaluate(symbol(p, node, callee), args_of_case, metadata=p.place(where)))
    fallback = tir.Abort(message, metadata=p.place(node))
    statement = tir.DispatchCall(name, (subject,), tuple(patterns), tuple(chosen), fallback, metadata=p.place(node))
    return Effect("T.dispatch", (statement,))
