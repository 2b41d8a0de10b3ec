"""A set of files at a path in the runfiles that does not depend on where they come from."""

def _runfiles_root_impl(ctx):
    links = {}
    for file in ctx.files.srcs:
        _, found, inner = file.short_path.partition("/" + ctx.attr.strip_prefix + "/")
        if not found:
            fail("srcs: expected a path that contains '{}', got '{}'".format(ctx.attr.strip_prefix, file.short_path))
        links[ctx.attr.root + "/" + inner] = file
    return [DefaultInfo(runfiles = ctx.runfiles(root_symlinks = links))]

runfiles_root = rule(
    doc = """Lays `srcs` out under `<runfiles>/<root>/`.

The canonical name of a fetched repository depends on the Bazel release and on which module is the root; a program
that looks for its compiler at run time needs one name that holds everywhere.
""",
    implementation = _runfiles_root_impl,
    attrs = {
        "root": attr.string(doc = "The folder in the runfiles, beside the repositories' own.", mandatory = True),
        "srcs": attr.label_list(doc = "The files.", allow_files = True, mandatory = True),
        "strip_prefix": attr.string(
            doc = "Each file's path is taken from behind this folder, which every path must contain.",
            mandatory = True,
        ),
    },
)
