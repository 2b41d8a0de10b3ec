"""CUDA sources to objects."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load(":archs.bzl", "parse_archs")
load(":attrs.bzl", "SOURCES")
load(":providers.bzl", "CudaArchsInfo")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

_OPTIMIZATION = {
    "dbg": ["-O0", "-g"],
    "fastbuild": ["-O1"],
    "opt": ["-O2", "-DNDEBUG"],
}

# The same for every machine and day, as Bazel's own C++ toolchain has it.
_HOST_COPTS = ["-fPIC", "-Wno-builtin-macro-redefined"] + [
    "-D__{}__=\"redacted\"".format(macro)
    for macro in ["DATE", "TIMESTAMP", "TIME"]
]

def _for_host(option):
    # nvcc splits the value at commas, takes a backslash for an escape, and hands the rest to a shell
    quoted = "'{}'".format(option.replace("'", "'\\''"))
    return "-Xcompiler=" + quoted.replace("\\", "\\\\").replace(",", "\\,")

def _define(macro):
    # the host compiler preprocesses for host and device alike; nvcc's own -D garbles commas, `$` and backslashes
    return _for_host("-D" + macro)

def _quoted(folder):
    return _for_host("-iquote" + folder)

def compilation_context(ctx):
    """Collects headers, macros and folders.

    Args:
      ctx: the context of a rule with COMPILE_ATTRS.
    Returns:
      CcCompilationContext: what this target's sources see, and the sources of what depends on it.
    """
    roots = [ctx.label.workspace_root or ".", "/".join([p for p in [ctx.bin_dir.path, ctx.label.workspace_root] if p])]
    includes = []
    for folder in ctx.attr.includes:
        for root in roots:
            includes.append("/".join([p for p in [root, ctx.label.package, folder] if p not in ["", "."]]) or ".")
    own = cc_common.create_compilation_context(
        defines = depset(ctx.attr.defines),
        headers = depset(ctx.files.hdrs),
        quote_includes = depset(roots),
        system_includes = depset(includes),
    )
    deps = [dep[CcInfo].compilation_context for dep in ctx.attr.deps + [ctx.attr._runtime]]
    deps.append(ctx.toolchains[TOOLCHAIN_TYPE].cuda.headers.compilation_context)
    return cc_common.merge_compilation_contexts(compilation_contexts = [own] + deps)

def _stems(srcs):
    """{File: path of its object, without extension}: files of one name get folders of their own."""
    by_name = {}
    for src in srcs:
        name = src.basename.removesuffix("." + src.extension)
        by_name.setdefault(name, []).append(src)
    return {
        src: "{}/{}".format(number, name) if len(same) > 1 else name
        for name, same in by_name.items()
        for number, src in enumerate(same)
    }

def common_args(ctx):
    """Collects the options that a compilation and a device link share.

    Args:
      ctx: the context of a rule with COMPILE_ATTRS.
    Returns:
      Args: host compiler, architectures, the toolchain's options.
    """
    cc = find_cc_toolchain(ctx)
    gencode = parse_archs(";".join(ctx.attr.archs), "{}: archs".format(ctx.label))
    args = ctx.actions.args()
    args.add("-ccbin", cc.compiler_executable)
    args.add_all(gencode or ctx.attr._archs[CudaArchsInfo].gencode, format_each = "-gencode=%s")
    args.add_all(ctx.toolchains[TOOLCHAIN_TYPE].cuda.copts)
    if cc.sysroot:
        args.add(_for_host("--sysroot=" + cc.sysroot))
    args.add_all(_HOST_COPTS, map_each = _for_host)
    return args

def run_nvcc(ctx, arguments, inputs, output, mnemonic, message):
    """Runs nvcc in the toolchain's environment, nothing of the machine's in it."""
    cuda = ctx.toolchains[TOOLCHAIN_TYPE].cuda
    ctx.actions.run(
        arguments = arguments,
        env = cuda.env,
        executable = cuda.nvcc,
        inputs = inputs,
        mnemonic = mnemonic,
        outputs = [output],
        progress_message = message,
        toolchain = TOOLCHAIN_TYPE,
        tools = depset(transitive = [cuda.files, find_cc_toolchain(ctx).all_files]),
    )

def compile(ctx, context):
    """Compiles each source of the target.

    Args:
      ctx: the context of a rule with COMPILE_ATTRS.
      context: what the sources see.
    Returns:
      list of Files: one position-independent object for each source.
    """
    args = common_args(ctx)
    args.add_all(["-x", "cu"] + _OPTIMIZATION[ctx.var["COMPILATION_MODE"]])
    if ctx.attr.rdc:
        args.add("-rdc=true")
    args.add_all(depset(ctx.attr.local_defines, transitive = [context.defines]), map_each = _define)
    args.add_all(context.quote_includes, map_each = _quoted)
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    args.add_all(context.external_includes, before_each = "-isystem")
    args.add_all(ctx.attr._host_copts[BuildSettingInfo].value + ctx.attr.host_copts, map_each = _for_host)
    args.add_all(ctx.attr.ptxasopts, format_each = "-Xptxas=%s")
    args.add_all(ctx.attr._copts[BuildSettingInfo].value + ctx.attr.copts)

    objects = []
    headers = [src for src in ctx.files.srcs if src.extension not in SOURCES]
    for src, stem in _stems([src for src in ctx.files.srcs if src.extension in SOURCES]).items():
        obj = ctx.actions.declare_file("_objs/{}/{}.pic.o".format(ctx.label.name, stem))

        # The names that nvcc makes unique come from the path in the workspace, not from where the workspace lies.
        own = ctx.actions.args()
        own.add(src.path, format = "-frandom-seed=%s")
        own.add("-Xcudafe")
        own.add(src.path, format = "--orig_src_path_name=%s")
        own.add("-c", src)
        own.add("-o", obj)
        inputs = depset([src] + headers, transitive = [context.headers])
        run_nvcc(ctx, [args, own], inputs, obj, "CudaCompile", "Compiling {} for CUDA".format(src.short_path))
        objects.append(obj)
    return objects
