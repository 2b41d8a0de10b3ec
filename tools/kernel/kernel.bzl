"""Kernel libraries, compiled ahead of time from programs in Python."""

load("@rules_python//python:defs.bzl", "py_binary")
load(":rules.bzl", "cpu_kernel", "cuda_kernel")

_MAIN = Label("//tilefoundry/driver:kernel_main.py")
_DRIVER = Label("//tilefoundry/driver:aot")

def _compiled(name, deps, target, **kwargs):
    """Instantiates the rule of a target with the code generator for the programs in `deps`."""
    testonly = kwargs.get("testonly", False)

    # One code generator for all kernels of a package that come from the same sources.
    tool = "kernel_codegen_{}".format(hash(repr((sorted([str(dep) for dep in deps]), testonly))) & 0xffffffff)
    if not native.existing_rule(tool):
        py_binary(
            name = tool,
            srcs = [_MAIN],
            main = _MAIN,
            tags = ["manual"],
            testonly = testonly,
            visibility = ["//visibility:private"],
            deps = [_DRIVER] + deps,
        )
    rule_of_target = cuda_kernel if target == "cuda" else cpu_kernel
    rule_of_target(name = name, target = target, tool = ":" + tool, **kwargs)

def tilefoundry_kernel(
        name,
        module,
        deps = [],
        target = "cuda",
        archs = [],
        optimization_level = 3,
        fast_math = False,
        line_info = False,
        stages = 0,
        min_ctas_per_sm = 0,
        unroll_loops = False,
        checking = False,
        **kwargs):
    """A kernel library: `name.so`, `name.key`, `name.abi.json` and the generated `name.sources/`.

    `tilefoundry.load("name.so")` gives what `tilefoundry.jit` gives for the same program, target and options, and
    `name.key` holds the key under which `jit` caches it. Any machine builds the same bytes with the same C++ compiler;
    none needs a GPU.

    Args:
      name: name of the target and stem of its outputs.
      module: the program, as "package.module:attribute": a Module with an entry, or a Function.
      deps: py_library targets that hold the program.
      target: "cuda", or "cpu", for which a program placed for CUDA keeps its placement.
      archs: compile architectures such as "sm_90a", or one instruction set such as "x86-64-v3"; those of the program's
        target by default.
      optimization_level: as CompilerOptions.optimization_level.
      fast_math: as CompilerOptions.fast_math.
      line_info: as CompilerOptions.line_info.
      stages: as CompilerOptions.stages; 0 leaves it to the compiler.
      min_ctas_per_sm: as CompilerOptions.min_ctas_per_sm; 0 states nothing.
      unroll_loops: as CompilerOptions.unroll_loops.
      checking: as CompilerOptions.checking: for tests, not for what is shipped.
      **kwargs: attributes that every rule has, such as visibility and tags.
    """
    _compiled(
        name,
        deps,
        target,
        archs = archs,
        checking = checking,
        fast_math = fast_math,
        line_info = line_info,
        min_ctas_per_sm = min_ctas_per_sm,
        module = module,
        optimization_level = optimization_level,
        stages = stages,
        unroll_loops = unroll_loops,
        **kwargs
    )

def tilefoundry_kernel_library(name, kernels, deps = [], target = "cuda", archs = [], **kwargs):
    """One shared library with many kernels: `name.so`, `name.key`, `name.abi.json` and the generated `name.sources/`.

    Each kernel is a translation unit of its own, whatever its program calls its functions. `tilefoundry.load("name.so",
    "entry")` gives what `tilefoundry.jit` gives for the program of that entry; a C++ program finds the entries through TVM
    FFI. `name.key` has a line `<entry> <arch> <key>` for each, with the key under which `jit` caches the program.

    Args:
      name: name of the target and stem of its outputs.
      kernels: from entries, which are names of C, to programs, as "package.module:attribute".
      deps: py_library targets that hold the programs.
      target: "cuda" or "cpu", as of `tilefoundry_kernel`, for all.
      archs: as of `tilefoundry_kernel`, for all.
      **kwargs: the options of `tilefoundry_kernel`, for all; and attributes that every rule has.
    """
    if not kernels:
        fail("tilefoundry_kernel_library '{}' has no kernels".format(name))
    _compiled(name, deps, target, archs = archs, kernels = kernels, **kwargs)
