"""The rules behind `tilefoundry_kernel`: code generation and compilers in one action."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain", "use_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "CcInfo")

_CUDA_TOOLCHAIN = Label("//third_party/cuda:toolchain_type")
_HEADERS = Label("//third_party/cuda:headers")

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
    if ctx.attr.checking:
        args.add("--checking")

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
    "checking": attr.bool(doc = "CompilerOptions.checking."),
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

cpu_kernel = rule(
    doc = "A kernel library for CPUs.",
    implementation = _cpu_kernel_impl,
    attrs = _ATTRS | {"_headers": attr.label(default = _HEADERS, providers = [CcInfo])},
    fragments = ["cpp"],
    toolchains = use_cpp_toolchain(),
)

cuda_kernel = rule(
    doc = "A kernel library for CUDA devices.",
    implementation = _cuda_kernel_impl,
    attrs = _ATTRS,
    fragments = ["cpp"],
    toolchains = [_CUDA_TOOLCHAIN] + use_cpp_toolchain(),
)
