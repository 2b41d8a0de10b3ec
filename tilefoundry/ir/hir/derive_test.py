"""Placements derived through relations: what survives, what is reduced, what is refused."""

import pytest

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import AffineMap, Relation, derive_output_shard_layout
from tilefoundry.ir.hir.relation import dimension_of
from tilefoundry.ir.samples import GROUP, QUAD, W, held, value
from tilefoundry.ir.shard import Broadcast, Dynamic, Layout, Partial, Placed, ShardLayout, Split, make_mesh
from tilefoundry.ir.types import StorageKind, make_tensor_type

M, N, K = range(3)
PRODUCT = Relation(((M, K), (K, N)), (M, N), ("lhs", "rhs"))
LHS = held((64, 32), Placed(4, (W,)), 16, Placed(8, (GROUP,)), 4).type
RHS = held((32, 8), Placed(8, (GROUP,)), 4, Placed(4, (QUAD,)), 2).type
OTHER = make_mesh((4,))


def over_other(shape, *attrs):
    return make_tensor_type(shape, "f32", "rmem", ShardLayout(Layout(shape, (0,) * len(shape)), attrs, OTHER))


def test_a_split_survives_and_a_reduced_one_is_partial_or_complete():
    partial = derive_output_shard_layout((LHS, RHS), PRODUCT, (64, 8), partial_reduction_dims=(K,))
    assert partial.layout.shape == (4, 16, 4, 2)
    assert partial.attrs == (Split(0), Partial("sum"), Split(2))
    complete = derive_output_shard_layout((LHS, RHS), PRODUCT, (64, 8), complete_reduction_dims=(K,))
    assert complete.attrs == (Split(0), Broadcast(), Split(2))


def test_strides():
    def strides(storage):
        layout = derive_output_shard_layout(
            (LHS, RHS), PRODUCT, (64, 8), partial_reduction_dims=(K,), fresh_strides=storage
        )
        return layout.layout.strides

    assert strides(None) is None
    assert strides(StorageKind.RMEM) == (0, 2, 0, 1)  # each unit has its own elements
    assert strides(StorageKind.SMEM) == (128, 8, 2, 1)  # all units share them


def test_unplaced_operands_have_no_placement():
    assert derive_output_shard_layout((value((64, 32)).type, value((32, 8)).type), PRODUCT, (64, 8)) is None


def test_broadcast_contributes_nothing():
    both = Relation(((0, 1), (0, 1)), (0, 1))
    split, whole = held((64, 32), Placed(4, (W,)), 16, 32).type, held((64, 32), 64, 32).type
    for types in ((split, whole), (whole, split)):
        assert derive_output_shard_layout(types, both, (64, 32)).attrs == (Split(0), Broadcast(), Broadcast())
        with pytest.raises(WrongValueError, match="placed differently"):
            derive_output_shard_layout(types, both, (64, 32), alike=True)
    columns = held((64, 32), 64, Placed(8, (GROUP,)), 4).type
    assert derive_output_shard_layout((split, columns), both, (64, 32)).attrs == (Split(0), Split(2), Broadcast())


def test_two_splits_of_one_dimension_must_agree():
    both = Relation(((0,), (0,)), (0,))
    for other in (held((64,), 16, Placed(4, (W,))), held((64,), Placed(8, (GROUP,)), 8)):
        with pytest.raises(WrongValueError, match="placed differently"):
            derive_output_shard_layout((held((64,), Placed(4, (W,)), 16).type, other.type), both, (64,))


def test_axes_that_follow_no_dimension_have_the_extent_of_the_result():
    n = DimVar("N", 1, 9)
    rows = held((64, 8), Placed(4, (W,)), 16, 8).type
    layout = derive_output_shard_layout((rows,), Relation(((0, 1),), (0, None)), (64, n), complete_reduction_dims=(1,))
    assert (layout.layout.shape, layout.attrs[0]) == ((4, 16, n), Split(0))


