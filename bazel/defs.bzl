"""Rules that instrument jars with tracegen. See docs/bazel.md of tracegen."""

load("//:toolchain.bzl", _tracegen_toolchain = "tracegen_toolchain")
load("//private:aspect.bzl", _scans_aspect = "scans_aspect")
load("//private:binary.bzl", _tracegen_binary = "tracegen_binary")
load("//private:jars.bzl", _TracegenInfo = "TracegenInfo", _tracegen_jars = "tracegen_jars")

TracegenInfo = _TracegenInfo
scans_aspect = _scans_aspect
tracegen_binary = _tracegen_binary
tracegen_jars = _tracegen_jars
tracegen_toolchain = _tracegen_toolchain
