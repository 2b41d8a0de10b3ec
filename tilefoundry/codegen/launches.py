"""Kernels as a host function launches them: names, geometry and parameters of each launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from tilefoundry.passes.workspace import views_of, workspace_of
from tilefoundry.runtime.abi import EntryABI, ParamABI, param_abi_of


@dataclass(frozen=True, slots=True)
class Job:
    """One launch of a kernel: under the name of its code, with the entry's parameters that it takes.

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
        jobs: the launches, in their order; those of one name have one code.
        entry: what the caller passes.
        workspace: the host function's own global tensors, under names that no parameter has.
        views: which of these are others of them under other extents, by name.
        otherwise: what is wrong with extents that no kernel serves, where each serves some.
    """

    jobs: tuple[Job, ...]
    entry: EntryABI
    workspace: tuple[ParamABI, ...] = ()
    views: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = ""


def host_program(module: Module, entry: tir.PrimFunction) -> HostProgram | None:
    """What a host function does; None for a kernel.

    Raises:
        CompileError: a geometry is not known when the kernel is launched; located at the launch.
    """
    dispatch = entry.body if isinstance(entry.body, tir.DispatchCall) and is_host(entry) else None
    if dispatch is None and not launches_of(module, entry):
        return None
    host = _Host(module, entry)
    if dispatch is None:
        host.launch(entry)
    else:
        host.dispatch(dispatch)
    abi = EntryABI(entry.name, tuple(host.tensors[p] for p in entry.params), entry.output_count, entry.aliases)
    otherwise = "" if dispatch is None else host.otherwise(dispatch)
    return HostProgram(tuple(host.jobs), abi, tuple(host.workspace), host.views, otherwise)


class _Host:
    """Collects the launches of an entry, with those of the host functions among which it picks."""

    def __init__(self, module: Module, entry: tir.PrimFunction) -> None:
        self.module, self.entry = module, entry
        self.names, self.kernels = Names(), Names()
        self.emitted: dict[tuple[int, int, int | None], str] = {}
        self.jobs: list[Job] = []
        self.workspace: list[ParamABI] = []
        self.views: dict[str, str] = {}
        self.tensors = {param: self._named(param_abi_of(param)) for param in entry.params}

    def dispatch(self, dispatch: tir.DispatchCall) -> None:
        """The kernels, or host functions, among which the entry picks by an extent."""
        (subject,) = dispatch.subjects
        assert isinstance(subject, tir.ShapeOf)  # verified
        for pattern, call in zip(dispatch.case_patterns, dispatch.case_calls, strict=True):
            assert isinstance(call.callable, tir.SymbolRef)
            callee = resolve_symbol(self.entry, self.module, call.callable, call.span)
            args = tuple(arg for arg in call.args if isinstance(arg, Var))
            case = LaunchCase(_dim(subject, call.span), pattern.lo, pattern.hi)
            self.tensors.update({p: self.tensors[arg] for p, arg in zip(callee.params, args, strict=True)})
            if is_host(callee):
                self.launch(callee, _extents(callee.params, args), case)
            else:
                extents = _extents(callee.params, args)
                self._add(callee, callee.params, _own_config(self.module, callee, extents), extents, case)

    def otherwise(self, dispatch: tir.DispatchCall) -> str:
        """What is wrong with extents that no kernel serves."""
        assert isinstance(dispatch.fallback, tir.Abort)  # verified
        return dispatch.fallback.message

    def launch(
        self, host: tir.PrimFunction, around: Mapping[Expr, Dim] | None = None, case: LaunchCase | None = None
    ) -> None:
        """The kernels that a host function launches.

        Args:
            around: what its DimVars are in the entry; the same ones where it is the entry.
        """
        around = around or {}
        views = views_of(host)
        for var in (*workspace_of(host), *views):
            self.tensors[var] = self._named(_under(param_abi_of(var), around))
            self.workspace.append(self.tensors[var])
        self.views.update({self.tensors[view].name: self.tensors[memory].name for view, memory in views.items()})
        for launch in launches_of(self.module, host):
            inner = _extents(launch.kernel.params, launch.args)
            extents = {dim: substitute_dim(extent, around) for dim, extent in inner.items()}
            config = _config(launch, extents) if launch.block else _own_config(self.module, launch.kernel, extents)
            self._add(launch.kernel, launch.args, config, extents, case)

    def _add(
        self,
        kernel: tir.PrimFunction,
        args: Sequence[Var],
        config: LaunchConfig,
        extents: Mapping[Expr, Dim],
        case: LaunchCase | None,
    ) -> None:
        name = self._name(kernel, config)
        taken = []
        for arg, param in zip(args, contiguous_abi(kernel), strict=True):
            if arg in self.entry.params and param.type.layout is not None and self.tensors[arg].type.layout is None:
                self.tensors[arg] = _laid_out(self.tensors[arg])
            taken.append(replace(param, name=self.tensors[arg].name))
        abi = EntryABI(name, tuple(taken), kernel.output_count)
        self.jobs.append(Job(replace(kernel, name=name), config, abi, extents, case))

    def _name(self, kernel: tir.PrimFunction, config: LaunchConfig) -> str:
        """The name of a launch's unit: one for all launches of the same code, of which a static grid is part."""
        grid = config.grid if isinstance(config.grid, int) else None
        code = (id(kernel), config.block, grid)
        if code not in self.emitted:
            self.emitted[code] = self.kernels.fresh(kernel.name)
        return self.emitted[code]

    def _named(self, param: ParamABI) -> ParamABI:
        return replace(param, name=self.names.fresh(param.name))


def _under(param: ParamABI, extents: Mapping[Expr, Dim]) -> ParamABI:
    """A tensor in other extents."""
    shape = tuple(substitute_dim(extent, extents) for extent in param.type.shape)
    return replace(param, type=replace(param.type, shape=shape, layout=None))


def _own_config(module: Module, kernel: tir.PrimFunction, extents: Mapping[Expr, Dim]) -> LaunchConfig:
    """The geometry of a kernel's own meshes, over the DimVars of the entry."""
    own = derive_launch_config(module, kernel)
    grid = None if own.grid is None else substitute_dim(own.grid, extents)
    return LaunchConfig(grid, substitute_dim(own.tiles, extents), own.block)


def _extents(params: Sequence[Var], args: Sequence[Var]) -> Bindings:
    """What the DimVars of parameters are under their arguments' extents."""
    bindings: Bindings = {}
    for param, arg in zip(params, args, strict=True):
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
