"""The statements and memory of kernels by their surface names: ``T.copy(src, dst)``, inside a ``@prim_func``."""

from __future__ import annotations

import difflib

import tilefoundry.ir.tir  # noqa: F401  # registers the ops
from tilefoundry.diagnostics import LookupNameError
from tilefoundry.dsl.cuda import cuda
from tilefoundry.dsl.markers import Launcher, Statement, SurfaceOp, abort, dispatch, launch
from tilefoundry.ir.core.op import op_names

# The launch has a form of its own (its grid and block are tuples), as have the statements that are no ops.
_ops: dict[str, SurfaceOp | Launcher | Statement] = {
    **{name: SurfaceOp("T", name) for name in op_names("T")},
    "abort": abort,
    "dispatch": dispatch,
    "launch": launch,
}
__all__ = [*_ops, "cuda"]


def __getattr__(name: str) -> SurfaceOp | Launcher | Statement:
    op = _ops.get(name)
    if op is None:
        near = difflib.get_close_matches(name, _ops, n=3)
        raise LookupNameError(
            f"T has no op named '{name}'",
            remedy=f"did you mean {' or '.join(f'T.{n}' for n in near)}?" if near else "see dir(T) for the ops",
        )
    return op


def __dir__() -> list[str]:
    return __all__
