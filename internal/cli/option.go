package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/console"
)

// Option is one row of a table of options. It describes one option completely: flags, help, completion,
// the keys of tracegen.yml, scan files, cache keys and reports are all made from the rows. The zero value of each field
// is the safe choice: the value of a row that omits no record is part of every record, so that a forgotten field costs
// time, and never results in the output of a run with other values.
type Option struct {
	Name, Short string                // the flag: --Name and -Short
	Help        string                // one phrase; the word in back quotes stands for the value
	HelpIn      map[CommandSet]string // replaces help in commands that use the option in another way
	group       string                // heading in the help; "" is "Flags"

	// Flag holds the value and its default. newOptions sets its other fields from the row.
	Flag *pflag.Flag

	// Key makes the option a key of tracegen.yml and of --set instead of a flag: it is a decision of a project, and not
	// of one run.
	Key bool
	// Block is the key of tracegen.yml that holds the values as a block, such as guards; "" for none. Name is no key then.
	Block string
	// Commands accept the option on their command line; 0 stands for every command that has the table.
	Commands CommandSet
	// Config are the commands that read the option from tracegen.yml; 0 stands for all of them. With offLimits, the
	// file may not name the option.
	Config CommandSet
	// Omit lists the records that leave the option's value out; see [records] for the reasons.
	Omit records
	// WithSlice says what instrument --slice does with the option.
	WithSlice withSlice
	// Matrix is the value that --preset matrix sets unless the option is given; "" for none.
	Matrix string

	File   fileUse // of the file or directory that the value names
	List   bool    // the value is a list of paths, separated as the system does it
	Stdout bool    // "-" stands for standard output
	Word   string  // a value that stands for itself and names no file; "" for none
}

// CommandSet is a set of the commands that share a table of options.
type CommandSet uint16

// OffLimits is the value of option.config for an option that tracegen.yml may not name.
const OffLimits CommandSet = 1 << 15

// records is a set of records of option values. A later run compares the values of such a record with its own.
//
// An option may be left out of a record for one of two reasons. Either it does not influence what the record is about,
// as --jobs. Or the record contains the effect of the option in another form: the content of a file instead of its
// name, or the decisions and IDs that follow from the option.
type records uint8

const (
	InScanKey  records = 1 << iota // cache key of the class facts of an input
	InWriteKey                     // cache key of a written output
	InOrigin                       // origin of a scan file: all parts of an app must have the same values
	InReport                       // options that --report lists

	InKeys     = InScanKey | InWriteKey       // both
	InNoRecord = InKeys | InOrigin | InReport // all
)

// withSlice says what instrument does with an option if --slice is given. All decisions are in the slice then.
type withSlice uint8

const (
	SliceRefuses withSlice = iota // an error on the command line; ignored in tracegen.yml
	SliceIgnores                  // an error on the command line; used from tracegen.yml, for what it implies
	SliceAgrees                   // must have the value that the slice records
	SliceAllows                   // used
)

// fileUse says how a command uses the file that an option names. In tracegen.yml, such names are relative to that file.
type fileUse uint8

const (
	NoFile       fileUse = iota // the value names no file
	FileRead                    // is read, and may not be overwritten
	FileReplaced                // is read; --mapping may overwrite it
	FileSearched                // files and directories in which classes are looked up
	FileBeside                  // is written beside the outputs
	FileOutput                  // the output, or the directory of the outputs
	FileCache                   // the directory of the cache
)

// TakenBy reports whether the command accepts the option on its command line.
func (o *Option) TakenBy(as CommandSet) bool { return o.Commands == 0 || o.Commands&as != 0 }

// Repeatable reports whether the option may be given several times, and may be a list in tracegen.yml.
func (o *Option) Repeatable() bool {
	_, many := o.Flag.Value.(interface{ Repeatable() })
	return many || o.Flag.Value.Type() == "stringArray"
}

// InConfig returns the option's key in tracegen.yml.
func (o *Option) InConfig() string { return cmp.Or(o.Block, o.Name) }

// Title returns how messages name the option.
func (o *Option) Title() string {
	if o.Key {
		return o.Name
	}
	return "--" + o.Name
}

