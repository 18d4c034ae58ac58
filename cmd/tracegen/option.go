package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// option is one row of a table of options. It holds everything that the program has to know about one flag: flags,
// help, manual pages, completion, tracegen.yml, scan files, cache keys and reports are all made from the rows. The zero
// value of a field is always the safe choice: a row that says nothing about keys is part of all of them.
type option struct {
	name, short string
	help        string             // a word in back quotes stands for the value
	helpIn      map[command]string // help in commands where the option means something else
	group       string             // heading in the help of commands; "" is "Flags"
	hidden      bool               // from help and completion

	// flag has the value and its default. The other fields of it are filled in from the row.
	flag *pflag.Flag

	// commands take the option on their command line. 0 stands for every command that has the table.
	commands command
	// config are the commands that take the option from tracegen.yml. 0 stands for all that read the file, offLimits
	// for none: the file may not name the option at all.
	config command
	// omit lists the records that do not have the option's value, for one of the reasons that [records] names.
	omit records
	// withIDs says what instrument --ids does about the option.
	withIDs withIDs
	// matrix is the value that --preset matrix gives to an option that was not given; "" if it gives none.
	matrix string

	file   fileUse
	list   bool // the value is a list of paths, as the system separates them
	stdout bool // "-" stands for standard output
	// extensions are those of the files that shells complete: nil stands for any file, onlyDirectories for directories,
	// and an empty list for nothing.
	extensions []string
}

// command is a set of the commands that share a table of options.
type command uint16

const (
	byInstrument command = 1 << iota
	byScan
	byAssign
	byExplain
	byStrip
	byVerify
	offLimits

	everyBuild = byInstrument | byScan | byAssign | byExplain
	classWork  = byInstrument | byScan | byExplain // the commands that look at classes
)

// records are the places where values of options are recorded, to be compared with those of another run.
//
// An option is left out of a record for one of these reasons. It has no influence on what the record is about, as with
// --jobs. Or the record has what follows from it by other means: the content of a file instead of its name, or the
// decisions and IDs that the option led to.
type records uint8

const (
	inScanKey  records = 1 << iota // cache key of what a scan finds out about an input
	inWriteKey                     // cache key of a written output
	inOrigin                       // origin of a scan file: all parts of an app must have the same values
	inReport                       // options that --report lists

	inKeys     = inScanKey | inWriteKey
	inNoRecord = inKeys | inOrigin | inReport
)

// withIDs says what becomes of an option of instrument when --ids names a slice, in which all is decided.
type withIDs uint8

const (
	idsRefuse withIDs = iota // an error on the command line; ignored in tracegen.yml
	idsConfig                // an error on the command line; used if it is in tracegen.yml
	idsAgree                 // must be what the slice says
	idsAllow                 // used
)

// fileUse says what becomes of the file that an option names. In tracegen.yml such a name is relative to that file.
type fileUse uint8

const (
	noFile       fileUse = iota
	fileRead             // may not be overwritten
	fileReplaced         // is read; --mapping may overwrite it
	fileSearched         // files and directories in which classes are looked up
	fileBeside           // is written beside the outputs
	fileOutput           // the output, or the directory of the outputs
	fileCache            // a directory that the program keeps for itself
)

// onlyDirectories are the extensions of an option that names a directory.
var onlyDirectories = []string{"/"}

// nothing are the extensions of an option that shells complete nothing for.
var nothing = []string{}

// takenBy reports whether the option is one of a command's.
func (o *option) takenBy(as command) bool { return o.commands == 0 || o.commands&as != 0 }

// repeatable reports whether the option may be given several times, each adding to the others, and so may be a list.
func (o *option) repeatable() bool {
	_, guards := o.flag.Value.(*failOn)
	return guards || o.flag.Value.Type() == "stringArray"
}

