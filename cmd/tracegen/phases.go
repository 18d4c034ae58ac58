package main

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/report"
)

// scanOptions are the flags that decide what a scan says. All parts of an app have to be scanned with the same.
var scanOptions = []string{"trivial", "target", "allow-huge", "preset", "runtime-class", "add-requires", "exits", "constructor-entry",
	"focus-hook", "verify", "strict-classpath"}

// rulesOption stands for the rules and block lists among them.
const rulesOption = "rules"

// r8Option stands for the content of --r8-mapping among them.
const r8Option = "r8-mapping"

// groups are all flags of instrument, under their headings. Commands that do a part of its work have some of them;
// tracegen.yml may have all, so that one file serves every command.
func (i *instrument) groups() []flagGroup {
	return []flagGroup{i.outputFlags(), i.idFlags(), i.methodFlags(), i.callFlags(), i.verifyFlags(), i.guards.add(), i.runFlags()}
}

// addSome adds those of the groups' flags that are named, with other words where usages has some, and gives all.
func addSome(cmd *cobra.Command, groups []flagGroup, names []string, usages map[string]string) *pflag.FlagSet {
	all := newFlags()
	var some []flagGroup
	for _, g := range groups {
		picked := flagGroup{g.title, newFlags()}
		g.flags.VisitAll(func(f *pflag.Flag) {
			all.AddFlag(f)
			if usage := usages[f.Name]; usage != "" {
				f.Usage = usage
			}
			if slices.Contains(names, f.Name) {
				picked.flags.AddFlag(f)
			}
		})
		if picked.flags.HasFlags() {
			some = append(some, picked)
		}
	}
	addGroups(cmd, some...)
	return all
}

// origin tells by what a part is scanned.
func (i *instrument) origin() pipeline.Origin {
	o := pipeline.Origin{Tool: version(), Options: map[string]string{rulesOption: rulesDigest(i.rules), r8Option: i.r8Digest}}
	for _, name := range scanOptions {
		o.Options[name] = i.options[name]
	}
	return o
}

// rulesDigest tells lists of rules apart: "3 rules (9f86d081884c7d65)".
func rulesDigest(rules []filter.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	var text strings.Builder
	for _, r := range rules {
		text.WriteString(strconv.Quote(r.String()) + "\n")
	}
	sum := sha256.Sum256([]byte(text.String()))
	return fmt.Sprintf("%d rules (%x)", len(rules), sum[:8])
}

// madeHere refuses a file that another version of the program made.
func madeHere(path string, by pipeline.Origin) error {
	if by.Tool != version() {
		return fmt.Errorf("%s was made by tracegen %s, this is %s; make it again with this one", path, by.Tool, version())
	}
	return nil
}

// adoptOptions sets the flags to what a part or slice was made with, so that neither tracegen.yml nor a preset
// changes them.
func adoptOptions(flags *pflag.FlagSet, names []string, by pipeline.Origin) error {
	for _, name := range names {
		value, ok := by.Options[name]
		if !ok {
			return fmt.Errorf("the option %s is missing in it; make it again", name)
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("option %s %q: %w", name, value, err)
		}
	}
	return nil
}

// paths gives the arguments as names of files that are read.
func paths(args []string) (list, argfiles []string, err error) {
	arguments, argfiles, err := parseArguments(args)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range arguments {
		if a.output != "" {
			return nil, nil, misuse("%s=%s: there is one output, named by --output", a.path, a.output)
		}
		list = append(list, a.path)
	}
	if len(list) == 0 {
		return nil, nil, misuse("the argument file lists no input")
	}
	return list, argfiles, nil
}

// tell prints the warnings of a run, and with -v what the type verifier lacked.
func (i *instrument) tell(result *pipeline.Result) {
	for _, w := range result.Warnings {
		i.con.warn("%s", w)
	}
	if i.verify == pipeline.VerifyFull {
		i.con.detail("classes that the verifier did not find, and assumed to fit: %d", len(result.Unknown))
	}
	for _, name := range result.Unknown {
		i.con.detail("not found: %s", report.Printable(strings.ReplaceAll(name, "/", ".")))
	}
}
