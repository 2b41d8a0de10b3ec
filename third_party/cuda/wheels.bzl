"""A repository made of the files of pinned wheels."""

load("//tools/pypi:install.bzl", "PIP_ENVIRON", "parse_lock", "pip_install")

def _wheels_repository_impl(rctx):
    lock = parse_lock(rctx.read(rctx.attr.lock))
    for name in sorted(lock):
        # NVIDIA's wheels share one folder tree, into which pip installs only the first
        pip_install(rctx, [lock[name]], "wheels/" + name)
        merged = rctx.execute(["cp", "--archive", "--link", "wheels/{}/.".format(name), "site"])
        if merged.return_code:
            fail("cannot lay out {}: {}".format(name, merged.stderr))
    rctx.delete("wheels")
    rctx.symlink(rctx.attr.build_file, "BUILD.bazel")

wheels_repository = repository_rule(
    doc = "Lays the files of every wheel of a lock file out in the folder `site`.",
    implementation = _wheels_repository_impl,
    attrs = {
        "build_file": attr.label(doc = "The BUILD file of the repository.", mandatory = True),
        "lock": attr.label(doc = "A pip requirements file, each line pinned by hash.", mandatory = True),
    },
    environ = PIP_ENVIRON,
)
