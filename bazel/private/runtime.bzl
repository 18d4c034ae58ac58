"""The runtime that the binary of tracegen contains."""

load(":actions.bzl", "TOOLCHAIN", "run_tracegen")

_JARS = [
    "tracegen-runtime.jar",
    "tracegen-runtime-core.jar",
    "tracegen-runtime-android.aar",
    "tracegen-runtime-report.jar",
    "tracegen-runtime-noop.jar",
    "tracegen-runtime-matrix.jar",
]

def _built_in_runtime_impl(ctx):
    files = [ctx.actions.declare_file(ctx.label.name + ".tracegen/" + jar) for jar in _JARS]
    args = ctx.actions.args()
    args.add("runtime")
    args.add_all(files[:1], before_each = "-o", map_each = _directory)
    run_tracegen(
        ctx,
        mnemonic = "TracegenRuntime",
        progress_message = "Writing the runtime of tracegen",
        arguments = [args],
        outputs = files,
    )
    return [DefaultInfo(files = depset(files[:1]))]

def _directory(file):
    return file.dirname

built_in_runtime = rule(
    implementation = _built_in_runtime_impl,
    doc = "Writes the jars of the runtime. The files of the target are the jar for JVMs alone.",
    toolchains = [TOOLCHAIN],
)
