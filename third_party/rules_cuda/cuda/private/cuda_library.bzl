"""cuda_library: CUDA sources to a library for C++ targets."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")
load(":attrs.bzl", "COMPILE_ATTRS", "TOOLCHAINS")
load(":compile.bzl", "compilation_context", "compile")
load(":device_link.bzl", "device_link")
load(":providers.bzl", "CudaInfo")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

def _objects(ctx, context):
    """depset of Files: the target's objects and those of `cuda_objects` below it, linked for the device."""
    own = compile(ctx, context)
    below = [dep[CudaInfo] for dep in ctx.attr.deps if CudaInfo in dep]
    objects = depset(own, transitive = [info.objects for info in below])
    relocatable = depset(own if ctx.attr.rdc else [], transitive = [info.rdc_objects for info in below])
    if not relocatable:
        return objects
    if not ctx.attr.rdc:
        fail("{}: deps hold objects with relocatable device code, which need a device link: set rdc = True".format(ctx.label))
    return depset([device_link(ctx, relocatable)], transitive = [objects, relocatable])

def _cuda_library_impl(ctx):
    context = compilation_context(ctx)
    objects = _objects(ctx, context)
    cc = find_cc_toolchain(ctx)
    linked_deps = [dep[CcInfo].linking_context for dep in ctx.attr.deps + [ctx.attr._runtime]]
    device_runtime = ctx.toolchains[TOOLCHAIN_TYPE].cuda.device_runtime
    if ctx.attr.rdc and device_runtime:
        linked_deps.append(device_runtime.linking_context)
    linking_context, outputs = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        alwayslink = ctx.attr.alwayslink,
        cc_toolchain = cc,
        compilation_outputs = cc_common.create_compilation_outputs(objects = objects, pic_objects = objects),
        disallow_dynamic_library = True,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = cc,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        linking_contexts = linked_deps,
        user_link_flags = ctx.attr.linkopts,
    )
    library = outputs.library_to_link
    archives = [library.pic_static_library or library.static_library] if library else []
    return [
        DefaultInfo(files = depset([archive for archive in archives if archive])),
        OutputGroupInfo(cuda_objects = objects),
        CcInfo(compilation_context = context, linking_context = linking_context),
    ]

cuda_library = rule(
    doc = "Compiles CUDA sources and makes a static library of them, with the `cuda_objects` in `deps`.",
    implementation = _cuda_library_impl,
    attrs = COMPILE_ATTRS | {
        "alwayslink": attr.bool(doc = "Whether every object is linked, even one that nothing refers to."),
        "linkopts": attr.string_list(doc = "Options of the host's linker for what depends on this target."),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = TOOLCHAINS,
)
