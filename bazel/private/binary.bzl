"""A program that runs an instrumented class path."""

load(":jars.bzl", "TracegenInfo")

_SCRIPT = """#!/bin/sh
# Runs {main} with the instrumented class path, by the java of JAVABIN, JAVA_HOME or PATH.
set -eu
runfiles=${{RUNFILES_DIR:-}}
[ -n "$runfiles" ] || runfiles=$0.runfiles
if [ -n "${{JAVABIN:-}}" ]; then java=$JAVABIN
elif [ -n "${{JAVA_HOME:-}}" ]; then java=$JAVA_HOME/bin/java
else java=java; fi
classpath=
for jar in {jars}; do
    classpath=$classpath${{classpath:+:}}$runfiles/$jar
done
exec "$java" -cp "$classpath" {flags} {main} "$@"
"""

def _quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"

def _runfiles_path(ctx, file):
    path = file.short_path
    return path[3:] if path.startswith("../") else ctx.workspace_name + "/" + path

def _tracegen_binary_impl(ctx):
    jars = ctx.attr.app[TracegenInfo].jars
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        _SCRIPT.format(
            main = ctx.attr.main_class,
            jars = " ".join([_quoted(_runfiles_path(ctx, jar)) for jar in jars]),
            flags = " ".join([_quoted(flag) for flag in ctx.attr.jvm_flags]),
        ),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = jars + ctx.files.data)
    return [DefaultInfo(executable = script, files = depset([script]), runfiles = runfiles)]

tracegen_binary = rule(
    implementation = _tracegen_binary_impl,
    doc = """Runs an instrumented app with the java of the machine, for `bazel run`. It needs a Unix shell.

It needs no Java toolchain. With one, java_binary with the instrumented app in runtime_deps does the same.""",
    executable = True,
    attrs = {
        "app": attr.label(mandatory = True, providers = [TracegenInfo], doc = "A target of tracegen_jars."),
        "main_class": attr.string(mandatory = True, doc = "The class whose main method runs."),
        "jvm_flags": attr.string_list(doc = "Flags of the JVM, such as -Dtracegen.output=app.tgd."),
        "data": attr.label_list(allow_files = True, doc = "Files that the program reads at run time."),
    },
)
