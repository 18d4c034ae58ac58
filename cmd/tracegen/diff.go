package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/gz"
	"github.com/tracegen/tracegen/mapping"
)

func newDiffCmd(con *console) *cobra.Command {
	asJSON, exitCode := false, false
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two mappings or two reports",
		Long: `diff compares two mappings. It prints counts and warnings first, and then the methods
that differ, one per line. The line begins with

  +  the method is in NEW only; "back" if its ID is retired in OLD
  -  the method is in OLD only; "retired" if NEW retires its ID
  ~  the method is in both, with different IDs
  !  the ID stands for different methods
  =  the same code has another name that a compiler numbered: OLD's -> NEW's
  ?  the name may stand for other code: a compiler numbered it (lambda$f$1, Foo$2),
     and the code differs, or other such methods of the class were added or removed
  f  the access flags differ
  o  the ID is retired in OLD and free in NEW; pruned, if OLD is the base of NEW
  n  the ID is retired in NEW and free in OLD
  @  the focus hook differs

Methods are matched by class, name and descriptor. If OLD is the base of NEW, there are
no lines with ~ and !.

diff also compares two reports that --report wrote. It prints the counts, options,
rules, inputs and packages that differ: + for new, - for removed, ~ for changed.

The files may be compressed (.gz), and one of them may be - for standard input.`,
		Example: `  tracegen diff 1.4/methodMapping.txt 1.5/methodMapping.txt
  tracegen diff old.txt new.txt --exit-code > changes.txt
  tracegen diff old.txt new.txt --format json | jq .removed[].old.class
  tracegen diff 1.4/report.json 1.5/report.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misuse("give two mappings or two reports; %d given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := compareFiles(con, args[0], args[1])
			if err != nil {
				return err
			}
			print := d.print
			if asJSON {
				print = d.printJSON
			}
			out := bufio.NewWriter(con.out)
			if err := errors.Join(print(out), out.Flush()); err != nil {
				return err
			}
			if exitCode && !d.Equal() {
				return checkFailed{fmt.Errorf("%s and %s differ", args[0], args[1])}
			}
			return nil
		},
	}
	cmd.ValidArgsFunction = completeFiles("txt")
	newOptions([]option{
		{name: "exit-code", flag: yes(&exitCode), help: "exit with 1 if the files differ in more than comments"},
		{name: "format", flag: textOrJSON(&asJSON), help: "output format: lines as above, or one JSON object"},
	}).addTo(cmd, 0)
	return cmd
}

// difference is the result of comparing two files.
type difference interface {
	Equal() bool
	print(io.Writer) error
	printJSON(io.Writer) error
}

// maxText is the size in bytes above which a mapping is not read, however much it is compressed.
const maxText = 1 << 30

// readText returns the content of a file, inflated if it is compressed, or of standard input, and its name in messages.
func readText(con *console, file string) (name, text string, err error) {
	if file != standardInput {
		data, err := gz.ReadFile(file, maxText)
		return file, string(data), err
	}
	name = "standard input"
	in, err := gz.NewReader(con.in)
	if err != nil {
		return name, "", fmt.Errorf("%s: %w", name, err)
	}
	var all strings.Builder
	if n, err := io.Copy(&all, io.LimitReader(in, maxText+1)); err != nil {
		return name, "", fmt.Errorf("%s: %w", name, err)
	} else if n > maxText {
		return name, "", fmt.Errorf("%s: longer than %d MiB", name, maxText>>20)
	}
	return name, all.String(), nil
}

// compareFiles compares two mappings or two reports. The first byte of a file shows which of them it is: a report is a
// JSON object, and a mapping does not begin as one.
func compareFiles(con *console, old, new string) (difference, error) {
	if old == standardInput && new == standardInput {
		return nil, misuse("standard input can be read only once")
	}
	oldName, oldText, err := readText(con, old)
	if err != nil {
		return nil, err
	}
	newName, newText, err := readText(con, new)
	if err != nil {
		return nil, err
	}
	isReport := strings.HasPrefix(oldText, "{")
	switch {
	case isReport != strings.HasPrefix(newText, "{"):
		return nil, fmt.Errorf("one of %s and %s is a report, the other is not; give two mappings or two reports", oldName,
			newName)
	case isReport:
		a, err := readSaved(oldName, oldText)
		if err != nil {
			return nil, err
		}
		b, err := readSaved(newName, newText)
		if err != nil {
			return nil, err
		}
		return reportDifference{oldName, newName, buildreport.Compare(a, b)}, nil
	}
	a, err := mapping.Parse(oldName, oldText)
	if err != nil {
		return nil, err
	}
	b, err := mapping.Parse(newName, newText)
	if err != nil {
		return nil, err
	}
	return &comparison{oldName, newName, a, b, mapping.Compare(a, b)}, nil
}

func readSaved(name, text string) (*buildreport.Saved, error) {
	saved, err := buildreport.ReadSaved(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return saved, nil
}

// reportDifference is two reports and how they differ.
type reportDifference struct {
	oldFile, newFile string
	*buildreport.Difference
}

func (d reportDifference) print(w io.Writer) error     { return d.WriteText(w, d.oldFile, d.newFile) }
func (d reportDifference) printJSON(w io.Writer) error { return d.WriteJSON(w, d.oldFile, d.newFile) }

// comparison is two mappings and how they differ.
type comparison struct {
	oldFile, newFile string
	old, new         *mapping.Mapping
	*mapping.Comparison
}

func retired(m *mapping.Mapping) int { return mapping.Capacity - m.Headroom() - m.Len() }

// warnings returns the differences that a build engineer should check.
func (d *comparison) warnings() []string {
	var list []string
	if n := len(d.Reused); n > 0 {
		list = append(list, fmt.Sprintf("%d IDs stand for different methods; was NEW written without OLD as --base?",
			n))
	}
	if n := len(d.Removed); buildreport.Shrunk(n, d.old.Len()) {
		list = append(list,
			fmt.Sprintf("%d of %d methods are missing; is the input of NEW shrunk, or of another variant?", n,
				d.old.Len()))
	}
	if n := len(d.Renumbered); n > 0 {
		list = append(list,
			fmt.Sprintf("%d methods with a compiler's number have another number now, so that their code has "+
				"another ID", n))
	}
	if n := len(d.Suspicious); n > 0 {
		list = append(list, fmt.Sprintf("%d methods with a compiler's number may stand for other code", n))
	}
	if d.Runtime {
		list = append(list, fmt.Sprintf("the runtime class was %s and is now %s", mapping.Text(d.old.Runtime()),
			mapping.Text(d.new.Runtime())))
	}
	return list
}

// print prints the counts and then the lists: of a long text in a pull request, only the first screen is read.
func (d *comparison) print(w io.Writer) error {
	fmt.Fprintf(w, "old: %s, digest %s, %d methods, %d retired\n", buildreport.Printable(d.oldFile), d.old.Digest(),
		d.old.Len(), retired(d.old))
	fmt.Fprintf(w, "new: %s, digest %s, %d methods, %d retired\n", buildreport.Printable(d.newFile), d.new.Digest(),
		d.new.Len(), retired(d.new))
	if d.Equal() {
		_, err := fmt.Fprintln(w, "no difference")
		return err
	}
	fmt.Fprintf(w, "methods: %d kept, %d added, %d removed, %d moved\n", d.Kept, len(d.Added), len(d.Removed),
		len(d.Moved))
	if focus := len(d.FocusAdded) + len(d.FocusRemoved); len(d.Access)+len(d.Freed)+len(d.Reserved)+focus > 0 {
		fmt.Fprintf(w,
			"also: %d with other access flags, %d retired IDs freed, %d IDs newly retired, %d focus hooks changed\n",
			len(d.Access), len(d.Freed), len(d.Reserved), focus)
	}
	for _, s := range d.warnings() {
		fmt.Fprintln(w, "warning:", s)
	}
	fmt.Fprintln(w)
	line := func(list []mapping.Difference, format func(old, new mapping.Entry) string) {
		for _, difference := range list {
			fmt.Fprintln(w, format(difference.Old, difference.New))
		}
	}
	line(d.Reused, func(old, new mapping.Entry) string {
		return fmt.Sprintf("! %d: %s -> %s", old.ID, methodText(old), methodText(new))
	})
	line(d.Moved, func(old, new mapping.Entry) string {
		return fmt.Sprintf("~ %d -> %d: %s", old.ID, new.ID, methodText(new))
	})
	line(d.Renumbered, func(old, new mapping.Entry) string {
		return fmt.Sprintf("= %d -> %d: %s -> %s", old.ID, new.ID, methodText(old), methodText(new))
	})
	line(d.Suspicious, func(_, new mapping.Entry) string { return fmt.Sprintf("? %d: %s", new.ID, methodText(new)) })
	line(d.Removed, func(old, new mapping.Entry) string { return oneSided("-", old, new, "retired") })
	line(d.Added, func(old, new mapping.Entry) string { return oneSided("+", new, old, "back") })
	line(d.Access, func(old, new mapping.Entry) string {
		return fmt.Sprintf("f %d: %s, access flags 0x%04x -> 0x%04x", new.ID, methodText(new), old.Access, new.Access)
	})
	line(d.Freed, func(old, _ mapping.Entry) string { return oneSided("o", old, mapping.Entry{}, "") })
	line(d.Reserved, func(_, new mapping.Entry) string { return oneSided("n", new, mapping.Entry{}, "") })
	for _, f := range d.FocusRemoved {
		fmt.Fprintf(w, "@ - %s %s\n", mapping.Text(f.Class), f.Action)
	}
	for _, f := range d.FocusAdded {
		fmt.Fprintf(w, "@ + %s %s\n", mapping.Text(f.Class), f.Action)
	}
	return nil // a bufio.Writer keeps its first error for Flush
}

// oneSided returns the line of a method that is alive on one side, with the word if the other side has its ID.
func oneSided(sign string, alive, other mapping.Entry, word string) string {
	line := fmt.Sprintf("%s %d: %s", sign, alive.ID, methodText(alive))
	if other.ID != 0 {
		line += ", " + word
	}
	return line
}

func methodText(e mapping.Entry) string {
	text := mapping.Text(e.Class) + " " + mapping.Text(e.Name)
	if e.Descriptor != "" {
		text += " " + mapping.Text(e.Descriptor)
	}
	return text
}

// The JSON form.
type (
	comparisonJSON struct {
		Schema       int              `json:"schema"`
		Equal        bool             `json:"equal"`
		Old          sideJSON         `json:"old"`
		New          sideJSON         `json:"new"`
		Kept         int              `json:"kept"`
		Warnings     []string         `json:"warnings"`
		Reused       []differenceJSON `json:"reused"`
		Moved        []differenceJSON `json:"moved"`
		Renumbered   []differenceJSON `json:"renumbered"`
		Suspicious   []differenceJSON `json:"suspicious"`
		Removed      []differenceJSON `json:"removed"`
		Added        []differenceJSON `json:"added"`
		Access       []differenceJSON `json:"access"`
		Freed        []differenceJSON `json:"freed"`
		Reserved     []differenceJSON `json:"reserved"`
		FocusRemoved []focusJSON      `json:"focusRemoved"`
		FocusAdded   []focusJSON      `json:"focusAdded"`
	}
	sideJSON struct {
		File    string `json:"file"`
		Digest  string `json:"digest"`
		Runtime string `json:"runtime"`
		Methods int    `json:"methods"`
		Retired int    `json:"retired"`
	}
	differenceJSON struct {
		Old *entryJSON `json:"old,omitempty"`
		New *entryJSON `json:"new,omitempty"`
	}
	focusJSON struct {
		Class  string              `json:"class"`
		Action mapping.FocusAction `json:"action"`
	}
)

func (d *comparison) printJSON(w io.Writer) error {
	side := func(file string, m *mapping.Mapping) sideJSON {
		return sideJSON{file, m.Digest(), mapping.Text(m.Runtime()), m.Len(), retired(m)}
	}
	list := func(differences []mapping.Difference) []differenceJSON {
		all := make([]differenceJSON, len(differences)) // an empty list is written as one, not as null
		for i, difference := range differences {
			all[i] = differenceJSON{newEntryJSON(difference.Old), newEntryJSON(difference.New)}
		}
		return all
	}
	focus := func(lines []mapping.Focus) []focusJSON {
		all := make([]focusJSON, len(lines))
		for i, f := range lines {
			all[i] = focusJSON{mapping.Text(f.Class), f.Action}
		}
		return all
	}
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	j.SetIndent("", "  ")
	return j.Encode(comparisonJSON{
		Schema: 1, Equal: d.Equal(), Old: side(d.oldFile, d.old), New: side(d.newFile, d.new), Kept: d.Kept,
		Warnings: append([]string{}, d.warnings()...),
		Reused:   list(d.Reused), Moved: list(d.Moved), Renumbered: list(d.Renumbered), Suspicious: list(d.Suspicious),
		Removed: list(d.Removed), Added: list(d.Added),
		Access: list(d.Access), Freed: list(d.Freed), Reserved: list(d.Reserved),
		FocusRemoved: focus(d.FocusRemoved), FocusAdded: focus(d.FocusAdded),
	})
}
