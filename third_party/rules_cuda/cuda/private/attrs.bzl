"""The attributes and toolchains of every rule that compiles."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("@rules_cc//cc:defs.bzl", "CcInfo")
load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load(":providers.bzl", "CudaArchsInfo", "CudaInfo")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

SOURCES = ["cu", "cc", "cpp", "cxx"]
_HEADERS = [".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"]

TOOLCHAINS = [TOOLCHAIN_TYPE] + use_cc_toolchain(mandatory = True)

COMPILE_ATTRS = {
    "archs": attr.string_list(
        doc = "The architectures, each as in the flag `//cuda:archs`, in place of those of the flag.",
    ),
    "copts": attr.string_list(doc = "Options of nvcc for this target's sources."),
    "defines": attr.string_list(doc = "Macros for this target's sources and for those of what depends on it."),
    "deps": attr.label_list(
        doc = "C++ libraries, and `cuda_objects` to take in.",
        providers = [[CcInfo], [CcInfo, CudaInfo]],
    ),
    "hdrs": attr.label_list(doc = "Headers for what depends on this target.", allow_files = _HEADERS),
    "host_copts": attr.string_list(doc = "Options of the host compiler for this target's sources."),
    "includes": attr.string_list(
        doc = "Folders of this package in which this target's sources and those of what depends on it find headers.",
    ),
    "local_defines": attr.string_list(doc = "Macros for this target's sources."),
    "ptxasopts": attr.string_list(doc = "Options of ptxas for this target's sources."),
    "rdc": attr.bool(doc = "Whether device code may call device code of other files."),
    "srcs": attr.label_list(
        doc = "Sources, all compiled as CUDA, and headers of this target alone.",
        allow_files = ["." + extension for extension in SOURCES] + _HEADERS,
    ),
    "_archs": attr.label(doc = "Architectures of the build.", default = "//cuda:archs", providers = [CudaArchsInfo]),
    "_copts": attr.label(doc = "Options of nvcc for the build.", default = "//cuda:copts", providers = [BuildSettingInfo]),
    "_host_copts": attr.label(
        doc = "Options of the host compiler for the build.",
        default = "//cuda:host_copts",
        providers = [BuildSettingInfo],
    ),
    "_runtime": attr.label(doc = "The runtime library of the build.", default = "//cuda:runtime", providers = [CcInfo]),
}
