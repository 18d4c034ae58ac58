package buildreport

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// WriteSkipped writes the list of skipped methods; see the package comment for its form.
func (r *Run) WriteSkipped(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("class\tmethod\tdescriptor\treason\tdetail\n")
	for _, s := range r.skippedLines() {
		fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%s\n", s.class, mapping.Text(s.Name), mapping.Text(s.Descriptor), s.Reason,
			console.Printable(s.Detail))
	}
	return b.Flush()
}

// manyInputs is the highest number of inputs that a summary lists one by one.
const manyInputs = 10

// WriteSummary writes a few lines for people. If there are many inputs, it lists them only if every is true.
func (r *Run) WriteSummary(w io.Writer, every bool) error {
	b := bufio.NewWriter(w)
	r.writeSummary(b, every || len(r.Inputs) <= manyInputs, every)
	return b.Flush()
}

// writeSummary writes the summary, and if asked for a line for each input, and one about calls.
func (r *Run) writeSummary(b *bufio.Writer, inputs, calls bool) {
	if inputs {
		for _, in := range r.Inputs {
			fmt.Fprintf(b, "%s -> %s: %s\n", console.Printable(in.Path), console.Printable(in.Output), work(in))
		}
	}
	if r.Runtime != nil {
		fmt.Fprintf(b, "runtime: built in, version %s -> %s\n", r.Runtime.Version, console.Printable(r.Runtime.Output))
	}
	total := r.total()
	if len(r.Inputs) > 1 {
		fmt.Fprintf(b, "total of %d inputs: %s\n", len(r.Inputs), work(total))
	}
	if skipped := ByReason(r.totalReasons()); skipped != "" {
		fmt.Fprintf(b, "skipped: %s\n", skipped)
	}
	if r.Libraries.WithCode > 0 {
		growth := ""
		if total.ClassBytes > 0 && !r.Planned {
			growth = fmt.Sprintf("; class files grow by %.1f %%", total.growth())
		}
		fmt.Fprintf(b, "scope %s: %d of the %d methods of the program itself and %d of the %d of libraries are traced%s\n",
			r.Options["scope"], r.Own.Traced, r.Own.WithCode, r.Libraries.Traced, r.Libraries.WithCode, growth)
	}
	if total.ClassBytes > 0 && !r.Planned {
		fmt.Fprintf(b, "size of the classes: %d -> %d bytes (%+.1f %%)\n", total.ClassBytes, total.OutputBytes,
			total.growth())
	}
	if calls && r.Mapping != nil && !r.Planned {
		fmt.Fprintf(b, "calls inserted: %d%s\n", total.Calls,
			r.most(func(p packageCount) int64 { return int64(p.Calls) }))
	}
	if r.Mapping != nil {
		fmt.Fprintf(b, "mapping: %s, %s, digest %s, %d IDs left%s\n", console.Printable(r.MappingFile),
			count(r.Mapping.Len(), "method", "methods"), r.Mapping.Digest(), r.Mapping.Headroom(), r.retiredIDs())
	}
	if r.leftAsTheyAre() > 0 {
		fmt.Fprintf(b, "classes left as they are: %d rejected after rewriting, %d with pre-existing findings%s\n",
			r.Introduced, r.PreExisting, r.uncheckedClasses())
	}
	if r.DryRun {
		b.WriteString("dry run: nothing was written\n")
	}
}

// pageWarnings is the number of warnings on a page.
const pageWarnings = 20

// WriteMarkdown writes the page about a run that build systems show: the summary, what changed since the base mapping,
// the guards and the warnings. Its lines are indented, so that Markdown shows them as they are. It starts with an empty
// line, so that it can follow another text.
func (r *Run) WriteMarkdown(w io.Writer) error {
	var text bytes.Buffer
	b := bufio.NewWriter(&text)
	r.writeSummary(b, len(r.Inputs) <= manyInputs, true)
	if r.Base != nil {
		kept := r.Mapping.Kept(r.Base)
		fmt.Fprintf(b, "since %s, digest %s: %s kept, %d added, %d removed\n", console.Printable(r.BaseFile),
			r.Base.Digest(), count(kept, "method", "methods"), r.Mapping.Len()-kept, r.Base.Len()-kept)
	}
	failed, title := 0, "tracegen"
	for _, g := range r.Guards {
		result := "passed"
		if g.Failed {
			result = "failed"
			failed++
		}
		fmt.Fprintf(b, "guard %s: %s\n", result, console.Printable(g.String()))
	}
	switch {
	case failed > 0:
		title += ": " + count(failed, "guard", "guards") + " failed"
	case len(r.Guards) > 0:
		title += ": all guards passed"
	}
	for _, warning := range r.Warnings[:min(pageWarnings, len(r.Warnings))] {
		fmt.Fprintf(b, "warning: %s\n", console.Printable(warning))
	}
	if more := len(r.Warnings) - pageWarnings; more > 0 {
		fmt.Fprintf(b, "and %d more warnings\n", more)
	}
	_ = b.Flush() // to memory
	_, err := fmt.Fprintf(w, "\n## %s\n\n%s", title, indented(text.String()))
	return err
}

// indented returns lines as Markdown shows them as they are.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// Notice returns the most important numbers of a run with a mapping in one line.
func (r *Run) Notice() string {
	t := r.total()
	return fmt.Sprintf("%d of %s are traced; mapping %s, digest %s", t.Traced, count(t.Methods, "method", "methods"),
		r.MappingFile, r.Mapping.Digest())
}

// retiredIDs returns the numbers of retired and freed IDs that are not 0.
func (r *Run) retiredIDs() string {
	text := ""
	if n := retired(r.Mapping); n > 0 {
		text = fmt.Sprintf(", %d retired", n)
	}
	if n := r.freed(); n > 0 {
		text += fmt.Sprintf(", %d freed", n)
	}
	return text
}

func work(in Input) string {
	return fmt.Sprintf("%s, %d changed; %d of %s traced",
		count(in.Classes, "class", "classes"), in.Rewritten, in.Traced, count(in.Methods, "method", "methods"))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ByReason returns reasons with their numbers, the most frequent first.
func ByReason(total map[filter.Reason]int) string {
	reasons := slices.DeleteFunc(filter.Reasons(), func(reason filter.Reason) bool { return total[reason] == 0 })
	slices.SortStableFunc(reasons, func(a, b filter.Reason) int { return cmp.Compare(total[b], total[a]) })
	parts := make([]string, len(reasons))
	for i, reason := range reasons {
		parts[i] = fmt.Sprintf("%d %s", total[reason], reason)
	}
	return strings.Join(parts, ", ")
}

// uncheckedClasses continues a list of reasons why classes are left as they are.
func (r *Run) uncheckedClasses() string {
	if r.Unchecked == 0 {
		return ""
	}
	return fmt.Sprintf(", %d too large for the checks", r.Unchecked)
}
