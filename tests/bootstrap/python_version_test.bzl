"""Which packages a build gets under which Python toolchain, and what it is told when there are none."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_python//python:defs.bzl", "PyInfo")

def _under(toolchain):
    return {"//command_line_option:extra_toolchains": [str(Label("//tests/bootstrap:" + toolchain))]}

def _follows_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    asserts.true(env, "tilefoundry_pypi_312_" in target.label.workspace_name, "under 3.12: " + str(target.label))
    asserts.true(env, PyInfo in target, "no PyInfo")
    return analysistest.end(env)

packages_follow_toolchain_test = analysistest.make(_follows_impl, config_settings = _under("python_3_12"))

def _unsupported_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "is Python 3.14, but packages are locked for Python 3.11, 3.12, 3.13")
    return analysistest.end(env)

unsupported_python_test = analysistest.make(
    _unsupported_impl,
    config_settings = _under("python_3_14"),
    expect_failure = True,
)

def _unknown_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, "does not say which version it is")
    return analysistest.end(env)

unknown_python_test = analysistest.make(
    _unknown_impl,
    config_settings = _under("python_unknown"),
    expect_failure = True,
)
