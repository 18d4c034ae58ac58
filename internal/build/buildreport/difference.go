package buildreport

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/glob"
)

// Difference holds the differences of two reports, but for the names of files and for warnings.
type Difference struct {
	Options  []OptionChange // by name
	Rules    RuleChanges
	Totals   []NumberChange // of all inputs; numbers that one of the reports does not have are omitted
	Inputs   []RowChange    // by last name
	Packages []RowChange    // by name, in text form
	Focus    []OptionChange // by class, in text form: the actions on focus hooks

	old, new *Saved
}

// OptionChange is an option, or the focus hook of a class, whose value differs.
type OptionChange struct {
	Name string `json:"name"`          // of the option, or the class
	Old  string `json:"old,omitempty"` // "" if the old report has none
	New  string `json:"new,omitempty"` // "" if the new report has none
}

// NumberChange is a number that differs.
type NumberChange struct {
	Name string `json:"name"` // as in WriteText
	Old  int64  `json:"old"`  // in the old report
	New  int64  `json:"new"`  // in the new one
}

// RowChange holds the differences of one input or package.
type RowChange struct {
	Name    string         `json:"name"`    // of the input, without its directory, or of the package
	Added   bool           `json:"added"`   // the old report does not have it
	Removed bool           `json:"removed"` // the new report does not have it
	Numbers []NumberChange `json:"numbers"` // 0 on the side that does not have it
}

// RuleChanges holds the rules of only one of two runs, each once, in their order and without file and line, which
// change with every line above.
type RuleChanges struct {
	Added     []string `json:"added"`     // of the new run alone
	Removed   []string `json:"removed"`   // of the old run alone
	Reordered bool     `json:"reordered"` // the same rules in another order; the last match decides
}

func (c *RuleChanges) any() bool { return len(c.Added)+len(c.Removed) > 0 || c.Reordered }

// Equal reports whether nothing differs.
func (d *Difference) Equal() bool {
	return len(d.Options)+len(d.Totals)+len(d.Inputs)+len(d.Packages)+len(d.Focus) == 0 && !d.Rules.any() &&
		d.old.document.Mapping.Digest == d.new.document.Mapping.Digest
}

// Compare returns the differences of two reports. Compare(b, a) is Compare(a, b) with the sides exchanged.
func Compare(old, new *Saved) *Difference {
	a, b := &old.document, &new.document
	return &Difference{
		Options:  compareOptions(a.Options, b.Options),
		Rules:    compareRules(a.Rules, b.Rules),
		Totals:   compareNumbers(totalNumbers(a), totalNumbers(b), false),
		Inputs:   compareRows(inputRows(a), inputRows(b)),
		Packages: compareRows(packageRows(a), packageRows(b)),
		Focus:    compareOptions(focusOptions(a), focusOptions(b)),
		old:      old, new: new,
	}
}

// rulePlace matches the file and line before the text of a rule in a report.
var rulePlace = glob.Regexp(`^.*?:[0-9]+: `)

func compareRules(old, new []string) RuleChanges {
	before, after := ruleTexts(old), ruleTexts(new)
	c := RuleChanges{Added: without(after, before), Removed: without(before, after)}
	c.Reordered = !c.any() && !slices.Equal(before, after)
	return c
}

// ruleTexts returns the rules of a report without their places.
func ruleTexts(rules []string) []string {
	list := make([]string, len(rules))
	for i, rule := range rules {
		list[i] = rulePlace().ReplaceAllString(rule, "")
	}
	return list
}

func compareOptions(old, new map[string]string) []OptionChange {
	changes := []OptionChange{} // written as an empty list, not as null
	for _, name := range sortedNames(old, new) {
		if old[name] != new[name] {
			changes = append(changes, OptionChange{name, old[name], new[name]})
		}
	}
	return changes
}

