"""The Python front end: ``@func`` and ``@module`` read a function's source and give IR."""

from tilefoundry.python.decorators import func, module

__all__ = ["func", "module"]
