"""Calls: ops by surface name, functions, and the few Python callables that extents and layouts need."""

from __future__ import annotations

import ast
import difflib
import inspect
import math
from collections.abc import Callable
from enum import Enum

from tilefoundry.dsl.markers import SurfaceOp, Tile
from tilefoundry.dsl.tensor import TensorSpec
from tilefoundry.ir import dims, shard
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Expr, Tuple
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.op import OpSchema, ParamDef, schemas_named
from tilefoundry.ir.core.pattern import ScalarPat
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.elaborate import functions_reached
from tilefoundry.ir.overload import resolve_overload
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import DType, TensorType
from tilefoundry.python.annotations import tensor_type
from tilefoundry.python.coordinates import read_coordinate
from tilefoundry.python.layouts import build_mesh, resolve_layout
from tilefoundry.python.literals import operands, plain_number
from tilefoundry.python.parser import Parser
from tilefoundry.python.values import Window, as_index, describe, is_index, is_number
from tilefoundry.python.windows import insert_slice

Given = tuple[ast.AST, object]

# What may be called on parse-time values: pure, total up to the errors that `located` reports, and quick.
PURE: tuple[Callable[..., object], ...] = (
    abs, bool, float, int, len, math.ceil, math.exp, math.exp2, math.floor, math.isqrt, math.log, math.log2, math.prod,
    math.sqrt, dims.DimVar, shard.Broadcast, shard.ComposedLayout, shard.Dynamic, shard.Layout, shard.Partial,
    shard.ShardLayout, shard.Split, shard.Topology, shard.make_mesh,
)  # fmt: skip


def call(p: Parser, node: ast.AST) -> object:
    """The value of a call."""
    assert isinstance(node, ast.Call)
    function = p.evaluate(node.func)
    positional, keywords = given(p, node)
    if isinstance(function, SurfaceOp):
        return op_call(p, node, function, positional, keywords)
    if isinstance(function, Function):
        with p.located(node):
            callee = function.sealed()
        return function_call(p, node, callee, positional, keywords)
    if isinstance(function, Module):
        return child_call(p, node, function, positional, keywords)
    return _python_call(p, node, function, positional, keywords)


def given(p: Parser, node: ast.Call) -> tuple[list[Given], dict[str, Given]]:
    """The arguments of a call, by position and by keyword."""
    positional: list[Given] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            p.refuse(argument, "'*' in a call", "write the arguments one by one")
        positional.append((argument, p.evaluate(argument)))
    keywords: dict[str, Given] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            p.refuse(keyword.value, "'**' in a call", "write the keywords one by one")
        keywords[keyword.arg] = (keyword.value, p.evaluate(keyword.value))
    return positional, keywords


def _python_call(
    p: Parser, node: ast.Call, function: object, positional: list[Given], keywords: dict[str, Given]
) -> object:
    values = [value for _, value in positional]
    named = {name: value for name, (_, value) in keywords.items()}
    if function is shard.Mesh:
        return build_mesh(p, node, values, named)
    if function is min or function is max or function is dims.ceildiv:
        return _extremum(p, node, function, values, named)
    if isinstance(function, Tile) or function is range:
        name = "tile" if isinstance(function, Tile) else "range"
        p.refuse(node, f"{name}(...) outside the header of a 'for'", f"write 'for i in {name}(...):'")
    if any(function is known for known in PURE):
        assert callable(function)
        if any(isinstance(v, Window) or (isinstance(v, Expr) and not is_index(v)) for v in (*values, *named.values())):
            p.refuse(
                node,
                f"{_name(function)} needs values known at compile time, got a run-time value",
                _tf_remedy(function),
            )
        with p.located(node):
            return function(*values, **named)
    if isinstance(node.func, ast.Attribute) and isinstance(child := p.evaluate(node.func.value), Module):
        written = ast.unparse(node.func.value)
        p.refuse(
            node,
            f"'{node.func.attr}' is a member of module '{child.name}', and a child is called by its entry",
            f"write {written}(...), which calls '{child.entry}'; or hold '{node.func.attr}' in this module: "
            f"{node.func.attr} = <the @func function>",
        )
    p.refuse(
        node,
        f"expected a tf op, a @func function or a shape function, got {_name(function)}",
        remedy="a tensor program cannot call Python; compute constants outside, or decorate the function with @func",
    )


def _name(value: object) -> str:
    if isinstance(value, type) or inspect.isroutine(value):
        return f"Python's '{value.__name__}'"
    return describe(value)


def _tf_remedy(function: object) -> str:
    name = getattr(function, "__name__", "")
    return f"use tf.{name}(x)" if schemas_named("tf", name) else "use a tf op"


