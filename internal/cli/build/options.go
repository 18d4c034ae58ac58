package build

import (
	"slices"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// table returns the options that instrument, scan, assign, explain and record share, in the order of the help, behind
// own, those that the command has alone.
func (i *settings) table(own ...cli.Option) cli.Options {
	setter := &cli.KeySetter{As: i.as}
	setter.Table = cli.NewOptions(own, i.outputs.options(), i.reports.options(), i.ids.options(), i.scope.options(),
		i.calls.options(), i.checks.options(), i.guards.options(), i.running.options(i.con),
		cli.Grouped("Run", cli.SetOption(setter, everyBuild|byRecord)))
	return setter.Table
}

// outputs says what is written where, but for reports.
type outputs struct {
	output, mapping string
	merge           bool
}

func (i *outputs) options() []cli.Option {
	output := outputOption(&i.output)
	output.HelpIn = map[cli.CommandSet]string{byScan: "write the scan file `FILE`",
		byAssign: "write the method mapping `FILE`"}
	return cli.Grouped("Output",
		output,
		cli.Option{Name: "merge", Flag: cli.Yes(&i.merge), Commands: byInstrument | byExplain, Omit: cli.InScanKey,
			Help: "write all inputs into one jar; of several entries with the same name, that of the first input is " +
				"written",
			HelpIn: map[cli.CommandSet]string{
				byExplain: "explain a run with --merge",
			}},
		cli.Option{Name: "mapping", Flag: cli.Text(&i.mapping, ""), Commands: byInstrument | byExplain, Config: byInstrument,
			Omit:   cli.InNoRecord,
			File:   cli.FileBeside,
			Help:   "write the method mapping to `FILE` (default " + cli.DefaultMapping + " beside OUT)",
			HelpIn: map[cli.CommandSet]string{byExplain: "show the IDs in this mapping `FILE`"}},
	)
}

// reports says which reports are written.
type reports struct {
	directory string
	report    string // FILE, or - for standard output
}

func (r *reports) options() []cli.Option {
	return cli.Grouped("Output",
		cli.Option{Name: "reports", Flag: cli.Text(&r.directory, ""), Commands: byInstrument | byAssign,
			Omit: cli.InNoRecord, File: cli.FileOutput,
			Help: "write into `DIR`, also if a guard fails: report.json (all results), summary.md (for a page about " +
				"the build), skipped.tsv (skipped methods and reasons), lines.tsv (IDs, source files and first " +
				"lines), and digest.txt (of the mapping)"},
		cli.Option{Name: "report", Flag: cli.Text(&r.report, ""), Commands: byInstrument | byAssign, Omit: cli.InNoRecord,
			File: cli.FileBeside, Stdout: true,
			Help: "write the report to `FILE` (JSON); - writes it to standard output in place of the summary, even in a " +
				"dry run"},
	)
}

// ids says which IDs methods have.
type ids struct {
	sliceFile string // --slice
	base      string
	prune     []string
	order     mapping.Order
}

func (i *ids) options() []cli.Option {
	return cli.Grouped("Method IDs",
		cli.Option{Name: "slice", Flag: cli.Text(&i.sliceFile, ""), Commands: byInstrument, Config: cli.OffLimits,
			Omit:      cli.InNoRecord,
			WithSlice: cli.SliceAllows,
			File:      cli.FileRead,
			Help:      "take all decisions from the slice `FILE` that assign has written for the inputs"},
		cli.Option{Name: "base", Flag: cli.Text(&i.base, ""), Commands: byInstrument | byAssign | byExplain | byRecord,
			Config: byInstrument | byAssign | byExplain, Omit: cli.InNoRecord,
			File: cli.FileReplaced,
			Help: "mapping `FILE` of an earlier build; its methods " +
				"keep their IDs"},
		cli.Option{Name: "prune", Flag: cli.Texts(&i.prune), Commands: byInstrument | byAssign | byExplain,
			Omit: cli.InNoRecord,
			File: cli.FileRead,
			Help: "free retired IDs that are in use in none of the mappings `FILE` given with this option; give " +
				"those of all releases in use; needs --base; repeatable"},
		cli.Option{Name: "id-order", Key: true, Commands: byInstrument | byAssign | byExplain, Omit: cli.InKeys,
			Flag: cli.OneOf(&i.order, mapping.OrderHash, cli.Word("hash", mapping.OrderHash),
				cli.Word("compact", mapping.OrderCompact)),
			Help: "choose the IDs of new methods by hash, so that separate builds agree, or take the lowest free " +
				"IDs (compact)"},
	)
}

// scope says which methods are traced.
type scope struct {
	config            string
	r8File            string
	blocklists        []string
	profiles          []string
	trivial           filter.TrivialMode
	libraries         libraries
	forJVM, allowHuge bool
}

func (i *scope) options() []cli.Option {
	return cli.Grouped("Which methods",
		cli.Option{Name: "config", Flag: cli.Text(&i.config, ""), Commands: everyBuild | byRecord, Config: cli.OffLimits,
			Omit: cli.InNoRecord, WithSlice: cli.SliceAllows,
			File: cli.FileRead,
			Help: "read options and rules from `FILE` (default " + cli.DefaultConfig + " if it exists)"},
		cli.Option{Name: "r8-mapping", Flag: cli.Text(&i.r8File, ""), Commands: everyBuild | byRecord, Omit: cli.InNoRecord,
			File: cli.FileRead,
			Help: "mapping `FILE` that R8 or ProGuard wrote when it renamed the inputs; rules, lists and the method " +
				"mapping use the original names"},
		cli.Option{Name: "blocklist", Flag: cli.Texts(&i.blocklists), Commands: everyBuild | byRecord, Omit: cli.InNoRecord,
			File: cli.FileRead,
			Help: "block list `FILE` in the format of Matrix (-keepclass, -keeppackage); it precedes all other " +
				"rules; repeatable"},
		cli.Option{Name: "profile", Flag: cli.Texts(&i.profiles), Commands: classWork | byRecord, Omit: cli.InNoRecord,
			File: cli.FileRead,
			Help: "do not trace the methods that this profile `FILE` of analyze --profile names with none, nor small methods " +
				"on the start's path of an Android baseline or startup profile; repeatable"},
		cli.Option{Name: "trivial", Key: true, Commands: classWork | byRecord, Omit: cli.InWriteKey, Matrix: "matrix",
			Flag: cli.OneOf(&i.trivial, filter.Bounded, cli.Word("bounded", filter.Bounded),
				cli.Word("smart", filter.Smart), cli.Word("matrix", filter.Matrix), cli.Word("none", filter.None)),
			Help: "which methods are too small to be traced"},
		cli.Option{Name: "scope", Commands: classWork | byRecord, Omit: cli.InWriteKey,
			Flag: cli.OneOf(&i.libraries.scope, filter.ScopeAll, cli.Word("all", filter.ScopeAll),
				cli.Word("own-and-libraries", filter.ScopeOwnAndLibraries), cli.Word("own", filter.ScopeOwn)),
			Help: "trace all classes alike (all), of --libraries only the methods that can take long by themselves and " +
				"those that the program itself calls (own-and-libraries), or none of --libraries (own)",
			HelpIn: map[cli.CommandSet]string{
				byRecord: "trace all classes alike (all), of libraries only the methods that can take long by themselves and " +
					"those that the program itself calls (own-and-libraries), or no library (own); directories, and archives " +
					"with packages named as that of the main class, are no libraries",
			}},
		cli.Option{Name: "libraries", Flag: cli.Texts(&i.libraries.lists), Commands: classWork, Omit: cli.InNoRecord,
			File: cli.FileSearched, List: true,
			Help: "classes with the names of those in this `LIST` of jars, .aar files, directories and patterns, or in " +
				"@FILE, which lists them, are of libraries, and all others of the program itself; repeatable"},
		cli.Option{Name: "target", Commands: classWork,
			Flag: cli.OneOf(&i.forJVM, false, cli.Word("android", false), cli.Word("jvm", true)),
			Help: "with jvm, skip methods that would grow past the size that HotSpot compiles"},
		cli.Option{Name: "allow-huge", Key: true, Flag: cli.Yes(&i.allowHuge), Commands: classWork | byRecord,
			Help: "with --target jvm, trace these methods too",
			HelpIn: map[cli.CommandSet]string{
				byRecord: "trace also methods that would grow past the size that HotSpot compiles",
			}},
	)
}

// calls says what is inserted.
type calls struct {
	preset          preset
	runtimeClass    string
	runtimeExternal bool
	addRequires     string
	exits           inject.ExitMode
	entry           inject.ConstructorEntry
	focus           bool
	posts           bool
	coroutines      coroutines
}

// coroutines says whether suspending code reports that it waits.
type coroutines uint8

const (
	coroutinesAuto coroutines = iota // if the runtime class is tracegen's own, and has the methods
	coroutinesOn
	coroutinesOff
)

// areReported reports whether suspending code reports to the runtime class, by its internal name, that it waits.
func (c coroutines) areReported(runtime string) bool {
	return c == coroutinesOn || c == coroutinesAuto && runtime == inject.DefaultRuntimeClass
}

func (i *calls) options() []cli.Option {
	preset := presetOption(&i.preset,
		"set the defaults for tracegen's own runtime, or for that of Matrix: its runtime class, "+
			"constructor-entry after-super, trivial matrix, and a rule that blocks android.**")
	preset.Omit, preset.WithSlice = cli.InWriteKey, cli.SliceIgnores
	runtimeClass := runtimeClassOption(&i.runtimeClass, "the `CLASS` to call")
	runtimeClass.WithSlice = cli.SliceAgrees
	addRequires := cli.Option{Name: "add-requires", Key: true, Flag: cli.Text(&i.addRequires, ""), Commands: classWork,
		Omit:      cli.InScanKey,
		WithSlice: cli.SliceAgrees,
		Help: "make the modules among the inputs require `MODULE`, which holds the runtime class; without a value, " +
			"it is the name of the package of the runtime class"}
	addRequires.Flag.NoOptDefVal = packageModule
	return cli.Grouped("Calls",
		preset,
		runtimeClass,
		cli.Option{Name: "runtime-external", Flag: cli.Yes(&i.runtimeExternal), Commands: byInstrument | byAssign | byExplain,
			Omit: cli.InKeys,
			Help: "the runtime class is provided elsewhere: do not add the built-in runtime"},
		addRequires,
		cli.Option{Name: "exits", Commands: classWork | byRecord, WithSlice: cli.SliceAgrees,
			Flag: cli.OneOf(&i.exits, inject.ExitsThrows, cli.ByName(inject.ExitModes())...),
			Help: "which exits to report: returns (normal), also throws that the method does not catch (throws), or " +
				"all exits (exact)"},
		cli.Option{Name: "constructor-entry", Key: true, Commands: classWork, WithSlice: cli.SliceAgrees,
			Matrix: "after-super",
			Flag:   cli.OneOf(&i.entry, inject.EntryAtStart, cli.ByName(inject.ConstructorEntries())...),
			Help:   "where constructors report their entry; exits: exact sets after-super"},
		cli.Option{Name: "focus-hook", Key: true, Commands: classWork, Omit: cli.InWriteKey,
			Flag: cli.OneOf(&i.focus, true, cli.Word("auto", true), cli.Word("off", false)),
			Help: "make Activities report focus changes"},
		cli.Option{Name: "trace-posts", Key: true, Flag: cli.Yes(&i.posts), Commands: classWork, WithSlice: cli.SliceAgrees,
			Help: "insert probes before calls that post messages, so that a recording names the method that posted a " +
				"slow one"},
		cli.Option{Name: "trace-coroutines", Key: true, Commands: classWork | byRecord, WithSlice: cli.SliceAgrees,
			Flag: cli.OneOf(&i.coroutines, coroutinesAuto, cli.Word("auto", coroutinesAuto), cli.Word("on", coroutinesOn),
				cli.Word("off", coroutinesOff)),
			Help: "report where suspend functions of Kotlin wait and are resumed; auto does so for tracegen's own runtime " +
				"class"},
	)
}

// checks says what is checked of rewritten classes.
type checks struct {
	verify    pipeline.VerifyLevel
	classPath classPath
}

func (i *checks) options() []cli.Option {
	level := cli.Option{Name: "verify", Commands: classWork | byRecord, Omit: cli.InScanKey, WithSlice: cli.SliceAllows,
		Flag: cli.OneOf(&i.verify, pipeline.VerifyFull, cli.Word("full", pipeline.VerifyFull),
			cli.Word("equivalence", pipeline.VerifyEquivalence)),
		Help: "check that each rewritten class is the original plus calls, and that a JVM links it (full), or only " +
			"the former (equivalence)"}
	return cli.Grouped("Verification", slices.Concat([]cli.Option{level}, i.classPath.options(true))...)
}

// running says how a run goes.
type running struct {
	jobs             int
	level            zipfile.Level
	caching          caching
	dryRun, disabled bool
}

func (i *running) options(con *console.Console) []cli.Option {
	i.caching.size = defaultCacheSize
	return cli.Grouped("Run", []cli.Option{
		jobsOption(&i.jobs),
		compressionOption(&i.level),
		cli.Option{Name: "cache", Flag: cli.Text(&i.caching.directory, ""), Commands: byInstrument | byRecord,
			Config: byInstrument, Omit: cli.InNoRecord, WithSlice: cli.SliceAllows,
			File: cli.FileCache,
			Help: "keep results in `DIR`, and reuse them in later runs: outputs that would be the same are left " +
				"alone or copied; the directory may be deleted at any time",
			HelpIn: map[cli.CommandSet]string{byRecord: "keep instrumented programs in `DIR`, and reuse them in later runs " +
				"(default tracegen/record below the user's cache directory); it may be deleted at any time"}},
		cli.Option{Name: "cache-size", Key: true, Flag: cli.Custom(&i.caching.size), Commands: byInstrument | byRecord,
			Config: byInstrument, Omit: cli.InNoRecord, WithSlice: cli.SliceAllows,
			Help: "limit of the size of the cache; entries that have not been used for the longest time are removed " +
				"first"},
		cli.Option{Name: "dry-run", Flag: cli.Yes(&i.dryRun), Commands: byInstrument, Omit: cli.InNoRecord,
			WithSlice: cli.SliceAllows,
			Help:      "do everything, but write nothing"},
		cli.Option{Name: "disabled", Flag: cli.Yes(&i.disabled), Commands: byInstrument, Omit: cli.InScanKey,
			Help: "copy the inputs unchanged, and write an empty mapping"},
		cli.QuietOption(con, byInstrument|byScan|byAssign|byRecord),
		cli.Option{Name: "verbose", Short: "v", Flag: cli.Yes(&con.Verbose), Commands: everyBuild | byRecord,
			Omit:      cli.InNoRecord,
			WithSlice: cli.SliceAllows,
			Help:      "print more details, and each input even if there are many"},
	}...)
}

// outputOption and the functions below return options that commands with another table have, too.
func outputOption(p *string) cli.Option {
	return cli.Option{Name: "output", Short: "o", Flag: cli.Text(p, ""),
		Commands: byInstrument | byScan | byAssign | byStrip,
		Config:   byInstrument, Omit: cli.InNoRecord, WithSlice: cli.SliceAllows, File: cli.FileOutput,
		Help: "output `OUT`: a file or a directory"}
}

func presetOption(p *preset, help string) cli.Option {
	return cli.Option{Name: "preset", Commands: classWork | byStrip, Help: help,
		Flag: cli.OneOf(p, presetAndroid, cli.Word("android", presetAndroid), cli.Word("matrix", presetMatrix))}
}

func runtimeClassOption(p *string, help string) cli.Option {
	return cli.Option{Name: "runtime-class", Commands: classWork | byStrip, Matrix: dotted(inject.MatrixRuntimeClass),
		Help: help,
		Flag: cli.Text(p, dotted(inject.DefaultRuntimeClass))}
}

func jobsOption(p *int) cli.Option {
	return cli.Option{Name: "jobs", Short: "j", Flag: cli.Number(p, 0),
		Commands: classWork | byStrip | byVerify | byRecord,
		Omit:     cli.InNoRecord, WithSlice: cli.SliceAllows,
		Help: "process `N` classes at a time; 0 is one per processor"}
}

func compressionOption(p *zipfile.Level) cli.Option {
	return cli.Option{Name: "compression", Commands: byInstrument | byStrip, Omit: cli.InScanKey,
		WithSlice: cli.SliceAllows,
		Flag: cli.OneOf(p, zipfile.LevelDefault, cli.Word("store", zipfile.LevelStore),
			cli.Word("fast", zipfile.LevelFast),
			cli.Word("default", zipfile.LevelDefault), cli.Word("best", zipfile.LevelBest)),
		Help: "how to compress entries that change; other entries are copied as they are"}
}

// The commands that have options in common.
const (
	byInstrument cli.CommandSet = 1 << iota
	byScan
	byAssign
	byExplain
	byStrip
	byVerify
	byRecord

	everyBuild = byInstrument | byScan | byAssign | byExplain
	classWork  = byInstrument | byScan | byExplain // the commands that read classes
)
