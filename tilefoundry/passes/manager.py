"""PassManager: an ordered list of passes whose requirements are met, and that verifies after each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence, Set

from tilefoundry.diagnostics import SourceSpan, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, find_metadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.unfinished import check_finished
from tilefoundry.ir.dims import dim_equal
from tilefoundry.ir.shard import Layout, Mesh, ShardLayout
from tilefoundry.ir.tir import Binding, PrimFunction, items_within, unfold
from tilefoundry.ir.types import TensorType
from tilefoundry.ir.verify import meshes_named, verify_module, verify_prim_function
from tilefoundry.passes.base import HIR, TIR, Pass, every_thread, form_of, placement_of
from tilefoundry.passes.chain import called_kernels
from tilefoundry.passes.observer import observer
from tilefoundry.target import Target, default_target


class PassManager:
    """Passes in the order in which they run. `add` and the like return the manager, so that calls can be chained.

    Args:
        given: the facts that hold of the Modules that it is for, see `tilefoundry.passes.base`.

    Raises:
        WrongTypeError: `given` is no collection of words.
        WrongValueError: it has neither or both of "hir" and "tir".
    """

    def __init__(self, given: Iterable[str] = (HIR,)) -> None:
        self.given = _words("PassManager", "given", given)
        if len(self.given & {HIR, TIR}) != 1:
            raise WrongValueError(
                f"PassManager: given must have one of '{HIR}' and '{TIR}', got {_listed(self.given)}",
                remedy=f"write PassManager(given=('{TIR}',)) for Modules of TIR",
            )
        self._passes: tuple[Pass, ...] = ()

    @property
    def passes(self) -> tuple[Pass, ...]:
        """The passes, in order."""
        return self._passes

    @property
    def facts(self) -> frozenset[str]:
        """What holds of a Module that has been through all of them."""
        return _facts_after(self.given, self._passes)

    def __len__(self) -> int:
        return len(self._passes)

    def __iter__(self) -> Iterator[Pass]:
        return iter(self._passes)

    def __str__(self) -> str:
        """One line for each pass: its name, what it requires, what it establishes and invalidates."""
        lines = [f"given: {_listed(self.given)}"]
        for number, step in enumerate(self._passes, 1):
            parts = [f"{number} {step.name}", f"requires {_listed(step.requires)}"]
            parts += [f"establishes {_listed(step.establishes)}"] if step.establishes else []
            parts += [f"invalidates {_listed(step.invalidates)}"] if step.invalidates else []
            lines.append("; ".join(parts))
        return "\n".join(lines)

    def add(self, step: Pass, *, before: str | None = None, after: str | None = None) -> PassManager:
        """Adds a pass: at the end, or before or after the one of a name.

        Raises:
            WrongTypeError: it is no Pass, or its facts are no collections of words.
            WrongValueError: a pass of its name is there; it, or one after it, requires what nothing establishes before;
                both `before` and `after` are given, or name no pass.
        """
        if before is not None and after is not None:
            raise WrongValueError("PassManager.add: both before and after are given", remedy="give one of them")
        _check_pass(step)
        at = len(self._passes)
        if before is not None:
            at = self._index("before", before)
        elif after is not None:
            at = self._index("after", after) + 1
        return self._set("add", (*self._passes[:at], step, *self._passes[at:]))

    def replace(self, name: str, step: Pass) -> PassManager:
        """Puts a pass in the place of the one of a name.

        Raises:
            As `add`.
        """
        _check_pass(step)
        at = self._index("replace", name)
        return self._set("replace", (*self._passes[:at], step, *self._passes[at + 1 :]))

    def remove(self, name: str) -> PassManager:
        """Takes a pass out.

        Raises:
            WrongValueError: there is none of this name, or a later one requires what it establishes.
        """
        at = self._index("remove", name)
        return self._set("remove", (*self._passes[:at], *self._passes[at + 1 :]))

    def run(self, module: Module, target: Target | None = None) -> Module:
        """The Module after all passes. It is verified before the first and after each.

        Args:
            target: what to compile for; the Module's own target when left out.

        Raises:
            WrongTypeError: not a Module, or a pass returned none.
            WrongValueError: the Module is not of the form that this manager is for.
            VerifyError: the Module, or what a pass made of it, is not well formed.
            CompileError: what a pass raises.
        """
        check_finished(module)
        if not isinstance(module, Module):
            raise WrongTypeError(
                f"PassManager.run: expected a Module, got {type(module).__name__}",
                remedy="see tilefoundry.normalize_to_module",
            )
        verify_module(module)
        form = form_of(module)
        if form not in self.given:
            raise WrongValueError(
                f"PassManager.run: module '{module.name}' is {form}, and these passes are given {_listed(self.given)}",
                remedy=f"build the manager with PassManager(given=('{form}',))",
            )
        target = target or placement_of(module, default_target())
        onlooker = observer()
        if onlooker is not None:
            onlooker.started(module)
        meshes = _meshes(module, ())
        entry = module.entry_function() if module.entry is not None else None
        written = entry.span if isinstance(entry, (Function, PrimFunction)) else None
        for step in self._passes:
            started = time.perf_counter()
            try:
                module = _run(step, module, target, meshes, written)
            except Exception as error:
                if onlooker is not None:
                    onlooker.failed(step.name, error)
                raise
            meshes = _meshes(module, meshes)
            if onlooker is not None:
                onlooker.passed(step.name, module, time.perf_counter() - started)
        return module

    def _index(self, argument: str, name: str) -> int:
        names = [step.name for step in self._passes]
        if name not in names:
            raise WrongValueError(
                f"PassManager: {argument} names no pass: {name!r}", remedy=f"use one of {', '.join(names) or 'none'}"
            )
        return names.index(name)

    def _set(self, caller: str, passes: tuple[Pass, ...]) -> PassManager:
        """Takes the list if every requirement is met."""
        names = [step.name for step in passes]
        for number, step in enumerate(passes):
            if step.name in names[:number]:
                raise WrongValueError(
                    f"PassManager.{caller}: there are two passes '{step.name}'", remedy="give each a name of its own"
                )
            facts = _facts_after(self.given, passes[:number])
            missing = step.requires - facts
            if missing:
                fact = min(missing)
                culprit = next((p.name for p in reversed(passes[:number]) if fact in p.invalidates), None)
                raise WrongValueError(
                    f"PassManager.{caller}: pass '{step.name}' requires '{fact}', which "
                    + (f"'{culprit}' invalidates" if culprit else "nothing before it establishes")
                    + f"; before it hold: {_listed(facts)}",
                    remedy=f"add a pass that establishes '{fact}' before '{step.name}'",
                )
        self._passes = passes
        return self


def _run(step: Pass, module: Module, target: Target, meshes: Sequence[Mesh], written: SourceSpan | None) -> Module:
    made: object = step.run(module, target)
    if not isinstance(made, Module):
        raise WrongTypeError(
            f"pass '{step.name}' returned {type(made).__name__}, expected a Module",
            remedy="return the Module that it was given when there is nothing to change",
        )
    if made is not module:
        try:
            _verify(made, meshes)
        except VerifyError as error:
            own = type(step).__module__.partition(".")[0] == __name__.partition(".")[0]
            message = (
                f"what pass '{step.name}' made is not well formed: {error.message}; this is a defect of "
                f"{'TileFoundry' if own else 'the pass'}, not of the program"
            )
            remedy = "report it to TileFoundry, with the program" if own else error.remedy
            raise type(error)(message, span=error.span or written, remedy=remedy) from error
    form = next((f for f in (HIR, TIR) if f in step.establishes), None)
    if form is not None and form_of(made) != form:
        raise VerifyError(
            f"pass '{step.name}' says that it establishes '{form}', and made {form_of(made)}",
            remedy="correct what the pass lists in `establishes`, or what it makes",
        )
    return made


def _verify(module: Module, meshes: Sequence[Mesh]) -> None:
    placed_on = [_placed_on(fn) or tuple(meshes) for fn in module.functions]
    if form_of(module) == HIR or not any(placed_on):
        verify_module(module)
        return
    for fn, own in zip(module.functions, placed_on, strict=True):  # which stand on the meshes of functions of HIR
        if not isinstance(fn, PrimFunction):
            raise VerifyError(
                f"'{fn.name}' is a function of HIR in a Module of kernels", remedy="lower it, or leave it out"
            )
        verify_prim_function(fn, module, [*own, *_of_same_units(fn, own)])


def _placed_on(fn: object) -> tuple[Mesh, ...]:
    """The meshes that the function of HIR was placed on of which a kernel was made."""
    record = find_metadata(fn.metadata, ExecutionDomainMetadata) if isinstance(fn, PrimFunction) else None
    return record.scopes if record is not None else ()


def _of_same_units(fn: PrimFunction, meshes: Sequence[Mesh]) -> Iterator[Mesh]:
    """Meshes of a kernel that give other coordinates to all units of a level that one of `meshes` is of as well."""
    levels = {mesh.topologies for mesh in meshes if len(mesh.topologies) == 1}
    for item in items_within(unfold(fn.body)):
        type_ = item.var.type if isinstance(item, Binding) else None
        layout = type_.layout if isinstance(type_, TensorType) else None
        if isinstance(layout, ShardLayout) and layout.mesh.topologies in levels:
            (level,) = layout.mesh.topologies
            if isinstance(layout.mesh.layout, Layout) and dim_equal(layout.mesh.size, level.size):
                yield layout.mesh


def _meshes(module: Module, before: Sequence[Mesh]) -> Sequence[Mesh]:
    """The meshes of the last functions of HIR that the entry was: its variants, and the kernels that it calls."""
    entry = module.entry_function() if module.entry is not None else None
    if not isinstance(entry, Function):
        return before
    functions = (entry, *entry.variants, *called_kernels(entry))
    return [every_thread(module), *(mesh for fn in functions for mesh in meshes_named(fn))]


def _facts_after(given: frozenset[str], passes: Sequence[Pass]) -> frozenset[str]:
    facts = given
    for step in passes:
        facts = facts - step.invalidates | step.establishes
    return facts


def _check_pass(step: object) -> None:
    if not isinstance(step, Pass):
        raise WrongTypeError(
            f"PassManager: expected a Pass, got {step!r}",
            remedy="derive from tilefoundry.passes.Pass, and pass a value",
        )
    name: object = getattr(step, "name", None)  # a class that derives may have forgotten it
    if not isinstance(name, str) or not name:
        raise WrongTypeError(
            f"pass {type(step).__name__}: name must be a word, got {name!r}", remedy='write e.g. name = "fuse-loops"'
        )
    for part in ("requires", "establishes", "invalidates"):
        _words(f"pass '{name}'", part, getattr(step, part))


def _words(where: str, part: str, value: object) -> frozenset[str]:
    if not isinstance(value, (Set, tuple, list)) or not all(isinstance(word, str) and word for word in value):
        raise WrongTypeError(
            f"{where}: {part} must be a set of words, got {value!r}",
            remedy=f"write e.g. {part} = frozenset({{'{TIR}'}})",
        )
    return frozenset(value)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "nothing"
