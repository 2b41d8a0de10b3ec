"""Tests on a GPU: kernels for several tiers of the runtime, and programs over them."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@rules_cuda//cuda:defs.bzl", "cuda_library", "requires_cuda")

# What a tier compiles for. Below sm_90 the source takes the paths of that architecture (mma.sync, cp.async, no bulk
# copies), and the machine code is that of the GPU that the tests run on. sm_89 differs from sm_80 in formats of 8 bits
# alone. In `_racecheck`, barriers of pipelines are such as the racecheck of compute-sanitizer can follow. Tiers are built
# for the device bundle, not by `//...`: they take as long as the tests themselves.
_ARCHS = {
    "": "sm_90a",
    "_racecheck": "sm_90a",
    "_sm_80": "compute_80:sm_90",
    "_sm_89": "compute_89:sm_90",
}

def _tags(tier, manual):
    return ["manual"] if tier or manual else []

def device_kernel(name, srcs, unit, local_defines = [], manual = False, tiers = [], **attrs):
    """Kernels for a GPU: `<name>` for sm_90a, and `<name><tier>` for the tiers. A warning is an error.

    Args:
      name: the name of the libraries.
      srcs: one CUDA source and what it includes.
      unit: the unit's namespace.
      local_defines: further macros.
      manual: whether they are for the device bundle alone, as the tiers are.
      tiers: what there are further libraries for: `_sm_80`, `_sm_89`, `_racecheck`.
      **attrs: further attributes of `cuda_library`.
    """
    for tier in [""] + tiers:
        cuda_library(
            name = name + tier,
            testonly = True,
            srcs = srcs,
            archs = [_ARCHS[tier]],
            # --compress-mode: a fifth of the size, which the device bundle has to carry. All-warnings: nvcc's own, for
            # the GPU's side, and those of the assembler.
            copts = [
                "--compress-mode=size",
                "-Werror=all-warnings",
            ],
            host_copts = [
                "-Wall",
                "-Wextra",
                "-Werror",
            ],
            local_defines = local_defines + [
                "TILEFOUNDRY_TARGET_CUDA=1",
                "TILEFOUNDRY_UNIT=" + unit,
                "TILEFOUNDRY_WITHOUT_CUTE_COPY",
            ] + (["TILEFOUNDRY_RACECHECK"] if tier == "_racecheck" else []),
            tags = _tags(tier, manual),
            target_compatible_with = requires_cuda(),
            deps = ["//tilefoundry/runtime/include:headers_with_warnings"],
            **attrs
        )

def device_test(name, srcs, kernels, deps = [], manual = False, tiers = [], **attrs):
    """A program that runs kernels on a GPU, and for each tier one more.

    For each there is a test `<name>_device_test<tier>` with the tag `gpu`, and `<name>_device<tier>`, one file without
    the names of templates, which the device bundle carries to the GPU machine.

    Args:
      name: the name without `_device`.
      srcs: the sources of the cases (see device_cases.h).
      kernels: names of `device_kernel`s.
      deps: what else the program stands on.
      manual: as for `device_kernel`.
      tiers: what there are further programs for, as for the kernels.
      **attrs: further attributes of `cc_library`.
    """
    for tier in [""] + tiers:
        # A test's object files are its own: the bundle's program is another target over the same library.
        cc_library(
            name = name + "_device_main" + tier,
            testonly = True,
            srcs = srcs + [":device_cases"],
            tags = _tags(tier, manual),
            target_compatible_with = requires_cuda(),
            deps = [":{}{}".format(kernel, tier) for kernel in kernels] + deps + ["//third_party/cuda:headers"],
            **attrs
        )
        cc_test(
            name = name + "_device_test" + tier,
            size = "medium",
            tags = ["gpu"] + _tags(tier, manual),
            target_compatible_with = requires_cuda(),
            deps = [":{}_device_main{}".format(name, tier)],
        )
        cc_binary(
            name = name + "_device" + tier,
            testonly = True,
            linkopts = ["-Wl,--strip-all"],
            linkstatic = True,
            tags = _tags(tier, manual),
            target_compatible_with = requires_cuda(),
            visibility = ["//tools/device_bundle:__pkg__"],
            deps = [":{}_device_main{}".format(name, tier)],
        )
