"""Kernels as a host function launches them: names, geometry and parameters of each launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilefoundry.codegen.launch import LaunchConfig, derive_launch_config
from tilefoundry.codegen.unit import LaunchCase
from tilefoundry.codegen.windows import contiguous_abi
from tilefoundry.diagnostics import CompileError, SourceSpan
from tilefoundry.ir import hir, tir
from tilefoundry.ir.core.expr import Call, Constant, Expr, Var
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
    dim_vars,
    substitute_dim,
)
from tilefoundry.ir.shard import row_major
from tilefoundry.ir.types import TensorType
from tilefoundry.ir.types.matching import Bindings, bind_type
from tilefoundry.ir.verify.prim_calls import resolve_symbol
from tilefoundry.passes.base import is_host
from tilefoundry.passes.kernels import KernelLaunch, launches_of
from tilefoundry.passes.names import Names
from tilefoundry.passes.workspace import workspace_of
from tilefoundry.runtime.abi import EntryABI, ParamABI, param_abi_of


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to emit: under a name of its own, with the entry's parameters that it takes.

    Attributes:
        config: over the DimVars of the entry.
        extents: what the kernel's own DimVars are, where the entry's are others.
        case: the extents that the kernel serves; None where it is launched in any case.
    """

    kernel: tir.PrimFunction
    config: LaunchConfig
    abi: EntryABI
    extents: Mapping[Expr, Dim] = field(default_factory=dict)
    case: LaunchCase | None = None


@dataclass(frozen=True, slots=True)
class HostProgram:
    """What an entry does at a call.

    Attributes:
        jobs: the kernels, in the order of their launches.
        entry: what the caller passes.
        workspace: the host function's own global tensors, under names that no parameter has.
        otherwise: what is wrong with extents that no kernel serves, where each serves some.
    """

    jobs: tuple[Job, ...]
    entry: EntryABI
    workspace: tuple[ParamABI, ...] = ()
    otherwise: str = ""


def host_program(module: Module, entry: tir.PrimFunction) -> HostProgram | None:
    """What a host function does; None for a kernel.

    Raises:
        CompileError: a geometry is not known when the kernel is launched; located at the launch.
    """
    if isinstance(entry.body, tir.DispatchCall) and is_host(entry):
        return _variants(module, entry, entry.body)
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
        extents = _extents(launch.kernel, launch.args)
        jobs.append(Job(replace(launch.kernel, name=name), _config(launch, extents), abi, extents))
    abi = EntryABI(entry.name, tuple(tensors[p] for p in entry.params), entry.output_count, entry.aliases)
    return HostProgram(tuple(jobs), abi, tuple(tensors[var] for var in workspace_of(entry)))


def _variants(module: Module, entry: tir.PrimFunction, dispatch: tir.DispatchCall) -> HostProgram:
    """The kernels among which a host function picks, each on its own meshes."""
    (subject,) = dispatch.subjects
    assert isinstance(subject, tir.ShapeOf) and isinstance(dispatch.fallback, tir.Abort)  # verified
    jobs = []
    for pattern, call in zip(dispatch.case_patterns, dispatch.case_calls, strict=True):
        assert isinstance(call.callable, tir.SymbolRef)
        kernel = resolve_symbol(entry, module, call.callable, call.span)
        args = tuple(arg for arg in call.args if isinstance(arg, Var))
        extents = _extents(kernel, args)
        own = derive_launch_config(module, kernel)
        grid = None if own.grid is None else substitute_dim(own.grid, extents)
        config = LaunchConfig(grid, substitute_dim(own.tiles, extents), own.block)
        abi = EntryABI(
            kernel.name,
            tuple(replace(p, name=arg.name) for p, arg in zip(contiguous_abi(kernel), args, strict=True)),
            kernel.output_count,
        )
        case = LaunchCase(_dim(subject, call.span), pattern.lo, pattern.hi)
        jobs.append(Job(kernel, config, abi, extents, case))
    params = tuple(param_abi_of(p) for p in entry.params)
    abi = EntryABI(entry.name, params, entry.output_count, entry.aliases)
    return HostProgram(tuple(jobs), abi, otherwise=dispatch.fallback.message)


def _extents(kernel: tir.PrimFunction, args: tuple[Var, ...]) -> Bindings:
    """What the DimVars of a kernel are under its arguments' extents."""
    bindings: Bindings = {}
    for param, arg in zip(kernel.params, args, strict=True):
        bind_type(param.type, arg.type, bindings)
    return bindings


def _laid_out(param: ParamABI) -> ParamABI:
    """The host's parameter, row-major over its own extents as the kernel demands."""
    return replace(param, type=replace(param.type, layout=row_major(param.type.shape)))


def _config(launch: KernelLaunch, extents: Mapping[Expr, Dim]) -> LaunchConfig:
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
            given = {"cta": grid, "thread": block}.get(level.name)
            wanted = substitute_dim(level.size, extents)
            known = isinstance(wanted, int) or dim_vars(wanted) <= set(extents.values())
            if known and (given is None or not dim_equal(given, wanted)):
                raise CompileError(
                    f"'{launch.kernel.name}' is written for {wanted} units of '{level.name}', and the launch "
                    f"gives {given}",
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
