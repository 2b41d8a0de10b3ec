"""Packages from the npm registry, each pinned by its integrity and fetched when first used."""

_BUILD = """\
package(default_visibility = ["//visibility:public"])

exports_files(glob(["**"]))

filegroup(
    name = "files",
    srcs = glob(["**"]),
)
"""

_MISSING = """\
npm was not found on PATH; it fetches {spec}, which only development tools need.
Install it (Debian: apt-get install npm), or leave out the target that wants it.
"""

def _npm_package_impl(rctx):
    spec = "{}@{}".format(rctx.attr.package, rctx.attr.version)
    npm = rctx.which("npm")
    if not npm:
        fail(_MISSING.format(spec = spec))

    # The machine's own client and its settings, so that no registry is named here.
    got = rctx.execute([npm, "pack", "--silent", "--ignore-scripts", spec], timeout = 600)
    if got.return_code:
        fail("npm pack {} failed:\n{}{}".format(spec, got.stdout, got.stderr))
    archive = got.stdout.strip().split("\n")[-1]

    # Bazel's downloader reads the file back only to check it against the pin while unpacking.
    rctx.download_and_extract(
        url = "file:" + str(rctx.path(archive)),
        integrity = rctx.attr.integrity,
        stripPrefix = "package",
        type = "tar.gz",
    )
    rctx.delete(archive)
    rctx.file("BUILD.bazel", _BUILD)

_npm_package = repository_rule(
    implementation = _npm_package_impl,
    doc = "One npm package, unpacked. It runs no install script.",
    attrs = {
        "integrity": attr.string(mandatory = True, doc = "The registry's `dist.integrity` of this version."),
        "package": attr.string(mandatory = True, doc = "The package, with its scope: `@scope/name`."),
        "version": attr.string(mandatory = True, doc = "The exact version."),
    },
    environ = ["NPM_CONFIG_REGISTRY", "NPM_CONFIG_USERCONFIG"],
)

def _npm_impl(mctx):
    for module in mctx.modules:
        for tag in module.tags.package:
            _npm_package(
                name = tag.name,
                package = tag.package,
                version = tag.version,
                integrity = tag.integrity,
            )

npm = module_extension(
    implementation = _npm_impl,
    doc = "Fetches pinned npm packages with the machine's npm.",
    tag_classes = {"package": tag_class(
        doc = "One package.",
        attrs = {
            "integrity": attr.string(mandatory = True, doc = "The registry's `dist.integrity` of this version."),
            "name": attr.string(mandatory = True, doc = "The name of the repository."),
            "package": attr.string(mandatory = True, doc = "The package, with its scope: `@scope/name`."),
            "version": attr.string(mandatory = True, doc = "The exact version."),
        },
    )},
)
