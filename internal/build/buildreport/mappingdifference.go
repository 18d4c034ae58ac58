package buildreport

import (
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// MappingDifference is two mappings, Old of OldFile and New of NewFile, and how they differ.
type MappingDifference struct {
	OldFile, NewFile string
	Old, New         *mapping.Mapping
	*mapping.Comparison
}

// retired returns the number of retired IDs.
func retired(m *mapping.Mapping) int { return mapping.Capacity - m.Headroom() - m.Len() }

// shrunk reports whether a build that lost so many of its methods may have had shrunk inputs, or those of another
// variant: it lost at least a fifth of them, and at least 50.
func shrunk(lost, before int) bool {
	const share, least = 5, 50
	return lost >= least && lost >= before/share
}

// Warnings returns the differences that a build engineer should check.
func (d *MappingDifference) Warnings() []string {
	var list []string
	if n := len(d.Reused); n > 0 {
		list = append(list, fmt.Sprintf("%d IDs stand for different methods; was NEW written without OLD as --base?",
			n))
	}
	if n := len(d.Removed); shrunk(n, d.Old.Len()) {
		list = append(list,
			fmt.Sprintf("%d of %d methods are missing; is the input of NEW shrunk, or of another variant?", n,
				d.Old.Len()))
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
		list = append(list, fmt.Sprintf("the runtime class was %s and is now %s", mapping.Text(d.Old.Runtime()),
			mapping.Text(d.New.Runtime())))
	}
	return list
}

// WriteText writes the counts and then the lists: of a long text in a pull request, only the first screen is read.
func (d *MappingDifference) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "old: %s, digest %s, %d methods, %d retired\n", console.Printable(d.OldFile), d.Old.Digest(),
		d.Old.Len(), retired(d.Old))
	fmt.Fprintf(w, "new: %s, digest %s, %d methods, %d retired\n", console.Printable(d.NewFile), d.New.Digest(),
		d.New.Len(), retired(d.New))
	if d.Equal() {
		_, err := fmt.Fprintln(w, "no difference")
		return err
	}
	fmt.Fprintf(w, "methods: %d kept, %d added, %d removed, %d moved\n", d.Kept, len(d.Added), len(d.Removed),
		len(d.Moved))
	if focus := len(d.FocusAdded) + len(d.FocusRemoved); len(d.Freed)+len(d.Reserved)+focus > 0 {
		fmt.Fprintf(w, "also: %d retired IDs freed, %d IDs newly retired, %d focus hooks changed\n", len(d.Freed),
			len(d.Reserved), focus)
	}
	for _, s := range d.Warnings() {
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
