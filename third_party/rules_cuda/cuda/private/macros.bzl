"""cuda_binary, cuda_test, requires_cuda."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_test")
load(":attrs.bzl", "COMPILE_ATTRS")
load(":cuda_library.bzl", "cuda_library")

_OF_BOTH = ["compatible_with", "exec_compatible_with", "features", "restricted_to", "tags", "target_compatible_with", "testonly"]

def _with_library(cc_rule, name, attrs):
    """A cuda_library of the sources, and a target of `cc_rule` over it."""
    library = {key: attrs.pop(key) for key in list(attrs) if key in COMPILE_ATTRS}
    library |= {key: attrs[key] for key in _OF_BOTH if key in attrs}
    cuda_library(
        name = "_" + name,
        # main() is in the library, and nothing refers to it
        alwayslink = True,
        visibility = ["//visibility:private"],
        **library
    )
    cc_rule(name = name, deps = [":_" + name], **attrs)

def cuda_binary(name, **attrs):
    """A program of CUDA sources.

    Args:
      name: the name of the target.
      **attrs: the attributes of `cuda_library` for the sources, and those of `cc_binary` for the program.
    """
    _with_library(cc_binary, name, attrs)

def cuda_test(name, **attrs):
    """A test of CUDA sources.

    Args:
      name: the name of the target.
      **attrs: the attributes of `cuda_library` for the sources, and those of `cc_test` for the test.
    """
    _with_library(cc_test, name, {"testonly": True} | attrs)

def requires_cuda():
    """For `target_compatible_with`: the target is left out of a build with `--@rules_cuda//cuda:enable=False`.

    Returns:
      select of constraints.
    """
    return select({
        Label("//cuda:is_enabled"): [],
        "//conditions:default": [Label("@platforms//:incompatible")],
    })
