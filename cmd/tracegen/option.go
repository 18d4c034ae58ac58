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

// option is one row of a table of options. It describes one option completely: flags, help, manual pages, completion,
// the keys of tracegen.yml, scan files, cache keys and reports are all made from the rows. The zero value of each field
// is the safe choice: the value of a row that omits no record is part of every record, so that a forgotten field costs
// time, and never results in the output of a run with other values.
type option struct {
	name, short string
	help        string             // one phrase; the word in back quotes stands for the value
	helpIn      map[command]string // replaces help in commands that use the option in another way
	group       string             // heading in the help; "" is "Flags"
	hidden      bool               // from help and completion

	// flag holds the value and its default. newOptions sets its other fields from the row.
	flag *pflag.Flag

	// commands accept the option on their command line; 0 stands for every command that has the table.
	commands command
	// config are the commands that read the option from tracegen.yml; 0 stands for all of them. With offLimits, the
	// file may not name the option.
	config command
	// omit lists the records that leave the option's value out; see [records] for the reasons.
	omit records
	// withSlice says what instrument --slice does with the option.
	withSlice withSlice
	// matrix is the value that --preset matrix sets unless the option is given; "" for none.
	matrix string

	file   fileUse
	list   bool   // the value is a list of paths, separated as the system does it
	stdout bool   // "-" stands for standard output
	word   string // a value that stands for itself and names no file; "" for none
	// extensions are those of the files that shells complete; nil stands for any file.
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
	byRecord
	offLimits

	everyBuild = byInstrument | byScan | byAssign | byExplain
	classWork  = byInstrument | byScan | byExplain // the commands that read classes
)

// records is a set of records of option values. A later run compares the values of such a record with its own.
//
// An option may be left out of a record for one of two reasons. Either it does not influence what the record is about,
// as --jobs. Or the record contains the effect of the option in another form: the content of a file instead of its
// name, or the decisions and IDs that follow from the option.
type records uint8

const (
	inScanKey  records = 1 << iota // cache key of the class facts of an input
	inWriteKey                     // cache key of a written output
	inOrigin                       // origin of a scan file: all parts of an app must have the same values
	inReport                       // options that --report lists

	inKeys     = inScanKey | inWriteKey
	inNoRecord = inKeys | inOrigin | inReport
)

// withSlice says what instrument does with an option if --slice is given. All decisions are in the slice then.
type withSlice uint8

const (
	sliceRefuses withSlice = iota // an error on the command line; ignored in tracegen.yml
	sliceIgnores                  // an error on the command line; used from tracegen.yml, for what it implies
	sliceAgrees                   // must have the value that the slice records
	sliceAllows                   // used
)

// fileUse says how a command uses the file that an option names. In tracegen.yml, such names are relative to that file.
type fileUse uint8

const (
	noFile       fileUse = iota
	fileRead             // is read, and may not be overwritten
	fileReplaced         // is read; --mapping may overwrite it
	fileSearched         // files and directories in which classes are looked up
	fileBeside           // is written beside the outputs
	fileAppended         // is appended to, after everything else
	fileOutput           // the output, or the directory of the outputs
	fileCache            // the directory of the cache
)

// onlyDirectories is the value of option.extensions for an option that names a directory.
var onlyDirectories = []string{"/"}

// takenBy reports whether the command accepts the option on its command line.
func (o *option) takenBy(as command) bool { return o.commands == 0 || o.commands&as != 0 }

// repeatable reports whether the option may be given several times, and may be a list in tracegen.yml.
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
			if path != "" && path != o.word && !(o.stdout && path == standardOutput) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// options is a table of options, in the order of the help.
type options []option

// newOptions returns the table of the rows, with complete flags.
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

// grouped returns the rows with the heading.
func grouped(heading string, rows ...option) []option {
	for i := range rows {
		rows[i].group = heading
	}
	return rows
}

// addTo adds the options that the command accepts to its flags, with their completion.
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

// find returns the row with the name, or nil.
func (t options) find(name string) *option {
	for i := range t {
		if t[i].name == name {
			return &t[i]
		}
	}
	return nil
}

// names returns the names of the rows for which keep returns true.
func (t options) names(keep func(o *option) bool) []string {
	var names []string
	for i := range t {
		if keep(&t[i]) {
			names = append(names, t[i].name)
		}
	}
	return names
}

// given reports whether the command line or tracegen.yml sets the option.
func (t options) given(name string) bool { return t.find(name).flag.Changed }

// files returns the paths that the options with one of the uses name.
func (t options) files(uses ...fileUse) []string {
	var paths []string
	for i := range t {
		if slices.Contains(uses, t[i].file) {
			paths = append(paths, t[i].paths()...)
		}
	}
	return paths
}

// targets returns the same for one use, with the names of the options.
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

// flagOf returns the flag that add adds to a set: package pflag has no other way to make a value of its types.
func flagOf(add func(f *pflag.FlagSet)) *pflag.Flag {
	set := newFlags()
	add(set)
	var made *pflag.Flag
	set.VisitAll(func(f *pflag.Flag) { made = f })
	return made
}

// unnamed is the name of a flag until newOptions sets it.
const unnamed = "unnamed"

// text, texts, yes, number, share and duration return flags of simple types, which set p. texts may be given several
// times.
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

// custom returns a flag of another type. The default is its value now.
func custom(v pflag.Value) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.Var(v, unnamed, "") })
}

// oneOf returns a flag whose value is one of a few words.
func oneOf[T comparable](p *T, standard T, values ...named[T]) *pflag.Flag {
	return custom(newChoice(p, standard, values...))
}

// textOrJSON returns the flag of an output format.
func textOrJSON(json *bool) *pflag.Flag {
	return oneOf(json, false, named[bool]{"text", false}, named[bool]{"json", true})
}

// record returns the options of a record with their values, one a line. values holds the values by name.
func (t options) record(r records, values map[string]string) string {
	var text strings.Builder
	for i := range t {
		if t[i].omit&r == 0 {
			fmt.Fprintf(&text, "%s %q\n", t[i].name, values[t[i].name])
		}
	}
	return text.String()
}
