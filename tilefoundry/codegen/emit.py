"""A Module of TIR to a linkable module: kernel units and the host entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilefoundry.codegen.body import Body
from tilefoundry.codegen.cpu import emit as cpu
from tilefoundry.codegen.cuda import emit as cuda
from tilefoundry.codegen.host import DESCRIPTION_SYMBOL, description_symbol, emit_host
from tilefoundry.codegen.launch import LaunchConfig, derive_launch_config
from tilefoundry.codegen.launches import HostProgram, Job, host_program
from tilefoundry.codegen.unit import KernelUnit, LinkableModule, source_digest
from tilefoundry.codegen.windows import contiguous_abi
from tilefoundry.diagnostics import CompileError, WrongTypeError
from tilefoundry.ir import tir
from tilefoundry.ir.core.expr import Expr
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.dims import Dim, substitute_dim
from tilefoundry.runtime.abi import EntryABI, ParamABI, param_abi_of
from tilefoundry.target import CpuTarget, CudaTarget, Target


def emit_module(
    module: Module,
    target: Target,
    *,
    min_ctas_per_sm: int | None = None,
    export: str | None = None,
    checking: bool = False,
) -> LinkableModule:
    """The sources of every kernel of ``module`` for ``target``, and of its entry.

    Args:
        min_ctas_per_sm: CTAs that a multiprocessor shall be able to hold at once; None states nothing. CUDA only.
        export: the name of the entry in a library of several, where it marks every symbol of the module as well; the
            entry's own, in a library of its own, when left out.
        checking: the entry and its kernels say what checking mode asks. CPU only.

    Raises:
        CompileError: something of the module has no form in generated code; or the target cannot be checked.
    """
    if checking and not isinstance(target, CpuTarget):
        raise CompileError(
            f"checking mode runs on the CPU, and the target is '{target.name}'",
            remedy='compile with target="cpu": grid, threads, shared memory and pipelines are kept',
        )
    functions = _kernels(module)
    host = next(fn for fn in functions if fn.name == module.entry)
    program = host_program(module, host)
    if program is None:
        jobs = tuple(_own_job(module, kernel) for kernel in functions)
        entry = next(job.abi for job in jobs if job.kernel.name == module.entry)
        program = HostProgram(jobs, entry)
    jobs, entry, description = program.jobs, program.entry, DESCRIPTION_SYMBOL
    if export is not None:
        jobs = tuple(_exported(job, export, len(jobs)) for job in jobs)
        entry, description = replace(entry, name=export), description_symbol(export)
    units = tuple(_emit_unit(job, target, min_ctas_per_sm, checking) for job in jobs)
    source = emit_host(units, target, entry, program.workspace, description, program.otherwise, checking, program.views)
    return LinkableModule(target, units, source, entry)


def _exported(job: Job, export: str, count: int) -> Job:
    """The kernel under a name that no other module of the library gives."""
    name = export if count == 1 else f"{export}__{job.kernel.name}"
    return replace(job, kernel=replace(job.kernel, name=name), abi=replace(job.abi, name=name))


def _own_job(module: Module, kernel: tir.PrimFunction) -> Job:
    """A kernel that is launched on its own meshes."""
    abi = EntryABI(kernel.name, contiguous_abi(kernel), kernel.output_count, kernel.aliases)
    return Job(kernel, derive_launch_config(module, kernel), abi)


def _kernels(module: Module) -> tuple[tir.PrimFunction, ...]:
    for fn in module.functions:
        if not isinstance(fn, tir.PrimFunction):
            raise WrongTypeError(f"emit_module: '{fn.name}' is not TIR", remedy="lower the module first")
    return module.functions  # type: ignore[return-value]  # checked above


def _emit_unit(job: Job, target: Target, min_ctas_per_sm: int | None, checking: bool) -> KernelUnit:
    kernel, config = job.kernel, job.config
    body = Body(kernel, checking)
    if isinstance(target, CudaTarget):
        wrapper = cuda.wrapper_text(kernel.name, config.block, min_ctas_per_sm)
    else:
        wrapper = cpu.wrapper_text(kernel.name, config.block, body.grid_barrier)
    source = _unit_text(kernel, config, body, wrapper)
    return KernelUnit(
        name=kernel.name,
        digest=source_digest(source),
        source=source,
        abi=job.abi,
        grid=config.grid,
        tiles=config.tiles,
        block=config.block,
        shared_bytes=body.shared_bytes,
        workspace=tuple(_under(param_abi_of(var), job.extents) for var in body.globals[len(kernel.params) :]),
        grid_barrier=body.grid_barrier,
        case=job.case,
    )


def _under(param: ParamABI, extents: Mapping[Expr, Dim]) -> ParamABI:
    """A tensor of a kernel in the extents of the entry."""
    shape = tuple(substitute_dim(extent, extents) for extent in param.type.shape)
    return replace(param, type=replace(param.type, shape=shape, layout=None))


def _unit_text(kernel: tir.PrimFunction, config: LaunchConfig, body: Body, wrapper: str) -> str:
    shapes = [_shape_text("thread", config.block)]
    if isinstance(config.grid, int):
        shapes.append(_shape_text("cta", config.grid))
    collective = body.collective and config.block > 1
    return "\n".join(
        [
            f"// Kernel `{kernel.name}`, generated by TileFoundry.",
            "#include <tilefoundry/runtime.h>",
            "",
            "namespace tilefoundry {",
            "inline namespace TILEFOUNDRY_UNIT {",
            "",
            *shapes,
            "",
            f"namespace kernel_{kernel.name} {{",
            "using namespace cute;",
            "",
            f"[[maybe_unused]] constexpr int kThreads = {config.block};",
            f"[[maybe_unused]] constexpr int kSharedBytes = {body.shared_bytes};",
            f"[[maybe_unused]] constexpr bool kCollective = {'true' if collective else 'false'};",
            "",
            body.args_text(),
            "",
            body.alias_text(),
            "",
            body.text(),
            "",
            f"}}  // namespace kernel_{kernel.name}",
            "}  // namespace TILEFOUNDRY_UNIT",
            "}  // namespace tilefoundry",
            "",
            wrapper,
            "",
        ]
    )


def _shape_text(level: str, extent: int) -> str:
    return (
        "template <>\n"
        f"TILEFOUNDRY_HOST_DEVICE constexpr auto program_shape<TopologyScope::{level}>() noexcept {{\n"
        f"  return cute::Shape<cute::Int<{extent}>>{{}};\n"
        "}"
    )
