"""Command lines of the compilers. The same inputs give the same bytes, whatever folder they lie in."""

from __future__ import annotations

from tilefoundry.codegen.unit import KernelUnit
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.toolchain import CudaToolkit, HostToolchain
from tilefoundry.target import CpuTarget, CudaTarget, Target

_MARCH = {
    "x86-64-v2": "-march=x86-64-v2",
    "x86-64-v3": "-march=x86-64-v3",
    "x86-64-v4": "-march=x86-64-v4",
    "aarch64": "-march=armv8-a",
}


def target_macro(target: Target) -> str:
    """The macro that gives the runtime headers their meaning."""
    return f"-DTILEFOUNDRY_TARGET_{target.name.upper()}=1"


def _headers(toolchain: HostToolchain) -> list[str]:
    # Not -isystem: gcc then follows links to where a header really lies, which __FILE__ would tell. And no warnings:
    # those about other people's headers are of no use to whoever compiles a kernel.
    flags = ["-w", *(f"-I{path}" for path in toolchain.include)]
    return flags + [f"-ffile-prefix-map={path}=include/{i}" for i, path in enumerate(toolchain.include)]


def _unit(unit: KernelUnit, target: Target, options: CompilerOptions) -> list[str]:
    suffix = "_checked" if options.checking else ""  # another meaning of the same names
    # Kernels copy with the project's own ops: CuTe's copy would double the time in which a header is read.
    return [*_macros(target, options), f"-DTILEFOUNDRY_UNIT=k_{unit.digest}{suffix}", "-DTILEFOUNDRY_WITHOUT_CUTE_COPY"]


def _macros(target: Target, options: CompilerOptions) -> list[str]:
    return [target_macro(target), *(["-DTILEFOUNDRY_CHECKED=1"] if options.checking else [])]


_SHARED_OBJECT = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"]


def host_entry(
    toolchain: HostToolchain, target: Target, options: CompilerOptions, source: str, output: str
) -> list[str]:
    """Compiles a host source: plain C++ for the oldest CPU of the family, since it runs before anything is checked.

    It holds no loop that more than -O2 could improve.
    """
    flags = [
        *_SHARED_OBJECT,
        f"-O{min(2, options.optimization_level)}",
        *_macros(target, options),
        "-DTILEFOUNDRY_HOST_ENTRY=1",
    ]
    return [str(toolchain.cxx), *flags, *_headers(toolchain), "-c", source, "-o", output]


def cpu_kernel(
    toolchain: HostToolchain, target: CpuTarget, options: CompilerOptions, unit: KernelUnit, source: str, output: str
) -> list[str]:
    """Compiles a kernel for the CPU runtime.

    Products and sums are contracted to fused operations, as CUDA does and as both compilers must be told: it removes a
    rounding, never adds one. Without fast math, infinities and NaNs keep their meaning; errno and traps never had one.
    """
    flags = [*_SHARED_OBJECT, f"-O{options.optimization_level}", _MARCH[target.isa]]
    flags += ["-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
    if options.optimization_level > 0:
        flags.append("-DNDEBUG")  # without it the runtime poisons shared memory before every CTA
    if options.unroll_loops:
        flags.append("-funroll-loops")
    if options.fast_math:
        flags.append("-ffast-math")
    if options.line_info:
        flags += ["-gline-tables-only"] if "clang" in toolchain.cxx.name else ["-g1"]
    return [str(toolchain.cxx), *flags, *_unit(unit, target, options), *_headers(toolchain), "-c", source, "-o", output]


def cuda_kernel(
    toolchain: HostToolchain,
    toolkit: CudaToolkit,
    target: CudaTarget,
    options: CompilerOptions,
    unit: KernelUnit,
    arch: str,
    source: str,
    output: str,
    *,
    ptx: bool = False,
) -> list[str]:
    """Compiles a kernel to a cubin, or to PTX text.

    -noprof: the environment says where the toolkit is, not a file beside the real path of nvcc.
    -objtemp: intermediate files are named after the output, not after a process.
    """
    flags = [
        "-noprof",
        "-objtemp",
        "-ptx" if ptx else "-cubin",
        f"-arch={arch}",
        "-std=c++17",
        "--expt-relaxed-constexpr",
    ]
    # names in the module come from the unit, not from where the source lies
    flags += [f"-frandom-seed={unit.name}", "-Xcudafe", f"--orig_src_path_name={unit.name}.cu"]
    flags += ["-ccbin", str(toolchain.cxx), f"-Xptxas=-O{options.optimization_level}"]
    if options.optimization_level == 0:
        flags.append("-Xcicc=-O0")
    if options.fast_math:
        flags.append("--use_fast_math")
    if options.line_info:
        flags.append("-lineinfo")
    headers = [f"-Xcompiler={f}" if f.startswith("-ffile") else f for f in _headers(_with_toolkit(toolchain, toolkit))]
    return [str(toolkit.nvcc), *flags, *_unit(unit, target, options), *headers, source, "-o", output]


def _with_toolkit(toolchain: HostToolchain, toolkit: CudaToolkit) -> HostToolchain:
    """The toolchain with the CUDA headers of the compiler that compiles, if it has some: others may be found first."""
    if not (toolkit.root / "include" / "cuda.h").is_file():
        return toolchain
    others = [p for p in toolchain.include if not (p / "cuda.h").is_file() and p.name != "cccl"]
    return HostToolchain(toolchain.cxx, (*others, *toolkit.include), toolchain.ffi_library)


def assemble(toolchain: HostToolchain, source: str, output: str) -> list[str]:
    """Assembles the table of cubins."""
    return [str(toolchain.cxx), "-c", source, "-o", output]


def link(toolchain: HostToolchain, objects: list[str], output: str) -> list[str]:
    """Links a library; nothing may be left undefined, and its bytes depend on the objects only.

    The C++ library is named because a build system may know the compiler by its C driver.
    """
    flags = ["-shared", "-pthread", "-Wl,--build-id=none", "-Wl,-z,defs", "-Wl,-z,noexecstack", "-Wl,--as-needed"]
    ffi = ["-L" + str(toolchain.ffi_library.parent), "-ltvm_ffi", "-lstdc++", "-lm", "-ldl"]
    return [str(toolchain.cxx), *flags, "-o", output, *objects, *ffi]
