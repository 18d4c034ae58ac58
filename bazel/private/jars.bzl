"""The rule that instruments the jars of an app."""

load("//:java_info.bzl", "JavaProviderInfo")
load(":actions.bzl", "CLASS_OPTIONS", "TOOLCHAIN", "assign", "instrument", "scan", "settings_of")
load(":aspect.bzl", "FLAGS", "TracegenScansInfo", "flag_settings", "scans_aspect")

TracegenInfo = provider(
    doc = "What tracegen_jars makes of an app.",
    fields = {
        "jars": "a list of the instrumented jars, in the order of the class path, the runtime last",
        "mapping": "the method mapping",
        "digest": "a file with the digest of the mapping",
        "report": "the report (JSON)",
        "skipped": "the skipped methods and their reasons (tab-separated)",
        "lines": "a table of method IDs, source files and first lines",
    },
)

def _settings(ctx):
    """Returns the settings of the target, and whether they are those of the flags."""
    flags = flag_settings(ctx.attr)
    own = ctx.attr
    if not (own.config or own.config_data or own.classpath or own.jdk):
        return flags, True
    return settings_of(
        config = [ctx.file.config or flags.config],
        config_data = ctx.files.config_data or flags.config_data,
        classpath = ctx.files.classpath or flags.classpath,
        jdk = ctx.files.jdk or ([flags.jdk] if flags.jdk else []),
    ), False

def _inputs(ctx):
    """Returns the jars of the app in the order of the class path, each once."""
    jars = depset(
        ctx.files.jars,
        transitive = [d[JavaProviderInfo].transitive_runtime_jars for d in ctx.attr.deps],
        order = "preorder",
    ).to_list()
    if ctx.attr.runtime_external:
        return jars
    runtime = ctx.files.runtime
    return [j for j in jars if j not in runtime] + runtime

def _output_names(jars):
    """Returns the names of the outputs, as tracegen instrument chooses them for a directory."""
    names, taken = [], {}
    for jar in jars:
        name, number = jar.basename, 1
        for _ in jars:
            if name not in taken:
                break
            number += 1
            name = "%s-%d.%s" % (jar.basename[:-len(jar.extension) - 1], number, jar.extension)
        taken[name] = True
        names.append(name)
    return names

def _assign_flags(ctx):
    flags = ["--guard=" + guard for guard in ctx.attr.fail_on]
    if ctx.attr.id_order:
        flags.append("--set=id-order=" + ctx.attr.id_order)
    if ctx.attr.expect_digest:
        flags.append("--guard=digest=" + ctx.attr.expect_digest)
    if ctx.attr.min_methods_ratio:
        flags.append("--guard=ratio=" + ctx.attr.min_methods_ratio)
    if ctx.attr.runtime_external:
        flags.append("--runtime-external")
    return flags

def _parts(ctx, jars, settings, shared, options):
    """Returns the parts of the app: a struct with jar, scan and slice for each jar."""
    known = {}
    if shared:
        targets = ctx.attr.deps + ctx.attr.jars + [ctx.attr.runtime]
        scans = [t[TracegenScansInfo].scans for t in targets if TracegenScansInfo in t]
        known = {s.jar: s.scan for s in depset(transitive = scans).to_list()}
    parts = []
    for jar in jars:
        scanned = known.get(jar) or scan(ctx, ctx.label.name + ".tracegen/scans", jar, settings, options)
        slice = ctx.actions.declare_file("%s.tracegen/slices/%s.slice" % (
            ctx.label.name,
            scanned.basename[:-len(".scan")],
        ))
        parts.append(struct(jar = jar, scan = scanned, slice = slice))
    return parts

def _java_info(jars):
    """Returns a JavaInfo with the jars in their order, or None if there is none."""
    infos = [JavaProviderInfo(output_jar = jar, compile_jar = jar) for jar in jars]
    if len(infos) < 2:
        return infos
    return [JavaProviderInfo(output_jar = jars[0], compile_jar = jars[0], exports = infos[1:])]

def _tracegen_jars_impl(ctx):
    jars = _inputs(ctx)
    if not jars:
        fail("no jar to instrument: name some in jars or deps")
    settings, shared = _settings(ctx)
    options = {name: getattr(ctx.attr, name) for name in CLASS_OPTIONS}
    parts = _parts(ctx, jars, settings, shared, options)
    directory = ctx.label.name + ".tracegen/"
    outputs = struct(
        mapping = ctx.actions.declare_file(directory + "methodMapping.txt"),
        report = ctx.actions.declare_file(directory + "report.json"),
        skipped = ctx.actions.declare_file(directory + "skipped.tsv"),
        lines = ctx.actions.declare_file(directory + "lines.tsv"),
        digest = ctx.actions.declare_file(directory + "digest.txt"),
    )
    assign(ctx, parts, outputs, settings, ctx.file.base, ctx.files.prune, _assign_flags(ctx))
    written = []
    for part, name in zip(parts, _output_names(jars)):
        out = ctx.actions.declare_file(directory + "jars/" + name)
        instrument(ctx, part.jar, part.slice, out, settings, ctx.file._none, options, ctx.attr.compression)
        written.append(out)
    return [
        DefaultInfo(files = depset(written), runfiles = ctx.runfiles(files = written)),
        OutputGroupInfo(
            jars = depset(written),
            mapping = depset([outputs.mapping]),
            report = depset([outputs.report]),
            skipped = depset([outputs.skipped]),
            lines = depset([outputs.lines]),
            digest = depset([outputs.digest]),
            scans = depset([p.scan for p in parts]),
            slices = depset([p.slice for p in parts]),
        ),
        TracegenInfo(
            jars = written,
            mapping = outputs.mapping,
            digest = outputs.digest,
            report = outputs.report,
            skipped = outputs.skipped,
            lines = outputs.lines,
        ),
    ] + _java_info(written)

