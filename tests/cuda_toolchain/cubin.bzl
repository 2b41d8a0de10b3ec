"""A cubin straight from the project's own toolchain type, as a rule outside this repository would make it."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("//third_party/cuda:toolchain.bzl", "source_copts")

_CUDA = Label("//third_party/cuda:toolchain_type")

def _cubin_impl(ctx):
    cuda = ctx.toolchains[_CUDA].cuda
    cc = find_cc_toolchain(ctx)
    infos = [cuda.headers] + [dep[CcInfo] for dep in ctx.attr.deps]
    context = cc_common.merge_compilation_contexts(compilation_contexts = [info.compilation_context for info in infos])
    output = ctx.actions.declare_file(ctx.label.name + ".cubin")

    args = ctx.actions.args()
    args.add_all(cuda.copts)
    args.add("-ccbin", cc.compiler_executable)
    args.add_all(["-cubin", "-std=c++17", "-arch=" + ctx.attr.arch])
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    args.add_all(source_copts(ctx.file.src.short_path))
    args.add(ctx.file.src)
    args.add("-o", output)
    ctx.actions.run(
        arguments = [args],
        env = cuda.env,
        executable = cuda.nvcc,
        inputs = depset([ctx.file.src], transitive = [context.headers]),
        mnemonic = "Cubin",
        outputs = [output],
        toolchain = _CUDA,
        tools = depset(transitive = [cuda.files, cc.all_files]),
    )
    return [DefaultInfo(files = depset([output]))]

cubin = rule(
    doc = "Compiles the kernels of one source for one architecture.",
    implementation = _cubin_impl,
    attrs = {
        "arch": attr.string(doc = "The architecture, such as 'sm_90a'.", mandatory = True),
        "deps": attr.label_list(doc = "Header libraries.", providers = [CcInfo]),
        "src": attr.label(doc = "The source.", allow_single_file = [".cu"], mandatory = True),
    },
    fragments = ["cpp"],
    toolchains = [_CUDA] + use_cc_toolchain(mandatory = True),
)
