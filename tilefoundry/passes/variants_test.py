"""A kernel has one body: a prototype becomes a kernel for each variant, or what is specialised of it is lowered."""

from __future__ import annotations

import dataclasses

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.dims import DimVar, dim_mul
from tilefoundry.ir.hir import BinaryKind
from tilefoundry.ir.samples import attention, binary
from tilefoundry.ir.specialize import specialize_module
from tilefoundry.ir.tir import DispatchCall, PrimFunction
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.passes import lower
from tilefoundry.passes.base import is_host
from tilefoundry.passes.ranges import divided


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


def test_a_prototype_is_a_kernel_for_each_variant_and_a_host_function_that_picks_one() -> None:
    lowered = lower(module(prototype()))
    host, short, long = lowered.functions
    assert isinstance(host, PrimFunction) and isinstance(short, PrimFunction) and isinstance(long, PrimFunction)
    assert [fn.name for fn in lowered.functions] == ["attention", "attention_1_64", "attention_64_1048576"]
    dispatch = host.body
    assert isinstance(dispatch, DispatchCall) and is_host(host) and not is_host(short)
    assert [(p.lo, p.hi) for p in dispatch.case_patterns] == [(1, 64), (64, 1 << 20)]
    assert [str(call.callable) for call in dispatch.case_calls] == [short.name, long.name]
    assert [p.name for p in host.params] == [p.name for p in short.params]
    assert short.params[0].type.shape[1] == DimVar("S", 1, 64)  # type: ignore[attr-defined]  # a tensor
    assert host.outputs[0].type == make_tensor_type(prototype().params[0].type.shape, "bf16")  # type: ignore[attr-defined]


def test_a_bare_variant_is_refused() -> None:
    words = r"serves 'S' in \[1, 64\) only(.|\n)*specialize_module\(module, \{\"S\": DimVar\(\"S\", 1, 64\)\}\)"
    with pytest.raises(VerifyError, match=words):
        lower(module(variant(1, 64)))


@pytest.mark.parametrize("extent", [DimVar("S", 64, 1 << 20), 128])
def test_what_is_specialised_is_lowered(extent: int | DimVar) -> None:
    lowered = lower(specialize_module(module(prototype()), {"S": extent}))
    (kernel,) = lowered.functions
    assert isinstance(kernel, PrimFunction)


def caller(callee: Function) -> Function:
    """Calls the callee under its own extents."""
    params = tuple(Var(p.name, p.type) for p in callee.params)
    return Function("attention", params, Call(callee, params), callee.return_type)


def test_a_caller_of_prototypes_is_a_kernel_for_each_range_that_decides_its_calls() -> None:
    lowered = lower(module(caller(prototype())))
    host, *kernels = lowered.functions
    assert isinstance(host, PrimFunction) and isinstance(host.body, DispatchCall)
    assert [fn.name for fn in kernels] == ["attention_1_64", "attention_64_1048576"]
    (kernel,) = lower(specialize_module(module(caller(prototype())), {"S": 128})).functions
    assert isinstance(kernel, PrimFunction) and not isinstance(kernel.body, DispatchCall)


def test_a_variant_is_divided_where_what_it_calls_is() -> None:
    fn = caller(prototype())
    variants = tuple(
        dataclasses.replace(fn, specializations=(DimVarRangePat("S", lo, hi),))
        for lo, hi in ((1, 1000), (1000, 1 << 20))
    )
    parts = divided(Function("attention", fn.params, None, fn.return_type, variants=variants)).variants
    assert [(p.lo, p.hi) for part in parts for p in part.specializations] == [(1, 64), (64, 1000), (1000, 1 << 20)]


def test_a_call_that_several_variants_may_serve_is_refused() -> None:
    wide = make_tensor_type((DimVar("S", 1, 100), 8), "f32")
    x, y = Var("x", wide), Var("y", make_tensor_type((dim_mul(DimVar("T", 1, 40), 2), 8), "f32"))
    parts = tuple(
        Function("double", (x,), binary(BinaryKind.ADD, x, x), wide, specializations=(DimVarRangePat("S", lo, hi),))
        for lo, hi in ((1, 64), (64, 100))
    )
    call = Call(Function("double", (x,), None, wide, variants=parts), (y,))
    words = r"this call of 'double' may lie in several of the ranges \[1, 64\), \[64, 100\) of 'S'"
    with pytest.raises(VerifyError, match=words) as caught:
        lower(Module("m", (Function("twice", (y,), call, call.type),), "twice"))
    assert caught.value.remedy is not None and "specialize_module" in caught.value.remedy