def _extremum(p: Parser, node: ast.Call, function: object, values: list[object], named: dict[str, object]) -> object:
    name = function.__name__  # type: ignore[attr-defined]
    values = [read_coordinate(p, node, value) for value in values]
    if named or len(values) < 2 or (function is dims.ceildiv and len(values) != 2):
        p.refuse(
            node,
            f"{name} takes {'two' if function is dims.ceildiv else 'two or more'} positional arguments",
            f"write {name}(a, b)",
        )
    if all(is_number(v) for v in values) and function is not dims.ceildiv:
        return function(*values)  # type: ignore[operator]
    for value in values:
        if not is_index(value):
            p.refuse(
                node,
                f"{name} works on numbers and extents, got {describe(value)}",
                f"use tf.{name}imum(a, b) on tensors",
            )
    step = {min: dims.dim_min, max: dims.dim_max}.get(function, dims.ceildiv)  # type: ignore[call-overload]
    result = as_index(values[0])
    for value in values[1:]:
        with p.located(node):
            result = step(result, as_index(value))
    return result


def function_call(
    p: Parser, node: ast.Call, callee: Function, positional: list[Given], keywords: dict[str, Given]
) -> Expr:
    """A call of another function: its body, rebuilt under the types of these arguments.

    Of a prototype whose variants these types do not decide among, it stays a Call.
    """
    args = arguments(p, node, callee.name, [param.name for param in callee.params], positional, keywords)
    with p.located(node):
        return p.session.elaborator.inline(callee, args, p.metadata(node), p.calls)


def child_call(p: Parser, node: ast.Call, child: Module, positional: list[Given], keywords: dict[str, Given]) -> Expr:
    """A call of a child's entry on activations alone; where no weights are reached, one of a function."""
    if not p.resolver.members.is_child(child):
        p.refuse(node, f"module '{child.name}' is no child of this module", "assign it to a name in the class body")
    with p.located(node):
        entry = child.entry_function()
    if not isinstance(entry, Function):
        p.refuse(node, f"the entry of child '{child.name}' is a kernel in TIR", "call a function of HIR")
    if not _reaches_weights(entry):
        return function_call(p, node, entry, positional, keywords)
    target = ChildEntry(child.name, entry)
    args = arguments(p, node, child.name, list(target.activations), positional, keywords)
    return p.call(node, target, args)


def _reaches_weights(fn: Function) -> bool:
    """Whether a call of `fn` needs the reading of the module that holds it."""
    if any(param.is_const for param in fn.params):
        return True
    parts = (part for function in functions_reached(fn) for part in (function, *function.variants))
    bodies = [part.body for part in parts if part.body is not None]
    return any(isinstance(e, Call) and isinstance(e.target, ChildEntry) for e in post_order(*bodies))


def arguments(
    p: Parser, node: ast.Call, callee: str, names: list[str], positional: list[Given], keywords: dict[str, Given]
) -> tuple[Expr, ...]:
    """The tensors that a call gives to these parameters, in their order."""
    given = dict(zip(names, positional, strict=False))
    for name, value in keywords.items():
        if name not in names or name in given:
            p.refuse(value[0], f"'{callee}' has no further parameter '{name}'", f"its parameters: {', '.join(names)}")
        given[name] = value
    if len(given) != len(names) or len(positional) > len(names):
        count = len(positional) + len(keywords)
        p.refuse(
            node,
            f"'{callee}' takes {len(names)} argument(s) ({', '.join(names)}), got {count}",
            "give one argument for each parameter",
        )
    args: list[Expr] = []
    for name in names:
        where, written = given[name]
        argument = read_coordinate(p, where, written)
        if not isinstance(argument, Expr):
            p.refuse(
                where,
                f"argument '{name}' of '{callee}': expected a tensor, got {describe(argument)}",
                "pass a tensor; for a number, tf.full_like(x, value)",
            )
        args.append(argument)
    return tuple(args)


def op_call(p: Parser, node: ast.Call, op: SurfaceOp, positional: list[Given], keywords: dict[str, Given]) -> Expr:
    """A call of an op: the first schema that the arguments bind to."""
    if op.dialect == "tf" and op.name == "insert_slice":
        return insert_slice(p, node, bound(p, node, op.name, ("dst", "update", "offsets"), positional, keywords))
    schemas = schemas_named(op.dialect, op.name)
    assert schemas, op  # the module of ops gives none that is not registered
    if len(schemas) == 1 and not schemas[0].takes(len(positional), keywords):
        _bind(p, node, schemas[0], positional, keywords)  # says which argument is wrong
    with p.located(node):
        types = {name: _type_given(value) for name, (_, value) in keywords.items()}
        schema = resolve_overload(schemas, [_type_given(value) for _, value in positional], types)
    return _build(p, node, schema, positional, keywords)


