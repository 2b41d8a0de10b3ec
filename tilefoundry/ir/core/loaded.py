"""LoadedModule: one reading of a Module's weights."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, MethodType
from typing import TYPE_CHECKING

from tilefoundry.diagnostics import LookupNameError, WrongTypeError
from tilefoundry.ir.core.execution import AS_DECLARED, RunOptions, executor
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.placement import agreed_device, weight_devices
from tilefoundry.ir.core.weights import WeightReader, WeightSource, join_path

if TYPE_CHECKING:
    from tilefoundry.ir.core.expr import Var
    from tilefoundry.ir.core.module import Definition, Module


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModule:
    """A Module with the weights that one resource gave it. Functions take activations alone.

    ``copy.deepcopy`` copies the weights; a pickle holds them.

    Attributes:
        module: the Module; it knows nothing of the reading.
        constants: the declared weights, by name.
        modules: the readings of the children, in their order.
    """

    module: Module
    constants: Mapping[str, object] = field(repr=False)
    modules: tuple[LoadedModule, ...] = ()
    _devices: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constants", MappingProxyType(dict(self.constants)))
        object.__setattr__(self, "_devices", weight_devices(self.module, self.constants))

    @property
    def name(self) -> str:
        """The name of the Module."""
        return self.module.name

    @property
    def entry(self) -> str | None:
        """The function that a call runs, if the Module has one."""
        return self.module.entry

    def __getattr__(self, name: str) -> object:
        if name in type(self).__slots__:  # a field: not filled yet
            raise LookupNameError(f"a loaded module has no attribute '{name}'")
        if name.startswith("_"):
            raise private_name(f"the reading of module '{self.module.name}'", name)
        module = self.module
        for function in module.functions:
            if function.name == name:
                return self.runner(function)
        for child in self.modules:
            if child.module.name == name:
                return child
        if name in module.methods:
            return MethodType(module.methods[name], self)
        raise LookupNameError(
            f"module '{module.name}' has no function, child or method '{name}'",
            remedy=f"it has: {', '.join(module.member_names())}",
        )

    def __deepcopy__(self, memo: dict[int, object]) -> LoadedModule:
        constants = copy.deepcopy(dict(self.constants), memo)
        return LoadedModule(self.module, constants, tuple(copy.deepcopy(child, memo) for child in self.modules))

    def __reduce__(self) -> tuple[object, ...]:
        return LoadedModule, (self.module, dict(self.constants), self.modules)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.module.member_names()})

    def forward(self, *acts: object, **keywords: object) -> object:
        """Runs the method ``forward`` when there is one, else the entry, on activations alone and without keywords.

        Raises:
            WrongTypeError: there is neither, or the entry does not take these arguments.
            WrongValueError: weights and activations are on more than one device.
        """
        if "forward" in self.module.methods:
            return self.module.methods["forward"](self, *acts, **keywords)
        if self.module.entry is None:
            raise no_step(self.module)
        run = self.runner(self.module.entry_function())
        no_keywords(f"{self.name}.{self.entry}", keywords)
        return run(*acts)

    def __call__(self, *acts: object, **keywords: object) -> object:
        return self.forward(*acts, **keywords)

    def runner(self, definition: Definition) -> Callable[..., object]:
        """What runs a function of the module on activations alone; it takes the keyword `options`."""
        function = hir_function(self.module, definition)
        callee = f"{self.module.name}.{function.name}"

        def run(*acts: object, options: RunOptions = AS_DECLARED, **keywords: object) -> object:
            no_keywords(callee, keywords)
            args = fill_weights(callee, function.params, self.constants, acts)
            device = agreed_device(callee, self._devices, acts)  # first, so that `args` can select a variant
            if self.modules:
                device = agreed_device(callee, self._reached_devices(function, args), acts)
            return executor().run(self.module, function, args, device, self._children(), options)

        run.__name__ = run.__qualname__ = function.name
        return run

    def _reached_devices(self, function: Function, args: tuple[object, ...] | None) -> dict[str, str]:
        """The devices of the weights of this node, and of those children that a call of `function` reaches."""
        devices = dict(self._devices)
        for name in executor().reached(function, args):
            child = next(c for c in self.modules if c.name == name)
            devices |= child._reached_devices(hir_function(child.module, child.module.entry_function()), None)
        return devices

    def _children(self) -> dict[str, Callable[..., object]]:
        """The entries of the children, as calls inside of this node's functions reach them."""
        return {
            child.name: child.runner(function)
            for child in self.modules
            for function in child.module.functions
            if function.name == child.entry and isinstance(function, Function)
        }


def read_tree(module: Module, resource: WeightSource) -> LoadedModule:
    """A reading of a Module and all below it."""
    reader = WeightReader()

    def read(node: Module, source: WeightSource, path: str) -> LoadedModule:
        constants = reader.read(node, source, path)
        children = tuple(read(c, source.subtree(c.name), join_path(path, c.name)) for c in node.modules)
        return LoadedModule(node, constants, children)

    reading = read(module, resource, "")
    reader.finish(resource)
    return reading


def fill_weights(
    callee: str, params: tuple[Var, ...], constants: Mapping[str, object], acts: tuple[object, ...]
) -> tuple[object, ...]:
    """One argument for each declared parameter: activations in order, weights by name.

    Raises:
        WrongTypeError: too few or too many activations.
    """
    expected = [p.name for p in params if not p.is_const]
    if len(acts) != len(expected):
        surplus = len(params) > len(expected) and len(acts) == len(params)
        raise WrongTypeError(
            f"{callee} takes {len(expected)} activation(s) ({', '.join(expected)}), got {len(acts)}",
            remedy="leave the weights out: they come from load(resource)" if surplus else None,
        )
    given = iter(acts)
    return tuple(constants[p.name] if p.is_const else next(given) for p in params)


def no_keywords(callee: str, keywords: Mapping[str, object]) -> None:
    """Refuses keywords: a function of the language takes its arguments by position, as its calls in a program do.

    Raises:
        WrongTypeError: there are some.
    """
    if keywords:
        raise WrongTypeError(
            f"{callee} takes its arguments by position, got the keyword(s) {', '.join(keywords)}",
            remedy="leave the names out; plain Python methods take keywords",
        )


def hir_function(module: Module, definition: Definition) -> Function:
    """The definition as a function that can be run as it is.

    Raises:
        WrongTypeError: it is a kernel in TIR.
    """
    if not isinstance(definition, Function):
        raise WrongTypeError(
            f"'{definition.name}' of module '{module.name}' is a kernel in TIR", remedy="compile the module to run it"
        )
    return definition


def private_name(node: str, name: str) -> LookupNameError:
    """The error of asking a node for a name that stands for no member of it."""
    private = name.startswith("_") and not name.startswith("__")
    return LookupNameError(
        f"{node} has no attribute '{name}'",
        remedy="names that start with '_' are private; name a member that is to be reached without it"
        if private
        else None,
    )


def no_step(module: Module) -> WrongTypeError:
    """The error of calling a node that does not say what a call runs."""
    callable_names = [f.name for f in module.functions] + list(module.methods)
    return WrongTypeError(
        f"module '{module.name}' has no forward method and no entry",
        remedy=f"call one of: {', '.join(callable_names) or 'its children'}",
    )
