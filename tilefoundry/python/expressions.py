"""Names, attributes, literals and displays; the table of all expression handlers."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from types import ModuleType
from typing import NoReturn

from tilefoundry.diagnostics import TileFoundryError, VerifyError
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.shard import Mesh, MeshAxis, ValueState
from tilefoundry.ir.types import TensorType
from tilefoundry.python import calls, operators, subscripts
from tilefoundry.python.parser import ExpressionHandler, Parser
from tilefoundry.python.values import StateSet, Window, describe


def constant(p: Parser, node: ast.AST) -> object:
    """A literal."""
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, (complex, bytes)):
        p.refuse(node, f"expected a bool, int, float or string, got {node.value!r}", "write a real number or a string")
    return node.value


def name(p: Parser, node: ast.AST) -> object:
    """A name, resolved as Python resolves it."""
    assert isinstance(node, ast.Name)
    if node.id in p.scope:
        return p.scope[node.id]
    if node.id in p.gone:
        p.refuse(node, f"'{node.id}' has no value here: {p.gone[node.id]}", f"assign '{node.id}' before")
    if p.resolver.mangled(node.id) in p.resolver.locals():
        p.refuse(node, f"local name '{node.id}' is read before it is assigned", f"assign '{node.id}' first")
    try:
        return p.resolver.lookup(node.id)
    except KeyError:
        _not_found(p, node)
    except ValueError:
        p.refuse(
            node,
            f"captured name '{node.id}' has no value yet",
            remedy="assign it in the enclosing function before the decorated function",
        )
    except TileFoundryError as error:  # of a member that is parsed on this first use
        raise error.at(p.source.span(node)) from error.__cause__


def _not_found(p: Parser, node: ast.Name) -> NoReturn:
    """Refuses a name that means nothing, with what is known about it."""
    name = node.id
    if name == p.source.node.name:
        p.refuse(node, f"recursive call: {name} -> {name}", "write the repetition as a loop")
    if name in p.resolver.members.methods:
        p.refuse(
            node,
            f"'{name}' is a plain Python method, which a tensor function cannot call",
            f"decorate '{name}' with @func, or call both from a method",
        )
    below = p.source.file.line_of(name, p.source.node.lineno)
    if below is not None:
        p.refuse(
            node,
            f"name '{name}' has no value yet: it is defined further down, at line {below}",
            "move it above; functions in the class body of a @module may call each other in any order",
        )
    near = p.resolver.close_matches(name, p.scope)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else "define or import it"
    p.refuse(node, f"name '{name}' is not defined", hint)


def attribute(p: Parser, node: ast.AST) -> object:
    """``mesh.axis``, ``x.shape``, ``x.dtype``, and public attributes of captured Python objects."""
    assert isinstance(node, ast.Attribute)
    value = p.evaluate(node.value)
    if isinstance(value, Mesh):
        with p.located(node):
            return MeshAxis(value, value.axis_index(node.attr))
    if isinstance(value, (Expr, Window)):
        type_ = value.type if isinstance(value, Expr) else None
        if isinstance(type_, TensorType) and node.attr in ("shape", "dtype"):
            return type_.shape if node.attr == "shape" else type_.dtype
        p.refuse(
            node,
            f"{describe(value)} has no attribute '{node.attr}'",
            remedy="a tensor has .shape and .dtype; every operation is a function: tf.<op>(x)",
        )
    if node.attr.startswith("_"):
        p.refuse(node, f"'{node.attr}' is private", "read public attributes only")
    return _python_attribute(p, node, value)


def _python_attribute(p: Parser, node: ast.Attribute, value: object) -> object:
    try:
        return getattr(value, node.attr)
    except TileFoundryError as error:
        raise VerifyError(error.message, span=p.source.span(node), remedy=error.remedy) from error
    except AttributeError:
        near = difflib.get_close_matches(node.attr, [n for n in dir(value) if not n.startswith("_")], n=3)
        what = f"module '{value.__name__}'" if isinstance(value, ModuleType) else describe(value)
        p.refuse(
            node,
            f"{what} has no attribute '{node.attr}'",
            remedy=f"did you mean {' or '.join(repr(n) for n in near)}?" if near else "read an attribute that it has",
        )
    except Exception as error:  # a property of the author's own object; whatever it raises is about the program
        p.refuse(
            node,
            f"reading '.{node.attr}' of {describe(value)} raised {type(error).__name__}: {error}",
            "compute the value outside of the function and capture it by name",
        )


def display(p: Parser, node: ast.AST) -> object:
    """A tuple or list: a Python tuple of the element values."""
    assert isinstance(node, (ast.Tuple, ast.List))
    return tuple(p.evaluate(element) for element in node.elts)


def value_states(p: Parser, node: ast.AST) -> object:
    """``{m.axis @ P("sum")}``, the last part of a layout."""
    assert isinstance(node, ast.Set)
    states = []
    for element in node.elts:
        value = p.evaluate(element)
        if not isinstance(value, ValueState):
            p.refuse(element, f"expected a value state in braces, got {describe(value)}", 'write {m.axis @ P("sum")}')
        states.append(value)
    return StateSet(tuple(states))


EXPRESSIONS: Mapping[type[ast.AST], ExpressionHandler] = {
    ast.Attribute: attribute,
    ast.BinOp: operators.binary,
    ast.BoolOp: operators.boolean,
    ast.Call: calls.call,
    ast.Compare: operators.compare,
    ast.Constant: constant,
    ast.IfExp: operators.conditional,
    ast.List: display,
    ast.Name: name,
    ast.Set: value_states,
    ast.Subscript: subscripts.subscript,
    ast.Tuple: display,
    ast.UnaryOp: operators.unary,
}
