"""The statements and memory of kernels by their surface names: ``T.copy(src, dst)``, inside a ``@prim_func``."""

from __future__ import annotations

import difflib

import tilefoundry.ir.tir  # noqa: F401  # registers the ops
from tilefoundry.diagnostics import LookupNameError
from tilefoundry.dsl.cuda import cuda as cuda
from tilefoundry.dsl.markers import Statement, SurfaceOp, abort, dispatch, launch
from tilefoundry.ir.core.op import op_names

# The launch has a form of its own (its grid and block are tuples), as have the statements that are no ops.
_STATEMENTS: dict[str, Statement] = {"abort": abort, "dispatch": dispatch, "launch": launch}


def _names() -> list[str]:
    return sorted({*op_names("T"), *_STATEMENTS})  # asked for each time: a program may register ops of its own


def __getattr__(name: str) -> SurfaceOp | Statement | list[str]:
    names = _names()
    if name == "__all__":
        return [*names, "cuda"]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3)
        raise LookupNameError(
            f"T has no op named '{name}'",
            remedy=f"did you mean {' or '.join(f'T.{n}' for n in near)}?" if near else "see dir(T) for the ops",
        )
    return _STATEMENTS.get(name) or SurfaceOp("T", name)


def __dir__() -> list[str]:
    return [*_names(), "cuda"]