@pytest.mark.parametrize(
    ("types", "relation", "shape", "words"),
    [
        ((LHS, over_other((32, 8), Split(0))), PRODUCT, (64, 8), "'lhs' and 'rhs' are spread over different meshes"),
        (
            (LHS, held((32, 8), 32, Placed(4, (QUAD,)), 2).type),  # the inner dimension is reduced
            PRODUCT,
            (64, 8),
            r"placed differently along one axis: \(8 @ g, 4\) against \(32\)",
        ),
        (
            (LHS, held((32, 4), Placed(8, (GROUP,)), 4, Placed(4, (W,))).type),
            PRODUCT,
            (64, 4),
            "'w' splits two axes of the operation",
        ),
        ((LHS,), Relation(((0, 1),), (0,)), (64,), "'g' splits dimension 1 of the operation, which neither reaches"),
        ((over_other((4, 6), Dynamic()),), Relation(((0, 1),), (0, 1)), (4, 6), "Dynamic placement"),
        (
            (make_tensor_type((6, 4), "f32", "rmem", ShardLayout(Layout((4, 6), (0, 1)), (Split(0),), OTHER)),),
            Relation(((0, 1),), (0, 1)),
            (6, 4),
            r"straddle its axes \(6,4\)",
        ),
        (
            (held((64, 8), 64, 8, states=((W, Partial("sum")),)).type,),
            Relation(((0, 1),), (0, 1)),
            (64, 8),
            r"P\(sum\) along mesh axis 'w' and cannot pass",
        ),
        (
            (LHS,),
            Relation(((None, 1),), (0, 1)),
            (64, 32),
            "axis 0 of 'operand 0' is split along mesh axis 'w'",
        ),
    ],
)
def test_refusals(types, relation, shape, words):
    with pytest.raises(WrongValueError, match=words) as caught:
        derive_output_shard_layout(types, relation, shape)
    assert caught.value.remedy


def test_a_dimension_that_is_reduced_in_two_ways_is_refused():
    with pytest.raises(WrongValueError, match="nor is reduced in one way"):
        derive_output_shard_layout(
            (LHS, RHS), PRODUCT, (64, 8), partial_reduction_dims=(K,), complete_reduction_dims=(K,)
        )


WINDOW = AffineMap(((0, 1), (1, 1)))  # output position + tap


@pytest.mark.parametrize(
    "axis",
    [WINDOW, AffineMap(((0, 2),)), AffineMap(((0, 1),), offset=1), AffineMap(((0, -1),)), AffineMap(())],
    ids=["window", "step 2", "shifted", "reversed", "constant"],
)
def test_a_split_through_another_map_than_identity_fails_closed(axis):
    """A unit that holds part of such an axis lacks elements that its part of the result needs: a halo."""
    split = held((64,), Placed(4, (W,)), 16).type
    with pytest.raises(WrongValueError, match="each unit needs elements of it that others hold"):
        derive_output_shard_layout((split,), Relation(((axis,),), (0,)), (64,))
    # the result's own axis through such a map is not where the split goes either
    with pytest.raises(WrongValueError, match="neither reaches the result"):
        derive_output_shard_layout((split,), Relation(((0,),), (axis,)), (64,))


def test_a_whole_axis_may_be_read_through_any_map():
    image = held((8, 66), Placed(4, (W,)), 2, 66).type
    taps = held((3,), 3).type
    convolution = Relation(((0, AffineMap(((1, 1), (2, 1)))), (2,)), (0, 1))
    layout = derive_output_shard_layout((image, taps), convolution, (8, 64), complete_reduction_dims=(2,))
    assert (layout.layout.shape, layout.attrs) == ((4, 2, 64), (Split(0), Broadcast(), Broadcast()))


def test_identities():
    assert dimension_of(3) == dimension_of(AffineMap(((3, 1),))) == 3
    assert dimension_of(None) is None


def test_what_an_op_lets_through_is_its_decision():
    sums = held((64,), 64, states=((W, Partial("sum")),)).type
    layout = derive_output_shard_layout(
        (sums, sums), Relation(((0,), (0,)), (0,)), (64,), partial_rule=lambda states: Partial("sum")
    )
    assert layout.attrs[0] == Partial("sum")
