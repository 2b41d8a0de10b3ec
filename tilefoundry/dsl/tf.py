"""The tensor ops by their surface names: ``tf.matmul``, or ``from tilefoundry.dsl.tf import *`` for bare names."""

from __future__ import annotations

import difflib

import tilefoundry.ir.hir  # noqa: F401  # registers the ops
from tilefoundry.diagnostics import LookupNameError
from tilefoundry.dsl.markers import SurfaceOp
from tilefoundry.ir.core.op import op_names


def __getattr__(name: str) -> SurfaceOp | list[str]:
    names = op_names("tf")  # asked for each time: a program may register ops of its own
    if name == "__all__":
        return list(names)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3)
        raise LookupNameError(
            f"tf has no op named '{name}'",
            remedy=f"did you mean {' or '.join(f'tf.{n}' for n in near)}?" if near else "see dir(tf) for the ops",
        )
    return SurfaceOp("tf", name)


def __dir__() -> list[str]:
    return list(op_names("tf"))
