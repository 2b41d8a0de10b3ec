"""The Python front end: ``@func``, ``@prim_func`` and ``@module`` read a function's source and give IR."""

from tilefoundry.python.decorators import func, module
from tilefoundry.python.prim import intrinsic, prim_func

__all__ = ["func", "intrinsic", "module", "prim_func"]
