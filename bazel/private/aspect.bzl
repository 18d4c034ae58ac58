"""The aspect that scans the jars of Java targets, once for all apps that contain them."""

load("//:java_info.bzl", "JavaProviderInfo")
load(":actions.bzl", "CLASS_OPTIONS", "TOOLCHAIN", "scan", "settings_of")

TracegenScansInfo = provider(
    doc = "The scan files of a target and of the targets that it depends on.",
    fields = {"scans": "a depset of structs with jar and scan, both files"},
)

# The attributes by which targets with JavaInfo depend on others. A jar that the aspect misses is scanned by the app.
_DEPENDENCIES = ["deps", "runtime_deps", "exports", "associates"]

# The flags that the aspect and the rule read.
FLAGS = {
    "_config": attr.label(default = Label("//:config"), allow_files = True),
    "_config_data": attr.label(default = Label("//:config_data"), allow_files = True),
    "_classpath": attr.label(default = Label("//:classpath"), allow_files = True),
    "_jdk": attr.label(default = Label("//:jdk"), allow_files = True),
}

def flag_settings(attributes):
    """Reads the settings that the flags of the build name.

    Args:
      attributes: ctx.attr of a rule or aspect with FLAGS.

    Returns:
      the struct of settings_of.
    """
    return settings_of(
        config = attributes._config[DefaultInfo].files.to_list(),
        config_data = attributes._config_data[DefaultInfo].files.to_list(),
        classpath = attributes._classpath[DefaultInfo].files.to_list(),
        jdk = attributes._jdk[DefaultInfo].files.to_list(),
    )

def _jars_of(target):
    if JavaProviderInfo in target:
        return target[JavaProviderInfo].runtime_output_jars
    return [f for f in target[DefaultInfo].files.to_list() if f.extension in ["jar", "aar"]]

def _scans_aspect_impl(target, ctx):
    below = []
    for name in _DEPENDENCIES:
        dependencies = getattr(ctx.rule.attr, name, None)
        if type(dependencies) == "list":
            below += [d[TracegenScansInfo].scans for d in dependencies if TracegenScansInfo in d]

    # Apps with other options need other scans of the same jar.
    options = {name: getattr(ctx.attr, name) for name in CLASS_OPTIONS}
    given = [name + "-" + value for name, value in options.items() if value]
    directory = "_tracegen/" + ("-".join(given) or "default")
    settings = flag_settings(ctx.attr)
    scans = [struct(jar = jar, scan = scan(ctx, directory, jar, settings, options)) for jar in _jars_of(target)]
    return [TracegenScansInfo(scans = depset(scans, transitive = below))]

scans_aspect = aspect(
    implementation = _scans_aspect_impl,
    doc = """Scans each jar of the targets that it visits.

Its actions run only if an app asks for their scan files. Apps with the same options share them.""",
    attr_aspects = _DEPENDENCIES,
    attrs = dict(FLAGS, **{
        name: attr.string(values = [""] + words)
        for name, words in CLASS_OPTIONS.items()
    }),
    toolchains = [TOOLCHAIN],
)
