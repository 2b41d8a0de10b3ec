"""Kernel libraries, compiled ahead of time from programs in Python."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_python//python:defs.bzl", "py_binary")

_CUDA_TOOLCHAIN = Label("//third_party/cuda:toolchain_type")
_HEADERS = Label("//third_party/cuda:headers")
_MAIN = Label("//tilefoundry/driver:kernel_main.py")
_DRIVER = Label("//tilefoundry/driver:aot")

def _compile(ctx, headers, env, inputs):
    """Runs code generation and the compilers in one action, and returns the rule's providers."""
    cc = find_cpp_toolchain(ctx)
    stem = ctx.label.name
    library = ctx.actions.declare_file(stem + ".so")
    key = ctx.actions.declare_file(stem + ".key")
    abi = ctx.actions.declare_file(stem + ".abi.json")
    sources = ctx.actions.declare_directory(stem + ".sources")

    args = ctx.actions.args()
    if ctx.attr.kernels:
        args.add_all(["{}={}".format(*item) for item in ctx.attr.kernels.items()], before_each = "--entry")
    else:
        args.add("--module", ctx.attr.module)
    args.add("--name", stem)
    args.add("--out", library.dirname)
    args.add("--target", ctx.attr.target)
    args.add_all(ctx.attr.archs, before_each = "--arch")
    args.add("--optimization-level", ctx.attr.optimization_level)
    if ctx.attr.fast_math:
        args.add("--fast-math")
    if ctx.attr.line_info:
        args.add("--line-info")
    if ctx.attr.stages:
        args.add("--stages", ctx.attr.stages)
    if ctx.attr.min_ctas_per_sm:
        args.add("--min-ctas-per-sm", ctx.attr.min_ctas_per_sm)
    if ctx.attr.unroll_loops:
        args.add("--unroll-loops")

    context = headers.compilation_context
    include = context.system_includes.to_list() + context.includes.to_list()
    ctx.actions.run(
        executable = ctx.executable.tool,
        arguments = [args],
        inputs = depset(transitive = [context.headers]),
        tools = depset(transitive = inputs + [cc.all_files]),
        outputs = [library, key, abi, sources],
        env = env | {
            "CXX": cc.compiler_executable,
            "LC_ALL": "C",
            "PATH": "/usr/bin:/bin",
            "TILEFOUNDRY_CUDA_INCLUDE": ":".join(include),
        },
        mnemonic = "TileFoundryKernel",
        progress_message = "Compiling kernels of %{label}",
    )
    files = depset([library, key, abi, sources])
    return [
        DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files)),
        OutputGroupInfo(
            abi = depset([abi]),
            key = depset([key]),
            library = depset([library]),
            sources = depset([sources]),
        ),
    ]

def _cpu_kernel_impl(ctx):
    return _compile(ctx, ctx.attr._headers[CcInfo], {}, [])

def _cuda_kernel_impl(ctx):
    cuda = ctx.toolchains[_CUDA_TOOLCHAIN].cuda
    env = {"TILEFOUNDRY_CUDA": cuda.nvcc.dirname.rpartition("/")[0]}
    return _compile(ctx, cuda.headers, env, [cuda.files, depset([cuda.nvcc])])

_ATTRS = {
    "archs": attr.string_list(doc = "Compile architectures (CUDA) or the instruction set (CPU)."),
    "fast_math": attr.bool(doc = "CompilerOptions.fast_math."),
    "kernels": attr.string_dict(doc = "Of a library of several: entry to program, as 'package.module:attribute'."),
    "line_info": attr.bool(doc = "CompilerOptions.line_info."),
    "min_ctas_per_sm": attr.int(doc = "CompilerOptions.min_ctas_per_sm; 0 is None."),
    "module": attr.string(doc = "Of a library of one: the program, as 'package.module:attribute'."),
    "optimization_level": attr.int(default = 3, doc = "CompilerOptions.optimization_level."),
    "stages": attr.int(doc = "CompilerOptions.stages; 0 is None."),
    "target": attr.string(doc = "'cuda' or 'cpu'.", values = ["cuda", "cpu"]),
    "tool": attr.label(doc = "The code generator, with the program.", cfg = "exec", executable = True, mandatory = True),
    "unroll_loops": attr.bool(doc = "CompilerOptions.unroll_loops."),
    "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
}

_cpu_kernel = rule(
    doc = "A kernel library for CPUs.",
    implementation = _cpu_kernel_impl,
    attrs = _ATTRS | {"_headers": attr.label(default = _HEADERS, providers = [CcInfo])},
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)

_cuda_kernel = rule(
    doc = "A kernel library for CUDA devices.",
    implementation = _cuda_kernel_impl,
    attrs = _ATTRS,
    fragments = ["cpp"],
    toolchains = [_CUDA_TOOLCHAIN] + use_cpp_toolchain(),
)

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
    rule_of_target = _cuda_kernel if target == "cuda" else _cpu_kernel
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
      **kwargs: attributes that every rule has, such as visibility and tags.
    """
    _compiled(
        name,
        deps,
        target,
        archs = archs,
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
