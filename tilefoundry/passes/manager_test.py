"""Pipelines whose requirements are met, verified after each pass."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from tilefoundry.diagnostics import CompileError, TileFoundryError, VerifyError, WrongTypeError, WrongValueError
from tilefoundry.dsl import Tensor
from tilefoundry.ir.core.expr import Var
from tilefoundry.ir.core.metadata import SourceSpanMetadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import INDEX_TYPE
from tilefoundry.ir.samples import attention
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.tir import AllocTensor, Evaluate, Item, MemorySpan, PipeCommit, Pipeline, Sync, items_within, unfold
from tilefoundry.ir.tir.module import module_of
from tilefoundry.ir.types import StorageKind
from tilefoundry.passes import KernelPass, Pass, PassManager, default_passes, lower
from tilefoundry.passes.assign_target import AssignTarget
from tilefoundry.passes.base import CALL_FREE, CHILD_FREE, HIR, PIPELINED, PLANNED, SYNCHRONISED, TIR
from tilefoundry.passes.inline_functions import InlineFunctions
from tilefoundry.passes.lower_to_tir import LowerToTir
from tilefoundry.passes.memory import PlanMemory
from tilefoundry.passes.observer import observing
from tilefoundry.passes.pipeline import PipelineLoads
from tilefoundry.passes.sync import InsertBarriers
from tilefoundry.python import prim_func
from tilefoundry.target import CpuTarget, CudaTarget

CUDA = CudaTarget("nvidia.h200_sxm")
OURS = ["inline-children", "inline-functions", "place", "lower-to-tir"]
OURS += ["pipeline-loads", "insert-barriers", "plan-memory", "assign-target"]


@prim_func
def plain(x: Tensor[(4,), "f32"], out: Tensor[(4,), "f32"]):
    pass


@dataclass(frozen=True)
class Recording(Pass):
    """Changes nothing and writes down what it saw."""

    seen: list[Module]
    name: ClassVar[str] = "record"

    def run(self, module, target):
        self.seen.append(module)
        return module


@dataclass(frozen=True)
class Disturbing(Recording):
    name: ClassVar[str] = "disturb"
    requires: ClassVar[frozenset[str]] = frozenset({TIR})
    invalidates: ClassVar[frozenset[str]] = frozenset({SYNCHRONISED})


@dataclass(frozen=True)
class Returning(Pass):
    """Returns what a test wants."""

    made: object
    name: ClassVar[str] = "return"
    requires: ClassVar[frozenset[str]] = frozenset()
    establishes: ClassVar[frozenset[str]] = frozenset()

    def run(self, module, target):
        return self.made


def names(manager: PassManager) -> list[str]:
    return [step.name for step in manager]


def items(module: Module) -> list[Item]:
    (kernel,) = module.functions
    return list(items_within(unfold(kernel.body)))


def allocated(module: Module) -> list[object]:
    return [i.value.target for i in items(module) if hasattr(i, "value") and hasattr(i.value, "target")]


def is_shared(op: object) -> bool:
    return isinstance(op, AllocTensor) and op.tensor_type.storage is StorageKind.SMEM


def test_our_own_pipeline_is_one_of_these() -> None:
    manager = default_passes()
    assert names(manager) == OURS and len(manager) == 8
    assert manager.facts == {TIR, CHILD_FREE, CALL_FREE, PIPELINED, SYNCHRONISED, PLANNED}
    assert names(default_passes("tir")) == [
        "select-kernels",
        "expand-kernels",
        "check-compilable",
        "plan-memory",
        "assign-target",
    ]
    ran = manager.run(attention(), CUDA)
    assert canonical_module_text(ran) == canonical_module_text(lower(attention(), CUDA))


def test_each_pass_leaves_what_it_says() -> None:
    seen: list[Module] = []
    forms = {}
    for name in OURS:
        default_passes().add(Recording(seen), after=name).run(attention(), CpuTarget())
        forms[name] = seen.pop()
    lowered = items(forms["lower-to-tir"])
    pipelined = items(forms["pipeline-loads"])

    def effects(block, op):
        return sum(isinstance(i, Evaluate) and isinstance(i.callable, op) for i in block)

    assert effects(lowered, PipeCommit) == 0 < effects(pipelined, PipeCommit)
    assert any(isinstance(t, Pipeline) and t.stages == 2 for t in allocated(forms["pipeline-loads"]))
    assert effects(pipelined, Sync) <= effects(items(forms["insert-barriers"]), Sync)
    shared = [t for t in allocated(forms["insert-barriers"]) if is_shared(t)]
    assert shared and not any(isinstance(t, MemorySpan) for t in allocated(forms["insert-barriers"]))
    planned = allocated(forms["plan-memory"])
    assert not [t for t in planned if is_shared(t)]
    assert any(isinstance(t, MemorySpan) for t in planned)
    assert forms["plan-memory"].resolve_target() == attention().resolve_target()
    assert forms["assign-target"].resolve_target() == CpuTarget()


def test_the_list_can_be_read() -> None:
    text = str(default_passes())
    assert text.splitlines()[0] == "given: hir"
    assert text.splitlines()[4] == ("4 lower-to-tir; requires call-free, hir; establishes tiles, tir; invalidates hir")


def test_a_pass_of_the_users_own_takes_part() -> None:
    @dataclass(frozen=True)
    class Deeper(KernelPass):
        """Counts the kernels that it is given."""

        kernels: list[str]
        name: ClassVar[str] = "count"
        requires: ClassVar[frozenset[str]] = frozenset({TIR})
        establishes: ClassVar[frozenset[str]] = frozenset({"counted"})

        def run_kernel(self, kernel, module, target):
            self.kernels.append(kernel.name)
            return kernel

    seen: list[str] = []
    manager = default_passes().add(Deeper(seen), after="lower-to-tir")
    assert "counted" in manager.facts
    assert canonical_module_text(manager.run(attention(), CUDA)) == canonical_module_text(lower(attention(), CUDA))
    assert seen == ["attention"]


def test_replace_and_remove() -> None:
    manager = default_passes().replace("pipeline-loads", PipelineLoads(3))
    assert names(manager) == OURS
    stages = [t.stages for t in allocated(manager.run(attention(), CUDA)) if isinstance(t, Pipeline)]
    assert max(stages) == 3
    assert canonical_module_text(lower(attention(), CUDA, stages=3)) == canonical_module_text(
        manager.run(attention(), CUDA)
    )
    assert names(default_passes().remove("assign-target")) == OURS[:-1]


def test_a_depth_that_was_asked_for_is_exact() -> None:
    for stages in (1, 2, 3, 4):
        made = [t.stages for t in allocated(lower(attention(), CUDA, stages=stages)) if isinstance(t, Pipeline)]
        assert max(made, default=1) == stages
    with pytest.raises(CompileError, match=r"take \d+ bytes of shared memory, and a CTA of .* has 232448") as refused:
        lower(attention(), CUDA, stages=64)
    assert "fewer stages" in (refused.value.remedy or "")


def test_without_a_depth_the_deepest_that_fits_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def depth() -> int:
        return max((t.stages for t in allocated(lower(attention())) if isinstance(t, Pipeline)), default=1)

    (two,) = [t.bytes for t in allocated(lower(attention())) if isinstance(t, MemorySpan)]
    assert depth() == 2
    monkeypatch.setattr(CudaTarget, "shared_bytes_per_cta", two - 1)
    assert depth() == 1
    monkeypatch.setattr(CudaTarget, "shared_bytes_per_cta", 1024)
    with pytest.raises(CompileError, match="has 1024"):
        depth()


REFUSED = [
    (lambda: PassManager().add(PipelineLoads()), "pass 'pipeline-loads' requires 'call-free', which nothing before it"),
    (lambda: PassManager().add(LowerToTir()), "requires 'call-free', which nothing before it establishes; before it"),
    (
        lambda: PassManager({HIR, CHILD_FREE}).add(InlineFunctions()).add(LowerToTir()).add(InsertBarriers()),
        "'insert-barriers' requires 'pipelined', which nothing before it establishes; before it hold: call-free, child",
    ),
    (
        lambda: PassManager({HIR, CHILD_FREE}).add(InlineFunctions()).add(LowerToTir()).add(LowerToTir()),
        "there are two passes 'lower-to-tir'",
    ),
    (
        lambda: default_passes().add(Disturbing([]), after="insert-barriers"),
        "pass 'plan-memory' requires 'synchronised', which 'disturb' invalidates",
    ),
    (lambda: default_passes().remove("insert-barriers"), "PassManager.remove: pass 'plan-memory' requires"),
    (lambda: default_passes().add(Recording([]), after="nothing"), "after names no pass: 'nothing'"),
    (lambda: default_passes().add(Recording([]), before="a", after="b"), "both before and after"),
    (lambda: default_passes().replace("nothing", Recording([])), "replace names no pass"),
    (lambda: default_passes("mlir"), "form is 'mlir', expected 'hir' or 'tir'"),
    (lambda: default_passes(stages=0), "stages is 0, expected 1 or more"),
    (lambda: PassManager(()), "given must have one of 'hir' and 'tir', got nothing"),
    (lambda: PassManager((HIR, TIR)), "given must have one of"),
    (lambda: default_passes("tir").run(attention()), "module 'Attention' is hir, and these passes are given"),
]


@pytest.mark.parametrize(("build", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_cannot_run_is_refused_when_it_is_added(build, words: str) -> None:
    with pytest.raises(WrongValueError) as refused:
        build()
    assert words in str(refused.value)


def test_a_refused_change_changes_nothing() -> None:
    manager = default_passes()
    with pytest.raises(WrongValueError):
        manager.add(Disturbing([]), before="plan-memory")
    assert names(manager) == OURS
    assert isinstance(manager.passes, tuple)


def test_a_pass_that_moves_statements_asks_for_barriers_again() -> None:
    @dataclass(frozen=True)
    class Again(InsertBarriers):
        name: ClassVar[str] = "insert-barriers-again"

    manager = default_passes()
    manager.remove("assign-target").remove("plan-memory").add(Disturbing([])).add(Again())
    assert names(manager.add(PlanMemory()).add(AssignTarget()))[-3:] == ["insert-barriers-again", *OURS[-2:]]
    assert canonical_module_text(manager.run(attention(), CUDA)) == canonical_module_text(lower(attention(), CUDA))


class Nameless(Recording):
    name = ""  # type: ignore[misc]


class Word(Recording):
    requires = TIR  # type: ignore[assignment,misc]


MISTAKEN = [
    (lambda: PassManager().add(PipelineLoads), "expected a Pass, got <class"),
    (lambda: PassManager().add(lambda module, target: module), "expected a Pass"),
    (lambda: PassManager().add(Nameless([])), "pass Nameless: name must be a word"),
    (lambda: PassManager().add(Word([])), "pass 'record': requires must be a set of words, got 'tir'"),
    (lambda: PassManager(HIR), "PassManager: given must be a set of words, got 'hir'"),
    (lambda: PassManager().run(attention), "PassManager.run: expected a Module, got function"),
    (lambda: PassManager().add(Returning(None)).run(attention()), "pass 'return' returned NoneType, expected a Module"),
]


@pytest.mark.parametrize(("build", "words"), MISTAKEN, ids=[words for _, words in MISTAKEN])
def test_what_is_no_pass_is_refused(build, words: str) -> None:
    with pytest.raises(WrongTypeError) as refused:
        build()
    assert words in str(refused.value) and isinstance(refused.value, TypeError)


def test_what_a_pass_breaks_is_found_after_it() -> None:
    @dataclass(frozen=True)
    class Breaking(KernelPass):
        name: ClassVar[str] = "break"
        requires: ClassVar[frozenset[str]] = frozenset({TIR})

        def run_kernel(self, kernel, module, target):
            return replace(kernel, body=Evaluate(PipeCommit(), (Var("nobody", INDEX_TYPE),)))

    Breaking.__module__ = "tilefoundry.passes.break"
    place = SourceSpanMetadata("kernel.py", 3, 1, 4, 5)
    program = attention()
    program = replace(program, functions=(replace(program.entry_function(), metadata=(place,)),))
    with pytest.raises(VerifyError, match="what pass 'break' made is not well formed: .*nobody") as found:
        default_passes().add(Breaking(), after="insert-barriers").run(program, CUDA)
    assert "this is a defect of TileFoundry, not of the program" in str(found.value)
    assert found.value.span == place.span and "report it" in str(found.value.remedy)
    Breaking.__module__ = "another"
    with pytest.raises(VerifyError, match="this is a defect of the pass, not of the program") as found:
        default_passes().add(Breaking(), after="insert-barriers").run(program, CUDA)
    assert "report it" not in str(found.value.remedy)


def test_kernels_and_functions_do_not_mix() -> None:
    @dataclass(frozen=True)
    class Mixing(Pass):
        name: ClassVar[str] = "mix"
        requires: ClassVar[frozenset[str]] = frozenset({TIR})

        def run(self, module, target):
            other = replace(attention().entry_function(), name="other")
            return replace(module, functions=(*module.functions, other))

    with pytest.raises(VerifyError, match="what pass 'mix' made is not well formed: 'other' is a function of HIR"):
        default_passes().add(Mixing(), after="lower-to-tir").run(attention(), CUDA)


def test_a_pass_must_make_the_form_that_it_says() -> None:
    class Lying(Returning):
        requires = frozenset({HIR})
        establishes = frozenset({TIR})

    with pytest.raises(VerifyError, match="pass 'return' says that it establishes 'tir', and made hir"):
        PassManager().add(Lying(attention())).run(attention())


class Onlooker:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def started(self, module):
        self.seen.append(f"start {module.name}")

    def passed(self, name, module, seconds):
        assert seconds >= 0 and isinstance(module, Module)
        self.seen.append(name)

    def failed(self, name, error):
        assert isinstance(error, TileFoundryError)
        self.seen.append(f"{name} failed")


def test_an_onlooker_sees_every_form() -> None:
    onlooker = Onlooker()
    with observing(onlooker):
        lower(attention(), CUDA)
        with pytest.raises(CompileError):
            lower(attention(), CUDA, stages=64)
    lower(attention(), CUDA)
    assert onlooker.seen == ["start Attention", *OURS, "start Attention", *OURS[:6], "plan-memory failed"]


def test_programs_in_tir_have_passes_too() -> None:
    lowered = default_passes("tir").run(module_of(plain), CpuTarget())
    assert [fn.name for fn in lowered.functions] == ["plain"] and lowered.resolve_target() == CpuTarget()
