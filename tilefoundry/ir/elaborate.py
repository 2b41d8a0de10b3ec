"""Calls between functions: the callee's body, rebuilt under the types of the arguments.

A call is a device call inside the same kernel. The front end leaves nothing of it in the IR but its expressions; a
Call of a Function that was built by hand is brought to the same form by `without_calls`. A call of a prototype whose
variants the types do not decide among stays a Call: whoever learns the extents specialises the caller, and elaborates
it then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

from tilefoundry.ir.core.expr import Call, Expr, Var, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import Metadata
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.dims.solve import dim_range
from tilefoundry.ir.rewrite import Node, Rewriter, instantiated
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types.matching import Bindings, bind_parameters
from tilefoundry.ir.variants import check_variants


@dataclass
class Elaborator:
    """Instances of called functions in one session, one for each callee and tuple of argument types."""

    _instances: dict[tuple[int, tuple[Type, ...]], tuple[Function, Function]] = field(default_factory=dict)

    def inline(self, callee: Function, args: tuple[Node, ...], metadata: Metadata = ()) -> Expr:
        """The value of ``callee(*args)``: a Call where the types leave open which variant of `callee` serves them.

        The cost is linear in the size of the value; an instance is made once.

        Args:
            metadata: of the Call.

        Raises:
            VerifyError: an argument does not fit its parameter, or the body does not fit the arguments' types.
        """
        instance = self.elaborate(callee, tuple(type_of(arg) for arg in args))
        if instance.body is None:
            return Call(callee, args, metadata=metadata)
        return instantiated(instance.body, dict(zip(instance.params, args, strict=True)))

    def elaborate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        """`callee` with parameters of exactly these types, and no calls of functions left in it but undecided ones.

        Elaborating the result once more, under the same types, gives the result itself. A prototype of which the types
        leave open which variant serves them is returned as it is.

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

        Calls stay that `called_prototypes` tells.

        Raises:
            VerifyError: as `inline`.
        """
        if next(_calls_of(fn), None) is None:
            return fn
        body = None if fn.body is None else _Inliner(self).expr(fn.body)
        variants = tuple(self.without_calls(variant) for variant in fn.variants)
        return dataclasses.replace(fn, body=body, variants=variants)

    def _instantiate(self, callee: Function, types: tuple[Type, ...]) -> Function:
        bindings = bind_parameters(f"'{callee.name}'", [(p.name, p.type) for p in callee.params], types)
        if callee.variants:
            check_variants(callee)
            variant = _serving(callee, bindings)
            if variant is None:
                return callee
            callee = variant
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
        # narrower types may decide what was open
        return self.without_calls(Function(callee.name, params, body, body.type, metadata=callee.metadata))


def called_prototypes(fn: Function) -> tuple[Call, ...]:
    """The calls in `fn` and its variants of prototypes, in the order of the program.

    In a function of `Elaborator.without_calls`: those whose variant only the extents of a run decide.
    """
    return tuple(call for call in _calls_of(fn) if isinstance(call.target, Function) and call.target.variants)


def functions_reached(fn: Function) -> tuple[Function, ...]:
    """`fn` and the prototypes that it calls, and those that their variants call, each once: callers come first."""
    found: dict[int, Function] = {}
    todo = [fn]
    while todo:
        function = todo.pop(0)
        if id(function) not in found:
            found[id(function)] = function
            todo += (call.target for call in called_prototypes(function) if isinstance(call.target, Function))
    return tuple(found.values())


def _calls_of(fn: Function) -> Iterator[Call]:
    bodies = [part.body for part in (fn, *fn.variants) if part.body is not None]
    return (e for e in post_order(*bodies) if isinstance(e, Call) and isinstance(e.target, Function))


class _Inliner(Rewriter):
    """Puts the values of called functions in the place of the calls."""

    def __init__(self, elaborator: Elaborator) -> None:
        super().__init__({})
        self._elaborator = elaborator

    def _rebuild(self, node: Expr) -> Node:
        if isinstance(node, Call) and isinstance(node.target, Function):
            args = self._all(node.args)
            value = self._elaborator.inline(node.target, args, node.metadata)
            same = isinstance(value, Call) and value.target is node.target
            return node if same and all(a is b for a, b in zip(args, node.args, strict=True)) else value
        return super()._rebuild(node)


def _serving(callee: Function, bindings: Bindings) -> Function | None:
    """The variant of a prototype that serves all extents of a call; None where several may.

    The bindings keep to the envelope, which the variants partition.
    """
    (pattern,) = callee.variants[0].specializations
    (extent,) = (e for v, e in bindings.items() if isinstance(v, DimVar) and v.name == pattern.dim_var)
    reach = (extent, extent) if isinstance(extent, int) else dim_range(extent)
    assert reach is not None, extent  # what has no range fits no envelope
    for variant in callee.variants:
        (pattern,) = variant.specializations
        if pattern.lo <= reach[0] <= reach[1] < pattern.hi:
            return variant
    return None
