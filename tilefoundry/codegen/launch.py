"""Launch geometry, derived from the program and never carried past codegen."""

from __future__ import annotations

from dataclasses import dataclass

from tilefoundry.diagnostics import CompileError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Call, Expr, Var
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import Dim, dim_vars


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
    """The geometry of ``kernel``: levels from the module's topologies, tiles from its grid-stride loop.

    Raises:
        CompileError: the thread level is symbolic, or a launch-provided grid has no loop spread over it.
    """
    levels = {topology.name: topology.size for topology in module.effective_topologies() or ()}
    block = levels.get("thread", 1)
    if not isinstance(block, int):
        raise CompileError(f"the thread level of '{kernel.name}' has extent {block}", remedy="state it as a number")
    known = {v for param in kernel.params for extent in param.type.shape for v in dim_vars(extent)}  # type: ignore[attr-defined]
    grid: Dim | None = levels.get("cta", 1)
    if grid is not None and not dim_vars(grid) <= known:
        grid = None
    tiles = _grid_stride_tiles(kernel)
    if tiles is None:
        if grid is None:
            raise CompileError(
                f"'{kernel.name}' runs on a launch-provided number of CTAs, and no loop is spread over them",
                remedy="write `for i in tile(extent, step) @ cta.c`, or give the cta topology a static size",
            )
        tiles = grid
    return LaunchConfig(grid, tiles, block)


def _grid_stride_tiles(kernel: tir.PrimFunction) -> Dim | None:
    """The extent of the loop that starts at a CTA's id and steps by the number of CTAs."""
    counts: set[Expr] = set()
    for item in tir.items_within(tir.unfold(kernel.body)):
        match item:
            case tir.Binding(Var() as var, Call(target=tir.ProgramDim("cta"))):
                counts.add(var)
            case tir.For(step=Expr() as step, extent=extent) if step in counts:
                return extent
    return None
