"""A jar as a target with JavaInfo, without a Java toolchain. With one, use java_library or java_import."""

load("@tracegen//:java_info.bzl", "JavaProviderInfo")

def _java_jar_impl(ctx):
    return [
        DefaultInfo(files = depset([ctx.file.jar])),
        JavaProviderInfo(
            output_jar = ctx.file.jar,
            compile_jar = ctx.file.jar,
            deps = [d[JavaProviderInfo] for d in ctx.attr.deps],
        ),
    ]

java_jar = rule(
    implementation = _java_jar_impl,
    attrs = {
        "jar": attr.label(allow_single_file = [".jar"], mandatory = True),
        "deps": attr.label_list(providers = [JavaProviderInfo]),
    },
)
