"""No op lacks an evaluator, or tests of it."""

from __future__ import annotations

import functools
from pathlib import Path

from tilefoundry.evaluator.registry import EVALUATORS
from tilefoundry.ir.core.op import Op, op_names, schemas_named

# x[a:b], field k of what an op returns, m.axis: in the tests of whole programs
WRITTEN_WITHOUT_THEIR_NAME = {"slice", "tuple_get_item", "mesh_coordinate"}


def test_every_op_has_an_evaluator() -> None:
    missing = {
        name for name in op_names("tf") for s in schemas_named("tf", name) if _op_class(s.build) not in EVALUATORS
    }
    assert not missing


def test_every_op_is_tested() -> None:
    texts = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.rglob("*_test.py"))
    untested = {
        name
        for name in op_names("tf")
        for schema in schemas_named("tf", name)
        if not any(use in texts for use in (f'"{name}"', f"tf.{name}(", f"{_op_class(schema.build).__name__}("))
    }
    assert untested <= WRITTEN_WITHOUT_THEIR_NAME


def _op_class(build: object) -> type[Op]:
    if isinstance(build, type):
        return build
    assert isinstance(build, functools.partial)  # a name with an attribute fixed
    return _op_class(build.func)