// paths returns the paths that the value names.
func (o *Option) paths() []string {
	var values []string
	if many, ok := o.Flag.Value.(pflag.SliceValue); ok {
		values = many.GetSlice()
	} else {
		values = []string{o.Flag.Value.String()}
	}
	var paths []string
	for _, v := range values {
		one := []string{v}
		if o.List {
			one = filepath.SplitList(v)
		}
		for _, path := range one {
			if path != "" && path != o.Word && !(o.Stdout && path == StandardOutput) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Options is a table of options, in the order of the help.
type Options []Option

// NewOptions returns the table of the rows, with complete flags.
func NewOptions(rows ...[]Option) Options {
	table := Options(slices.Concat(rows...))
	for i := range table {
		o := &table[i]
		o.Flag.Name, o.Flag.Shorthand, o.Flag.Usage = o.Name, o.Short, o.Help
		if o.group != "" {
			o.Flag.Annotations = map[string][]string{groupAnnotation: {o.group}}
		}
	}
	return table
}

// Grouped returns the rows with the heading.
func Grouped(heading string, rows ...Option) []Option {
	for i := range rows {
		rows[i].group = heading
	}
	return rows
}

// AddTo adds the options that the command accepts to its flags, with their completion, and the keys to its help.
func (t Options) AddTo(cmd *cobra.Command, as CommandSet) {
	cmd.Flags().SortFlags = false
	if keys := t.keysOf(as); len(keys) > 0 {
		cmd.Annotations = map[string]string{keysAnnotation: keys.usage()}
	}
	t.add(cmd, cmd.Flags(), as)
}

// addPersistent adds the options to the flags of the command and of all below it.
func (t Options) addPersistent(cmd *cobra.Command) { t.add(cmd, cmd.PersistentFlags(), 0) }

func (t Options) add(cmd *cobra.Command, flags *pflag.FlagSet, as CommandSet) {
	for i := range t {
		o := &t[i]
		if !o.TakenBy(as) || o.Key {
			continue
		}
		if help := o.HelpIn[as]; help != "" {
			o.Flag.Usage = help
		}
		flags.AddFlag(o.Flag)
		if words, isChoice := o.Flag.Value.(interface{ Names() []string }); isChoice {
			// The error would be about a flag that was not added.
			_ = cmd.RegisterFlagCompletionFunc(o.Name, cobra.FixedCompletions(words.Names(), cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// Find returns the row with the name, or nil.
func (t Options) Find(name string) *Option {
	for i := range t {
		if t[i].Name == name {
			return &t[i]
		}
	}
	return nil
}

// Names returns the names of the rows for which keep returns true.
func (t Options) Names(keep func(o *Option) bool) []string {
	var names []string
	for i := range t {
		if keep(&t[i]) {
			names = append(names, t[i].Name)
		}
	}
	return names
}

// Given reports whether the command line or tracegen.yml sets the option.
func (t Options) Given(name string) bool { return t.Find(name).Flag.Changed }

// Files returns the paths that the options with one of the uses name.
func (t Options) Files(uses ...fileUse) []string {
	var paths []string
	for i := range t {
		if slices.Contains(uses, t[i].File) {
			paths = append(paths, t[i].paths()...)
		}
	}
	return paths
}

// Targets returns the same for one use, with the names of the options.
func (t Options) Targets(use fileUse) []Target {
	var list []Target
	for i := range t {
		if t[i].File != use {
			continue
		}
		for _, path := range t[i].paths() {
			list = append(list, Target{What: "--" + t[i].Name, Path: path})
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

// Text returns a flag that sets p.
func Text(p *string, standard string) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.StringVar(p, unnamed, standard, "") })
}

// Texts returns a flag that may be given several times, and adds to p.
func Texts(p *[]string) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.StringArrayVar(p, unnamed, nil, "") })
}

// Yes returns a flag without a value, which sets p.
func Yes(p *bool) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.BoolVar(p, unnamed, false, "") })
}

// Number returns a flag that sets p.
func Number(p *int, standard int) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.IntVar(p, unnamed, standard, "") })
}

// Duration returns a flag that sets p.
func Duration(p *time.Duration, standard time.Duration) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.DurationVar(p, unnamed, standard, "") })
}

// Custom returns a flag of another type. The default is its value now.
func Custom(v pflag.Value) *pflag.Flag {
	return flagOf(func(f *pflag.FlagSet) { f.Var(v, unnamed, "") })
}

// OneOf returns a flag whose value is one of a few words.
func OneOf[T comparable](p *T, standard T, values ...Named[T]) *pflag.Flag {
	return Custom(newChoice(p, standard, values...))
}

// TextOrJSON returns the flag of an output format.
func TextOrJSON(json *bool) *pflag.Flag {
	return OneOf(json, false, Word("text", false), Word("json", true))
}

// Record returns the options of a record with their values, one a line. values holds the values by name.
func (t Options) Record(r records, values map[string]string) string {
	var text strings.Builder
	for i := range t {
		if t[i].Omit&r == 0 {
			fmt.Fprintf(&text, "%s %q\n", t[i].Name, values[t[i].Name])
		}
	}
	return text.String()
}

// Configurable returns the names of the options that tracegen.yml may set.
func (t Options) Configurable() []string {
	var names []string
	for i := range t {
		if t[i].Config != OffLimits {
			names = append(names, t[i].InConfig())
		}
	}
	return names
}

// RelativeTo returns the value of the option that stands in the configuration file as value.
func (o *Option) RelativeTo(file, value string) string {
	switch {
	case o.Word != "" && value == o.Word:
		return value
	case o.List:
		return relativeList(file, value)
	case o.File != NoFile:
		return relativeTo(file, value)
	}
	return value
}

// relativeTo returns a path that is relative to the directory of file, as a path that is relative to the working
// directory. It keeps a slash at the end, which marks a directory.
func relativeTo(file, path string) string {
	if filepath.IsAbs(path) || path == StandardOutput {
		return path
	}
	joined := filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
	if EndsInSeparator(path) {
		joined += string(filepath.Separator)
	}
	return joined
}

// relativeList does the same for each path of a list.
func relativeList(file, list string) string {
	paths := filepath.SplitList(list)
	for i, path := range paths {
		paths[i] = relativeTo(file, path)
	}
	return strings.Join(paths, string(filepath.ListSeparator))
}

// QuietOption returns the option --quiet.
func QuietOption(con *console.Console, commands CommandSet) Option {
	return Option{Name: "quiet", Short: "q", Flag: Yes(&con.Quiet), Commands: commands, Omit: InNoRecord,
		WithSlice: SliceAllows,
		Help:      "print warnings and errors only"}
}
