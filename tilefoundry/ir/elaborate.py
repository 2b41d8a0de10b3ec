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

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Var, type_of
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, Metadata, find_metadata, span_of
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.dims.solve import dim_range
from tilefoundry.ir.hir import GridRegionExpr
from tilefoundry.ir.rewrite import Node, Rewriter, instantiated
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types.matching import Bindings, bind_parameters
from tilefoundry.ir.variants import check_variants

# Expressions that calls may put into one function: some 10 s of parsing, and more than a kernel can be compiled from.
MAX_INLINED = 1 << 18


@dataclass
class CallValues:
    """The values of the calls in one function, so that equal calls share one: ops have no effects.

    Attributes:
        size: how many expressions calls have put into the function.
    """

    size: int = 0
    _known: dict[tuple[object, ...], tuple[Expr, object]] = field(default_factory=dict)

    def inner(self) -> dict[tuple[object, ...], tuple[Expr, object]]:
        """Opens a scope: what is known stays known. Close it by `outer` with what this returns."""
        before, self._known = self._known, dict(self._known)
        return before

    def outer(self, before: dict[tuple[object, ...], tuple[Expr, object]]) -> None:
        """Closes a scope: a value that was made in a loop's body is not one after the loop."""
        self._known = before

    def find(self, key: tuple[object, ...]) -> Expr | None:
        """The value under a key, if one was kept."""
        known = self._known.get(key)
        return None if known is None else known[0]

    def keep(self, key: tuple[object, ...], value: Expr, holds: object) -> None:
        """Keeps a value, and what the ids in its key belong to."""
        self._known[key] = (value, holds)


@dataclass
class Elaborator:
    """Instances of called functions in one session, one for each callee and tuple of argument types."""

    _instances: dict[tuple[int, tuple[Type, ...]], tuple[Function, Function]] = field(default_factory=dict)
    _sizes: dict[int, int] = field(default_factory=dict)

    def inline(
        self,
        callee: Function,
        args: tuple[Node, ...],
        metadata: Metadata = (),
        values: CallValues | None = None,
    ) -> Expr:
        """The value of ``callee(*args)``: a Call where the types leave open which variant of `callee` serves them.

        The cost is linear in the size of the value; an instance is made once. A second call with the same arguments
        (these very expressions) in the same mesh scopes is the same expression as the first.

        Args:
            metadata: of the Call.
            values: of the calls in the same function; None for a call of its own.

        Raises:
            VerifyError: an argument does not fit its parameter, or the body does not fit the arguments' types; or the
                function would be larger than `MAX_INLINED` expressions.
        """
        values = values or CallValues()
        domain = find_metadata(metadata, ExecutionDomainMetadata)
        key = (id(callee), *(arg if isinstance(arg, int) else ("at", id(arg)) for arg in args), domain)
        value = values.find(key)
        if value is not None:
            return value
        instance = self.elaborate(callee, tuple(type_of(arg) for arg in args))
        if instance.body is None:
            return Call(callee, args, metadata=metadata)
        values.size += self._size(instance, instance.body)
        if values.size > MAX_INLINED:
            raise VerifyError(
                f"the calls up to this one of '{callee.name}' make the function larger than {MAX_INLINED} expressions: "
                "each call with other arguments is one more copy of the callee's body",
                span=span_of(metadata),
                remedy="call it once and use the value again, or repeat it by a loop: for i in range(n): x = f(x)",
            )
        value = instantiated(instance.body, dict(zip(instance.params, args, strict=True)))
        values.keep(key, value, (callee, args))
        return value

    def _size(self, instance: Function, body: Expr) -> int:
        """How many expressions an instance is; it lives as long as this elaborator."""
        if id(instance) not in self._sizes:
            self._sizes[id(instance)] = sum(1 for _ in post_order(body))
        return self._sizes[id(instance)]

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
        self._values = CallValues()

    def _rebuild(self, node: Expr) -> Node:
        if isinstance(node, Call) and isinstance(node.target, Function):
            args = self._all(node.args)
            value = self._elaborator.inline(node.target, args, node.metadata, self._values)
            same = isinstance(value, Call) and value.target is node.target
            return node if same and all(a is b for a, b in zip(args, node.args, strict=True)) else value
        return super()._rebuild(node)

    def _region(self, region: GridRegionExpr) -> Node:
        outside = self._values.inner()
        try:
            return super()._region(region)
        finally:
            self._values.outer(outside)


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
