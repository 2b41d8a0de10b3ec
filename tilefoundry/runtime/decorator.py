"""``@runtime_module`` and ``@runtime_func``: a hand-written twin of a Module (runtime spec, 1.1)."""

from __future__ import annotations

import types
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.module import LoadedModule, Module
from tilefoundry.runtime.module import RuntimeModule, authored_module
from tilefoundry.runtime.twin import Child, Kernel, Twin
from tilefoundry.runtime.twin_rules import KERNEL_MARK, check_twin, class_members

F = TypeVar("F")


def runtime_func(function: F) -> F:
    """Marks a method of a twin as the kernel of the function that has its name.

    The method takes ``self`` and every declared parameter, weights included; whoever calls the kernel of an instance
    gives the activations alone.

    Raises:
        WrongTypeError: what is decorated is not a plain function.
    """
    if not isinstance(function, FunctionType):
        raise WrongTypeError(
            f"@runtime_func: expected a function defined with 'def', got {type(function).__name__}",
            remedy="decorate the method itself; a RuntimeFunction instance needs no mark",
        )
    setattr(function, KERNEL_MARK, True)
    return function


def runtime_module(sem: Module | LoadedModule | RuntimeModule) -> Callable[[type], type[Twin]]:
    """Class decorator: the runtime twin of a Module, one kernel for each function, one class for each child.

    Functions are kernels tagged with `runtime_func`, or `RuntimeFunction` instances; children are `RuntimeModule`
    subclasses; methods (``forward``, ...) are the Module's own, unless the class writes a ``forward``. An instance is
    loaded with ``load(resource)`` and called like the `LoadedModule` of the same Module.

    Args:
        sem: the authored Module; or what stands for one: a reading of it, or another twin.

    Returns:
        A decorator that gives a subclass of the class and of `RuntimeModule`, whose constructor takes ``ir=None``
        (default: `sem`). An ``__init__`` of the class runs after it, without arguments.

    Raises:
        WrongTypeError: kernels, their parameters or children do not match the Module's one to one, or a name is
            reserved.
    """
    module = sem.module if isinstance(sem, LoadedModule) else sem
    if isinstance(module, RuntimeModule):
        module = authored_module(module, "@runtime_module")
    if not isinstance(module, Module):
        raise WrongTypeError(
            f"@runtime_module: expected a Module, got {type(sem).__name__}", remedy="pass what @module made"
        )

    def decorate(cls: type) -> type[Twin]:
        if not isinstance(cls, type):
            raise WrongTypeError(
                f"@runtime_module: expected a class, got {type(cls).__name__}", remedy="decorate a class"
            )
        check_twin(cls, module)
        return _twin_class(cls, module)

    return decorate


def _twin_class(cls: type, module: Module) -> type[Twin]:
    members = class_members(cls)
    namespace: dict[str, object] = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__init__": Twin.__init__,
        "_sem": module,
        "_author_init": members.get("__init__"),
        **{f.name: Kernel(f, members[f.name]) for f in module.functions},
        **{c.name: Child(c.name, members[c.name]) for c in module.modules},
        **{name: method for name, method in module.methods.items() if name != "forward" or "forward" not in members},
    }
    twin: type[Twin] = types.new_class(cls.__name__, (cls, Twin), exec_body=lambda ns: ns.update(namespace))
    return twin
