package main

import (
	"slices"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// table returns the options of instrument, scan, assign and explain, in the order of the help.
func (i *instrument) table() options {
	return newOptions(i.questionOptions(), i.outputOptions(), i.idOptions(), i.methodOptions(), i.callOptions(),
		i.verifyOptions(),
		i.guards.options(), i.runOptions())
}

func (i *instrument) questionOptions() []option {
	return []option{
		{name: "method", flag: texts(&i.methods), commands: byExplain, config: offLimits, omit: inNoRecord,
			help: "explain the methods that match this `PATTERN`, as above; repeatable"},
		{name: "format", flag: textOrJSON(&i.inJSON), commands: byExplain, config: offLimits, omit: inNoRecord,
			help: "output format"},
	}
}

func (i *instrument) outputOptions() []option {
	output := outputOption(&i.output)
	output.helpIn = map[command]string{byScan: "write the scan file `FILE`",
		byAssign: "write the method mapping `FILE`"}
	return grouped("Output",
		output,
		option{name: "merge", flag: yes(&i.merge), commands: byInstrument | byExplain, omit: inScanKey,
			help: "write all inputs into one jar; of several entries with the same name, that of the first input is " +
				"written",
			helpIn: map[command]string{
				byExplain: "explain a run with --merge",
			}},
		option{name: "mapping", flag: text(&i.mapping, ""), commands: byInstrument | byExplain, config: byInstrument,
			omit: inNoRecord,
			file: fileBeside, extensions: []string{"txt"},
			help:   "write the method mapping to `FILE` (default " + defaultMapping + " beside OUT)",
			helpIn: map[command]string{byExplain: "show the IDs in this mapping `FILE`"}},
		option{name: "lines", flag: text(&i.lines, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside,
			help: "write a table of method IDs, source files and first lines to `FILE`"},
		option{name: "skipped", flag: text(&i.skipped, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, extensions: []string{"tsv"},
			help: "write the skipped methods and their reasons to `FILE` (tab-separated)"},
		option{name: "report", flag: text(&i.report, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, stdout: true, extensions: []string{"json"},
			help: "write a report to `FILE` (JSON); - writes it to standard output in place of the summary, even in " +
				"a dry run"},
		option{name: "summary", flag: text(&i.summary, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileAppended, extensions: []string{"md"},
			help: "append a summary in Markdown to `FILE`, as $GITHUB_STEP_SUMMARY, also if a guard fails"},
		option{name: "sarif", flag: text(&i.sarif, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, extensions: []string{"sarif"},
			help: "write failed guards, and classes and methods that cannot be instrumented, to `FILE` (SARIF 2.1.0)"},
		option{name: "digest", flag: text(&i.digest, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, extensions: []string{"txt"},
			help: "write the digest of the mapping to `FILE`, as one line"},
		option{name: "slices", flag: text(&i.sliceDirectory, ""), commands: byAssign, config: offLimits,
			omit: inNoRecord,
			file: fileOutput, extensions: onlyDirectories,
			help: "write the slice of each part into `DIR`"},
	)
}

func (i *instrument) idOptions() []option {
	return grouped("Method IDs",
		option{name: "slice", flag: text(&i.sliceFile, ""), commands: byInstrument, config: offLimits, omit: inNoRecord,
			withSlice: sliceAllows,
			file:      fileRead, extensions: []string{"slice"},
			help: "take all decisions from the slice `FILE` that assign has written for the inputs"},
		option{name: "base", flag: text(&i.base, ""), commands: byInstrument | byAssign | byExplain | byRecord,
			config: byInstrument | byAssign | byExplain, omit: inNoRecord,
			file: fileReplaced, extensions: []string{"txt"},
			help: "mapping `FILE` of an earlier build, or a release of an archive, see tracegen help mappings; its methods " +
				"keep their IDs"},
		option{name: "base-r8-mapping", flag: text(&i.baseR8, ""), commands: byInstrument | byAssign | byExplain,
			omit: inNoRecord,
			file: fileRead,
			help: "mapping `FILE` of R8 or ProGuard for the build of --base; needed only if that build was " +
				"instrumented after renaming and without --r8-mapping"},
		option{name: "prune", flag: texts(&i.prune), commands: byInstrument | byAssign | byExplain, omit: inNoRecord,
			file: fileRead, extensions: []string{"txt"},
			help: "free retired IDs that are in use in none of the mappings `FILE` given with this option; give " +
				"those of all releases in use; needs --base; repeatable"},
		option{name: "id-order", commands: byInstrument | byAssign | byExplain, omit: inKeys,
			flag: oneOf(&i.order, mapping.OrderHash, named[mapping.Order]{"hash", mapping.OrderHash},
				named[mapping.Order]{"compact", mapping.OrderCompact}),
			help: "choose the IDs of new methods by hash, so that separate builds agree, or take the lowest free " +
				"IDs (compact)"},
	)
}

func (i *instrument) methodOptions() []option {
	return grouped("Which methods",
		option{name: "config", flag: text(&i.config, ""), commands: everyBuild | byRecord, config: offLimits,
			omit: inNoRecord, withSlice: sliceAllows,
			file: fileRead, extensions: []string{"yml", "yaml"},
			help: "read options and rules from `FILE` (default " + defaultConfig + " if it exists)"},
		option{name: "r8-mapping", flag: text(&i.r8File, ""), commands: everyBuild | byRecord, omit: inNoRecord,
			file: fileRead, extensions: []string{"txt"},
			help: "mapping `FILE` that R8 or ProGuard wrote when it renamed the inputs; rules, lists and the method " +
				"mapping use the original names"},
		option{name: "blocklist", flag: texts(&i.blocklists), commands: everyBuild | byRecord, omit: inNoRecord,
			file: fileRead,
			help: "block list `FILE` in the format of Matrix (-keepclass, -keeppackage); it precedes all other " +
				"rules; repeatable"},
		option{name: "trivial", commands: classWork | byRecord, omit: inWriteKey, matrix: "matrix",
			flag: oneOf(&i.trivial, filter.Smart, named[filter.TrivialMode]{"smart", filter.Smart},
				named[filter.TrivialMode]{"matrix", filter.Matrix}, named[filter.TrivialMode]{"none", filter.None}),
			help: "which methods are too small to be traced"},
		option{name: "target", commands: classWork,
			flag: oneOf(&i.forJVM, false, named[bool]{"android", false}, named[bool]{"jvm", true}),
			help: "with jvm, skip methods that would grow past the size that HotSpot compiles"},
		option{name: "future-versions", flag: yes(&i.futureVersions), commands: classWork, omit: inWriteKey,
			help: "also trace classes whose version is later than those that this tracegen knows, if their structure is " +
				"as in these"},
		option{name: "allow-huge", flag: yes(&i.allowHuge), commands: classWork | byRecord,
			help: "with --target jvm, trace these methods too",
			helpIn: map[command]string{
				byRecord: "trace also methods that would grow past the size that HotSpot compiles",
			}},
	)
}

func (i *instrument) callOptions() []option {
	preset := presetOption(&i.preset,
		"set the defaults for tracegen's own runtime, or for that of Matrix: its runtime class, "+
			"--constructor-entry after-super, --trivial matrix, and a rule that blocks android.**")
	preset.omit, preset.withSlice = inWriteKey, sliceIgnores
	runtimeClass := runtimeClassOption(&i.runtimeClass, "the `CLASS` to call")
	runtimeClass.withSlice = sliceAgrees
	addRequires := option{name: "add-requires", flag: text(&i.addRequires, ""), commands: classWork, omit: inScanKey,
		withSlice: sliceAgrees,
		help: "make the modules among the inputs require `MODULE`, which holds the runtime class; without a value, " +
			"it is the name of the package of the runtime class"}
	addRequires.flag.NoOptDefVal = packageModule
	return grouped("Calls",
		preset,
		runtimeClass,
		option{name: "runtime-external", flag: yes(&i.runtimeExternal), commands: byInstrument | byAssign | byExplain,
			omit: inKeys,
			help: "the runtime class is provided elsewhere: do not add the built-in runtime"},
		addRequires,
		option{name: "exits", commands: classWork | byRecord, withSlice: sliceAgrees,
			flag: oneOf(&i.exits, inject.ExitsThrows, byName(inject.ExitModes())...),
			help: "which exits to report: returns (normal), also throws that the method does not catch (throws), or " +
				"all exits (exact)"},
		option{name: "constructor-entry", commands: classWork, withSlice: sliceAgrees, matrix: "after-super",
			flag: oneOf(&i.entry, inject.EntryAtStart, byName(inject.ConstructorEntries())...),
			help: "where constructors report their entry; --exits exact sets after-super"},
		option{name: "focus-hook", commands: classWork, omit: inWriteKey,
			flag: oneOf(&i.focus, true, named[bool]{"auto", true}, named[bool]{"off", false}),
			help: "make Activities report focus changes"},
		option{name: "trace-posts", flag: yes(&i.posts), commands: classWork, withSlice: sliceAgrees,
			help: "insert probes before calls that post messages, so that a recording names the method that posted a " +
				"slow one"},
	)
}

func (i *instrument) verifyOptions() []option {
	level := option{name: "verify", commands: classWork | byRecord, omit: inScanKey, withSlice: sliceAllows,
		flag: oneOf(&i.verify, pipeline.VerifyFull, named[pipeline.VerifyLevel]{"full", pipeline.VerifyFull},
			named[pipeline.VerifyLevel]{"equivalence", pipeline.VerifyEquivalence}),
		help: "check that each rewritten class is the original plus calls, and that a JVM links it (full), or only " +
			"the former (equivalence)"}
	return grouped("Verification", slices.Concat([]option{level}, i.classPath.options())...)
}

func (i *instrument) runOptions() []option {
	i.caching.size = defaultCacheSize
	return grouped("Run", slices.Concat(i.reading.rows(), []option{
		jobsOption(&i.jobs),
		compressionOption(&i.level),
		option{name: "cache", flag: text(&i.caching.directory, ""), commands: byInstrument | byRecord,
			config: byInstrument, omit: inNoRecord, withSlice: sliceAllows,
			file: fileCache, extensions: onlyDirectories,
			help: "keep results in `DIR`, and reuse them in later runs: outputs that would be the same are left " +
				"alone or copied; the directory may be deleted at any time",
			helpIn: map[command]string{byRecord: "keep instrumented programs in `DIR`, and reuse them in later runs " +
				"(default tracegen/record below the user's cache directory); it may be deleted at any time"}},
		option{name: "cache-size", flag: custom(&i.caching.size), commands: byInstrument | byRecord,
			config: byInstrument, omit: inNoRecord, withSlice: sliceAllows,
			help: "limit of the size of the cache; entries that have not been used for the longest time are removed " +
				"first"},
		option{name: "dry-run", flag: yes(&i.dryRun), commands: byInstrument, omit: inNoRecord, withSlice: sliceAllows,
			help: "do everything, but write nothing"},
		option{name: "disabled", flag: yes(&i.disabled), commands: byInstrument, omit: inScanKey,
			help: "copy the inputs unchanged, and write an empty mapping"},
		quietOption(i.con, byInstrument|byScan|byAssign|byRecord),
		option{name: "verbose", short: "v", flag: yes(&i.con.verbose), commands: everyBuild | byRecord, omit: inNoRecord,
			withSlice: sliceAllows,
			help:      "print more details, and each input even if there are many"},
	})...)
}

// outputOption and the functions below return options that commands with another table have, too.
func outputOption(p *string) option {
	return option{name: "output", short: "o", flag: text(p, ""), commands: byInstrument | byScan | byAssign | byStrip,
		config: byInstrument, omit: inNoRecord, withSlice: sliceAllows, file: fileOutput,
		help: "output `OUT`: a file or a directory"}
}

func presetOption(p *preset, help string) option {
	return option{name: "preset", commands: classWork | byStrip, help: help,
		flag: oneOf(p, presetAndroid, named[preset]{"android", presetAndroid}, named[preset]{"matrix", presetMatrix})}
}

func runtimeClassOption(p *string, help string) option {
	return option{name: "runtime-class", commands: classWork | byStrip, matrix: dotted(inject.MatrixRuntimeClass),
		help: help,
		flag: text(p, dotted(inject.DefaultRuntimeClass))}
}

func jobsOption(p *int) option {
	return option{name: "jobs", short: "j", flag: number(p, 0), commands: classWork | byStrip | byVerify | byRecord,
		omit: inNoRecord, withSlice: sliceAllows,
		help: "process `N` classes at a time; 0 is one per processor"}
}

func compressionOption(p *zipfile.Level) option {
	return option{name: "compression", commands: byInstrument | byStrip, omit: inScanKey, withSlice: sliceAllows,
		flag: oneOf(p, zipfile.LevelDefault, named[zipfile.Level]{"store", zipfile.LevelStore},
			named[zipfile.Level]{"fast", zipfile.LevelFast},
			named[zipfile.Level]{"default", zipfile.LevelDefault}, named[zipfile.Level]{"best", zipfile.LevelBest}),
		help: "how to compress entries that change; other entries are copied as they are"}
}

func quietOption(con *console, commands command) option {
	return option{name: "quiet", short: "q", flag: yes(&con.quiet), commands: commands, omit: inNoRecord,
		withSlice: sliceAllows,
		help:      "print warnings and errors only"}
}