_OPTION_DOCS = {
    "exits": "Which exits are reported.",
    "constructor_entry": "Where constructors report their entry.",
    "trivial": "Which methods are too small to be traced.",
    "target": "With jvm, methods are skipped that would grow past the size that HotSpot compiles.",
    "preset": "Defaults for tracegen's own runtime, or for that of Matrix.",
    "focus_hook": "Whether Activities report focus changes.",
    "verify": "How much is checked of each rewritten class.",
}

tracegen_jars = rule(
    implementation = _tracegen_jars_impl,
    doc = """Instruments the jars of an app.

Each jar is scanned by itself; one action assigns method IDs to all of them; each jar is instrumented by itself. If a
jar changes, its scan, the assignment and its instrumentation run again. Other jars are instrumented again only if
their IDs move, which base prevents.

The files of the target are the instrumented jars, the runtime last. The output groups mapping, digest, report,
skipped and lines hold the files of these names, scans and slices those between the steps. The target has JavaInfo:
java_binary can name it in runtime_deps.""",
    attrs = dict(FLAGS, **dict({
        name: attr.string(
            values = [""] + words,
            doc = "%s One of %s; the default is that of config, or of tracegen." % (_OPTION_DOCS[name], ", ".join(words)),
        )
        for name, words in CLASS_OPTIONS.items()
    }, **{
        "jars": attr.label_list(
            allow_files = [".jar", ".aar"],
            aspects = [scans_aspect],
            doc = "Jars, each by itself: files, or targets such as filegroup. What they depend on is not added.",
        ),
        "deps": attr.label_list(
            providers = [JavaProviderInfo],
            aspects = [scans_aspect],
            doc = "Targets with JavaInfo. All jars of their runtime class path are instrumented.",
        ),
        "runtime": attr.label(
            default = Label("//:runtime"),
            allow_files = [".jar", ".aar"],
            aspects = [scans_aspect],
            doc = "The runtime that the calls reach; by default, the one that the binary of tracegen contains.",
        ),
        "runtime_external": attr.bool(
            doc = "The runtime is not added, because a jar of the app has it already, or the app gets it elsewhere.",
        ),
        "config": attr.label(
            allow_single_file = [".yml", ".yaml"],
            doc = "tracegen.yml: rules and options. The default is the flag @tracegen//:config. If this attribute, " +
                  "config_data, classpath or jdk is set, the scans are not shared with other targets.",
        ),
        "config_data": attr.label_list(allow_files = True, doc = "Files that config names, such as block lists."),
        "classpath": attr.label_list(
            allow_files = [".jar", ".aar"],
            doc = "Jars in which classes are looked up that no jar of the app has, such as android.jar. The default " +
                  "is the flag @tracegen//:classpath.",
        ),
        "jdk": attr.label(
            allow_files = True,
            doc = "The classes of a JDK: a target of which one file is lib/modules or rt.jar, such as " +
                  "@bazel_tools//tools/jdk:current_java_runtime. The default is the flag @tracegen//:jdk, and " +
                  "without that no JDK. Outputs do not depend on it.",
        ),
        "base": attr.label(
            allow_single_file = True,
            doc = "The mapping of an earlier build. Its methods keep their IDs.",
        ),
        "prune": attr.label_list(
            allow_files = True,
            doc = "Mappings of all releases in use. IDs of methods that are gone and in none of them are free again.",
        ),
        "id_order": attr.string(
            values = ["", "hash", "compact"],
            doc = "How the IDs of new methods are chosen.",
        ),
        "fail_on": attr.string_list(
            doc = "Guards that fail the build: introduced, unverifiable, ratio, digest.",
        ),
        "min_methods_ratio": attr.string(doc = "The limit of the guard ratio, such as 0.9."),
        "expect_digest": attr.string(doc = "The digest that the mapping must have."),
        "compression": attr.string(
            values = ["", "store", "fast", "default", "best"],
            doc = "How changed entries of jars are compressed.",
        ),
        "_none": attr.label(default = Label("//private:none.yml"), allow_single_file = True),
    })),
    toolchains = [TOOLCHAIN],
)