// sortedNames returns the keys of both maps, each once.
func sortedNames[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// without returns the texts that are in list and not in others, each once.
func without(list, others []string) []string {
	left := []string{}
	for _, text := range list {
		if !slices.Contains(others, text) && !slices.Contains(left, text) {
			left = append(left, text)
		}
	}
	return left
}

// number is a number with its name.
type number struct {
	name  string
	value int64
}

// numbers returns the numbers of one input or of all inputs.
func (c *counts) numbers() []number {
	list := []number{
		{"classes", int64(c.Classes)}, {"rewritten", int64(c.Rewritten)}, {"methods", int64(c.Methods)}, {"traced",
			int64(c.Traced)},
		{"class bytes", c.ClassBytes},
	}
	if c.OutputClassBytes != nil {
		list = append(list, number{"output class bytes", *c.OutputClassBytes})
	}
	if c.Calls != nil {
		list = append(list, number{"calls", int64(*c.Calls)})
	}
	for _, reason := range filter.Reasons() {
		if n, ok := c.Skipped[reason]; ok {
			list = append(list, number{skippedPrefix + string(reason), int64(n)})
		}
	}
	return list
}

func totalNumbers(d *savedDocument) []number {
	return append(d.Totals.numbers(), number{"IDs", int64(d.Mapping.Methods)},
		number{"retired IDs", int64(d.Mapping.Retired)},
		number{"IDs left", int64(d.Mapping.Headroom)})
}

// compareNumbers returns the numbers that differ, in their order. A number that one side does not have is 0 there, if
// it counts the methods with a reason (a report has no zeros of these), or if oneSided says that the side is missing.
func compareNumbers(old, new []number, oneSided bool) []NumberChange {
	values := func(list []number) map[string]int64 {
		m := make(map[string]int64, len(list))
		for _, n := range list {
			m[n.name] = n.value
		}
		return m
	}
	before, after := values(old), values(new)
	changes := []NumberChange{}
	for _, name := range mergedNames(old, new) {
		a, inOld := before[name]
		b, inNew := after[name]
		if a != b && (inOld && inNew || oneSided || strings.HasPrefix(name, skippedPrefix)) {
			changes = append(changes, NumberChange{name, a, b})
		}
	}
	return changes
}

// mergedNames returns the names of both lists, each once, in the order of a complete list.
func mergedNames(a, b []number) []string {
	full := []string{"classes", "rewritten", "methods", "traced", "skipped", "class bytes", "output class bytes",
		"calls", "added bytes"}
	for _, reason := range filter.Reasons() {
		full = append(full, skippedPrefix+string(reason))
	}
	full = append(full, "IDs", "retired IDs", "IDs left")
	has := func(list []number, name string) bool {
		return slices.ContainsFunc(list, func(n number) bool { return n.name == name })
	}
	return slices.DeleteFunc(full, func(name string) bool { return !has(a, name) && !has(b, name) })
}

// skippedPrefix begins the names of the numbers of skipped methods.
const skippedPrefix = "skipped "

func inputRows(d *savedDocument) map[string][]number {
	rows := make(map[string][]number, len(d.Inputs))
	for i := range d.Inputs {
		in := &d.Inputs[i]
		last := path.Base(strings.ReplaceAll(in.Input, `\`, "/"))
		name := last
		for n := 2; rows[name] != nil; n++ {
			name = fmt.Sprintf("%s (%d)", last, n)
		}
		rows[name] = in.numbers()
	}
	return rows
}

func packageRows(d *savedDocument) map[string][]number {
	rows := make(map[string][]number, len(d.Packages))
	for _, p := range d.Packages {
		row := []number{{"traced", int64(p.Traced)}, {"skipped", int64(p.Skipped)}}
		if p.Calls != nil {
			row = append(row, number{"calls", int64(*p.Calls)})
		}
		if p.AddedBytes != nil {
			row = append(row, number{"added bytes", *p.AddedBytes})
		}
		rows[*p.Package] = row
	}
	return rows
}

func focusOptions(d *savedDocument) map[string]string {
	options := make(map[string]string, len(d.Focus))
	for _, f := range d.Focus {
		options[f.Class] = string(f.Action)
	}
	return options
}

func compareRows(old, new map[string][]number) []RowChange {
	changes := []RowChange{}
	for _, name := range sortedNames(old, new) {
		a, inOld := old[name]
		b, inNew := new[name]
		c := RowChange{Name: name, Added: !inOld, Removed: !inNew, Numbers: compareNumbers(a, b, inOld != inNew)}
		if c.Added || c.Removed || len(c.Numbers) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// Shrunk reports whether a build that lost so many of its methods may have had shrunk inputs, or those of another
// variant: it lost at least a fifth of them, and at least 50.
func Shrunk(lost, before int) bool {
	const share, least = 5, 50
	return lost >= least && lost >= before/share
}

// Warnings returns the differences that a build engineer should check.
func (d *Difference) Warnings() []string {
	list := []string{}
	a, b := &d.old.document, &d.new.document
	if lost := a.Totals.Traced - b.Totals.Traced; Shrunk(lost, a.Totals.Traced) {
		list = append(list,
			fmt.Sprintf("%d of %d traced methods are missing; is the input of NEW shrunk, or of another variant?", lost,
				a.Totals.Traced))
	}
	if n := len(d.Options); n > 0 {
		list = append(list, count(n, "option differs", "options differ"))
	}
	if a.Version != b.Version {
		list = append(list, fmt.Sprintf("tracegen %s wrote OLD, tracegen %s wrote NEW", console.Printable(a.Version),
			console.Printable(b.Version)))
	}
	for _, reason := range []filter.Reason{filter.ReasonUnverifiable, filter.ReasonMalformed} {
		if n := b.Totals.Skipped[reason] - a.Totals.Skipped[reason]; n > 0 {
			list = append(list, fmt.Sprintf("%s %s", count(n, "more method is", "more methods are"), reason))
		}
	}
	return list
}

// WriteText writes the difference for people: first the totals and warnings, then lists. Each line of a list begins
// with + for new, - for removed, or ~ for changed. oldFile and newFile are the names of the reports.
func (d *Difference) WriteText(w io.Writer, oldFile, newFile string) error {
	b := bufio.NewWriter(w)
	for _, side := range []struct {
		word, file string
		document   *savedDocument
	}{{"old", oldFile, &d.old.document}, {"new", newFile, &d.new.document}} {
		m := &side.document.Mapping
		fmt.Fprintf(b, "%s: %s, digest %s, %d methods, %d retired\n", side.word, console.Printable(side.file),
			console.Printable(m.Digest), m.Methods, m.Retired)
	}
	if d.Equal() {
		fmt.Fprintln(b, "no difference")
		return b.Flush()
	}
	for _, n := range d.Totals {
		fmt.Fprintf(b, "%s: %s\n", n.Name, n)
	}
	for _, text := range d.Warnings() {
		fmt.Fprintln(b, "warning:", text)
	}
	fmt.Fprintln(b)
	for _, o := range d.Options {
		fmt.Fprintln(b, o.line("option"))
	}
	for _, rule := range d.Rules.Removed {
		fmt.Fprintln(b, "- rule", console.Printable(rule))
	}
	for _, rule := range d.Rules.Added {
		fmt.Fprintln(b, "+ rule", console.Printable(rule))
	}
	if d.Rules.Reordered {
		fmt.Fprintln(b, "~ rules: in another order")
	}
	for _, row := range d.Inputs {
		fmt.Fprintln(b, row.line("input"))
	}
	for _, row := range d.Packages {
		fmt.Fprintln(b, row.line("package"))
	}
	for _, o := range d.Focus {
		fmt.Fprintln(b, o.line("focus"))
	}
	return b.Flush()
}

// String returns "OLD -> NEW (DIFFERENCE)".
func (n NumberChange) String() string {
	return fmt.Sprintf("%d -> %d (%+d)", n.Old, n.New, n.New-n.Old)
}

func (o OptionChange) line(what string) string {
	name := what + " " + console.Printable(o.Name)
	switch {
	case o.Old == "":
		return fmt.Sprintf("+ %s: %s", name, console.Printable(o.New))
	case o.New == "":
		return fmt.Sprintf("- %s: %s", name, console.Printable(o.Old))
	}
	return fmt.Sprintf("~ %s: %s -> %s", name, console.Printable(o.Old), console.Printable(o.New))
}

func (r *RowChange) line(what string) string {
	sign := "~"
	switch {
	case r.Added:
		sign = "+"
	case r.Removed:
		sign = "-"
	}
	numbers := make([]string, len(r.Numbers))
	for i, n := range r.Numbers {
		switch {
		case r.Added:
			numbers[i] = fmt.Sprintf("%s %d", n.Name, n.New)
		case r.Removed:
			numbers[i] = fmt.Sprintf("%s %d", n.Name, n.Old)
		default:
			numbers[i] = n.Name + " " + n.String()
		}
	}
	name := cmp.Or(console.Printable(r.Name), "(unnamed)")
	if len(numbers) == 0 {
		return sign + " " + what + " " + name
	}
	return fmt.Sprintf("%s %s %s: %s", sign, what, name, strings.Join(numbers, ", "))
}

type differenceSide struct {
	File    string `json:"file"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// WriteJSON writes the difference for programs; see the package comment for its keys.
func (d *Difference) WriteJSON(w io.Writer, oldFile, newFile string) error {
	side := func(file string, s *Saved) differenceSide {
		return differenceSide{file, s.document.Version, s.document.Mapping.Digest}
	}
	return encode(w, struct {
		Schema   int            `json:"schema"`
		Equal    bool           `json:"equal"`
		Old      differenceSide `json:"old"`
		New      differenceSide `json:"new"`
		Warnings []string       `json:"warnings"`
		Totals   []NumberChange `json:"totals"`
		Options  []OptionChange `json:"options"`
		Rules    RuleChanges    `json:"rules"`
		Inputs   []RowChange    `json:"inputs"`
		Packages []RowChange    `json:"packages"`
		Focus    []OptionChange `json:"focus"`
	}{schema, d.Equal(), side(oldFile, d.old), side(newFile,
		d.new), d.Warnings(), d.Totals, d.Options, d.Rules, d.Inputs, d.Packages, d.Focus})
}
