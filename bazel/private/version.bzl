"""What differs between versions of Bazel, as a repository whose files name the right symbols."""

def _major(version, bzlmod):
    # A Bazel that was built from sources, as Debian's 4.2.3, may have no version. Bazel 9 has no WORKSPACE.
    first = version.split(".")[0]
    return int(first) if first.isdigit() else (9 if bzlmod else 4)

# Bazel 8 has no built-in JavaInfo; older versions need no rules_java for it.
_BUILT_IN = "JavaProviderInfo = JavaInfo\n"
_RULES_JAVA = """load("@rules_java//java/common:java_info.bzl", "JavaInfo")

JavaProviderInfo = JavaInfo
"""

def _bazel_version_impl(ctx):
    major = _major(native.bazel_version, ctx.attr.bzlmod)
    ctx.file("BUILD.bazel", "")
    ctx.file("symbols.bzl", _RULES_JAVA if major >= 8 else _BUILT_IN)
    ctx.file("features.bzl", "RUN_HAS_TOOLCHAIN = %s\n" % (major >= 6))

bazel_version = repository_rule(
    implementation = _bazel_version_impl,
    doc = """Writes the symbols that differ between versions of Bazel.

symbols.bzl exports JavaProviderInfo, the provider JavaInfo. features.bzl exports RUN_HAS_TOOLCHAIN: whether
ctx.actions.run takes the argument toolchain.""",
    attrs = {"bzlmod": attr.bool(doc = "MODULE.bazel declares the repository, and not WORKSPACE.")},
)
