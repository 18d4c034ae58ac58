"""What a WORKSPACE loads: the rules' own repository, and the binaries of a release."""

load("//private:release.bzl", _release = "release")
load("//private:version.bzl", "bazel_version")

def tracegen_repositories():
    """Declares the repository that defs.bzl needs. Call it before any BUILD file loads defs.bzl."""
    bazel_version(name = "tracegen_bazel_version")

def tracegen_release(name = "tracegen_release", version = "0.1.0", repositories = [], sha256 = {}):
    """Declares the binaries of a release, and registers a toolchain for each platform.

    The binary is dev.tracegen:tracegen:VERSION:exe:CLASSIFIER. Bazel fetches it for the platforms on which actions
    run, and for no other.

    Args:
      name: the name of the repository of the toolchains.
      version: the version of tracegen.
      repositories: addresses of Maven repositories, tried in this order.
      sha256: the SHA-256 of each binary by classifier, such as linux-x86_64. If it is not empty, only the platforms
        in it have a toolchain. Without it, Bazel does not check what it fetches.
    """
    _release(name, version, repositories, sha256)
    native.register_toolchains("@%s//:all" % name)
