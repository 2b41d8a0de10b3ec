"""cuda_objects: CUDA sources compiled, for a cuda_library to take in."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load(":attrs.bzl", "COMPILE_ATTRS", "TOOLCHAINS")
load(":compile.bzl", "compilation_context", "compile")
load(":providers.bzl", "CudaInfo")

def _cuda_objects_impl(ctx):
    context = compilation_context(ctx)
    objects = compile(ctx, context)
    deps = [dep[CudaInfo] for dep in ctx.attr.deps if CudaInfo in dep]
    return [
        DefaultInfo(files = depset(objects)),
        CcInfo(
            compilation_context = context,
            linking_context = cc_common.merge_linking_contexts(
                linking_contexts = [dep[CcInfo].linking_context for dep in ctx.attr.deps + [ctx.attr._runtime]],
            ),
        ),
        CudaInfo(
            objects = depset([] if ctx.attr.rdc else objects, transitive = [dep.objects for dep in deps]),
            rdc_objects = depset(objects if ctx.attr.rdc else [], transitive = [dep.rdc_objects for dep in deps]),
        ),
    ]

cuda_objects = rule(
    doc = """Compiles CUDA sources without making a library of them.

The `cuda_library` above takes the objects in; with `rdc` it links their device code together with its own.
""",
    implementation = _cuda_objects_impl,
    attrs = COMPILE_ATTRS,
    fragments = ["cpp"],
    provides = [CcInfo, CudaInfo],
    toolchains = TOOLCHAINS,
)
