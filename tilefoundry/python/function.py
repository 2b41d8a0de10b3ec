"""From a Python function to a Function of the IR."""

from __future__ import annotations

import ast
import dataclasses
from enum import Enum
from types import FunctionType

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar, dim_vars
from tilefoundry.ir.types import tensor_leaves
from tilefoundry.python.annotations import parameter_spec, return_type, tensor_type
from tilefoundry.python.expressions import EXPRESSIONS
from tilefoundry.python.names import Resolver
from tilefoundry.python.parser import Parser, Session
from tilefoundry.python.source import function_source
from tilefoundry.python.statements import STATEMENTS


class Role(Enum):
    """What a ``def`` is; the value is how messages call it."""

    FUNCTION = "function"
    DRAFT = "draft"  # outside of a class: a function, or a prototype whose variants follow
    PROTOTYPE = "prototype"
    VARIANT = "variant"
    CONVERTER = "converter"


def parse_function(
    function: FunctionType, resolver: Resolver, session: Session, role: Role = Role.FUNCTION
) -> Function:
    """Parses one decorated function; a prototype's body is ``pass``, and its Function has none.

    Raises:
        VerifyError: the program is not one of the tensor language, or not well typed; located in the author's file.
    """
    source = function_source(function)
    p = Parser(source, resolver, session, EXPRESSIONS, STATEMENTS)
    node = source.node
    outside = dataclasses.replace(p, resolver=resolver.for_annotations())
    params = parameters(outside, function, node)
    if node.returns is None:
        p.refuse(node, f"function '{node.name}' has no return annotation", 'write -> Tensor[(...), "f32"]')
    declared = return_type(outside, node.returns, function.__annotations__.get("return"))
    _check_dim_vars(p, [*_annotated(node, params), (node.returns, declared)])
    p.scope.update((param.name, param) for param in params)
    p.run(node.body)
    _check_body(p, node, role)
    metadata = p.metadata(node)[:1]
    try:
        return Function(node.name, params, p.result, declared, metadata=metadata)
    except VerifyError as error:  # the value does not fit; it may have been written elsewhere, even in another function
        span = source.span(p.returned or node.returns)
        raise VerifyError(error.message, span=span, remedy=error.remedy) from None


def parameters(p: Parser, function: FunctionType, node: ast.FunctionDef) -> tuple[Var, ...]:
    """The parameters of a definition; `p` resolves names as annotations do."""
    params = tuple(_parameter(p, function, argument) for argument in _arguments(p, node))
    _check_dim_vars(p, _annotated(node, params))
    return params


def _annotated(node: ast.FunctionDef, params: tuple[Var, ...]) -> list[tuple[ast.expr, Type]]:
    """The annotations of the parameters, and the types that they say."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    return [(a.annotation, p.type) for a, p in zip(arguments, params, strict=True) if a.annotation is not None]


def _check_body(p: Parser, node: ast.FunctionDef, role: Role) -> None:
    """A prototype has the body ``pass``, everything else returns a value."""
    passes = any(isinstance(s, ast.Pass) for s in node.body)
    if role is Role.PROTOTYPE:
        if p.result is not None or not passes:
            p.refuse(
                node.body[0],
                f"'{node.name}' has variants and a body of its own, expected a prototype",
                remedy="make its body 'pass', and its present body a variant for the rest of the extents",
            )
    elif p.result is None and passes and all(isinstance(s, (ast.Pass, ast.Expr)) for s in node.body):
        remedy = {
            Role.VARIANT: "write what it computes for its extents",
            Role.CONVERTER: "return the weight, made from the raw tensors; one that stays as it is needs no converter",
        }
        if role is Role.DRAFT:
            return
        p.refuse(
            node.body[-1],
            f"{role.value} '{node.name}' has the body 'pass'"
            + (", which makes it a prototype, and no variants" if role is Role.FUNCTION else ""),
            remedy=remedy.get(
                role, f'in the class body of a @module, add @{node.name}.specialize(DimVarRangePat("S", lo, hi))'
            ),
        )
    elif p.result is None:
        p.refuse(node.body[-1], f"function '{node.name}' ends without a 'return'", remedy="return its value")


def _arguments(p: Parser, node: ast.FunctionDef) -> list[ast.arg]:
    a = node.args
    for extra in (a.vararg, a.kwarg, *a.kwonlyargs):
        if extra is not None:
            p.refuse(extra, f"parameter '{extra.arg}' is variadic or keyword-only", "declare plain parameters")
    for default in a.defaults:
        p.refuse(default, "a parameter with a default value", "declare plain parameters; capture constants by name")
    return [*a.posonlyargs, *a.args]


def _parameter(p: Parser, function: FunctionType, argument: ast.arg) -> Var:
    if argument.annotation is None:
        remedy = f'write {argument.arg}: Tensor[(...), "f32"]'
        if argument.arg in ("self", "cls"):
            remedy = f"remove '{argument.arg}': functions of a module call each other by their bare names"
        p.refuse(argument, f"parameter '{argument.arg}' has no annotation", remedy)
    if argument.arg not in function.__annotations__:  # Python mangles a private name in a class body
        p.refuse(
            argument, f"parameter '{argument.arg}' is private to its class", "use a name without leading underscores"
        )
    spec = parameter_spec(p, argument.annotation, function.__annotations__[argument.arg])
    type_ = tensor_type(p, argument.annotation, spec)
    metadata = (*p.metadata(argument)[:1], BindingMetadata(argument.arg))
    return Var(argument.arg, type_, spec.is_const, metadata)


def _check_dim_vars(p: Parser, annotated: list[tuple[ast.expr, Type]]) -> None:
    """One name, one envelope, within a signature."""
    known: dict[str, DimVar] = {}
    for annotation, type_ in annotated:
        for leaf in tensor_leaves(type_):
            for var in sorted((v for d in leaf.shape for v in dim_vars(d)), key=lambda v: (v.name, v.lo, v.hi)):
                other = known.setdefault(var.name, var)
                if other is not var:
                    p.refuse(
                        annotation,
                        f"DimVar '{var.name}' has two envelopes in one signature: [{other.lo}, {other.hi}) and "
                        f"[{var.lo}, {var.hi})",
                        remedy="use one DimVar object for one name",
                    )
