"""Targets that @rules_cuda must refuse, each with the message that it must give."""

load("@rules_cuda//cuda:defs.bzl", "cuda_library", "requires_cuda")
load(":analysis_test.bzl", "refusal_test")

# {name: (the wrong architecture, what the message says of it)}
_WRONG_ARCHS = {
    "bare_number": ("90a", "got '90a'"),
    "empty_code": ("compute_80:", "got '' in 'compute_80:'"),
    "real_compiled_for": ("sm_80:sm_80", "got 'sm_80:sm_80'"),
    "unknown_letter": ("sm_90z", "got 'sm_90z'"),
    "wrong_code": ("compute_80:sm_80,80", "got '80' in 'compute_80:sm_80,80'"),
    "wrong_separator": ("sm_80,sm_90a", "got 'sm_80,sm_90a'"),
}

def refusals(name):
    """Defines the wrong targets, and a test for each.

    Args:
      name: the name of the test suite.
    """
    tests = []
    for case, (arch, message) in _WRONG_ARCHS.items():
        cuda_library(
            name = case,
            srcs = ["many_registers.cu"],
            archs = [arch],
            tags = ["manual"],
            target_compatible_with = requires_cuda(),
        )
        refusal_test(
            name = case + "_test",
            message = message,
            target_under_test = case,
        )
        tests.append(case + "_test")

    cuda_library(
        name = "missing_rdc",
        srcs = ["many_registers.cu"],
        tags = ["manual"],
        target_compatible_with = requires_cuda(),
        deps = [":quadruple"],
    )
    refusal_test(
        name = "missing_rdc_test",
        message = "set rdc = True",
        target_under_test = ":missing_rdc",
    )
    native.test_suite(
        name = name,
        tests = tests + ["missing_rdc_test"],
    )
