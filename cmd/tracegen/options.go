package main

import (
	"slices"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/mapping"
)

// table returns the options of instrument, and of the commands that do a part of its work, in the order of help.
func (i *instrument) table() options {
	return newOptions(i.questionOptions(), i.outputOptions(), i.idOptions(), i.methodOptions(), i.callOptions(), i.verifyOptions(),
		i.guards.options(), i.runOptions())
}

func (i *instrument) questionOptions() []option {
	return []option{
		{name: "method", flag: texts(&i.methods), commands: byExplain, config: offLimits, omit: inNoRecord,
			help: "the methods to tell of, as above: `PATTERN`; repeatable"},
		{name: "format", flag: textOrJSON(&i.inJSON), commands: byExplain, config: offLimits, omit: inNoRecord,
			help: "for people or for programs"},
	}
}

func (i *instrument) outputOptions() []option {
	output := outputOption(&i.output)
	output.helpIn = map[command]string{byScan: "write what was found out to `FILE`", byAssign: "method mapping `FILE`"}
	return grouped("Output",
		output,
		option{name: "merge", flag: yes(&i.merge), commands: byInstrument | byExplain, omit: inScanKey,
			help: "write all inputs into one jar; of entries of one name the first input's wins",
			helpIn: map[command]string{
				byExplain: "the inputs go into one jar; of entries of one name the first input's wins",
			}},
		option{name: "mapping", flag: text(&i.mapping, ""), commands: byInstrument | byExplain, config: byInstrument, omit: inNoRecord,
			file: fileBeside, extensions: []string{"txt"},
			help:   "method mapping `FILE` (default " + defaultMapping + " beside OUT)",
			helpIn: map[command]string{byExplain: "tell the IDs that this mapping `FILE` has"}},
		option{name: "lines", flag: text(&i.lines, ""), commands: byInstrument | byAssign, omit: inNoRecord, file: fileBeside,
			help: "write a table of IDs, source files and first lines to `FILE`"},
		option{name: "skipped", flag: text(&i.skipped, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, extensions: []string{"tsv"},
			help: "write the methods that are not traced, and why, to `FILE` (tab-separated)"},
		option{name: "report", flag: text(&i.report, ""), commands: byInstrument | byAssign, omit: inNoRecord,
			file: fileBeside, stdout: true, extensions: []string{"json"},
			help: "write what was done to `FILE` (JSON); - is standard output, in place of the summary, also for a dry run"},
		option{name: "slices", flag: text(&i.slices, ""), commands: byAssign, config: offLimits, omit: inNoRecord,
			file: fileOutput, extensions: onlyDirectories,
			help: "write the slice of each part into `DIR`"},
	)
}

func (i *instrument) idOptions() []option {
	return grouped("Method IDs",
		option{name: "ids", flag: text(&i.ids, ""), commands: byInstrument, config: offLimits, omit: inNoRecord, withIDs: idsAllow,
			file: fileRead, extensions: []string{"ids"},
			help: "decide nothing, and write what assign has decided: the slice `FILE` of the inputs"},
		option{name: "base", flag: text(&i.base, ""), commands: byInstrument | byAssign | byExplain, omit: inNoRecord,
			file: fileReplaced, extensions: []string{"txt"},
			help: "mapping `FILE` of an earlier build, whose methods keep their IDs"},
		option{name: "base-r8-mapping", flag: text(&i.baseR8, ""), commands: byInstrument | byAssign | byExplain, omit: inNoRecord,
			file: fileRead,
			help: "mapping `FILE` of R8 or ProGuard, of the build that --base is of; needed only if that was instrumented " +
				"after renaming, without --r8-mapping"},
		option{name: "prune", flag: texts(&i.prune), commands: byInstrument | byAssign | byExplain, omit: inNoRecord,
			file: fileRead, extensions: []string{"txt"},
			help: "free the IDs of methods that are gone and that no mapping `FILE` given so still has: name those of all " +
				"releases in use; needs --base; repeatable"},
		option{name: "id-order", commands: byInstrument | byAssign | byExplain, omit: inKeys,
			flag: oneOf(&i.order, mapping.OrderHash, named[mapping.Order]{"hash", mapping.OrderHash},
				named[mapping.Order]{"compact", mapping.OrderCompact}),
			help: "IDs of new methods: by hash, so that separate builds agree, or the lowest that are free"},
	)
}

func (i *instrument) methodOptions() []option {
	return grouped("Which methods",
		option{name: "config", flag: text(&i.config, ""), commands: everyBuild, config: offLimits, omit: inNoRecord, withIDs: idsAllow,
			file: fileRead, extensions: []string{"yml", "yaml"},
			help: "read options and rules from `FILE` (default " + defaultConfig + " if it is there)"},
		option{name: "r8-mapping", flag: text(&i.r8File, ""), commands: everyBuild, omit: inNoRecord,
			file: fileRead, extensions: []string{"txt"},
			help: "the inputs have been renamed: the mapping `FILE` that R8 or ProGuard wrote; rules, lists and the method " +
				"mapping go by original names"},
		option{name: "blocklist", flag: texts(&i.blocklists), commands: everyBuild, omit: inNoRecord, file: fileRead,
			help: "block list `FILE` of Matrix (-keepclass, -keeppackage), ahead of the rules; repeatable"},
		option{name: "trivial", commands: classWork, omit: inWriteKey, matrix: "matrix",
			flag: oneOf(&i.trivial, filter.Smart, named[filter.TrivialMode]{"smart", filter.Smart},
				named[filter.TrivialMode]{"matrix", filter.Matrix}, named[filter.TrivialMode]{"none", filter.None}),
			help: "which methods are too small to be traced"},
		option{name: "target", commands: classWork,
			flag: oneOf(&i.forJVM, false, named[bool]{"android", false}, named[bool]{"jvm", true}),
			help: "jvm: leave out methods that would grow past what HotSpot compiles"},
		option{name: "allow-huge", flag: yes(&i.allowHuge), commands: classWork,
			help: "with --target jvm, trace those too"},
	)
}

func (i *instrument) callOptions() []option {
	preset := presetOption(&i.preset, "defaults for tracegen's own runtime or that of Matrix (its runtime class, after-super, its "+
		"trivial rule, android.** blocked)")
	preset.omit, preset.withIDs = inWriteKey, idsConfig
	runtimeClass := runtimeClassOption(&i.runtimeClass, "the `CLASS` to call")
	runtimeClass.withIDs = idsAgree
	addRequires := option{name: "add-requires", flag: text(&i.addRequires, ""), commands: classWork, omit: inScanKey, withIDs: idsAgree,
		help: "let the modules among the inputs require `MODULE`, that of the runtime class (without a value: the name of " +
			"its package)"}
	addRequires.flag.NoOptDefVal = packageModule
	return grouped("Calls",
		preset,
		runtimeClass,
		option{name: "runtime-external", flag: yes(&i.runtimeExternal), commands: byInstrument | byAssign, omit: inKeys,
			help: "the runtime class is not among the inputs, and this is meant"},
		addRequires,
		option{name: "exits", commands: classWork, withIDs: idsAgree,
			flag: oneOf(&i.exits, inject.ExitsThrows, byName(inject.ExitModes())...),
			help: "report returns, also throws that the method does not catch, or every way out"},
		option{name: "constructor-entry", commands: classWork, withIDs: idsAgree, matrix: "after-super",
			flag: oneOf(&i.entry, inject.EntryAtStart, byName(inject.ConstructorEntries())...),
			help: "where constructors report their entry; exact exits need after-super, and set it"},
		option{name: "focus-hook", commands: classWork, omit: inWriteKey,
			flag: oneOf(&i.focus, true, named[bool]{"auto", true}, named[bool]{"off", false}),
			help: "let Activities report focus changes"},
	)
}

func (i *instrument) verifyOptions() []option {
	level := option{name: "verify", commands: classWork, omit: inScanKey, withIDs: idsAllow,
		flag: oneOf(&i.verify, pipeline.VerifyFull, named[pipeline.VerifyLevel]{"full", pipeline.VerifyFull},
			named[pipeline.VerifyLevel]{"equivalence", pipeline.VerifyEquivalence}),
		help: "prove that each class is the original with calls inserted, and that a JVM takes it, or only the former"}
	return grouped("Verification", slices.Concat([]option{level}, i.classPath.options())...)
}

func (i *instrument) runOptions() []option {
	i.caching.size = defaultCacheSize
	return grouped("Run",
		jobsOption(&i.jobs),
		compressionOption(&i.level),
		option{name: "cache", flag: text(&i.caching.directory, ""), commands: byInstrument, omit: inNoRecord, withIDs: idsAllow,
			file: fileCache, extensions: onlyDirectories,
			help: "keep in `DIR` what was found out and written, and leave alone or copy what the next run would write again; " +
				"it may be deleted at any time"},
		option{name: "cache-size", flag: custom(&i.caching.size), commands: byInstrument, omit: inNoRecord, withIDs: idsAllow,
			help: "how big that may get; what was not used for the longest time goes first"},
		option{name: "dry-run", flag: yes(&i.dryRun), commands: byInstrument, omit: inNoRecord, withIDs: idsAllow,
			help: "do everything but write nothing"},
		option{name: "disabled", flag: yes(&i.disabled), commands: byInstrument, omit: inScanKey,
			help: "copy the inputs as they are, with an empty mapping"},
		quietOption(i.con, byInstrument|byScan|byAssign),
		option{name: "verbose", short: "v", flag: yes(&i.con.verbose), commands: everyBuild, omit: inNoRecord, withIDs: idsAllow,
			help: "print what is read, and every input even of many"},
	)
}

// outputOption and the functions below it return the options that commands with tables of their own have as well.
func outputOption(p *string) option {
	return option{name: "output", short: "o", flag: text(p, ""), commands: byInstrument | byScan | byAssign | byStrip,
		config: byInstrument, omit: inNoRecord, withIDs: idsAllow, file: fileOutput,
		help: "output `OUT`: a file, or a directory"}
}

func presetOption(p *preset, help string) option {
	return option{name: "preset", commands: classWork | byStrip, help: help,
		flag: oneOf(p, presetAndroid, named[preset]{"android", presetAndroid}, named[preset]{"matrix", presetMatrix})}
}

func runtimeClassOption(p *string, help string) option {
	return option{name: "runtime-class", commands: classWork | byStrip, matrix: dotted(inject.MatrixRuntimeClass), help: help,
		flag: text(p, dotted(inject.DefaultRuntimeClass))}
}

func jobsOption(p *int) option {
	return option{name: "jobs", short: "j", flag: number(p, 0), commands: classWork | byStrip | byVerify, omit: inNoRecord, withIDs: idsAllow,
		help: "`N` classes at a time; 0 is one per processor"}
}

func compressionOption(p *jar.Level) option {
	return option{name: "compression", commands: byInstrument | byStrip, omit: inScanKey, withIDs: idsAllow,
		flag: oneOf(p, jar.LevelDefault, named[jar.Level]{"store", jar.LevelStore}, named[jar.Level]{"fast", jar.LevelFast},
			named[jar.Level]{"default", jar.LevelDefault}, named[jar.Level]{"best", jar.LevelBest}),
		help: "of entries that change; the others are copied as they are"}
}

func quietOption(con *console, commands command) option {
	return option{name: "quiet", short: "q", flag: yes(&con.quiet), commands: commands, omit: inNoRecord, withIDs: idsAllow,
		help: "print warnings and errors only"}
}
