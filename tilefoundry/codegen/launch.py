"""Launch geometry, derived from the program and never carried past codegen."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import Dim, DimMin, DimVar, ceildiv, dim_atoms, dim_max, dim_product, dim_vars
from tilefoundry.ir.tir.ops.index import WindowOp
from tilefoundry.ir.types import TensorType


@dataclass(frozen=True, slots=True)
class LaunchConfig:
    """How many CTAs and threads.

    Attributes:
        grid: CTAs, static or over the parameters' DimVars; None when the host chooses.
        tiles: work tiles; the host launches no more CTAs than this when it chooses.
        block: threads of a CTA.
    """

    grid: Dim | None
    tiles: Dim
    block: int


def derive_launch_config(module: Module, kernel: tir.PrimFunction) -> LaunchConfig:
    """The geometry of ``kernel``: levels from its meshes, else the module's, tiles from its grid-stride loop.

    Raises:
        CompileError: the thread level is symbolic, or a launch-provided grid has no loop spread over it.
    """
    meshes = [item.mesh for item in tir.items_within(tir.unfold(kernel.body)) if isinstance(item, tir.MeshScope)]
    own = [topology for mesh in meshes for topology in mesh.topologies]
    levels = {topology.name: topology.size for topology in (*(module.effective_topologies() or ()), *own)}
    block = levels.get("thread", 1)
    if not isinstance(block, int):
        raise CompileError(f"the thread level of '{kernel.name}' has extent {block}", remedy="state it as a number")
    known = {v for param in kernel.params for extent in param.type.shape for v in dim_vars(extent)}  # type: ignore[attr-defined]
    grid: Dim | None = levels.get("cta", 1)
    if grid is not None and not dim_vars(grid) <= known:
        grid = None
    loops, stores = _work(kernel, block)
    scalars = all(isinstance(out.type, TensorType) and not out.type.shape for out in kernel.outputs)
    if grid is None and not loops and not scalars:  # a number is written by one CTA
        raise CompileError(
            f"'{kernel.name}' runs on a launch-provided number of CTAs, and no loop is spread over them",
            remedy="write `for i in tile(extent, step) @ cta.c`, or give the cta topology a static size",
        )
    extents = [*loops, 1] if stores or not loops else loops
    return LaunchConfig(grid, functools.reduce(dim_max, extents), block)


def _work(kernel: tir.PrimFunction, block: int) -> tuple[list[Dim], bool]:
    """The extents of what is spread over all CTAs, and whether the kernel does anything outside of these.

    A spread loop starts at the CTA's id and steps by the number of CTAs; an op that the instances of all CTAs share has
    a CTA for each `block` parts. What is outside needs a launch in any case.
    """
    items = tir.unfold(kernel.body)
    counts: set[Expr] = {
        item.var
        for item in items
        if isinstance(item, tir.Binding) and isinstance(item.value, Call) and item.value.target == tir.ProgramDim("cta")
    }
    loops: list[Dim] = []
    stores = False
    for item in items:
        match item:
            case tir.For(step=Expr() as step, extent=extent) if step in counts:
                loops.append(extent)
            case tir.Evaluate(callable=WindowOp(everywhere=True) as op, args=args):
                loops.append(ceildiv(op.shares(args), block))
            case tir.Evaluate(
                callable=tir.WholeCopy(True) | tir.WholeFill(True) | tir.WholeIota(everywhere=True),
                args=(_, Var(type=TensorType(shape=shape))),
            ):
                bounds = [bound for extent in shape if (bound := _at_most(extent)) is not None]
                if len(bounds) == len(shape):
                    loops.append(ceildiv(dim_product(bounds), block))
                else:
                    stores = True
            case tir.For() | tir.Evaluate(callable=tir.TileStore() | tir.StoreScalar()):
                stores = True
    return loops, stores


def _at_most(extent: Dim) -> Dim | None:
    """The extent, or a bound of it that the launch knows where the extent is known in the kernel only; or None."""
    if all(isinstance(atom, DimVar) for atom in dim_atoms(extent)):
        return extent
    if isinstance(extent, Call) and isinstance(extent.target, DimMin):
        return next((bound for arg in extent.args if (bound := _at_most(arg)) is not None), None)
    return None
