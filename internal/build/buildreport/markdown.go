package buildreport

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/console"
)

// The numbers of rows of the tables and lists in Markdown, which is for a page that people read.
const (
	markdownPackages = 10
	markdownWarnings = 20
)

// WriteMarkdown writes a summary in Markdown, as pages of builds show it: the numbers of the run, the guards with limit
// and value, what changed since the base mapping, the packages with most calls, and the warnings. It starts with an
// empty line, so that it can follow another text.
func (r *Run) WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	failed := 0
	for _, g := range r.Guards {
		if g.Failed {
			failed++
		}
	}
	title := "tracegen"
	switch {
	case failed > 0:
		title += ": " + count(failed, "guard", "guards") + " failed"
	case len(r.Guards) > 0:
		title += ": all guards passed"
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	r.markdownNumbers(b)
	r.markdownGuards(b)
	r.markdownBase(b)
	r.markdownPackages(b)
	r.markdownWarnings(b)
	return b.Flush()
}

// markdownTable writes the begin of a table.
func markdownTable(b *bufio.Writer, columns ...string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

func (r *Run) markdownNumbers(b *bufio.Writer) {
	t := r.total()
	markdownTable(b, "", "")
	row := func(name, format string, args ...any) {
		fmt.Fprintf(b, "| %s | %s |\n", name, fmt.Sprintf(format, args...))
	}
	row("methods traced", "%d of %d", t.Traced, t.Methods)
	row("classes changed", "%d of %d", t.Rewritten, t.Classes)
	if !r.Planned {
		row("size of the classes", "%d → %d bytes (%+.1f %%)", t.ClassBytes, t.OutputBytes, t.growth())
		row("calls inserted", "%d", t.Calls)
	}
	row("mapping", "%s, digest <code>%s</code>, %s%s", markdown(r.MappingFile), r.Mapping.Digest(),
		count(r.Mapping.Headroom(), "ID left", "IDs left"), r.retiredIDs())
	if r.leftAsTheyAre() > 0 {
		row("classes left as they are", "%d rejected after rewriting, %d with pre-existing findings%s", r.Introduced,
			r.PreExisting, r.uncheckedClasses())
	}
	if r.DryRun {
		row("dry run", "nothing was written")
	}
}

func (r *Run) markdownGuards(b *bufio.Writer) {
	if len(r.Guards) == 0 {
		return
	}
	b.WriteString("\n### Guards\n\n")
	markdownTable(b, "guard", "result", "found", "expected")
	for _, g := range r.Guards {
		result := "passed"
		if g.Failed {
			result = "**failed**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", g.Name, result, markdown(g.Actual), markdown(g.Expected))
	}
}

func (r *Run) markdownBase(b *bufio.Writer) {
	if r.Base == nil {
		return
	}
	kept := r.Mapping.Kept(r.Base)
	fmt.Fprintf(b, "\n### Changes since %s\n\n", markdown(r.BaseFile))
	markdownTable(b, "methods", "number")
	fmt.Fprintf(b, "| in both, with the same ID | %d |\n| added | %d |\n| removed | %d |\n", kept, r.Mapping.Len()-kept,
		r.Base.Len()-kept)
	if freed := r.freed(); freed > 0 {
		fmt.Fprintf(b, "| freed IDs | %d |\n", freed)
	}
	if digest := r.Base.Digest(); digest != r.Mapping.Digest() {
		fmt.Fprintf(b, "\nThe digest was <code>%s</code>.\n", digest)
	}
}

func (r *Run) markdownPackages(b *bufio.Writer) {
	if r.Planned {
		return
	}
	packages := r.packages()
	slices.SortStableFunc(packages, func(x, y packageCount) int { return cmp.Compare(y.Calls, x.Calls) })
	packages = packages[:min(len(packages), markdownPackages)]
	if len(packages) == 0 || packages[0].Calls == 0 {
		return
	}
	b.WriteString("\n### Packages with most calls\n\n")
	markdownTable(b, "package", "calls", "methods traced", "bytes added")
	for _, p := range packages {
		if p.Calls > 0 {
			fmt.Fprintf(b, "| %s | %d | %d | %d |\n", markdown(cmp.Or(p.Package, "the unnamed package")), p.Calls, p.Traced,
				p.AddedBytes)
		}
	}
}

func (r *Run) markdownWarnings(b *bufio.Writer) {
	if len(r.Warnings) == 0 {
		return
	}
	b.WriteString("\n### Warnings\n\n")
	for i, w := range r.Warnings {
		if i == markdownWarnings {
			fmt.Fprintf(b, "- and %d more\n", len(r.Warnings)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", markdown(w))
	}
}

// markdownSpecial replaces the characters that have a meaning in Markdown or HTML.
var markdownSpecial = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;",
	"*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "\\", "&#92;", "~", "&#126;", "!", "&#33;", "@", "&#64;",
	"#", "&#35;", "$", "&#36;", "://", "&#58;//")

// markdown returns a text in a form that Markdown shows as it is, on one line.
func markdown(text string) string { return markdownSpecial.Replace(console.Printable(text)) }
