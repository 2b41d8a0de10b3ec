"""``T.cuda``: what only CUDA has. ``T.cuda.mma`` names the matrix instructions."""

from __future__ import annotations

import difflib

from tilefoundry.diagnostics import LookupNameError, WrongValueError
from tilefoundry.ir.atoms import ATOMS, MmaAtom


def atom(op: str | MmaAtom) -> MmaAtom:
    """The matrix instruction of this name.

    Raises:
        WrongValueError: there is none.
    """
    if isinstance(op, MmaAtom):
        return op
    if op not in ATOMS:
        raise WrongValueError(f"T.cuda.mma has no instruction {op!r}", remedy=f"use one of {', '.join(ATOMS)}")
    return ATOMS[op]


class _Mma:
    """The matrix instructions as attributes, and `atom`, which finds one by its name."""

    atom = staticmethod(atom)

    def __getattr__(self, name: str) -> MmaAtom:
        if name not in ATOMS:
            near = difflib.get_close_matches(name, ATOMS, n=1)
            raise LookupNameError(
                f"T.cuda.mma has no instruction '{name}'",
                remedy=f"did you mean {near[0]}?" if near else f"use one of {', '.join(ATOMS)}",
            )
        return ATOMS[name]

    def __dir__(self) -> list[str]:
        return ["atom", *ATOMS]

    def __repr__(self) -> str:
        return "T.cuda.mma"


class _Cuda:
    """The namespaces of CUDA."""

    mma = _Mma()

    def __repr__(self) -> str:
        return "T.cuda"


cuda = _Cuda()