def _type_given(value: object) -> Type | None:
    """The type of an argument that can be an operand; a number is a scalar of whatever dtype its peers have."""
    if isinstance(value, Expr):
        return value.type
    if isinstance(value, (Window, shard.MeshAxis)) or is_index(value):
        return INDEX_TYPE
    if is_number(value):
        return TensorType.umat_scalar(DType.bool if isinstance(value, bool) else DType.f32)
    return None


def bound(
    p: Parser, node: ast.Call, name: str, params: tuple[str, ...], positional: list[Given], keywords: dict[str, Given]
) -> dict[str, Given]:
    """Arguments by parameter name; all of `params` are required."""
    schema = OpSchema("tf", "", name, tuple(ParamDef(name=n) for n in params), lambda **_: None)  # type: ignore[arg-type]
    return {n: g[0] for n, g in _bind(p, node, schema, positional, keywords).items()}


def _bind(
    p: Parser, node: ast.Call, schema: OpSchema, positional: list[Given], keywords: dict[str, Given]
) -> dict[str, list[Given]]:
    signature = schema.signature
    given: dict[str, list[Given]] = {}
    rest = list(positional)
    for param in schema.params:
        if not rest:
            break
        if param.variadic:
            given[param.name], rest = rest, []
        else:
            given[param.name] = [rest.pop(0)]
    if rest:
        p.refuse(node, f"{schema.name}: {len(positional)} positional arguments are too many", f"call {signature}")
    names = [param.name for param in schema.params]
    for name, value in keywords.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            p.refuse(value[0], f"{schema.name}: no parameter '{name}'", f"{hint}call {signature}")
        if name in given:
            p.refuse(value[0], f"{schema.name}: parameter '{name}' is given twice", f"call {signature}")
        given[name] = [value]
    for param in schema.params:
        if param.required and param.name not in given:
            p.refuse(node, f"{schema.name}: parameter '{param.name}' is missing", f"call {signature}")
    return given


def _build(p: Parser, node: ast.Call, schema: OpSchema, positional: list[Given], keywords: dict[str, Given]) -> Expr:
    given = _bind(p, node, schema, positional, keywords)
    inputs: list[object] = []
    scalars: dict[int, Expr] = {}  # by position: a literal among these adopts no other operand's dtype
    left_out: str | None = None
    for param in schema.inputs:
        if param.name not in given:
            left_out = left_out or param.name
        elif left_out is not None:  # operands are told apart by their order
            where, _ = given[param.name][0]
            p.refuse(where, f"{schema.name}: '{param.name}' is given, and '{left_out}' before it is not", "give both")
        for where, written in given.get(param.name, ()):
            value = read_coordinate(p, where, written)
            if isinstance(value, tuple):
                value = Tuple(operands(p, where, tuple(read_coordinate(p, where, v) for v in value)))
            if not (isinstance(value, (Expr, Window)) or is_number(value)):
                p.refuse(
                    where,
                    f"{schema.name}: '{param.name}' must be a tensor or a number, got {describe(value)}",
                    "pass a tensor, or a number that adopts the other operand's dtype",
                )
            if isinstance(param.pattern, ScalarPat):
                scalars[len(scalars) + len(inputs)] = operands(p, where, (value,))[0]
            else:
                inputs.append(value)
    attributes = {
        param.name: attribute(p, where, schema.name, param.name, value)
        for param in schema.attributes
        for where, value in given.get(param.name, ())
    }
    with p.located(node, f"call {schema.signature}"):
        target = schema.build(**attributes)
    peers = iter(operands(p, node, inputs))
    args = (scalars[k] if k in scalars else next(peers) for k in range(len(scalars) + len(inputs)))
    return p.call(node, target, tuple(args))


def attribute(p: Parser, node: ast.AST, op: str, name: str, value: object) -> object:
    """A compile-time argument of an op."""
    if isinstance(value, TensorSpec):
        return tensor_type(p, node, value)
    if name == "layout":
        return resolve_layout(p, node, value)
    if isinstance(value, tuple):
        return tuple(attribute(p, node, op, name, v) for v in value)
    if isinstance(value, (int, float)) and not isinstance(value, Enum):
        return plain_number(value)
    if isinstance(value, Window) or (isinstance(value, Expr) and not is_index(value)):
        p.refuse(
            node,
            f"{op}: '{name}' must be known at compile time, got {describe(value)}",
            "give a Python number, tuple or string, or a captured constant",
        )
    if inspect.isroutine(value) or isinstance(value, (SurfaceOp, type)):
        p.refuse(
            node,
            f"{op}: '{name}' cannot be {describe(value)}",
            "give a value: a number, a tuple, a string or a constant of tilefoundry.dsl",
        )
    return value
