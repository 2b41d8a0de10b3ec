"""Software pipelining of tile loads into shared memory.

A loop that loads shared tiles loads them ``stages - 1`` iterations ahead, into a ring of buffers, so that the copies of
the next iterations run while this one computes. A load outside such a loop is committed and awaited at once.

    prologue: load 0, commit, load 1, commit, ...
    for j:    wait; acquire; load j + (stages - 1); commit; compute on stage j % stages; release
    drain

The wait is also the CTA barrier between the readers of a stage in one iteration and the loads that overwrite it in the
next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from tilefoundry.diagnostics import WrongValueError
from tilefoundry.ir.core.expr import Call, Expr, Tuple, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import (
    INDEX_TYPE,
    Dim,
    dim_add,
    dim_atoms,
    dim_floordiv,
    dim_mod,
    dim_sub,
    substitute_dim,
)
from tilefoundry.ir.hir import Binary, BinaryKind
from tilefoundry.ir.shard import ComposedLayout, Layout
from tilefoundry.ir.tir import (
    AllocTensor,
    Binding,
    Element,
    Evaluate,
    For,
    If,
    Index,
    Item,
    PipeAcquire,
    PipeCommit,
    PipeDrain,
    Pipeline,
    PipeRelease,
    PipeWait,
    PrimFunction,
    TileLoad,
    fold,
    map_blocks,
    unfold,
    view_as,
)
from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.passes.base import CALL_FREE, PIPELINED, SYNCHRONISED, TILES, TIR, KernelPass
from tilefoundry.passes.memory import shared_bytes, shared_limit
from tilefoundry.passes.names import Names
from tilefoundry.passes.sizes import storage_bytes
from tilefoundry.target import Target

STAGES = 2  # one stage computes while the next one loads


@dataclass(frozen=True)
class PipelineLoads(KernelPass):
    """Loads the shared tiles of loops ahead of their use.

    Attributes:
        stages: buffers of each such tile, 1 or more. None takes `STAGES`, or less where shared memory does not suffice.

    Raises:
        WrongValueError: `stages` is not positive.
    """

    stages: int | None = None

    name: ClassVar[str] = "pipeline-loads"
    requires: ClassVar[frozenset[str]] = frozenset({TIR, CALL_FREE, TILES})
    establishes: ClassVar[frozenset[str]] = frozenset({PIPELINED})
    invalidates: ClassVar[frozenset[str]] = frozenset({SYNCHRONISED})

    def __post_init__(self) -> None:
        if self.stages is not None and self.stages < 1:
            raise WrongValueError(
                f"PipelineLoads: stages is {self.stages}, expected 1 or more",
                remedy="give 1 or more, or None to choose by the shared memory",
            )

    def run_kernel(self, kernel: PrimFunction, module: Module, target: Target) -> PrimFunction:
        """The kernel with its loads in pipelines."""
        limit = shared_limit(module, target)
        items: list[Item] = []
        for stages in range(STAGES, 0, -1) if self.stages is None else (self.stages,):
            items = pipeline(unfold(kernel.body), Names.of(kernel), stages)
            if limit is None or shared_bytes(items) <= limit:
                break
        return replace(kernel, body=fold(items))  # memory planning refuses what does not fit


def pipeline(items: list[Item], names: Names, stages: int) -> list[Item]:
    """Orders the asynchronous loads of a block; loops that load shared tiles get ``stages`` buffers for each."""
    out: list[Item] = []
    pipe: Var | None = None  # of the loads that nobody has waited for yet
    for item in items:
        if _is_shared_load(item):
            if pipe is None:
                pipe = Var(names.fresh("loads"), INDEX_TYPE)
                out.append(Binding(pipe, Call(Pipeline(1), (), INDEX_TYPE)))
            out.append(_in_pipe(item, pipe))
            continue
        if pipe is not None and (not isinstance(item, Binding) or _reads_a_tile(item)):
            out += _await_loads(pipe)
            pipe = None
        match item:
            case For():
                out += _loop(item, names, stages)
            case If():
                out.append(map_blocks(item, lambda block: fold(pipeline(unfold(block), names, stages))))
            case _:
                out.append(item)
    return out + (_await_loads(pipe) if pipe is not None else [])


def _is_shared_load(item: Item) -> bool:
    match item:
        case Evaluate(callable=TileLoad(), args=(_, _, Var(type=TensorType(storage=StorageKind.SMEM)), *_)):
            return True
    return False


def _reads_a_tile(item: Binding) -> bool:
    match item.value:
        case Call(target=Element(), args=(Var(type=TensorType(storage=StorageKind.SMEM)), *_)):
            return True
    return False


def _in_pipe(load: Item, pipe: Var) -> Evaluate:
    assert isinstance(load, Evaluate)
    return replace(load, args=(*load.args[:3], pipe))


def _await_loads(pipe: Var) -> list[Item]:
    return [Evaluate(PipeCommit(), (pipe,)), Evaluate(PipeWait(0), (pipe,))]


@dataclass(frozen=True, slots=True)
class _Ring:
    """The buffers of one tile: the slices of ``memory`` along its first axis."""

    memory: Var
    tile: Var
    load: Evaluate

    def view(self, name: str, stage: Dim) -> Binding:
        """Binds the tile of a stage."""
        type_ = cast("TensorType", self.tile.type)
        at = (stage, *(0 for _ in type_.shape))
        return Binding(Var(name, type_), Call(view_as(type_), (self.memory, *at), type_))

    def load_stage(self, names: Names, pipe: Var, stage: Dim, values: Mapping[Expr, Dim]) -> list[Item]:
        """Loads the tile of the iteration that ``values`` gives into a stage."""
        binding = self.view(names.fresh(f"{self.tile.name}_next"), stage)
        tensor, coordinates = self.load.args[:2]
        assert isinstance(coordinates, Tuple)
        moved = Tuple(tuple(substitute_dim(c, values) for c in coordinates.elements))
        return [binding, replace(self.load, args=(tensor, moved, binding.var, pipe))]


def _loop(loop: For, names: Names, stages: int) -> list[Item]:
    body = unfold(loop.body)
    rings = _rings(loop, body, names, stages) if stages > 1 else []
    if not rings:
        return [replace(loop, body=fold(pipeline(body, names, stages)))]
    step = cast("int", loop.step)
    pipe, stage = Var(names.fresh("pipe"), INDEX_TYPE), Var(names.fresh("stage"), INDEX_TYPE)
    out: list[Item] = [
        Binding(ring.memory, Call(AllocTensor(_tensor(ring.memory), ring=True), (), ring.memory.type)) for ring in rings
    ]
    out.append(Binding(pipe, Call(Pipeline(stages), (), INDEX_TYPE)))
    for ahead in range(stages - 1):
        out += _guarded_load(rings, names, pipe, loop, dim_add(loop.start, ahead * step), ahead)
        out.append(Evaluate(PipeCommit(), (pipe,)))
    iteration = dim_floordiv(dim_sub(loop.var, loop.start), step)
    inner: list[Item] = [
        Evaluate(PipeWait(stages - 2), (pipe,)),
        Evaluate(PipeAcquire(), (pipe,)),
        *_guarded_load(
            rings,
            names,
            pipe,
            loop,
            dim_add(loop.var, (stages - 1) * step),
            dim_mod(dim_add(iteration, stages - 1), stages),
        ),
        Evaluate(PipeCommit(), (pipe,)),
        Binding(stage, Call(Index(), (dim_mod(iteration, stages),), INDEX_TYPE)),
    ]
    by_tile = {ring.tile: ring for ring in rings}
    loads = {id(ring.load) for ring in rings}
    rest: list[Item] = []
    for item in body:
        if isinstance(item, Binding) and item.var in by_tile:
            binding = by_tile[item.var].view(item.var.name, stage)
            rest.append(Binding(item.var, binding.value))
        elif id(item) not in loads:
            rest.append(item)
    inner += pipeline(rest, names, stages)
    inner.append(Evaluate(PipeRelease(), (pipe,)))
    return [*out, replace(loop, body=fold(inner)), Evaluate(PipeDrain(), (pipe,))]


def _rings(loop: For, body: list[Item], names: Names, stages: int) -> list[_Ring]:
    """The tiles that this loop can load ahead: what they load depends on nothing but the loop variable."""
    if not isinstance(loop.step, int):
        return []
    bound = {item.var for item in body if isinstance(item, Binding)}
    allocated = {
        item.var
        for item in body
        if isinstance(item, Binding) and isinstance(item.value, Call) and isinstance(item.value.target, AllocTensor)
    }
    rings = []
    for item in body:
        if not (isinstance(item, Evaluate) and _is_shared_load(item)):
            continue
        tensor, coordinates, tile = item.args[:3]
        assert isinstance(coordinates, Tuple) and isinstance(tile, Var)
        reached = frozenset().union(*(dim_atoms(c) for c in coordinates.elements))
        if tile in allocated and tensor not in bound and not reached & bound:
            memory = Var(names.fresh(f"{tile.name}_ring"), _ring_type(_tensor(tile), stages))
            rings.append(_Ring(memory, tile, item))
    return rings


def _guarded_load(rings: list[_Ring], names: Names, pipe: Var, loop: For, at: Dim, stage: Dim) -> list[Item]:
    load = [item for ring in rings for item in ring.load_stage(names, pipe, stage, {loop.var: at})]
    if isinstance(at, int) and isinstance(loop.extent, int):
        return load if at < loop.extent else []
    inside = Call(Binary(BinaryKind.LT), (at, loop.extent), TensorType.umat_scalar(DType.bool))
    return [If(inside, fold(load))]


def _ring_type(tile: TensorType, stages: int) -> TensorType:
    layout = tile.layout.outer if isinstance(tile.layout, ComposedLayout) else tile.layout
    assert isinstance(layout, Layout) and layout.strides is not None
    stride = storage_bytes(tile) * 8 // tile.dtype.storage_bits
    ring = Layout((stages, *layout.shape), (stride, *layout.strides))
    composed = replace(tile.layout, outer=ring) if isinstance(tile.layout, ComposedLayout) else ring
    return TensorType((stages, *tile.shape), tile.dtype, composed, tile.storage)


def _tensor(var: Var) -> TensorType:
    assert isinstance(var.type, TensorType)
    return var.type
