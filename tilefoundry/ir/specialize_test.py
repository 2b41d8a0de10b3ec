import dataclasses

import pytest

from tilefoundry.diagnostics import SpecializationError, VerifyError
from tilefoundry.ir import tir
from tilefoundry.ir.core import Call, DimVarRangePat, Function, Module, Tuple, Var
from tilefoundry.ir.core.origin import bound_dims_of, origin_of
from tilefoundry.ir.dims import INDEX_TYPE, DimVar
from tilefoundry.ir.hir import BinaryKind, GridRegionExpr, InsertSlice, Zeros
from tilefoundry.ir.samples import attention, binary, call
from tilefoundry.ir.specialize import (
    dim_vars_reached,
    is_concrete,
    residual_dims,
    specialize_concretely,
    specialize_function,
    specialize_module,
)
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.types import make_tensor_type
from tilefoundry.ir.variants import check_variants, variant_for
from tilefoundry.ir.verify import verify_function

N, K = DimVar("N", 1, 9), DimVar("K", 1, 100)
VECTOR = make_tensor_type((N,), "f32")
TABLE = make_tensor_type((N, K), "f32")


def function(kind=BinaryKind.ADD, type_=VECTOR, **kwargs):
    x = Var("x", type_)
    return Function("f", (x,), binary(kind, x, x), type_, **kwargs)


def variant(lo, hi, name="N", **kwargs):
    return function(specializations=(DimVarRangePat(name, lo, hi),), **kwargs)


def prototype(*variants, type_=VECTOR):
    return Function("f", (Var("x", type_),), None, type_, variants=variants)


DISPATCH = prototype(variant(1, 5), variant(5, 9, kind=BinaryKind.MUL))


def rows():
    """Row by row, in a loop whose extent and whose tensor are symbolic."""
    i, x, out = Var("i", INDEX_TYPE), Var("x", TABLE), Var("out", TABLE)
    insert = InsertSlice((1, K), ("error", "error"))
    row = call(Zeros(make_tensor_type((K,), "f32")))
    loop = GridRegionExpr(i, (out,), (x,), None, (Call(insert, (out, row, Tuple((i, 0)))),), N)
    return Function("rows", (x,), loop, TABLE)


def test_the_variant_of_each_extent():
    for n in range(1, 9):
        assert variant_for(DISPATCH, {"N": n}) is DISPATCH.variants[n >= 5]
    assert variant_for(DISPATCH, {"N": DimVar("M", 2, 5)}) is DISPATCH.variants[0]
    plain = function()
    assert variant_for(plain, {}) is plain


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({}, "whose extent is not given"),
        ({"N": 9}, r"no variant serves 'N' = 9(.|\n)*\[1, 5\), \[5, 9\)"),
        ({"N": DimVar("N", 4, 6)}, r"no variant serves 'N' in \[4, 6\)"),
    ],
)
def test_no_variant_for_other_extents(dims, words):
    with pytest.raises(SpecializationError, match=words):
        variant_for(DISPATCH, dims)


def test_a_prototype_becomes_one_variant():
    four = specialize_function(DISPATCH, {"N": 4})
    assert four.name == "f"
    assert four.return_type == four.params[0].type == make_tensor_type((4,), "f32")
    assert four.body.target.kind is BinaryKind.ADD
    assert not four.variants and not four.specializations
    assert specialize_function(DISPATCH, {"N": 5}).body.target.kind is BinaryKind.MUL
    verify_function(four)
    narrow = specialize_function(DISPATCH, {"N": DimVar("N", 1, 5)})
    assert residual_dims(narrow) == (DimVar("N", 1, 5),)
    assert not narrow.specializations
    verify_function(narrow)


def test_a_prototype_keeps_its_variants_where_another_extent_is_given():
    table = prototype(variant(1, 5, type_=TABLE), variant(5, 9, type_=TABLE), type_=TABLE)
    wide = specialize_function(table, {"K": 64})
    assert wide.is_prototype
    check_variants(wide)
    assert [v.params[0].type for v in wide.variants] == [make_tensor_type((N, 64), "f32")] * 2


def test_every_extent_in_a_body_is_replaced():
    fn = rows()
    assert dim_vars_reached(fn) == residual_dims(fn) == (K, N)
    some = specialize_function(fn, {"N": 3})
    assert dim_vars_reached(some) == (K,)
    assert some.body.extent == 3
    both = specialize_function(some, {"K": 7})
    assert is_concrete(both)
    assert both.body.type == make_tensor_type((3, 7), "f32")
    verify_function(both)


def test_the_origin_is_recorded():
    fn = rows()
    both = specialize_function(specialize_function(fn, {"N": DimVar("N", 2, 4)}), {"N": 3, "K": 7})
    assert origin_of(both) is fn
    assert origin_of(fn) is fn
    assert bound_dims_of(both) == {"N": 3, "K": 7}
    assert bound_dims_of(fn) == {}