// paths returns the paths that the value names.
func (o *option) paths() []string {
	var values []string
	if many, ok := o.flag.Value.(pflag.SliceValue); ok {
		values = many.GetSlice()
	} else {
		values = []string{o.flag.Value.String()}
	}
	var paths []string
	for _, v := range values {
		one := []string{v}
		if o.list {
			one = filepath.SplitList(v)
		}
		for _, path := range one {
			if path != "" && !(o.stdout && path == standardOutput) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// options is a table of options, in the order of help.
type options []option

// newOptions completes the rows of a table. The flags of options that shells know are ready to be added to commands.
func newOptions(rows ...[]option) options {
	table := options(slices.Concat(rows...))
	for i := range table {
		o := &table[i]
		o.flag.Name, o.flag.Shorthand, o.flag.Usage, o.flag.Hidden = o.name, o.short, o.help, o.hidden
		if o.group != "" {
			o.flag.Annotations = map[string][]string{groupAnnotation: {o.group}}
		}
	}
	return table
}

// grouped puts the rows under a heading.
func grouped(heading string, rows ...option) []option {
	for i := range rows {
		rows[i].group = heading
	}
	return rows
}

// addTo adds the options that the command takes to its flags, with their completion.
func (t options) addTo(cmd *cobra.Command, as command) {
	cmd.Flags().SortFlags = false
	t.add(cmd, cmd.Flags(), as)
}

// addPersistent adds the options to the flags of the command and of all below it.
func (t options) addPersistent(cmd *cobra.Command) { t.add(cmd, cmd.PersistentFlags(), 0) }

func (t options) add(cmd *cobra.Command, flags *pflag.FlagSet, as command) {
	for i := range t {
		o := &t[i]
		if !o.takenBy(as) {
			continue
		}
		if help := o.helpIn[as]; help != "" {
			o.flag.Usage = help
		}
		flags.AddFlag(o.flag)
		if complete := o.completion(); complete != nil {
			// The error would be about a flag that was not added.
			_ = cmd.RegisterFlagCompletionFunc(o.name, complete)
		}
	}
}

// find returns the row of that name, or nil.
func (t options) find(name string) *option {
	for i := range t {
		if t[i].name == name {
			return &t[i]
		}
	}
	return nil
}

// names returns the names of the rows that are to be kept.
func (t options) names(keep func(o *option) bool) []string {
	var names []string
	for i := range t {
		if keep(&t[i]) {
			names = append(names, t[i].name)
		}
	}
	return names
}

// given reports whether the option has a value by the command line or tracegen.yml.
func (t options) given(name string) bool { return t.find(name).flag.Changed }

// files returns the paths that options of these uses name.
func (t options) files(uses ...fileUse) []string {
	var paths []string
	for i := range t {
		if slices.Contains(uses, t[i].file) {
			paths = append(paths, t[i].paths()...)
		}
	}
	return paths
}

// targets returns the same with the names of the options.
func (t options) targets(use fileUse) []target {
	var list []target
	for i := range t {
		if t[i].file != use {
			continue
		}
		for _, path := range t[i].paths() {
			list = append(list, target{"--" + t[i].name, path})
		}
	}
	return list
}

// flagOf returns the flag that add adds to a set, which is the way to get at the types of package pflag.
func flagOf(add func(f *pflag.FlagSet)) *pflag.Flag {
	set := newFlags()
	add(set)
	var made *pflag.Flag
	set.VisitAll(func(f *pflag.Flag) { made = f })
	return made
}

// unnamed is the name of flags until a table gives them theirs.
const unnamed = "unnamed"

// text, texts, yes, number, share and duration are the flags of simple types. A text or number has a default; texts may
// be given several times.
func text(p *string, standard string) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.StringVar(p, unnamed, standard, "") })
}

func texts(p *[]string) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.StringArrayVar(p, unnamed, nil, "") })
}

func yes(p *bool) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.BoolVar(p, unnamed, false, "") })
}

func number(p *int, standard int) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.IntVar(p, unnamed, standard, "") })
}

func share(p *float64, standard float64) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.Float64Var(p, unnamed, standard, "") })
}

func duration(p *time.Duration, standard time.Duration) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.DurationVar(p, unnamed, standard, "") })
}

// custom is a flag of a type of its own, which has the default already.
func custom(v pflag.Value) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.Var(v, unnamed, "") })
}

// oneOf is a flag whose value is one of a few words.
func oneOf[T comparable](p *T, standard T, values ...named[T]) *pflag.Flag {
	return custom(newChoice(p, standard, values...))
}

// textOrJSON is the flag of a format for people or for programs.
func textOrJSON(json *bool) *pflag.Flag {
	return oneOf(json, false, named[bool]{"text", false}, named[bool]{"json", true})
}

// record returns the values of the options that a record has, one a line, to be hashed or compared. values has them by
// name.
func (t options) record(r records, values map[string]string) string {
	var text strings.Builder
	for i := range t {
		if t[i].omit&r == 0 {
			fmt.Fprintf(&text, "%s %q\n", t[i].name, values[t[i].name])
		}
	}
	return text.String()
}
