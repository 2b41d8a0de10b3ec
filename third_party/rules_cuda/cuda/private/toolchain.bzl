"""The CUDA compiler as a toolchain."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")

TOOLCHAIN_TYPE = Label("//cuda:toolchain_type")

CudaToolchainInfo = provider(
    doc = "How to run nvcc.",
    fields = {
        "copts": "list of strings: options that every nvcc command line takes.",
        "device_runtime": "CcInfo or None: the device runtime, which a device link takes.",
        "env": "dict of strings: the whole environment of an action that runs nvcc.",
        "files": "depset of Files: what nvcc needs beside itself.",
        "headers": "CcInfo: CUDA's headers.",
        "nvcc": "File: the compiler driver.",
        "runtime": "CcInfo: the runtime library.",
    },
)

# -noprof: nvcc.profile would name the toolkit by its real path, as nvcc follows links to itself; the environment below
# says the same with relative paths. -objtemp: nvcc's intermediate files are named after the output, not the process.
_REPRODUCIBLE = ["-noprof", "-objtemp"]

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
        copts = _REPRODUCIBLE + ctx.attr.copts,
        device_runtime = ctx.attr.device_runtime[CcInfo] if ctx.attr.device_runtime else None,
        env = _environment(ctx.file.nvcc),
        files = depset(ctx.files.compiler_files),
        headers = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.headers]),
        nvcc = ctx.file.nvcc,
        runtime = ctx.attr.runtime[CcInfo],
    ))]

cuda_toolchain = rule(
    doc = "Declares a CUDA compiler for a `toolchain()` of the type `@rules_cuda//cuda:toolchain_type`.",
    implementation = _cuda_toolchain_impl,
    attrs = {
        "compiler_files": attr.label_list(
            doc = "What nvcc needs beside itself, in the layout of a CUDA toolkit: bin/, nvvm/.",
            allow_files = True,
            cfg = "exec",
        ),
        "copts": attr.string_list(doc = "Options that every nvcc command line takes."),
        "device_runtime": attr.label(doc = "The device runtime library (cudadevrt).", providers = [CcInfo]),
        "headers": attr.label_list(doc = "CUDA's headers.", mandatory = True, providers = [CcInfo]),
        "nvcc": attr.label(
            doc = "The compiler driver, in the folder bin/ of `compiler_files`.",
            allow_single_file = True,
            cfg = "exec",
            mandatory = True,
        ),
        "runtime": attr.label(doc = "The runtime library (cudart).", mandatory = True, providers = [CcInfo]),
    },
)

def _toolchain_runtime_impl(ctx):
    return [ctx.toolchains[TOOLCHAIN_TYPE].cuda.runtime]

toolchain_runtime = rule(
    doc = "The runtime library of the toolchain in use.",
    implementation = _toolchain_runtime_impl,
    provides = [CcInfo],
    toolchains = [TOOLCHAIN_TYPE],
)
