"""What a twin class must hold to be the twin of a Module."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from tilefoundry.diagnostics import WrongTypeError
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.module import Definition, Module
from tilefoundry.runtime.function import RuntimeFunction
from tilefoundry.runtime.module import RuntimeModule

# The attribute that marks a method as a kernel.
KERNEL_MARK = "__tilefoundry_kernel__"
# What a twin itself answers to; a member of the Module of this name would shadow it.
_RESERVED = ("module", "name", "entry", "modules", "load")


def class_members(cls: type) -> dict[str, object]:
    """What a class and its bases define, up to `object` and `RuntimeModule`."""
    members: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        if base not in (object, RuntimeModule):
            members.update(vars(base))
    return members


def parameters_of(definition: Definition) -> tuple[Var, ...]:
    """The declared parameters of a function or of a kernel in TIR."""
    params: tuple[Var, ...] = getattr(definition, "params", ())
    return params


def check_twin(cls: type, module: Module) -> None:
    """Refuses a class that does not match a Module one to one.

    Raises:
        WrongTypeError: with what was expected and what is there.
    """
    what, members = f"@runtime_module '{cls.__name__}' of module '{module.name}'", class_members(cls)
    _check_names(what, members, module)
    kernels = {n: m for n, m in members.items() if isinstance(m, RuntimeFunction) or hasattr(m, KERNEL_MARK)}
    children = {n: m for n, m in members.items() if isinstance(m, type) and issubclass(m, RuntimeModule)}
    for name, member in members.items():
        if isinstance(member, RuntimeModule):
            raise WrongTypeError(
                f"{what}: child '{name}' is an instance of {type(member).__name__}, expected the class itself",
                remedy=f"write {name} = {type(member).__name__}; each instance of the twin builds its own",
            )
    same_names(what, "kernels (@runtime_func)", "functions", kernels, (f.name for f in module.functions))
    same_names(what, "child classes", "children", children, (m.name for m in module.modules))
    for function in module.functions:
        _check_parameters(what, function, kernels[function.name])
    for name, child in children.items():
        _check_constructor(what, name, child)


def same_names(what: str, ours: str, theirs: str, have: Iterable[str], want: Iterable[str]) -> None:
    """Refuses two sets of names that differ, naming both."""
    found, wanted = set(have), set(want)
    if found != wanted:
        faults = [("missing", wanted - found), ("extra", found - wanted)]
        raise WrongTypeError(
            f"{what}: its {ours} are {_listed(found)}, the Module's {theirs} are {_listed(wanted)}; "
            + "; ".join(f"{kind}: {', '.join(sorted(names))}" for kind, names in faults if names),
            remedy="write one for each, under its name",
        )


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _check_names(what: str, members: dict[str, object], module: Module) -> None:
    reserved = [n for n in module.member_names() if n in _RESERVED]
    if reserved:
        raise WrongTypeError(
            f"{what}: the Module declares '{reserved[0]}', which is reserved on a twin", remedy="rename it"
        )
    if "module" in members:
        raise WrongTypeError(f"{what}: the class writes 'module', which names the Module it stands for")
    rewritten = [n for n in module.methods if n in members and n != "forward"]
    if rewritten:
        raise WrongTypeError(
            f"{what}: the class writes '{rewritten[0]}', a method that the twin takes from the Module as it is",
            remedy="give the helper another name",
        )


def _check_parameters(what: str, function: Definition, kernel: object) -> None:
    wanted = [p.name for p in parameters_of(function)]
    if isinstance(kernel, RuntimeFunction):
        found = [p.name for p in kernel.type.input_params]
        shown = f"({', '.join(found)})"
    else:
        own = list(inspect.signature(kernel).parameters.values())[1:]  # type: ignore[arg-type]
        # A parameter that takes no position stands for no parameter of the function.
        found = [
            p.name if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) else f"{p.kind.description} {p}"
            for p in own
        ]
        shown = str(inspect.Signature([p.replace(annotation=p.empty, default=p.empty) for p in own]))
    if found != wanted:
        raise WrongTypeError(
            f"{what}: kernel '{function.name}' takes {shown}, the function takes ({', '.join(wanted)})",
            remedy="take the same parameters in the same order, weights included",
        )


def _check_constructor(what: str, name: str, child: type) -> None:
    params = inspect.signature(child).parameters.values()
    if not any(p.kind is p.VAR_KEYWORD or (p.name == "ir" and p.kind is not p.POSITIONAL_ONLY) for p in params):
        raise WrongTypeError(
            f"{what}: child class '{name}' ({child.__name__}) does not take ir=",
            remedy="accept the child's Module as the keyword argument ir; a @runtime_module class does",
        )
