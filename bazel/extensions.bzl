"""What a MODULE.bazel uses: the rules' own repository, and the binaries of a release. Needs Bazel 6 or later."""

load("//private:release.bzl", "release")
load("//private:version.bzl", "bazel_version")

def _tracegen_impl(ctx):
    bazel_version(name = "tracegen_bazel_version", bzlmod = True)
    for module in ctx.modules:
        if not module.is_root:
            continue  # the app decides which release instruments it
        for tag in module.tags.release:
            release(tag.name, tag.version, tag.repositories, tag.sha256)

tracegen = module_extension(
    implementation = _tracegen_impl,
    doc = "Declares the binaries of a release. Register the toolchains of its repository.",
    tag_classes = {
        "release": tag_class(
            doc = "A release in a Maven repository.",
            attrs = {
                "name": attr.string(
                    default = "tracegen_release",
                    doc = "The name of the repository of the toolchains.",
                ),
                "version": attr.string(default = "0.1.0", doc = "The version of tracegen."),
                "repositories": attr.string_list(
                    mandatory = True,
                    doc = "Addresses of Maven repositories, tried in this order.",
                ),
                "sha256": attr.string_dict(
                    doc = "The SHA-256 of each binary by classifier. If it is not empty, only these platforms have a " +
                          "toolchain.",
                ),
            },
        ),
    },
)
