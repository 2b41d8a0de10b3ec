"""Calls between functions: the callee's body, rebuilt under the types of the arguments.

A call is a device call inside the same kernel. The front end leaves nothing of it in the IR but its expressions; a
Call of a Function that was built by hand is brought to the same form by `without_calls`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from tilefoundry.diagnostics import SpecializationError, VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Var, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.rewrite import Node, Rewriter, fresh_loops
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types.matching import Bindings, bind_parameters
from tilefoundry.ir.variants import variant_for


@dataclass
class Elaborator:
    """Instances of called functions in one session, one for each callee and tuple of argument types."""

    _instances: dict[tuple[int, tuple[Type, ...]], tuple[Function, Function]] = field(default_factory=dict)

    def inline(self, callee: Function, args: tuple[Node, ...]) -> Expr:
        """The value of ``callee(*args)``.

        Raises:
            VerifyError: an argument does not fit its parameter, or the body does not fit the arguments' types.
        """
        instance = self.elaborate(callee, tuple(type_of(arg) for arg in args))
        assert instance.body is not None
        values: dict[Var, Node] = dict(zip(instance.params, args, strict=True))
        return Rewriter(values).expr(fresh_loops(instance.body))

    def elaborate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        """`callee` with parameters of exactly these types, and no calls of functions left in it.

        Elaborating the result once more, under the same types, gives the result itself.

        Raises:
            VerifyError: as `inline`.
        """
        key = (id(callee), types)
        known = self._instances.get(key)
        if known is None:
            instance = self._instantiate(callee, types)
            known = self._instances[key] = (instance, callee)  # the callee keeps its id alive
        return known[0]

    def without_calls(self, fn: Function) -> Function:
        """`fn` with each call of a function replaced by the callee's value; `fn` itself when it calls none.

        Raises:
            VerifyError: as `inline`.
        """
        bodies = [part.body for part in (fn, *fn.variants) if part.body is not None]
        if not any(isinstance(e, Call) and isinstance(e.target, Function) for e in post_order(*bodies)):
            return fn
        body = None if fn.body is None else _Inliner(self).expr(fn.body)
        variants = tuple(self.without_calls(variant) for variant in fn.variants)
        return dataclasses.replace(fn, body=body, variants=variants)

    def _instantiate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        bindings = bind_parameters(f"'{callee.name}'", [(p.name, p.type) for p in callee.params], types)
        if callee.variants:
            callee = _select(callee, bindings)
        callee = self.without_calls(callee)
        assert callee.body is not None
        if all(param.type == type_ for param, type_ in zip(callee.params, types, strict=True)):
            return callee
        params = tuple(
            Var(param.name, type_, param.is_const, param.metadata)
            for param, type_ in zip(callee.params, types, strict=True)
        )
        changed = {var: extent for var, extent in bindings.items() if extent is not var}
        body = Rewriter(dict(zip(callee.params, params, strict=True)), changed).expr(callee.body)
        return Function(callee.name, params, body, body.type, metadata=callee.metadata)


class _Inliner(Rewriter):
    """Puts the values of called functions in the place of the calls."""

    def __init__(self, elaborator: Elaborator) -> None:
        super().__init__({})
        self._elaborator = elaborator

    def _rebuild(self, node: Expr) -> Node:
        if isinstance(node, Call) and isinstance(node.target, Function):
            return self._elaborator.inline(node.target, self._all(node.args))
        return super()._rebuild(node)


def _select(callee: Function, bindings: Bindings) -> Function:
    """The variant of a prototype for the extents of a call, which must be known to lie in one range."""
    known = {v.name: e for v, e in bindings.items() if isinstance(v, DimVar) and isinstance(e, (int, DimVar))}
    try:
        return variant_for(callee, known)
    except SpecializationError as error:
        raise VerifyError(error.message, remedy=error.remedy) from error
