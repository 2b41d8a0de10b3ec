"""A kernel has one body: of a prototype, what is specialised is lowered."""

from __future__ import annotations

import dataclasses

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.child import ChildEntry
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import BinaryKind
from tilefoundry.ir.samples import attention, binary
from tilefoundry.ir.specialize import specialize_module
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.passes import lower


def variant(lo: int, hi: int) -> Function:
    fn = attention().entry_function()
    assert isinstance(fn, Function)
    return dataclasses.replace(fn, specializations=(DimVarRangePat("S", lo, hi),))


def prototype() -> Function:
    """Attention in two variants, by the length of the sequence."""
    short, long = variant(1, 64), variant(64, 1 << 20)
    return Function("attention", short.params, None, short.return_type, variants=(short, long))


def module(fn: Function) -> Module:
    return dataclasses.replace(attention(), functions=(fn,))


def test_a_prototype_is_refused() -> None:
    with pytest.raises(VerifyError, match=r"'attention' is a prototype(.|\n)*specialize_module\(module, \{\"S\": 1"):
        lower(module(prototype()))


def test_a_bare_variant_is_refused() -> None:
    words = r"serves 'S' in \[1, 64\) only(.|\n)*specialize_module\(module, \{\"S\": DimVar\(\"S\", 1, 64\)\}\)"
    with pytest.raises(VerifyError, match=words):
        lower(module(variant(1, 64)))


def test_a_call_of_a_child_with_weights_is_refused() -> None:
    vector = make_tensor_type((8,), "f32")
    x, w, y = Var("x", vector), Var("w", vector, True), Var("y", vector)
    child = Module("proj", (Function("run", (x, w), binary(BinaryKind.MUL, x, w), vector),), "run")
    entry = child.entry_function()
    assert isinstance(entry, Function)
    body = Call(ChildEntry("proj", entry), (y,))
    with pytest.raises(VerifyError, match=r"call of child 'proj', which has weights(.|\n)*compile the child's entry"):
        lower(Module("m", (Function("f", (y,), body, vector),), "f", (child,)))


@pytest.mark.parametrize("extent", [DimVar("S", 64, 1 << 20), 128])
def test_what_is_specialised_is_lowered(extent: int | DimVar) -> None:
    lowered = lower(specialize_module(module(prototype()), {"S": extent}))
    (kernel,) = lowered.functions
    assert isinstance(kernel, PrimFunction)


def test_a_call_that_several_variants_may_serve_is_refused() -> None:
    callee = prototype()
    params = tuple(Var(p.name, p.type) for p in callee.params)
    caller = module(Function("attention", params, Call(callee, params), callee.return_type))
    words = r"this call of 'attention' may lie in several of the ranges \[1, 64\), \[64, 1048576\) of 'S'"
    with pytest.raises(VerifyError, match=words) as caught:
        lower(caller)
    assert caught.value.remedy is not None and "specialize_module" in caught.value.remedy
    (kernel,) = lower(specialize_module(caller, {"S": 128})).functions
    assert isinstance(kernel, PrimFunction)
