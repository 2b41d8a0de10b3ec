"""Kernels as a host function launches them: names, geometry and parameters of each launch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilefoundry.codegen.launch import LaunchConfig
from tilefoundry.codegen.windows import contiguous_abi
from tilefoundry.diagnostics import CompileError, SourceSpan
from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call, Constant, Expr
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import (
    Dim,
    dim_add,
    dim_equal,
    dim_floordiv,
    dim_max,
    dim_min,
    dim_mod,
    dim_mul,
    dim_sub,
)
from tilefoundry.ir.shard import row_major
from tilefoundry.ir.types import TensorType
from tilefoundry.passes.kernels import KernelLaunch, launches_of
from tilefoundry.passes.names import Names
from tilefoundry.passes.workspace import workspace_of
from tilefoundry.runtime.abi import EntryABI, ParamABI, param_abi_of


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to emit: under a name of its own, with the entry's parameters that it takes."""

    kernel: tir.PrimFunction
    config: LaunchConfig
    abi: EntryABI


@dataclass(frozen=True, slots=True)
class HostProgram:
    """What an entry does at a call.

    Attributes:
        jobs: the kernels, in the order of their launches.
        entry: what the caller passes.
        workspace: the host function's own global tensors, under names that no parameter has.
    """

    jobs: tuple[Job, ...]
    entry: EntryABI
    workspace: tuple[ParamABI, ...] = ()


def host_program(module: Module, entry: tir.PrimFunction) -> HostProgram | None:
    """What a host function does; None for a kernel.

    Raises:
        CompileError: a geometry is not known when the kernel is launched; located at the launch.
    """
    launches = launches_of(module, entry)
    if not launches:
        return None
    names = Names()
    tensors = {p: param_abi_of(p) for p in (*entry.params, *workspace_of(entry))}
    tensors = {var: replace(param, name=names.fresh(param.name)) for var, param in tensors.items()}
    jobs: list[Job] = []
    kernels: list[str] = []
    for launch in launches:
        name = launch.kernel.name if launch.kernel.name not in kernels else f"{launch.kernel.name}_{len(kernels)}"
        kernels.append(name)
        taken = []
        for arg, param in zip(launch.args, contiguous_abi(launch.kernel), strict=True):
            if arg in entry.params and param.type.layout is not None and tensors[arg].type.layout is None:
                tensors[arg] = _laid_out(tensors[arg])
            taken.append(replace(param, name=tensors[arg].name))
        abi = EntryABI(name, tuple(taken), launch.kernel.output_count)
        jobs.append(Job(replace(launch.kernel, name=name), _config(launch), abi))
    abi = EntryABI(entry.name, tuple(tensors[p] for p in entry.params), entry.output_count, entry.aliases)
    return HostProgram(tuple(jobs), abi, tuple(tensors[var] for var in workspace_of(entry)))


def _laid_out(param: ParamABI) -> ParamABI:
    """The host's parameter, row-major over its own extents as the kernel demands."""
    return replace(param, type=replace(param.type, layout=row_major(param.type.shape)))


def _config(launch: KernelLaunch) -> LaunchConfig:
    span = launch.statement.span
    block = _product(launch.block, span)
    if not isinstance(block, int):
        raise CompileError(
            f"the block of '{launch.kernel.name}' is not known when it is compiled",
            span=span,
            remedy="launch on a number of threads: block=(128, 1, 1)",
        )
    grid = _product(launch.grid, span)
    for mesh in (s.mesh for s in tir.items_within(tir.unfold(launch.kernel.body)) if isinstance(s, tir.MeshScope)):
        for level in mesh.topologies:
            wanted = {"cta": grid, "thread": block}.get(level.name)
            if isinstance(level.size, int) and (wanted is None or not dim_equal(wanted, level.size)):
                raise CompileError(
                    f"'{launch.kernel.name}' is written for {level.size} units of '{level.name}', and the launch "
                    f"gives {wanted}",
                    span=span,
                    remedy="let the launch and the kernel's meshes agree",
                )
    return LaunchConfig(grid, grid, block)


def _product(extents: tuple[Expr | int, ...], span: SourceSpan | None) -> Dim:
    product: Dim = 1
    for extent in extents:
        product = dim_mul(product, _dim(extent, span))
    return product


_OPS = {
    hir.BinaryKind.ADD: dim_add,
    hir.BinaryKind.SUB: dim_sub,
    hir.BinaryKind.MUL: dim_mul,
    hir.BinaryKind.FLOOR_DIV: dim_floordiv,
    hir.BinaryKind.MOD: dim_mod,
    hir.BinaryKind.MIN: dim_min,
    hir.BinaryKind.MAX: dim_max,
}


def _dim(extent: Expr | int, span: SourceSpan | None) -> Dim:
    """An extent of a launch over the DimVars of the host's parameters."""
    match extent:
        case int():
            return extent
        case Constant(value=int(value)):
            return value
        case tir.ShapeOf(param, axis):
            assert isinstance(param.type, TensorType)
            return param.type.shape[axis]
        case Call(target=hir.Binary(kind), args=(lhs, rhs)) if kind in _OPS:
            return _OPS[kind](_dim(lhs, span), _dim(rhs, span))
    raise CompileError(
        "an extent of the launch is not known from the parameters' shapes",
        span=span,
        remedy="write it with + - * // % min max ceildiv on x.shape[0] and numbers",
    )
