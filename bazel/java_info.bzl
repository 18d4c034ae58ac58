"""JavaInfo under a name that every version of Bazel has."""

load("@tracegen_bazel_version//:symbols.bzl", _JavaProviderInfo = "JavaProviderInfo")

JavaProviderInfo = _JavaProviderInfo
