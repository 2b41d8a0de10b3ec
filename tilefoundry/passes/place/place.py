"""The pass that places a program which names no mesh, and no storage but global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import ExecutionDomainMetadata, binding_name, get_metadata
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.op import Op
from tilefoundry.ir.core.type import TupleType
from tilefoundry.ir.dims import DimVar
from tilefoundry.ir.hir import GridRegionExpr, Reshape, Reshard, TupleGetItem
from tilefoundry.ir.rewrite import Rewriter
from tilefoundry.ir.shard import Topology
from tilefoundry.ir.traverse import post_order
from tilefoundry.ir.types import StorageKind, TensorType
from tilefoundry.ir.types.dim_vars import type_dim_vars
from tilefoundry.passes.base import CALL_FREE, HIR, Pass
from tilefoundry.passes.lower.registry import writer_for
from tilefoundry.passes.names import Names
from tilefoundry.passes.place.cuts import Group, cut
from tilefoundry.passes.place.kernel import Walk, function_of, tiled_kernel, variables_of
from tilefoundry.passes.place.kinds import DIRECT, VIEWS, producer, tensor
from tilefoundry.passes.place.numbers import numbers_in_memory
from tilefoundry.passes.place.same import Kernels
from tilefoundry.passes.place.spread import Levels
from tilefoundry.passes.place.unroll import unrolled
from tilefoundry.passes.place.walks import walk_of
from tilefoundry.passes.results import results_of
from tilefoundry.target import CpuTarget, Target

_CUDA_THREADS = 128  # four warps: a warpgroup
_GRID = DimVar("G", 1, 1 << 20)


@dataclass(frozen=True)
class Place(Pass):
    """Cuts an entry without meshes into kernels, and places each on the target's CTAs and threads.

    The entry's value becomes calls of the kernels; what one computes for another lies in global memory. A program that
    names meshes is left as its author placed it.

    Raises:
        VerifyError: when it runs: how often a loop runs is not known, or it is too long; located.
    """

    name: ClassVar[str] = "place"
    requires: ClassVar[frozenset[str]] = frozenset({HIR, CALL_FREE})

    def run(self, module: Module, target: Target) -> Module:
        """The Module with the kernels beside the entry; itself where the entry is placed.

        Variants are placed for the extents of their ranges, when they are lowered; the Module gets the levels for them.
        """
        entry = module.entry_function()
        assert isinstance(entry, Function)  # of a Module of HIR
        if not any(is_unplaced(fn) for fn in (entry.variants or (entry,))):
            return module
        levels = levels_of(module, target)
        placed, kernels = (entry, ()) if entry.is_prototype else place_function(entry, levels)
        return Module(
            module.name,
            (placed, *kernels),
            entry.name,
            target=module.resolve_target() if module.declares_target() else None,
            topologies=(levels.ctas, levels.threads),
        )


def is_unplaced(fn: Function) -> bool:
    """Whether a function with a body names no mesh, and no storage but global memory."""
    assert fn.body is not None
    return not any(
        get_metadata(expr, ExecutionDomainMetadata) is not None
        or (isinstance(expr, Call) and isinstance(expr.target, Reshard))
        or (isinstance(expr, GridRegionExpr) and expr.spread is not None)
        for expr in post_order(fn.body)
    )


def levels_of(module: Module, target: Target) -> Levels:
    """The levels that the module declares; where it declares none, as many CTAs as there is work for, of 128 threads.

    On a CPU a CTA has one thread then, whose loops the compiler vectorises.

    Raises:
        VerifyError: the number of threads is symbolic.
    """
    declared = {level.name: level for level in module.effective_topologies() or ()}
    placed_for = module.resolve_target() if module.declares_target() else target
    threads = declared.get("thread") or Topology("thread", 1 if isinstance(placed_for, CpuTarget) else _CUDA_THREADS)
    if not isinstance(threads.size, int):
        raise VerifyError(
            f"module '{module.name}' has a symbolic number of threads, {threads.size}, and a program without meshes",
            remedy='declare it with a number, as in Topology("thread", 128), or leave the topologies out',
        )
    return Levels(declared.get("cta") or Topology("cta", _GRID), threads, placed_for)


def place_function(fn: Function, levels: Levels) -> tuple[Function, tuple[Function, ...]]:
    """The function as calls of kernels, and these, each once, in the order in which they first run.

    Raises:
        VerifyError: as `Place`.
    """
    assert fn.body is not None
    results = results_of(unrolled(fn))
    results = numbers_in_memory(results)
    chain = _Chain(fn, levels)
    for group in cut(results):
        chain.add(group)
    final = chain.results(results)
    body = Tuple(tuple(final)) if isinstance(fn.body.type, TupleType) else final[0]
    return replace(fn, body=body), chain.kernels


class _Chain:
    """The kernels of a function, and the values that they have written."""

    def __init__(self, fn: Function, levels: Levels) -> None:
        self.fn, self.levels = fn, levels
        self._names = Names((fn.name, *(param.name for param in fn.params)))
        self._kernels = Kernels(self._names)
        self._inside: list[tuple[Expr, Expr | int]] = []  # what was written, as parameters of later kernels
        self._numbers: list[tuple[Expr, Expr]] = []  # results that were written, which other kernels compute again
        self._outside: dict[int, Expr] = {id(p): p for p in fn.params}  # of these parameters: what the entry passes

    @property
    def kernels(self) -> tuple[Function, ...]:
        """Each once, in the order in which they first run."""
        return tuple(self._kernels.all)

    def add(self, group: Group) -> None:
        """A kernel that writes the roots of a group; none for what lies in memory already."""
        values = [self._seen(root) for root in group.roots]
        if group.alias:
            (alias,) = values
            assert isinstance(alias, Call) and isinstance(alias.args[0], Var)
            memory = self._outside[id(alias.args[0])]
            self._write(group.roots[0], Call(alias.target, (memory,), metadata=alias.metadata))
            return
        walk = None if all(map(is_direct, values)) else walk_of(values[0], group, self.levels)
        if walk is None or len(walk.looped(tensor(values[0]).shape)) == 1:
            self._launch(group.roots, values, walk)
            return
        for root, value in zip(group.roots, values, strict=True):  # nested loops fill one result
            self._launch([root], [value], walk)

    def results(self, results: Sequence[Expr]) -> list[Expr]:
        """What the entry returns, each in memory of its own: what is returned twice, or was given, is copied."""
        final: list[Expr] = []
        for result in results:
            held = self._seen(result)
            if not isinstance(held, Var):
                number = next(value for root, value in self._numbers if root is result)
                if any(number is other for other in final):  # returned twice
                    self._launch([result], [held], None)
                    _, number = self._numbers[-1]
                final.append(number)
                continue
            value = self._outside[id(held)]
            if held in self.fn.params or any(value is other for other in final):
                copy = function_of(f"{self.fn.name}_copy", (held,), (held,))
                value = self._call(copy, (held,))
            final.append(value)
        return final

    def _launch(self, roots: Sequence[Expr], values: Sequence[Expr], walk: Walk | None) -> None:
        """Adds a kernel that writes the values: tile by tile, or, without a walk, by an op that all CTAs share."""
        params = _params(self.fn, values)
        name = _hint(self.fn, roots[0])
        kernel = function_of(name, params, values) if walk is None else tiled_kernel(name, params, values, walk)
        call = self._call(kernel, params)
        for k, root in enumerate(roots):
            self._write(root, call if len(roots) == 1 else Call(TupleGetItem(k), (call,)))

    def _call(self, kernel: Function, params: Sequence[Var]) -> Call:
        return Call(self._kernels.one(kernel), tuple(self._outside[id(p)] for p in params))

    def _write(self, root: Expr, value: Expr) -> None:
        """States what the entry has under a value, which later kernels take as a parameter.

        They cannot take a number, which crosses by value and lies in memory here.
        """
        type_ = tensor(root)
        if not type_.rank:
            self._numbers.append((root, value))
            return
        param = Var(self._names.fresh("x"), TensorType(type_.shape, type_.dtype, None, StorageKind.GMEM))
        self._inside.append((root, param))
        self._outside[id(param)] = value

    def _seen(self, value: Expr) -> Expr:
        return Rewriter({}, parts=self._inside).expr(value)


def is_direct(value: Expr) -> bool:
    """Whether an op writes the whole of a value, from operands that lie in memory."""
    if not isinstance(value, Call) or not tensor(value).rank or isinstance(value.target, Reshard):
        return True  # numbers, and the vectors of `numbers_in_memory`
    moves = isinstance(value.target, VIEWS) and not (isinstance(value.target, Reshape) and tensor(value.args[0]).rank)
    written = isinstance(value.target, DIRECT) or (moves and writer_for(type(value.target)) is not None)  # type: ignore[arg-type]
    return written and all(map(_lies, value.args))


def _lies(value: Expr | int) -> bool:
    """Whether a value lies in memory, perhaps in another order; so does a scalar, for this purpose."""
    while isinstance(value, Call) and isinstance(value.target, VIEWS):
        value = value.args[0]
    return not isinstance(value, Call) or (isinstance(value.type, TensorType) and not value.type.rank)


def _hint(fn: Function, root: Expr) -> str:
    """A kernel is called after its entry and what it computes."""
    op = producer(root)
    named = binding_name(root) or (op.target.op_name if op is not None and isinstance(op.target, Op) else "copy")
    return f"{fn.name}_{named}"


def _params(fn: Function, values: Sequence[Expr]) -> tuple[Var, ...]:
    """The tensors that a kernel reads, and what else tells the extents that it knows."""
    read = variables_of(*values)
    told = {extent for var in read for extent in tensor(var).shape if isinstance(extent, DimVar)}
    params = [*read]
    wanting = {var for part in post_order(*values) for var in type_dim_vars(part.type)}
    for wanted in sorted(wanting, key=lambda var: var.name):
        if wanted not in told:
            teller = next((p for p in fn.params if wanted in tensor(p).shape), None)
            if teller is not None and teller not in params:
                params.append(teller)
                told.update(extent for extent in tensor(teller).shape if isinstance(extent, DimVar))
    return tuple(params)
