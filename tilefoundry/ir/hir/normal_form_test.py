"""Every dim that an op keeps as an attribute is in normal form, so that equal ops are equal whatever was written."""

import dataclasses

import pytest

from tilefoundry.ir.core import Var
from tilefoundry.ir.core.op import Op, op_names, schemas_named
from tilefoundry.ir.dims import INDEX_TYPE, DimVar, ceildiv
from tilefoundry.ir.hir import Expand, GridRegionExpr, InsertSlice, Pad, Reshape, Slice, TopK
from tilefoundry.ir.types import make_tensor_type

N = DimVar("N", 1, 9)
WRITTEN, STORED = ceildiv((N + 2 - 1) * 4 - 4, 4), N

OPS = {
    Reshape: lambda dim: Reshape((dim, 4)),
    Expand: lambda dim: Expand((dim, 4)),
    Slice: lambda dim: Slice((dim, 4)),
    InsertSlice: lambda dim: InsertSlice((dim, 4)),
    TopK: lambda dim: TopK(dim),
    Pad: lambda dim: Pad((dim, 4)),
}


def ops_with_dims():
    """The op classes with an attribute that is annotated as a dim."""
    for name in op_names("tf"):
        for schema in schemas_named("tf", name):
            cls = schema.build
            if isinstance(cls, type) and issubclass(cls, Op):
                fields = dataclasses.fields(cls)
                if any("Dim" in str(f.type) and "DimVar" not in str(f.type) for f in fields):
                    yield cls


def test_every_op_that_keeps_dims_is_in_the_table():
    assert set(ops_with_dims()) == set(OPS)


@pytest.mark.parametrize("cls", OPS)
def test_dims_are_stored_in_normal_form(cls):
    written, stored = OPS[cls](WRITTEN), OPS[cls](STORED)
    assert written == stored
    assert hash(written) == hash(stored)
    assert repr(written) == repr(stored)


def test_loops_keep_normal_forms():
    x = Var("x", make_tensor_type((4,), "f32"))
    loop = GridRegionExpr(Var("i", INDEX_TYPE), (), (), x, (), WRITTEN, start=N - N)
    assert (loop.extent, loop.start) == (STORED, 0)
