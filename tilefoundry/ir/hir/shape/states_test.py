"""Split, Broadcast, Partial and Dynamic values through the ops that move elements or take windows."""

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Tuple
from tilefoundry.ir.hir import InsertSlice, Reshape, Slice, SplitParts, Squeeze, Transpose, Unsqueeze
from tilefoundry.ir.samples import GROUP, QUAD, W, call, dynamic, held, value
from tilefoundry.ir.shard import Broadcast, Dynamic, Partial, Placed, Split

ROW, PAIR = Placed(8, (GROUP,)), Placed(4, (QUAD,))
B = Broadcast()
STATES = [Partial("sum"), Partial("max"), Partial("min"), B]


def x(state, dtype="f32"):
    """8 rows over the groups, 1, 4 columns over the quads; along the warps as given."""
    return held((8, 1, 4, 6), ROW, 1, PAIR, 6, states=() if state == B else ((W, state),), dtype=dtype)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("op", "starts", "rows", "columns"),
    [
        (Transpose((2, 0, 3, 1)), None, 1, 0),
        (Reshape((1, 8, 24)), None, 1, 2),
        (Reshape((8, 4, 2, 3)), None, 0, 1),
        (Squeeze(1), None, 0, 1),
        (Unsqueeze(0), None, 1, 3),
        (Slice((8, 1, 4, 2)), (0, 0, 0, 3), 0, 2),
        (Slice((8, 1, 4, 1), drop=(1, 3)), (0, 0, 0, 5), 0, 1),
        (Slice((8, 1, 4, 3), (1, 1, 1, 2)), (0, 0, 0, 0), 0, 2),
    ],
)
def test_splits_go_with_their_axes_and_terms_are_carried(op, starts, rows, columns, state):
    operands = (x(state),) if starts is None else (x(state), Tuple(starts))
    assert call(op, *operands).type.layout.attrs == (state, Split(rows), Split(columns))


@pytest.mark.parametrize("state", STATES)
def test_parts_carry_splits_and_terms(state):
    for part in call(SplitParts(3, 2), x(state)).type.fields:
        assert part.layout.attrs == (state, Split(0), Split(2))


def test_a_dynamic_placement_stays_so_until_it_matters():
    unknown = dynamic(x(B))
    for op in (Transpose((1, 0, 2, 3)), Reshape((8, 4, 6)), Squeeze(1), Unsqueeze(-1)):
        assert call(op, unknown).type.layout.attrs == (Dynamic(),) * 3
    assert call(Slice((8, 1, 4, 6)), unknown, Tuple((0, 0, 0, 0))).type.layout.attrs == (Dynamic(),) * 3
    with pytest.raises(VerifyError, match=r"operand 'x' has a Dynamic placement(.|\n)*tf\.reshard"):
        call(Slice((8, 1, 4, 2)), unknown, Tuple((0, 0, 0, 0)))
    with pytest.raises(VerifyError, match="do not stay whole"):
        call(Reshape((2, 4, 4, 6)), unknown)


WHOLE = InsertSlice((8, 1, 4, 6))
ZERO = Tuple((0, 0, 0, 0))


@pytest.mark.parametrize("state", STATES)
def test_an_update_is_in_the_state_of_what_it_is_written_into(state):
    assert call(WHOLE, x(state), x(state), ZERO).type == x(state).type
    for other in STATES:
        if other != state:
            with pytest.raises(VerifyError, match=r"(update|dst) is Partial(.|\n)*tf\.reshard"):
                call(WHOLE, x(state), x(other), ZERO)


def test_updates_of_unsharded_memory():
    out = value((16, 1, 4, 6))
    assert call(WHOLE, out, x(B), ZERO).type == out.type
    assert call(WHOLE, out, dynamic(x(B)), ZERO).type == out.type
    with pytest.raises(VerifyError, match="update is Partial"):
        call(WHOLE, out, x(Partial("sum")), ZERO)
    with pytest.raises(VerifyError, match="dst is Partial"):
        call(WHOLE, x(Partial("sum")), value((8, 1, 4, 6), "f32", "rmem"), ZERO)
    terms_along_quads = held((8, 1, 4, 6), ROW, 1, 4, 6, states=((QUAD, Partial("sum")),))
    with pytest.raises(VerifyError, match="Partial alike"):
        call(WHOLE, x(Partial("sum")), terms_along_quads, ZERO)
    with pytest.raises(VerifyError, match=r"window \[0, 17\) exceeds axis 0 of extent 16"):
        call(InsertSlice((17, 1, 4, 6)), out, value((17, 1, 4, 6)), ZERO)
