"""What entry points accept: a program, and a target for it."""

from __future__ import annotations

from types import FunctionType

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.driver.named import told
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.tir import PrimFunction
from tilefoundry.ir.tir.module import module_of
from tilefoundry.target import CpuTarget, CudaTarget, Target, default_target, target_names


def normalize_to_module(fn_or_mod: Function | PrimFunction | Module) -> Module:
    """A Module as it is; a bare Function or kernel as the entry of a Module of its name.

    Raises:
        WrongTypeError: it is neither.
    """
    if isinstance(fn_or_mod, Module):
        return fn_or_mod
    if isinstance(fn_or_mod, PrimFunction):
        return module_of(fn_or_mod)
    if isinstance(fn_or_mod, Function):
        return Module(fn_or_mod.name, (fn_or_mod,), fn_or_mod.name)
    check_finished(fn_or_mod)
    what = f"the Python function '{fn_or_mod.__name__}'" if isinstance(fn_or_mod, FunctionType) else repr(fn_or_mod)
    raise WrongTypeError(f"expected Function or Module, got {what}", remedy="decorate a function with @func first")


def require_module(value: object, caller: str) -> Module:
    """`value`, if it is a Module.

    Raises:
        WrongTypeError: it is not.
    """
    check_finished(value)
    if not isinstance(value, Module):
        raise WrongTypeError(f"{caller}: expected a Module, got {told(value)}", remedy="see normalize_to_module")
    return value


def check_target(target: str | Target | None) -> str | Target | None:
    """`target` as it is.

    Raises:
        WrongTypeError: `target` is neither a string nor a Target.
        WrongValueError: no target has this name.
    """
    if target is not None and not isinstance(target, (str, Target)):
        raise WrongTypeError(f"target: expected a string or a Target, got {target!r}")
    if isinstance(target, str) and target not in target_names():
        remedy = f"use one of {', '.join(target_names())}, or a Target"
        raise WrongValueError(f"unknown target {target!r}", remedy=remedy)
    return target


def resolve_target(module: Module, target: str | Target | None) -> Target:
    """What to compile `module` for.

    None and "cuda" leave the choice to the Module where it declares a target. "cpu" compiles a Module that is placed
    for CUDA over the CPU runtime, with the same placement, for the default instruction set of this family of CPUs.

    Raises:
        As `check_target`; WrongValueError: the Module declares another target.
    """
    check_target(target)
    declared = module.resolve_target() if module.declares_target() else None
    if target is None or target == "cuda":
        return declared if declared is not None else default_target()
    if target == "cpu":
        return declared if isinstance(declared, CpuTarget) else CpuTarget.default()
    assert isinstance(target, Target)
    if declared is None or declared == target or (isinstance(declared, CudaTarget) and isinstance(target, CpuTarget)):
        return target
    raise WrongValueError(
        f"module '{module.name}' declares the target '{declared.canonical_text()}', "
        f"but '{target.canonical_text()}' was asked for",
        remedy="leave target out, or declare the Module for that target",
    )


def target_text(module: Module, target: Target) -> str:
    """The target's part of a key: what is compiled for, and what the program is placed for when that differs."""
    declared = module.resolve_target() if module.declares_target() else None
    text = target.canonical_text()
    return text if declared is None or declared == target else f"{text} placed for {declared.canonical_text()}"
