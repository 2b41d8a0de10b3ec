"""Layout sugar in a signature: strides are row-major over the canonical shape, and one DimVar has one envelope."""

from __future__ import annotations  # a tuple of mesh axes takes no @ outside of the language

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.dsl import DimVar, Layout, Mesh, Tensor, Topology
from tilefoundry.ir.shard import Broadcast, Split, c_order_strides, canonical_shard_layout
from tilefoundry.python import func

LEVELS = (Topology("thread", 32),)
M = Mesh(LEVELS, Layout((4, 8)), ("w", "l"))


def test_sugar_in_a_signature_is_row_major_over_the_canonical_shape():
    @func(topologies=LEVELS)
    def f(x: Tensor[(64 @ M.w, 16), "f32"], y: Tensor[(64 @ (M.w, M.l), 16), "f32"]) -> Tensor[(64 @ M.w, 16), "f32"]:
        return x

    x, y = (p.type for p in f.entry_function().params)
    assert (x.shape, y.shape) == ((64, 16), (64, 16))
    assert x.layout == canonical_shard_layout((64, 16), M, (Split(0), Broadcast()))
    assert y.layout == canonical_shard_layout((64, 16), M, (Split(0), Split(0)))
    for type_ in (x, y):
        assert type_.layout.layout.strides == c_order_strides(type_.layout.shape)


def test_two_envelopes_of_one_name_are_refused():
    narrow, wide = DimVar("A", 1, 9), DimVar("A", 1, 10)

    with pytest.raises(VerifyError, match=r"'A' .*in one signature: \[1, 9\) and \[1, 10\)"):

        @func
        def g(x: Tensor[(narrow,), "f32"], y: Tensor[(wide,), "f32"]) -> Tensor[(narrow,), "f32"]:
            return x
