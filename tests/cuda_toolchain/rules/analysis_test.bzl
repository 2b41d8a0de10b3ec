"""What the rules ask nvcc to do, and what they refuse, seen through their public interface."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

_ARCHS = str(Label("@rules_cuda//cuda:archs"))

def _compilations(env):
    return [action for action in analysistest.target_actions(env) if action.mnemonic == "CudaCompile"]

def _gencode_impl(ctx):
    env = analysistest.begin(ctx)
    compilations = _compilations(env)
    asserts.true(env, compilations, "expected a compilation")
    for action in compilations:
        asserts.equals(env, ctx.attr.gencode, [arg for arg in action.argv if arg.startswith("-gencode")])
    return analysistest.end(env)

_GENCODE_ATTRS = {"gencode": attr.string_list(doc = "The options expected.")}

gencode_test = analysistest.make(
    _gencode_impl,
    attrs = _GENCODE_ATTRS,
    doc = "Checks the architectures of a target, the flag unset.",
)

flag_gencode_test = analysistest.make(
    _gencode_impl,
    attrs = _GENCODE_ATTRS,
    config_settings = {_ARCHS: "compute_80:compute_80,sm_80;sm_90a"},
    doc = "Checks the architectures of a target, the flag set.",
)

def _refusal_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.expect_failure(env, ctx.attr.message)
    return analysistest.end(env)

_REFUSAL_ATTRS = {"message": attr.string(doc = "A part of the message expected.", mandatory = True)}

refusal_test = analysistest.make(
    _refusal_impl,
    attrs = _REFUSAL_ATTRS,
    doc = "Checks that a target is refused.",
    expect_failure = True,
)

flag_refusal_test = analysistest.make(
    _refusal_impl,
    attrs = _REFUSAL_ATTRS,
    config_settings = {_ARCHS: "compute_80;90a"},
    doc = "Checks that a wrong flag is refused.",
    expect_failure = True,
)

def _hermetic_impl(ctx):
    env = analysistest.begin(ctx)
    for action in _compilations(env):
        asserts.equals(env, "C", action.env["LC_ALL"])
        for folder in [action.env["PATH"].split(":")[0], action.env["CICC_PATH"], action.env["NVVMIR_LIBRARY_DIR"]]:
            asserts.true(env, folder.startswith("external/"), "expected the pinned toolkit, got " + folder)
        for option in ["-noprof", "-objtemp", "-frandom-seed=tests/cuda_toolchain/rules/axpy.cu"]:
            asserts.true(env, option in action.argv, "expected " + option)
    return analysistest.end(env)

hermetic_test = analysistest.make(
    _hermetic_impl,
    doc = "Checks that nvcc's environment names nothing of the machine.",
)
