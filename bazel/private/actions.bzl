"""The actions. All that they read is an input: they look for no JDK, and read no tracegen.yml that is not named."""

load("@tracegen_bazel_version//:features.bzl", "RUN_HAS_TOOLCHAIN")

TOOLCHAIN = "@tracegen//:toolchain_type"

def run_tracegen(ctx, mnemonic, progress_message, arguments, outputs, inputs = []):
    """Declares an action that runs tracegen.

    No path is in an output, so that outputs are the same in every output directory (path mapping).

    Args:
      ctx: of the rule or aspect.
      mnemonic: as Bazel prints and logs it.
      progress_message: as Bazel prints it.
      arguments: a list of Args.
      outputs: a list of files.
      inputs: a list or depset of files.
    """
    more = {"toolchain": TOOLCHAIN} if RUN_HAS_TOOLCHAIN else {}
    ctx.actions.run(
        executable = ctx.toolchains[TOOLCHAIN].tracegen,
        mnemonic = mnemonic,
        progress_message = progress_message,
        arguments = arguments,
        inputs = inputs,
        outputs = outputs,
        execution_requirements = {"supports-path-mapping": "1"},
        **more
    )

def settings_of(config, config_data, classpath, jdk):
    """Combines what the actions read beside jars.

    Args:
      config: a list of files, of which the first is the tracegen.yml.
      config_data: a list of the files that it names.
      classpath: a list of jars.
      jdk: the files of a JDK, with lib/modules or lib/rt.jar; or no file.

    Returns:
      a struct with config, config_data and classpath, and with the image of the JDK, or None, as jdk.
    """
    images = [f for f in jdk if f.path.endswith("lib/modules") or f.basename == "rt.jar"]
    if jdk and len(images) != 1:
        fail("jdk has %d files lib/modules or rt.jar, not one: name the file by its label" % len(images))
    if len(config) != 1:
        fail("config has %d files, not one: name one tracegen.yml" % len(config))
    return struct(
        config = config[0],
        config_data = config_data,
        classpath = classpath,
        jdk = images[0] if images else None,
    )

def _add_checks(args, settings, options):
    """Adds the options of the checks: the class path and the JDK, and how much is checked."""
    args.add_all(settings.classpath, before_each = "--classpath")
    if settings.jdk:
        args.add("--jdk", settings.jdk)
    else:
        args.add("--jdk=none")
    if options.get("verify"):
        args.add("--verify", options["verify"])

def _checked_inputs(settings):
    return settings.classpath + ([settings.jdk] if settings.jdk else [])

def scan_name(jar):
    """Names the scan file of a jar. Two jars of one app must have different names.

    Args:
      jar: a file.

    Returns:
      the name without extension.
    """
    hex = "0123456789abcdef"
    number = hash(jar.short_path) % 4294967296
    digits = ""
    for _ in range(8):
        digits = hex[number % 16] + digits
        number = number // 16

    # The hash distinguishes jars; the path is for those who read the lists of tracegen. Names have 255 bytes at most.
    path = jar.short_path[:-len(jar.extension) - 1].replace("../", "").replace("/", "_")
    return path[-120:] + "-" + digits

def scan(ctx, directory, jar, settings, options):
    """Declares the scan of a jar.

    Args:
      ctx: of the rule or aspect.
      directory: in the package, for the scan file.
      jar: a file.
      settings: of settings_of.
      options: values of the options of SCAN_OPTIONS by name; "" for none.

    Returns:
      the scan file.
    """
    out = ctx.actions.declare_file("%s/%s.scan" % (directory, scan_name(jar)))
    args = ctx.actions.args()
    args.add_all(["scan", "--quiet", "--jobs=1"])
    args.add("--config", settings.config)
    for name in SCAN_OPTIONS:
        if options.get(name):
            key = name.replace("_", "-")
            if key in KEYS:
                args.add("--set", key + "=" + options[name])
            else:
                args.add("--" + key, options[name])
    _add_checks(args, settings, options)
    args.add("--output", out)
    args.add(jar)
    run_tracegen(
        ctx,
        mnemonic = "TracegenScan",
        progress_message = "Scanning %s" % jar.short_path,
        arguments = [args],
        inputs = [jar, settings.config] + settings.config_data + _checked_inputs(settings),
        outputs = [out],
    )
    return out

