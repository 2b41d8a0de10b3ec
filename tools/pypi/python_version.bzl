"""The Python version of the toolchain in use, as something to select() on."""

_TOOLCHAIN = "@rules_python//python:toolchain_type"

def _version_of(ctx):
    toolchain = ctx.toolchains[_TOOLCHAIN]

    # stated by our own toolchains; those of rules_python state it in the runtime
    if hasattr(toolchain, "python_version"):
        return toolchain.python_version
    info = getattr(toolchain.py3_runtime, "interpreter_version_info", None)
    return "{}.{}".format(info.major, info.minor) if info else "unknown"

def _python_version_impl(ctx):
    return [config_common.FeatureFlagInfo(value = _version_of(ctx))]

python_version = rule(
    implementation = _python_version_impl,
    doc = "A flag whose value is the toolchain's version (`3.12`), or `unknown` where its py_runtime does not state it.",
    toolchains = [_TOOLCHAIN],
)

def _unsupported_python_impl(ctx):
    version = _version_of(ctx)
    if version == "unknown":
        fail("@{}: the registered Python toolchain does not say which version it is. Set interpreter_version_info in its py_runtime (supported: {}).".format(
            ctx.attr.hub,
            ", ".join(ctx.attr.supported),
        ))
    fail("@{}: the registered Python toolchain is Python {}, but packages are locked for Python {}. Register a toolchain of one of these.".format(
        ctx.attr.hub,
        version,
        ", ".join(ctx.attr.supported),
    ))

unsupported_python = rule(
    implementation = _unsupported_python_impl,
    doc = "Fails, naming the toolchain's version and the supported ones.",
    attrs = {
        "hub": attr.string(mandatory = True, doc = "name of the hub that is used"),
        "supported": attr.string_list(mandatory = True, doc = "versions that packages are locked for"),
    },
    toolchains = [_TOOLCHAIN],
)
