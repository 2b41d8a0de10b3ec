"""Schedule constraints: what is attached, and what is refused where."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core import Call, Function, ScheduleConstraintMetadata, binding_name, get_metadata
from tilefoundry.ir.shard import Layout, ShardLayout, Split
from tilefoundry.ir.types import StorageKind
from tilefoundry.python.testing import load_program, marked

HEAD = """\
@func
def f(x: Tensor[(8, 64), "f32"]) -> Tensor[(8, 64), "f32"]:
"""


def body(text: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in text.strip().splitlines())


def constraint(text: str) -> ScheduleConstraintMetadata:
    fn = load_program(body(text))["f"]
    assert isinstance(fn, Function) and isinstance(fn.body, Call)
    assert binding_name(fn.body) == "y"
    found = get_metadata(fn.body, ScheduleConstraintMetadata)
    assert found is not None
    return found


def test_a_storage() -> None:
    found = constraint('y: where(storage="smem") = tf.exp(x)\nreturn y')
    assert found == ScheduleConstraintMetadata(storage=StorageKind.SMEM)


def test_the_name_that_a_star_import_binds() -> None:
    found = constraint("y: tf.where(storage=smem) = tf.exp(x)\nreturn y")
    assert found.storage is StorageKind.SMEM


def test_a_layout_in_sugar_and_as_a_value() -> None:
    found = constraint(
        """
with Mesh((Topology("thread", 64),), (64,), ("t",)) as m:
    y: where(layout=(8, 64 @ m.t), mesh=m) = tf.exp(x)
return y
"""
    )
    assert isinstance(found.layout, ShardLayout) and found.layout.attrs == (Split(1),)
    assert found.mesh == found.layout.mesh
    assert constraint("y: where(layout=Layout((8, 64), (1, 8))) = x + x\nreturn y").layout == Layout((8, 64), (1, 8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y: §where() = tf.exp(x)\nreturn y", "asks for nothing"),
        ('y: where(§"smem") = tf.exp(x)\nreturn y', "positional"),
        ('y: where(place=§"smem") = tf.exp(x)\nreturn y', "unexpected argument 'place'"),
        ('y: §where(storage="umat") = tf.exp(x)\nreturn y', "umat"),
        ('y: §where(storage="mem") = tf.exp(x)\nreturn y', "unknown storage"),
        ("y: §where(mesh=3) = tf.exp(x)\nreturn y", "must be a Mesh"),
        ("y: where(layout=(7, 64)) = §tf.exp(x)\nreturn y", "does not hold as many elements"),
        ('y: where(storage="smem") = §x\nreturn y', "a run-time value"),
        ('z = tf.exp(x)\ny: where(storage="smem") = §z\nreturn y', "'z', which has a name already"),
        ('§y: where(storage="smem")\nreturn y', "has no value"),
        ("y: §int = tf.exp(x)\nreturn y", "expected where"),
        ("y: §tile(8, 8) = tf.exp(x)\nreturn y", "expected where"),
        ('§x.y: where(storage="smem") = tf.exp(x)\nreturn x', "expected a name"),
        (
            'with Mesh((Topology("thread", 64),), (64,), ("t",)) as m:\n    z = x\n'
            "y: where(mesh=§m) = tf.exp(z)\nreturn y",
            "not in scope",
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    source, place = marked(body(text))
    with pytest.raises(VerifyError, match=message) as caught:
        load_program(source)
    span = caught.value.span
    assert span is not None and (span.line, span.column) == place
