"""The names that authors import."""

from __future__ import annotations

from types import ModuleType

import pytest

from tilefoundry import dsl
from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.dsl import ConstTensor, T, Tensor, storage, tf, tile, where
from tilefoundry.dsl.markers import SurfaceOp
from tilefoundry.ir.core import Op, ParamDef, op, register_op
from tilefoundry.ir.types import StorageKind


def test_every_listed_name_is_there() -> None:
    for name in dsl.__all__:
        assert getattr(dsl, name) is not None


def test_ops_are_found_by_name_and_by_star_import() -> None:
    scope: dict[str, object] = {}
    exec("from tilefoundry.dsl.tf import *", scope)
    for name in ("matmul", "exp", "maximum", "reduce", "insert_slice", "reshard", "where", "logical_not"):
        assert scope[name] == getattr(tf, name) == SurfaceOp("tf", name)


@pytest.mark.parametrize(("dialect", "names"), [("tf", tf), ("T", T)])
def test_an_op_that_a_program_registers_is_found_as_the_others(
    dialect: str, names: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(op, "_schemas", dict(op._schemas))  # which other tests find as it was

    @register_op(dialect=dialect, name="of_this_test")
    class OfThisTest(Op):
        x = ParamDef()

    scope: dict[str, object] = {}
    exec(f"from tilefoundry.dsl.{dialect} import *", scope)
    assert names.of_this_test == scope["of_this_test"] == SurfaceOp(dialect, "of_this_test")
    assert "of_this_test" in dir(names)


def test_an_unknown_op_is_an_attribute_error_that_suggests() -> None:
    with pytest.raises(AttributeError, match="no op named 'matmull'") as caught:
        _ = tf.matmull
    assert "tf.matmul" in str(caught.value)
    assert isinstance(caught.value, TileFoundryError)


@pytest.mark.parametrize("marker", [tf.exp, tile, where, Tensor, ConstTensor])
def test_markers_refuse_to_be_called(marker: object) -> None:
    with pytest.raises(TypeError):
        marker(1)  # type: ignore[operator]


def test_annotations_record_what_was_written() -> None:
    assert Tensor[(2, 3), "f32"].items == ((2, 3), "f32")
    assert ConstTensor[(2, 3), "f32", "smem"].is_const


def test_storage_names() -> None:
    assert [getattr(storage, name) for name in sorted(storage.__all__)] == [
        StorageKind.GMEM, StorageKind.HOST, StorageKind.RMEM, StorageKind.SMEM, StorageKind.TMEM, StorageKind.UMAT,
    ]  # fmt: skip
