"""A Python toolchain that says which version it is."""

def _versioned_toolchain_impl(ctx):
    runtime = ctx.attr.pair[platform_common.ToolchainInfo].py3_runtime
    return [platform_common.ToolchainInfo(
        py2_runtime = None,
        py3_runtime = runtime,
        python_version = ctx.attr.python_version,
    )]

versioned_toolchain = rule(
    implementation = _versioned_toolchain_impl,
    doc = "A py_runtime_pair with its version beside it: older py_runtime rules have no attribute for that.",
    attrs = {
        "pair": attr.label(mandatory = True, doc = "the py_runtime_pair"),
        "python_version": attr.string(mandatory = True, doc = "e.g. 3.12"),
    },
)