def test_the_origin_is_no_part_of_the_text():
    def text(fn):
        return canonical_module_text(Module("m", (fn,), "rows"))

    whole = specialize_function(rows(), {"N": 3, "K": 7})
    steps = specialize_function(specialize_function(rows(), {"N": 3}), {"K": 7})
    assert text(whole) == text(steps)
    assert len({text(whole), text(rows()), text(specialize_function(rows(), {"N": 3, "K": 8}))}) == 3


def test_a_dim_var_of_a_topology_is_no_parameter():
    fn = attention().entry_function()
    assert [d.name for d in residual_dims(fn)] == ["B", "S"]
    assert "G" in [d.name for d in dim_vars_reached(fn)]
    with pytest.raises(SpecializationError, match="no parameter with the DimVar 'G'"):
        specialize_function(fn, {"G": 4})
    with pytest.raises(SpecializationError, match="extents of G are not given"):
        specialize_concretely(fn, {"B": 2, "S": 64})
    verify_function(specialize_function(fn, {"B": 2, "S": 64}))


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({"M": 3}, "no parameter with the DimVar 'M'(.|\n)*its DimVars: K, N"),
        ({"N": 0}, r"'N' = 0 lies outside its envelope \[1, 9\)"),
        ({"N": 9}, "'N' = 9 lies outside"),
        ({"N": DimVar("N", 1, 10)}, r"'N' = \[1, 10\) lies outside"),
        ({"N": True}, "takes an int or a narrower DimVar, got True"),
        ({"N": 2.0}, "takes an int or a narrower DimVar, got 2.0"),
    ],
)
def test_extents_that_do_not_fit_are_refused(dims, words):
    with pytest.raises(SpecializationError, match=words):
        specialize_function(rows(), dims)


@pytest.mark.parametrize("of", [specialize_function, variant_for])
def test_an_extent_is_given_by_a_name(of):
    with pytest.raises(
        SpecializationError, match=r"name of their DimVar, got the key DimVar\(name='N'(.|\n)*\"S\": 128"
    ):
        of(DISPATCH, {DimVar("N", 1, 9): 4})


def test_a_module_is_specialised_at_its_entry():
    module = Module("m", (DISPATCH, rows()), "f", topologies=(), metadata={"note": 1})
    four = specialize_module(module, {"N": 4})
    assert [f.name for f in four.functions] == ["f", "rows"]
    assert four.lookup("f").return_type == make_tensor_type((4,), "f32")
    assert four.lookup("rows") is module.lookup("rows")
    assert (four.entry, four.topologies, four.metadata) == ("f", (), module.metadata)
    assert module.owns(four.lookup("f"), derived=True)
    with pytest.raises(ValueError, match="has no entry"):
        specialize_module(Module("m", (DISPATCH,)), {"N": 4})
    kernel = Module("m", (tir.PrimFunction("k", (), tir.Sequential(()), output_count=0),), "k")
    with pytest.raises(SpecializationError, match="'k' of module 'm' is a kernel in TIR"):
        specialize_module(kernel, {"N": 4})


def faults():
    yield "no variants", prototype(), "prototype without variants"
    yield "a body", dataclasses.replace(function(), variants=DISPATCH.variants), "variants and a body of its own"
    yield "no pattern", prototype(function()), r"has 0 pattern\(s\) and a body"
    yield "no body", prototype(dataclasses.replace(variant(1, 9), body=None)), r"1 pattern\(s\) and no body"
    yield "two patterns", prototype(function(specializations=(DimVarRangePat("N", 1, 9),) * 2)), r"has 2 pattern\(s\)"
    yield "gap", prototype(variant(1, 4), variant(5, 9)), "gap or overlap at 4"
    yield "overlap", prototype(variant(1, 6), variant(5, 9)), "gap or overlap at 5"
    yield "cover", prototype(variant(2, 5), variant(5, 9)), r"cover \[2,9\) but the envelope is \[1,9\)"
    yield "contained", prototype(variant(0, 9)), r"\[0, 9\) of 'N' is not contained in its envelope \[1, 9\)"
    yield "unknown", prototype(variant(1, 9, name="M")), "unknown DimVar 'M'"
    yield "two DimVars", prototype(variant(1, 5), variant(5, 9, name="M")), "several DimVars: M, N"
    other = make_tensor_type((DimVar("N", 1, 8),), "f32")
    yield "bounds", prototype(variant(1, 5), variant(5, 9, type_=other)), r"inconsistent bounds of 'N': \[1, 9\)"
    renamed = dataclasses.replace(variant(1, 9), name="g")
    yield "name", prototype(renamed), "a variant of 'f' has the signature"


@pytest.mark.parametrize(("fn", "words"), [pytest.param(f, w, id=n) for n, f, w in faults()])
def test_variants_that_do_not_fit_are_refused(fn, words):
    with pytest.raises(VerifyError, match=words):
        check_variants(fn)
    with pytest.raises(VerifyError, match=words):
        verify_function(fn)
