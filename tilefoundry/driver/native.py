"""From generated sources to a shared library: all units and the host source in parallel, then one link."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tilefoundry.codegen.host import cubin_name, emit_entries, emit_images
from tilefoundry.codegen.unit import KernelUnit, LinkableModule
from tilefoundry.diagnostics import CompileError
from tilefoundry.driver import flags
from tilefoundry.driver.addresses import fixed_addresses
from tilefoundry.driver.dump import CompileDump, current_dump
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.toolchain import HostToolchain, find_cuda, find_host
from tilefoundry.target import CpuTarget, CudaTarget

# Sources get this modification time: line tables record it. 1980-01-01, the oldest that archives can hold.
_EPOCH = 315532800


@dataclass(frozen=True)
class _Step:
    """One command, run in the working folder."""

    what: str
    command: Sequence[str]
    environment: Mapping[str, str]


# What a library is made of: one module, or several, each emitted under an export of its own.
Contents = LinkableModule | Sequence[LinkableModule]

HOST, ENTRIES, CUBINS = "host_entry.cc", "entries.cc", "cubins.S"


def generated_sources(contents: Contents, archs: Sequence[str] = ()) -> dict[str, str]:
    """File name to text of everything that is compiled for a library: kernels, host entries, tables.

    Raises:
        CompileError: two kernels have one name.
    """
    modules = _modules(contents)
    cuda = isinstance(modules[0].target, CudaTarget)
    suffix = "cu" if cuda else "cc"
    units = _units(contents)
    sources = {f"{u.name}.{suffix}": u.source for u in units}
    if len(sources) < len(units):
        names = sorted({u.name for u in units if [v.name for v in units].count(u.name) > 1})
        raise CompileError(
            f"kernels of one library share the names {names}", remedy="emit each module under its export"
        )
    if isinstance(contents, LinkableModule):
        sources[HOST] = contents.host_source
    else:
        sources |= {f"{m.entry.name}.{HOST}": m.host_source for m in modules}
        sources[ENTRIES] = emit_entries([module.entry.name for module in modules])
    if cuda:
        sources[CUBINS] = emit_images(units, archs)
    return sources


def _modules(contents: Contents) -> Sequence[LinkableModule]:
    return (contents,) if isinstance(contents, LinkableModule) else contents


def _units(contents: Contents) -> list[KernelUnit]:
    return [unit for module in _modules(contents) for unit in module.kernels]


def build_library(
    contents: Contents,
    options: CompilerOptions,
    work: Path,
    name: str,
    archs: Sequence[str] = (),
    toolchain: HostToolchain | None = None,
) -> tuple[Path, dict[str, str]]:
    """Compiles and links in the empty folder `work`; returns the library ``<work>/<name>`` and its sources.

    Args:
        contents: all for one target.
        archs: compile architectures of a CUDA library; the target's own when empty.

    Raises:
        CompileError: two kernels have one name; the target is a CPU of another family than this machine's; or a
            compiler is missing or failed: the text has the command and what it printed.
    """
    target = _modules(contents)[0].target
    if isinstance(target, CpuTarget):
        _require_family(target)
    toolchain = find_host() if toolchain is None else toolchain
    if isinstance(target, CudaTarget):
        archs = archs or (target.arch,)
    sources, units = generated_sources(contents, archs), _units(contents)
    dump = current_dump()
    if dump is not None:
        dump.sources(sources)
    for file, text in sources.items():
        (work / file).write_text(text)
        os.utime(work / file, (_EPOCH, _EPOCH))
    # A compiler driver finds its assembler and linker beside itself or on PATH. PWD is what debug information says.
    path = f"{toolchain.cxx.parent}:/usr/bin:/bin"
    environment = {"PATH": path, "LC_ALL": "C", "PWD": "/proc/self/cwd", "TMPDIR": str(work)}
    hosts = [file for file in sources if file.endswith((HOST, ENTRIES))]
    objects = [f"{Path(file).stem}.o" for file in hosts]
    steps = [
        _Step(f"host source '{file}'", flags.host_entry(toolchain, target, options, file, output), environment)
        for file, output in zip(hosts, objects, strict=True)
    ]
    if isinstance(target, CudaTarget):
        toolkit = find_cuda()
        for unit in units:
            for arch in archs:
                output = cubin_name(unit, arch)
                command = flags.cuda_kernel(toolchain, toolkit, target, options, unit, arch, f"{unit.name}.cu", output)
                steps.append(
                    _Step(f"kernel '{unit.name}' for {arch}", command, toolkit.environment() | {"TMPDIR": str(work)})
                )
        objects.append("cubins.o")
    elif isinstance(target, CpuTarget):
        for unit in units:
            output = f"{unit.name}.o"
            command = flags.cpu_kernel(toolchain, target, options, unit, f"{unit.name}.cc", output)
            steps.append(_Step(f"kernel '{unit.name}' for {target.isa}", command, environment))
            objects.append(output)
    else:
        raise CompileError(f"no compiler for target '{target.name}'", remedy="use a CudaTarget or a CpuTarget")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = [(step, pool.submit(_run, step, work)) for step in steps]
        for step, run in runs:  # in their order, not in that in which they end: a log is the same each time
            _finish(step, run.result(), dump)
    last = [_Step(f"library '{name}'", flags.link(toolchain, objects, name), environment)]
    if isinstance(target, CudaTarget):
        last.insert(0, _Step("table of cubins", flags.assemble(toolchain, CUBINS, "cubins.o"), environment))
    for step in last:
        _finish(step, _run(step, work), dump)
    return work / name, sources


def _require_family(target: CpuTarget) -> None:
    """A library is linked with this machine's TVM FFI, whatever the compiler at hand compiles for."""
    here = CpuTarget.default().family
    if target.family != here:
        raise CompileError(
            f"a library for '{target.canonical_text()}' is built on {target.family} machines only, since it is linked "
            f"with the machine's own libtvm_ffi; this is {platform.machine()}",
            remedy=f"compile it on one, or here for one of "
            f"{', '.join(isa for isa in CpuTarget.ISAS if CpuTarget(isa).family == here)}",
        )


