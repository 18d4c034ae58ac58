"""The toolchain: the binary of tracegen for the platform on which actions run."""

def _tracegen_toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(tracegen = ctx.attr.binary[DefaultInfo].files_to_run)]

tracegen_toolchain = rule(
    implementation = _tracegen_toolchain_impl,
    doc = """Names a binary of tracegen. Wrap it in a toolchain of type @tracegen//:toolchain_type:

    tracegen_toolchain(
        name = "tracegen",
        binary = "//tools:tracegen",
    )

    toolchain(
        name = "tracegen_toolchain",
        exec_compatible_with = ["@platforms//os:linux", "@platforms//cpu:x86_64"],
        toolchain = ":tracegen",
        toolchain_type = "@tracegen//:toolchain_type",
    )""",
    attrs = {
        "binary": attr.label(
            mandatory = True,
            executable = True,
            allow_single_file = True,
            cfg = "exec",
            doc = "The binary: a file with the executable bit, or a target that builds it.",
        ),
    },
)
