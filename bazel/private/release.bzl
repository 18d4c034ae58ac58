"""The binaries of a release, as repositories that are fetched when a platform needs them."""

# The platforms of a release: the classifier of its Maven artifact, and the constraints of the platform.
PLATFORMS = {
    "linux-x86_64": ["@platforms//os:linux", "@platforms//cpu:x86_64"],
    "linux-aarch_64": ["@platforms//os:linux", "@platforms//cpu:aarch64"],
    "osx-x86_64": ["@platforms//os:macos", "@platforms//cpu:x86_64"],
    "osx-aarch_64": ["@platforms//os:macos", "@platforms//cpu:aarch64"],
    "windows-x86_64": ["@platforms//os:windows", "@platforms//cpu:x86_64"],
    "windows-aarch_64": ["@platforms//os:windows", "@platforms//cpu:aarch64"],
}

_BINARY_BUILD = """load("@tracegen//:toolchain.bzl", "tracegen_toolchain")

tracegen_toolchain(
    name = "toolchain",
    binary = "{file}",
    visibility = ["//visibility:public"],
)
"""

def _binary_impl(ctx):
    classifier = ctx.attr.classifier
    path = "dev/tracegen/tracegen/{0}/tracegen-{0}-{1}.exe".format(ctx.attr.version, classifier)

    # Windows starts only files that end in .exe.
    file = "tracegen.exe" if classifier.startswith("windows") else "tracegen"
    ctx.download(
        url = [repository.rstrip("/") + "/" + path for repository in ctx.attr.repositories],
        output = file,
        sha256 = ctx.attr.sha256,
        executable = True,
    )
    ctx.file("BUILD.bazel", _BINARY_BUILD.format(file = file))

release_binary = repository_rule(
    implementation = _binary_impl,
    doc = "The binary dev.tracegen:tracegen of one platform, from a Maven repository.",
    attrs = {
        "version": attr.string(mandatory = True),
        "classifier": attr.string(mandatory = True, values = PLATFORMS.keys()),
        "repositories": attr.string_list(mandatory = True),
        "sha256": attr.string(),
    },
)

_TOOLCHAIN = """toolchain(
    name = "{classifier}",
    exec_compatible_with = {constraints},
    toolchain = "@{prefix}{suffix}//:toolchain",
    toolchain_type = "@tracegen//:toolchain_type",
)
"""

def _suffix(classifier):
    return "_" + classifier.replace("-", "_")

def _toolchains_impl(ctx):
    ctx.file("BUILD.bazel", "\n".join([
        _TOOLCHAIN.format(
            classifier = classifier,
            constraints = PLATFORMS[classifier],
            prefix = ctx.attr.binaries,
            suffix = _suffix(classifier),
        )
        for classifier in ctx.attr.classifiers
    ]))

release_toolchains = repository_rule(
    implementation = _toolchains_impl,
    doc = "One toolchain for each platform of a release. Bazel fetches the binary of the platform that it chooses.",
    attrs = {
        "binaries": attr.string(mandatory = True, doc = "What the names of the repositories of the binaries begin with."),
        "classifiers": attr.string_list(mandatory = True),
    },
)

def release(name, version, repositories, sha256 = {}):
    """Declares the repositories of a release.

    Args:
      name: the name of the repository of the toolchains.
      version: the version, such as 0.1.0.
      repositories: addresses of Maven repositories, tried in this order.
      sha256: the SHA-256 of each binary by classifier. If it is not empty, only these platforms have a toolchain.
    """
    classifiers = [c for c in PLATFORMS if not sha256 or c in sha256]
    for classifier in classifiers:
        release_binary(
            name = name + _suffix(classifier),
            version = version,
            classifier = classifier,
            repositories = repositories,
            sha256 = sha256.get(classifier, ""),
        )
    release_toolchains(name = name, binaries = name, classifiers = classifiers)