def compile_ptx(module: LinkableModule, options: CompilerOptions, work: Path, arch: str = "") -> dict[str, str]:
    """PTX text of each kernel of a CUDA module, by kernel name; for tests and for people who tune.

    Raises:
        CompileError: as `build_library`; or the module is not for CUDA.
    """
    target = module.target
    if not isinstance(target, CudaTarget):
        raise CompileError(f"target '{target.name}' has no PTX")
    toolchain, toolkit = find_host(), find_cuda()
    texts: dict[str, str] = {}
    for unit in module.kernels:
        (work / f"{unit.name}.cu").write_text(unit.source)
        output = f"{unit.name}.ptx"
        command = flags.cuda_kernel(
            toolchain, toolkit, target, options, unit, arch or target.arch, f"{unit.name}.cu", output, ptx=True
        )
        step = _Step(f"PTX of '{unit.name}'", command, toolkit.environment() | {"TMPDIR": str(work)})
        _finish(step, _run(step, work))
        texts[unit.name] = (work / output).read_text()
    return texts


@dataclass(frozen=True)
class _Outcome:
    """What came of a command: its exit status, what it printed, and how long it took."""

    status: int
    printed: str
    seconds: float


def _run(step: _Step, work: Path) -> _Outcome:
    started = time.perf_counter()
    with fixed_addresses():
        result = subprocess.run(
            step.command,
            cwd=work,
            env=dict(step.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    return _Outcome(result.returncode, result.stdout + result.stderr, time.perf_counter() - started)


def _finish(step: _Step, outcome: _Outcome, dump: CompileDump | None = None) -> None:
    """Logs what came of a command.

    Raises:
        CompileError: it failed.
    """
    if dump is not None:
        dump.command(step.what, step.command, step.environment, outcome.printed, outcome.status, outcome.seconds)
    if outcome.status:
        raise CompileError(
            f"compiling {step.what} failed with status {outcome.status}\n"
            f"$ {shlex.join(step.command)}\n{outcome.printed}".rstrip()
        )
