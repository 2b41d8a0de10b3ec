"""Calls between functions: the callee's body, rebuilt under the types of the arguments.

A call is a device call inside the same kernel, so it leaves no trace in the IR but its expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tilefoundry.diagnostics import SpecializationError, VerifyError
from tilefoundry.ir.core.expr import Expr, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.rewrite import Node, Rewriter
from tilefoundry.ir.types.matching import Bindings, bind_parameters
from tilefoundry.ir.variants import variant_for


@dataclass
class Elaborator:
    """Instances of called functions, one for each callee and tuple of argument types."""

    _instances: dict[tuple[int, tuple[Type, ...]], tuple[Function, Function]] = field(default_factory=dict)

    def inline(self, callee: Function, args: tuple[Expr, ...]) -> Expr:
        """The value of ``callee(*args)``.

        Raises:
            VerifyError: an argument does not fit its parameter, or the body does not fit the arguments' types.
        """
        instance = self.elaborate(callee, tuple(arg.type for arg in args))
        assert instance.body is not None
        values: dict[Var, Node] = dict(zip(instance.params, args, strict=True))
        return Rewriter(values).expr(instance.body)

    def elaborate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        """`callee` with parameters of exactly these types."""
        key = (id(callee), types)
        known = self._instances.get(key)
        if known is None:
            known = self._instances[key] = (self._instantiate(callee, types), callee)  # the callee keeps its id alive
        return known[0]

    def _instantiate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        bindings = bind_parameters(f"'{callee.name}'", [(p.name, p.type) for p in callee.params], types)
        if callee.variants:
            callee = _select(callee, bindings)
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


def _select(callee: Function, bindings: Bindings) -> Function:
    """The variant of a prototype for the extents of a call, which must be known to lie in one range."""
    known = {v.name: e for v, e in bindings.items() if isinstance(v, DimVar) and isinstance(e, (int, DimVar))}
    try:
        return variant_for(callee, known)
    except SpecializationError as error:
        raise VerifyError(error.message, remedy=error.remedy) from error
