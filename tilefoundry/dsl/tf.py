"""The tensor ops by their surface names: ``tf.matmul``, or ``from tilefoundry.dsl.tf import *`` for bare names."""

from __future__ import annotations

import difflib

import tilefoundry.ir.hir  # noqa: F401  # registers the ops
from tilefoundry.diagnostics import LookupNameError
from tilefoundry.dsl.markers import SurfaceOp
from tilefoundry.ir.core.op import op_names

_ops = {name: SurfaceOp("tf", name) for name in op_names("tf")}
__all__ = list(_ops)


def __getattr__(name: str) -> SurfaceOp:
    op = _ops.get(name)
    if op is None:
        near = difflib.get_close_matches(name, _ops, n=3)
        raise LookupNameError(
            f"tf has no op named '{name}'",
            remedy=f"did you mean {' or '.join(f'tf.{n}' for n in near)}?" if near else "see dir(tf) for the ops",
        )
    return op


def __dir__() -> list[str]:
    return __all__
