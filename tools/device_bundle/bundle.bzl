"""device_bundle: one archive with all that a GPU machine without Bazel needs to check and time kernels."""

load("@rules_python//python:defs.bzl", "PyInfo")

def _line(mode, place, file):
    return "{}\t{}\t{}".format(mode, place, file.path)

def _device_bundle_impl(ctx):
    lines = [_line("0755", "run.sh", ctx.file.run)]
    inputs = [depset([ctx.file.run])]
    for file in ctx.files.kernels:
        # the rule that builds a library also gives its sources and ABI: on the device the library and its keys are enough
        if file.extension in ("so", "key"):
            lines.append(_line("0755", "kernels/" + file.basename, file))
            inputs.append(depset([file]))
    for folder, targets in [
        ("racecheck", ctx.attr.racecheck),
        ("tests", ctx.attr.tests),
        ("tiers", ctx.attr.tiers),
    ]:
        for target in targets:
            program = target[DefaultInfo].files_to_run.executable
            lines.append(_line("0755", folder + "/" + program.basename, program))
            inputs.append(depset([program]))
    sources = depset(transitive = [
        depset(transitive = [t[PyInfo].transitive_sources, t[DefaultInfo].default_runfiles.files])
        for t in ctx.attr.python
    ])

    # what other repositories bring (torch above all) is the machine's own, or comes through `site`
    ours = [f for f in sources.to_list() if f.owner.workspace_name == "" and f.is_source]
    lines += [_line("0644", "src/" + f.short_path, f) for f in ours]
    inputs.append(depset(ours))
    for file in ctx.files.site:
        _, _, place = file.path.partition("/site/")
        if not any([place.startswith(unused) for unused in ctx.attr.site_unused]):
            lines.append(_line("0644", "site/" + place, file))
    inputs.append(depset(ctx.files.site))

    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest")
    out = ctx.actions.declare_file(ctx.label.name + ".tar")
    ctx.actions.write(manifest, "\n".join(lines))
    ctx.actions.run(
        outputs = [out],
        inputs = depset([manifest], transitive = inputs),
        executable = ctx.executable._pack,
        arguments = [out.path, manifest.path],
        mnemonic = "DeviceBundle",
        progress_message = "Packing %{output}",
    )
    return [DefaultInfo(files = depset([out]))]

device_bundle = rule(
    implementation = _device_bundle_impl,
    doc = "<name>.tar: run.sh, kernels/, tests/, tiers/, racecheck/, src/ (Python sources) and site/ (outside packages). At most 40 MiB.",
    attrs = {
        "kernels": attr.label_list(allow_files = True, doc = "kernel libraries; of their files, *.so and *.key are taken"),
        "python": attr.label_list(providers = [PyInfo], doc = "py_library targets whose sources of this repository go in"),
        "racecheck": attr.label_list(doc = "test programs that racecheck can follow, in place of those without `_racecheck`"),
        "run": attr.label(allow_single_file = [".sh"], mandatory = True, doc = "what the machine's user calls"),
        "site": attr.label_list(allow_files = True, doc = "files of packages installed for the machine's Python"),
        "site_unused": attr.string_list(doc = "folders and files of `site`, by the start of their place, that are left out"),
        "tests": attr.label_list(doc = "test programs for the GPU"),
        "tiers": attr.label_list(doc = "the same for lower architectures"),
        "_pack": attr.label(
            default = "//tools/device_bundle:pack",
            executable = True,
            cfg = "exec",
            doc = "what writes the archive",
        ),
    },
)
