"""A repository made of the files of pinned wheels."""

load("//tools/pypi:install.bzl", "parse_lock", "pip_install")

def _wheels_repository_impl(rctx):
    lock = parse_lock(rctx.read(rctx.attr.lock))
    pip_install(rctx, [lock[name] for name in sorted(lock)], "site")
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

wheels_repository = repository_rule(
    doc = "Installs every wheel of a lock file into the folder `site`.",
    implementation = _wheels_repository_impl,
    attrs = {
        "build_file": attr.label(doc = "The BUILD file of the repository.", mandatory = True),
        "lock": attr.label(doc = "A pip requirements file, each line pinned by hash.", mandatory = True),
    },
    environ = ["PYTHON", "PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_FIND_LINKS"],
)
