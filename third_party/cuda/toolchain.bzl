"""The CUDA toolchain: what a rule needs to run nvcc from a pinned toolkit, on any machine, with equal results."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")

CudaToolchainInfo = provider(
    doc = "A CUDA compiler. Rules find it as `ctx.toolchains[\"//third_party/cuda:toolchain_type\"].cuda`.",
    fields = {
        "copts": "list of strings: options that every nvcc command line takes, beside `source_copts`.",
        "cudart": "CcInfo: the CUDA runtime library, for host code that calls cuda*().",
        "env": "dict of strings: the whole environment of an action that runs nvcc; paths are relative to the execution root.",
        "files": "depset of Files: what nvcc needs beside itself.",
        "headers": "CcInfo: CUDA's headers, those of nvcc's own host code included.",
        "nvcc": "File: the compiler driver.",
        "version": "string: CUDA's version, as 'major.minor'.",
    },
)

# -noprof: nvcc.profile would name the toolkit by its real path, as nvcc follows links to itself; the environment below
# says the same with relative paths. -objtemp: nvcc's intermediate files are named after the output, not the process.
_COPTS = ["-noprof", "-objtemp"]

def source_copts(name):
    """The options that make an object or cubin independent of where its source lies.

    nvcc makes names unique by a hash of the source's absolute path; this puts a name of the caller's in its place.

    Args:
      name: the source's path in the workspace, or any other name that is its own in the program.
    Returns:
      list of strings.
    """
    return ["-frandom-seed=" + name, "-Xcudafe", "--orig_src_path_name=" + name]

def _environment(nvcc):
    """Everything that nvcc would else take from nvcc.profile or from the machine."""
    bin_dir = nvcc.dirname
    root = bin_dir.rpartition("/")[0]
    return {
        "CICC_PATH": root + "/nvvm/bin",
        "LC_ALL": "C",
        "NVVMIR_LIBRARY_DIR": root + "/nvvm/libdevice",
        # the host compiler that -ccbin names calls `as` by name
        "PATH": bin_dir + ":/usr/bin:/bin",
        # the folder that debug line tables name
        "PWD": "/proc/self/cwd",
    }

def _cuda_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(cuda = CudaToolchainInfo(
        copts = _COPTS + ctx.attr.copts,
        cudart = ctx.attr.cudart[CcInfo],
        env = _environment(ctx.file.nvcc),
        files = depset(ctx.files.files),
        headers = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.headers]),
        nvcc = ctx.file.nvcc,
        version = ctx.attr.version,
    ))]

cuda_toolchain = rule(
    doc = "Declares a CUDA compiler for a `toolchain()` of the type `//third_party/cuda:toolchain_type`.",
    implementation = _cuda_toolchain_impl,
    attrs = {
        "copts": attr.string_list(doc = "Options that every nvcc command line takes, beside those for reproducible output."),
        "cudart": attr.label(doc = "The CUDA runtime library.", mandatory = True, providers = [CcInfo]),
        "files": attr.label_list(
            doc = "What nvcc needs beside itself, in the layout of a CUDA toolkit: bin/, nvvm/.",
            allow_files = True,
            cfg = "exec",
        ),
        "headers": attr.label_list(doc = "CUDA's headers.", mandatory = True, providers = [CcInfo]),
        "nvcc": attr.label(
            doc = "The compiler driver, in the folder bin/ of `files`.",
            allow_single_file = True,
            cfg = "exec",
            mandatory = True,
        ),
        "version": attr.string(doc = "CUDA's version, as 'major.minor'.", mandatory = True),
    },
)
