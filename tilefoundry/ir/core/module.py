"""Module: a tree of functions with a target and topologies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from types import MappingProxyType, MethodType
from typing import Protocol, runtime_checkable

from tilefoundry.diagnostics import LookupNameError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.execution import executor
from tilefoundry.ir.core.expr import Unchanging
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.loaded import LoadedModule as LoadedModule
from tilefoundry.ir.core.loaded import hir_function, no_keywords, no_step, private_name, read_tree
from tilefoundry.ir.core.origin import origins
from tilefoundry.ir.core.type import Type
from tilefoundry.ir.core.weights import WeightSource
from tilefoundry.ir.shard.mesh import Topology
from tilefoundry.target import Target


@runtime_checkable
class Definition(Protocol):
    """What a Module holds as a function: a `Function`, or a TIR `PrimFunction`."""

    @property
    def name(self) -> str:
        """The name in the Module."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Module(Unchanging):
    """Functions, child modules, and the context that they run in. Compared by identity.

    Children are taken in as copies that know their owner, so that one authored Module may be a child of several. A
    Module never changes, so that ``copy.copy`` gives itself; ``copy.deepcopy`` is `cloned`, and a pickle holds all that
    it means, but no Python methods.

    Attributes:
        entry: the function that a call runs.
        target: only the root of a tree declares one.
        topologies: None inherits the owner's, ``()`` says "none", a tuple replaces the whole hierarchy.
        metadata: records for people and passes.
        methods: plain Python functions, bound to the Module (or its run-time twin) on access.

    Raises:
        WrongTypeError: a field has the wrong type.
        WrongValueError: names are not disjoint, a topology name repeats, or a child declares a target.
    """

    name: str
    functions: tuple[Definition, ...]
    entry: str | None = None
    modules: tuple[Module, ...] = ()
    target: Target | None = None
    topologies: tuple[Topology, ...] | None = None
    metadata: Mapping[str, object] = field(default_factory=dict, repr=False)
    methods: Mapping[str, Callable[..., object]] = field(default_factory=dict, repr=False)
    owner: Module | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise WrongTypeError(
                f"Module: name must be a non-empty string, got {self.name!r}", remedy='write e.g. "layer0"'
            )
        for part in ("functions", "modules"):
            if not isinstance(getattr(self, part), (tuple, list)):
                raise WrongTypeError(
                    f"module '{self.name}': {part} must be a tuple, got {getattr(self, part)!r}", remedy="give a tuple"
                )
        object.__setattr__(self, "functions", tuple(self.functions))
        if not all(isinstance(f, Definition) for f in self.functions):
            raise WrongTypeError(
                f"module '{self.name}': functions must be Functions or PrimFunctions, got {self.functions!r}",
                remedy="make them with @func or @prim_func",
            )
        object.__setattr__(
            self, "functions", tuple(f.sealed() if isinstance(f, Function) else f for f in self.functions)
        )
        if self.target is not None and not isinstance(self.target, Target):
            raise WrongTypeError(
                f"module '{self.name}': target must be a Target, got {self.target!r}",
                remedy='write an instance, such as CudaTarget("nvidia.h200_sxm") or CpuTarget()',
            )
        if self.topologies is not None:
            if not isinstance(self.topologies, tuple) or not all(isinstance(t, Topology) for t in self.topologies):
                raise WrongTypeError(
                    f"module '{self.name}': topologies must be a tuple of Topology, got {self.topologies!r}",
                    remedy='write (Topology("cta", 4), Topology("thread", 128))',
                )
            levels = [t.name for t in self.topologies]
            if len(set(levels)) != len(levels):
                raise WrongValueError(
                    f"module '{self.name}': duplicate topology name in {levels}", remedy="name each level once"
                )
        children: list[Module] = []
        for child in self.modules:
            if not isinstance(child, Module):
                raise WrongTypeError(
                    f"module '{self.name}': modules must be Modules, got {child!r}",
                    remedy="decorate the class with @module",
                )
            if child.target is not None:
                raise WrongValueError(
                    f"module '{self.name}': child '{child.name}' declares its own target",
                    remedy="declare the target on the root only",
                )
            children.append(replace(child, owner=self))
        object.__setattr__(self, "modules", tuple(children))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        object.__setattr__(self, "methods", MappingProxyType(dict(self.methods)))
        names = self.member_names()
        repeated = sorted({n for n in names if names.count(n) > 1})
        if repeated:
            raise WrongValueError(
                f"module '{self.name}': function, child and method names must be disjoint; {', '.join(repeated)} "
                "repeat",
                remedy="give each member a name of its own",
            )

    # -- context, through owners

    def resolve_target(self) -> Target:
        """The target that the root declares.

        Raises:
            WrongValueError: it declares none.
        """
        if self.target is not None:
            return self.target
        if self.owner is not None:
            return self.owner.resolve_target()
        raise WrongValueError(
            f"module '{self.name}' declares no target", remedy="give @module(target=...) or pass a target"
        )

    def declares_target(self) -> bool:
        """Whether `resolve_target` has an answer."""
        return self.target is not None or (self.owner is not None and self.owner.declares_target())

    def effective_topologies(self) -> tuple[Topology, ...]:
        """The levels in force here, outermost first; ``()`` when nobody declares any."""
        if self.topologies is not None:
            return self.topologies
        return self.owner.effective_topologies() if self.owner is not None else ()

    def resolve_topology(self, name: str) -> Topology:
        """The level of this name.

        Raises:
            WrongValueError: there is none.
        """
        levels = self.effective_topologies()
        for level in levels:
            if level.name == name:
                return level
        raise WrongValueError(
            f"topology '{name}' not declared by module '{self.name}'",
            remedy=f"available levels: {', '.join(t.name for t in levels) or 'none'}",
        )

    # -- members

    def member_names(self) -> list[str]:
        """The names of functions, children and methods, in this order."""
        return [f.name for f in self.functions] + [m.name for m in self.modules] + list(self.methods)

    def function_named(self, name: str) -> tuple[Definition, ...]:
        """The functions of this name: one or none."""
        return tuple(f for f in self.functions if f.name == name)

    def child_named(self, name: str) -> Module | None:
        """The child of this name, or None."""
        return next((m for m in self.modules if m.name == name), None)

    def lookup(self, name: str) -> Definition:
        """The function of this name.

        Raises:
            WrongValueError: there is none.
        """
        found = self.function_named(name)
        if len(found) != 1:
            raise WrongValueError(
                f"module '{self.name}' has no function '{name}'", remedy=f"it has: {self._function_names()}"
            )
        return found[0]

    def entry_function(self) -> Definition:
        """The entry.

        Raises:
            WrongValueError: the Module has no entry, or it names no function.
        """
        if self.entry is None:
            raise WrongValueError(
                f"module '{self.name}' has no entry",
                remedy=f"name one, or use lookup(name); functions: {self._function_names()}",
            )
        return self.lookup(self.entry)

    def owns(self, function: Definition, derived: bool = False) -> bool:
        """Whether `function` is one of these functions or their variants, by identity.

        Args:
            derived: also accept what was specialised from one of them, over any number of steps.
        """
        own = [p for f in self.functions for p in ((f, *f.variants) if isinstance(f, Function) else (f,))]
        chain = origins(function) if derived and isinstance(function, Function) else (function,)
        return any(o is f for o in chain for f in own)

    @property
    def weights(self) -> dict[str, Type]:
        """The ConstTensor parameters: name to type, in function order, then parameter order.

        Raises:
            WrongValueError: one name has two types.
        """
        found: dict[str, Type] = {}
        for function in self.functions:
            for param in function.params if isinstance(function, Function) else ():
                if param.is_const and found.setdefault(param.name, param.type) != param.type:
                    raise WrongValueError(
                        f"module '{self.name}': weight '{param.name}' is declared as {found[param.name]} "
                        f"and as {param.type}",
                        remedy="declare it with one type, or give the two weights different names",
                    )
        return found

    def renamed(self, name: str) -> Module:
        """The same Module under another name."""
        return replace(self, name=name)

    def cloned(self) -> Module:
        """A tree of new Modules and Functions of the same meaning, under the same owner.

        Target, topologies, expressions and kernels, which nothing changes, are shared.
        """
        functions = tuple(f.cloned() if isinstance(f, Function) else f for f in self.functions)
        return replace(self, functions=functions, modules=tuple(m.cloned() for m in self.modules))

    def __deepcopy__(self, memo: dict[int, object]) -> Module:
        return memo.setdefault(id(self), self.cloned())  # type: ignore[return-value]  # what stands there is ours

    def __reduce__(self) -> tuple[object, ...]:
        if self.methods:
            raise WrongTypeError(
                f"module '{self.name}' has Python methods ({', '.join(self.methods)}), which cannot be pickled",
                remedy="import the Python module that defines it where it is needed, or send as_script(module)",
            )
        children = tuple(replace(child, owner=None) for child in self.modules)  # the Module that takes them owns them
        fields = (self.name, self.functions, self.entry, children, self.target, self.topologies, dict(self.metadata))
        return type(self), (*fields, {}, self.owner)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.member_names()})

    # -- weights

    def load(self, resource: WeightSource) -> LoadedModule:
        """Reads the declared weights of this node and of all below it; the Module itself does not change.

        Args:
            resource: a `RuntimeResource`, or any object with `load`, `load_group` and `subtree`. A child's weights are
                asked of ``resource.subtree(child.name)``.

        Raises:
            MissingNameError: weights are missing; a KeyError that lists all of them.
            WrongValueError: a weight differs from its declaration in shape or dtype.
            WrongTypeError: the resource gave something that is no tensor.
        """
        return read_tree(self, resource)

    def prepare(
        self,
        raw: WeightSource,
        out_dir: str | PathLike[str],
        *,
        device: object = "cpu",
        overwrite: bool = False,
        max_shard_bytes: int | None = None,
    ) -> None:
        """Writes a checkpoint that holds exactly the declared weights of this node and of all below it.

        A weight with a converter is what the converter makes of the raw tensors that its parameters name; another is
        the raw tensor of its own name. A one-to-many name is stacked on a new first axis. Tensors are read and written
        one after the other: memory holds the inputs and the result of one weight. The directory appears under its
        name when it is complete; progress is shown on a terminal.

        Args:
            raw: a `RuntimeResource`, or any object with `load`, `load_group` and `subtree`.
            out_dir: the directory to make: safetensors shards and ``model.safetensors.index.json``, keys dotted by
                module path. `load` reads it through a `SafetensorsResource`.
            device: where converters run.
            overwrite: replace a directory that has content.
            max_shard_bytes: start another shard above this size; by default there is one.

        Raises:
            MissingNameError: a raw tensor is missing (a KeyError).
            WrongValueError: a value differs from its declaration in shape or dtype, two functions have a converter for
                one weight, or a weight has a dynamic extent.
            FileExistsError: `out_dir` has content.
        """
        executor().prepare(self, raw, out_dir, device=device, overwrite=overwrite, max_shard_bytes=max_shard_bytes)

    # -- running

    def __getattr__(self, name: str) -> object:
        if name in type(self).__slots__:  # a field: not filled yet
            raise LookupNameError(f"module has no attribute '{name}'")
        if name.startswith("_"):
            raise private_name(f"module '{self.name}'", name)
        for function in self.functions:
            if function.name == name:
                return _runner(self, function)
        child = self.child_named(name)
        if child is not None:
            return child
        if name in self.methods:
            return MethodType(self.methods[name], self)
        raise LookupNameError(
            f"module '{self.name}' has no function, child or method '{name}'",
            remedy=f"it has: {', '.join(self.member_names())}",
        )

    def forward(self, *args: object, **keywords: object) -> object:
        """Runs the method ``forward`` when there is one, else the entry, which takes no keywords.

        A function or child called ``forward`` does not change that: `tilefoundry.module` takes one as the entry only,
        and in a Module that `select` has given another entry, `lookup` still finds it.

        Raises:
            WrongTypeError: there is neither, or the entry does not take these arguments.
        """
        if "forward" in self.methods:
            return self.methods["forward"](self, *args, **keywords)
        if self.entry is None:
            raise no_step(self)
        return _runner(self, self.entry_function())(*args, **keywords)

    def __call__(self, *args: object, **keywords: object) -> object:
        return self.forward(*args, **keywords)

    def _function_names(self) -> str:
        return ", ".join(f.name for f in self.functions) or "none"


