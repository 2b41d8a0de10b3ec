"""Twin: what a class under ``@runtime_module`` becomes (runtime spec, 1.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from tilefoundry.diagnostics import LookupNameError, TileFoundryError, WrongTypeError
from tilefoundry.ir.core.execution import executor
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.loaded import fill_weights, no_keywords, no_step
from tilefoundry.ir.core.module import Definition, Module
from tilefoundry.ir.core.placement import agreed_device, weight_devices
from tilefoundry.ir.core.weights import WeightReader, WeightSource, join_path
from tilefoundry.runtime.function import RuntimeFunction
from tilefoundry.runtime.module import RuntimeModule
from tilefoundry.runtime.mutation import Unchanged
from tilefoundry.runtime.twin_rules import parameters_of, same_names


class NotLoadedError(TileFoundryError, RuntimeError):
    """A twin was called before its weights were loaded."""


class Kernel:
    """A kernel as an attribute of a twin: taken from an instance, it takes activations alone.

    Args:
        body: a marked method, or a `RuntimeFunction`, which is called without the instance.
    """

    def __init__(self, definition: Definition, body: object) -> None:
        self.definition = definition
        self.body = body

    def __get__(self, twin: Twin | None, owner: type) -> object:
        if twin is None:
            return self.body
        body, definition = self.body, self.definition
        params, name = parameters_of(definition), definition.name

        def run(*acts: object, **keywords: object) -> object:
            callee = f"{twin.name}.{name}"
            no_keywords(callee, keywords)
            constants = twin._bound(callee)
            args = fill_weights(callee, params, constants, acts)
            agreed_device(callee, twin._devices, acts)  # first, so that `args` can select a variant
            if twin.modules and isinstance(definition, Function):
                agreed_device(callee, twin._reached_devices(definition, args), acts)
            with Unchanged(callee, {f"weight '{p.name}'": constants[p.name] for p in params if p.is_const}):
                assert callable(body)
                return body(*args) if isinstance(body, RuntimeFunction) else body(twin, *args)

        run.__name__ = run.__qualname__ = name
        return run


class Child:
    """A child as an attribute of a twin: the class, taken from the class; the instance, taken from an instance."""

    def __init__(self, name: str, cls: object) -> None:
        self.name = name
        self.cls = cls

    def __get__(self, twin: Twin | None, owner: type) -> object:
        return self.cls if twin is None else twin._child(self.name)


class Twin(RuntimeModule):
    """Base of what ``@runtime_module`` generates; made by it alone.

    Its own names start with an underscore: all others are the Module's, for functions, children and methods.

    Args:
        ir: the Module that the instance stands for, of the same structure as the decorated one, which is the default.
    """

    _sem: ClassVar[Module]
    _author_init: ClassVar[Callable[[Twin], None] | None]

    def __init__(self, ir: Module | None = None) -> None:
        if "_module" in vars(self):  # the author's own __init__ calls super().__init__()
            return
        cls = type(self)
        self._module = module = cls._sem if ir is None else ir
        if module is not cls._sem:
            _require_same_structure(cls, module)
        children = [getattr(cls, m.name)(ir=m) for m in module.modules]
        super().__init__(module.name, module.entry, tuple(children))
        self._constants: Mapping[str, object] | None = None if module.weights else {}
        self._devices: Mapping[str, str] = {}
        if cls._author_init is not None:
            cls._author_init(self)

    @property
    def module(self) -> Module:
        """The Module that this is the twin of."""
        return self._module

    def _child(self, name: str) -> RuntimeModule:
        """The child of this name."""
        return next(c for m, c in zip(self._module.modules, self.modules, strict=True) if m.name == name)

    def _bound(self, callee: str) -> Mapping[str, object]:
        """The weights, by name.

        Raises:
            NotLoadedError: there are none yet.
        """
        if self._constants is None:
            raise NotLoadedError(f"{callee}: weights are not bound; call load(resource) first")
        return self._constants

    def _reached_devices(self, function: Function, args: tuple[object, ...] | None) -> dict[str, str]:
        """The devices of the weights of this node, and of those children that the semantic `function` reaches."""
        devices = dict(self._devices)
        for name in executor().reached(function, args):
            child = self._child(name)
            if isinstance(child, Twin):
                entry = child.module.entry_function()
                if isinstance(entry, Function):
                    devices |= child._reached_devices(entry, None)
        return devices

    def load(self, resource: WeightSource) -> None:
        """Reads the weights of the whole tree, checks all of them, and only then binds them.

        Raises:
            MissingNameError: weights are missing; a KeyError that lists all of them.
            WrongValueError: a weight differs from its declaration in shape or dtype.
        """
        reader = WeightReader()
        staged: list[tuple[Twin, dict[str, object]]] = []
        foreign: list[tuple[RuntimeModule, WeightSource]] = []
        self._stage(resource, "", reader, staged, foreign)
        reader.finish(resource)
        for child, source in foreign:
            child.load(source)
        for twin, constants in staged:
            twin._constants, twin._devices = constants, weight_devices(twin.module, constants)

    def _stage(
        self,
        resource: WeightSource,
        path: str,
        reader: WeightReader,
        staged: list[tuple[Twin, dict[str, object]]],
        foreign: list[tuple[RuntimeModule, WeightSource]],
    ) -> None:
        staged.append((self, reader.read(self._module, resource, path)))
        for module, child in zip(self._module.modules, self.modules, strict=True):
            source = resource.subtree(module.name)
            if isinstance(child, Twin) and type(child).load is Twin.load:
                child._stage(source, join_path(path, module.name), reader, staged, foreign)
            else:  # loads in its own way
                foreign.append((child, source))

    def forward(self, *acts: object, **keywords: object) -> object:
        """Runs the entry's kernel. (A ``forward`` of the class or of the Module takes the place of this one.)

        Raises:
            WrongTypeError: there is no entry, or its kernel does not take these arguments.
        """
        if self.entry is None:
            raise no_step(self._module)
        run: Callable[..., object] = getattr(self, self.entry)
        return run(*acts, **keywords)

    def __call__(self, *acts: object, **keywords: object) -> object:
        """Runs a step, and reports a kernel that wrote into what it was given.

        Raises:
            MutatedArgumentError: an activation was changed in place.
        """
        given = {f"activation {i}": act for i, act in enumerate(acts)}
        given |= {f"activation '{name}'": act for name, act in keywords.items()}
        with Unchanged(self.name, given):
            return self.forward(*acts, **keywords)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise LookupNameError(f"a twin has no attribute '{name}'")
        module = type(self)._sem
        raise LookupNameError(
            f"twin '{module.name}' has no kernel, child or method '{name}'",
            remedy=f"it has: {', '.join(module.member_names())}",
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._module.name!r})"


def _require_same_structure(cls: type[Twin], module: Module) -> None:
    if not isinstance(module, Module):
        raise WrongTypeError(f"{cls.__name__}(ir=...): expected a Module, got {type(module).__name__}")
    what, sem = f"{cls.__name__}(ir=module '{module.name}')", cls._sem
    same_names(what, "kernels", "functions", (f.name for f in sem.functions), (f.name for f in module.functions))
    same_names(what, "child classes", "children", (c.name for c in sem.modules), (c.name for c in module.modules))
    for ours, theirs in ((f, module.lookup(f.name)) for f in sem.functions):
        have, want = ([(p.name, p.is_const) for p in parameters_of(f)] for f in (ours, theirs))
        if have != want:
            raise WrongTypeError(
                f"{what}: function '{ours.name}' takes ({', '.join(n for n, _ in want)}), "
                f"the decorated Module's takes ({', '.join(n for n, _ in have)})"
            )
