"""Relocatable device code to code that runs."""

load(":compile.bzl", "common_args", "run_nvcc")
load(":toolchain.bzl", "TOOLCHAIN_TYPE")

def device_link(ctx, objects):
    """Links the device code of objects.

    Args:
      ctx: the context of a rule with COMPILE_ATTRS.
      objects: depset of Files, compiled with `rdc` for the architectures of this target.
    Returns:
      File: the object that registers the linked code; it belongs beside `objects`.
    """
    args = common_args(ctx)
    output = ctx.actions.declare_file("_objs/{0}/{0}_dlink.pic.o".format(ctx.label.name))
    cuda = ctx.toolchains[TOOLCHAIN_TYPE].cuda
    archives = []
    if cuda.device_runtime:
        for one in cuda.device_runtime.linking_context.linker_inputs.to_list():
            archives += [lib.pic_static_library or lib.static_library for lib in one.libraries]
    args.add_all(cuda.headers.compilation_context.system_includes, before_each = "-isystem")
    args.add("-dlink")
    args.add_all(objects)
    args.add_all(archives)
    args.add("-o", output)
    inputs = depset(archives, transitive = [objects, cuda.headers.compilation_context.headers])
    run_nvcc(ctx, [args], inputs, output, "CudaDeviceLink", "Linking device code of {}".format(ctx.label))
    return output
