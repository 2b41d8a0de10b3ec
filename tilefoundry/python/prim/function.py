"""From a Python function to a PrimFunction."""

from __future__ import annotations

import ast
import dataclasses
from dataclasses import dataclass, field
from types import FunctionType

from tilefoundry.ir import tir
from tilefoundry.python.function import parameters
from tilefoundry.python.names import Resolver
from tilefoundry.python.parser import Session
from tilefoundry.python.prim.expressions import PRIM_EXPRESSIONS
from tilefoundry.python.prim.parser import PrimParser
from tilefoundry.python.prim.statements import PRIM_STATEMENTS
from tilefoundry.python.source import function_source
from tilefoundry.target import Target


@dataclass(frozen=True)
class Options:
    """What ``@prim_func`` was given.

    Attributes:
        inplace: from an output's name to that of the input that it is.
    """

    target: Target | None = None
    output_count: int = 1
    inplace: dict[str, str] = field(default_factory=dict)


def parse_prim_func(function: FunctionType, resolver: Resolver, session: Session, options: Options) -> tir.PrimFunction:
    """Parses one kernel.

    Raises:
        VerifyError: the program is not one of the kernel language; located in the author's file.
    """
    source = function_source(function)
    node = source.node
    p = PrimParser(source, resolver, session, PRIM_EXPRESSIONS, PRIM_STATEMENTS, at=node)
    params = parameters(dataclasses.replace(p, resolver=resolver.for_annotations()), function, node)
    for param, argument in zip(params, (*node.args.posonlyargs, *node.args.args), strict=True):
        if param.is_const:
            p.refuse(
                argument,
                f"'{param.name}' is a ConstTensor, and a kernel takes all of its tensors as arguments",
                remedy="write Tensor[...]",
            )
    if node.returns is not None and not (isinstance(node.returns, ast.Constant) and node.returns.value is None):
        p.refuse(
            node.returns,
            "a kernel returns nothing: it writes its last parameters",
            remedy="declare the result as the last parameter, and no return type",
        )
    p.params = frozenset(params)
    p.scope.update((param.name, param) for param in params)
    p.scope.update((extent.hidden_name, extent) for extent in tir.hidden_params(params))
    p.run(node.body)
    with p.located(node):
        return tir.PrimFunction(
            node.name,
            params,
            tir.fold(p.items),
            options.output_count,
            options.target,
            tuple(options.inplace.items()),
            tuple(p.callees.values()),
            p.place(node),
        )