# The options of scan that the rule and the aspect have as attributes, with their words. The others are in tracegen.yml.
SCAN_OPTIONS = {
    "exits": ["normal", "throws", "exact"],
    "constructor_entry": ["start", "after-super"],
    "trivial": ["bounded", "smart", "matrix", "none"],
    "target": ["android", "jvm"],
    "preset": ["android", "matrix"],
    "focus_hook": ["auto", "off"],
}

# Those that are keys of tracegen.yml, and have no flag.
KEYS = ["constructor-entry", "trivial", "focus-hook"]

# verify is an option of scan and of instrument.
CLASS_OPTIONS = dict(SCAN_OPTIONS, verify = ["full", "equivalence"])

def _pair(part):
    return part.scan.path + "=" + part.slice.path

def assign(ctx, parts, outputs, settings, base, prune, flags):
    """Declares the assignment of IDs to all parts of an app.

    The argument file holds one line PART.scan=SLICE for each part. Each slice is an output of its own: an instrument
    action depends on the slice of its jar alone, and does not run again if that has the same content.

    Args:
      ctx: of the rule.
      parts: a list of structs with scan and slice, both files.
      outputs: a struct with mapping, report, skipped, lines and digest, all files.
      settings: of settings_of.
      base: the mapping of an earlier build, or None.
      prune: a list of mappings of releases in use.
      flags: a list of further arguments.
    """
    args = ctx.actions.args()
    args.add_all(["assign", "--quiet"])
    args.add("--config", settings.config)
    args.add_all(settings.classpath, before_each = "--classpath")
    if base:
        args.add("--base", base)
    args.add_all(prune, before_each = "--prune")
    args.add_all(flags)
    args.add("--output", outputs.mapping)
    args.add("--reports", outputs.report.dirname)

    list = ctx.actions.args()
    list.set_param_file_format("multiline")
    list.use_param_file("@%s", use_always = True)
    list.add_all(parts, map_each = _pair)
    run_tracegen(
        ctx,
        mnemonic = "TracegenAssign",
        progress_message = "Assigning method IDs of %s" % ctx.label,
        arguments = [args, list],
        inputs = [p.scan for p in parts] + [settings.config] + settings.config_data + settings.classpath +
                 ([base] if base else []) + prune,
        # Bazel names the argument file by the first output.
        outputs = [outputs.mapping, outputs.report, outputs.skipped, outputs.lines, outputs.digest] +
                  [p.slice for p in parts],
    )

def instrument(ctx, jar, slice, out, settings, none, options, compression):
    """Declares the instrumentation of a jar.

    It does not read tracegen.yml: the slice holds all decisions, and a changed rule must not run it again for jars to
    which the rule does not apply.

    Args:
      ctx: of the rule.
      jar: a file.
      slice: its slice.
      out: the instrumented jar.
      settings: of settings_of.
      none: a tracegen.yml without options.
      options: values of options by name, of which verify is used.
      compression: how changed entries are compressed; "" for the default.
    """
    args = ctx.actions.args()
    args.add_all(["instrument", "--quiet", "--jobs=1"])
    args.add("--slice", slice)
    args.add("--config", none)
    _add_checks(args, settings, options)
    if compression:
        args.add("--compression", compression)
    args.add("--output", out)
    args.add(jar)
    run_tracegen(
        ctx,
        mnemonic = "TracegenInstrument",
        progress_message = "Instrumenting %s" % jar.short_path,
        arguments = [args],
        inputs = [jar, slice, none] + _checked_inputs(settings),
        outputs = [out],
    )