# What a member cannot be called: the Module's own attribute would hide it. `forward` runs the member of that name.
TAKEN_NAMES = frozenset(name for name in dir(Module) if not name.startswith("_")) - {"forward"}


def check_member_name(name: str) -> None:
    """Refuses a member that could not be reached by its name.

    Raises:
        WrongValueError: a Module has an attribute of that name.
    """
    if name in TAKEN_NAMES:
        raise WrongValueError(
            f"a member cannot be called '{name}': every Module has an attribute of that name, which hides it",
            remedy=f"use another name than {', '.join(sorted(TAKEN_NAMES))}",
        )


def _runner(module: Module, definition: Definition) -> Callable[..., object]:
    """A callable that runs a function on one argument for each declared parameter."""
    function = hir_function(module, definition)
    callee = f"{module.name}.{function.name}"

    def run(*args: object, **keywords: object) -> object:
        no_keywords(callee, keywords)
        if len(args) != len(function.params):
            names = ", ".join(p.name for p in function.params)
            raise WrongTypeError(
                f"{callee} takes every declared parameter ({names}), got {len(args)} argument(s)",
                remedy="to supply weights from a checkpoint, call load(resource) first" if module.weights else None,
            )
        return executor().run(module, function, args)

    run.__name__ = run.__qualname__ = function.name
    return run
