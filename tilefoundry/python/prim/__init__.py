"""Kernels in TIR: ``@prim_func`` and ``@intrinsic`` read a function's source and give statements."""

from tilefoundry.python.prim.decorators import intrinsic, prim_func

__all__ = ["intrinsic", "prim_func"]
