import pytest

from tilefoundry.diagnostics import ScheduleError
from tilefoundry.ir.core import (
    BindingMetadata,
    Call,
    Function,
    ScheduleConstraintMetadata,
    SourceSpanMetadata,
    Tuple,
    Var,
    check_schedule_constraint,
    get_metadata,
    remove_metadata,
    replace_metadata,
)
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.samples import THREADS, W
from tilefoundry.ir.shard import Layout, Placed, layout_from_sugar, make_mesh
from tilefoundry.ir.types import StorageKind, make_tensor_type
from tilefoundry.ir.verify import verify_function

X = Var("x", make_tensor_type((8, 8), "f32"))
PLACED = layout_from_sugar((Placed(8, (W,)), 8))


def constrained(*records):
    return Call(Binary(BinaryKind.ADD), (X, X), metadata=records)


def test_a_constraint_travels_with_a_value_and_does_not_change_it():
    record = ScheduleConstraintMetadata(PLACED, THREADS, "rmem")
    assert record.storage is StorageKind.RMEM
    value = constrained(record, BindingMetadata("y"))
    assert value == constrained()
    assert hash(value) == hash(constrained())
    assert get_metadata(value, ScheduleConstraintMetadata) is record
    moved = replace_metadata(value, ScheduleConstraintMetadata(storage=StorageKind.SMEM))
    assert get_metadata(moved, ScheduleConstraintMetadata).storage is StorageKind.SMEM
    assert get_metadata(moved, BindingMetadata).name == "y"
    assert get_metadata(remove_metadata(value, ScheduleConstraintMetadata), ScheduleConstraintMetadata) is None
    check_schedule_constraint(value)
    check_schedule_constraint(constrained())


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: ScheduleConstraintMetadata(), ScheduleError, "asks for nothing"),
        (lambda: ScheduleConstraintMetadata(storage="umat"), ScheduleError, "cannot ask for umat"),
        (lambda: ScheduleConstraintMetadata(PLACED, make_mesh((4, 8))), ScheduleError, "over one of shape"),
        (lambda: ScheduleConstraintMetadata(storage="shared"), ValueError, "unknown storage 'shared'"),
        (lambda: ScheduleConstraintMetadata(layout=(8, 8)), TypeError, "layout must be a layout"),
        (lambda: ScheduleConstraintMetadata(mesh="thread"), TypeError, "mesh must be a Mesh"),
    ],
)
def test_malformed_constraints_are_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_what_a_value_cannot_keep_is_refused_at_its_place():
    span = SourceSpanMetadata("f.py", 3, 5, 3, 9)
    value = constrained(ScheduleConstraintMetadata(Layout((4, 8))), span)
    with pytest.raises(ScheduleError, match=r"^f\.py:3:5: .*does not hold as many elements"):
        check_schedule_constraint(value)
    with pytest.raises(ScheduleError, match="does not hold as many"):
        verify_function(Function("f", (X,), value, X.type))
    pair = Tuple((X, X), (ScheduleConstraintMetadata(storage="smem"),))
    with pytest.raises(ScheduleError, match="expected a tensor"):
        check_schedule_constraint(pair)
