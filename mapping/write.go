package mapping

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The beginnings of the lines that are not method lines.
const (
	versionPrefix  = "# tracegen-mapping "
	digestPrefix   = "# digest "
	runtimePrefix  = "# runtime "
	countsPrefix   = "# counts "
	focusPrefix    = "# focus "
	numberedPrefix = "# numbered "
	retiredPrefix  = "# retired "
	messagePrefix  = "# message "
)

// dispatchPrefix is the beginning of the dispatch line.
const dispatchPrefix = "1048574,"

// WriteTo writes the mapping in the format of the package comment. It does not make the write atomic, and its errors
// do not name the file; both are up to the caller.
func (m *Mapping) WriteTo(w io.Writer) (int64, error) {
	count := &countingWriter{w: w}
	b := bufio.NewWriterSize(count, 256<<10)
	b.WriteString(versionPrefix + "1\n")
	b.WriteString(digestPrefix + m.Digest() + "\n")
	b.WriteString(runtimePrefix + Text(m.runtime) + "\n")
	b.WriteString(countsPrefix + m.counts() + "\n")
	m.writeLines(b)
	for _, f := range m.focus {
		b.WriteString(focusPrefix + Text(f.Class) + " " + string(f.Action) + "\n")
	}
	for _, f := range m.fingerprints {
		b.Write(f.appendLine(b.AvailableBuffer()))
	}
	for i := m.living; i < m.size(); i++ {
		b.Write(m.appendLine(append(b.AvailableBuffer(), retiredPrefix...), i))
	}
	// These lines are not counted: a reader that does not have them would take the file for damaged.
	for _, id := range m.messages {
		fmt.Fprintf(b, "%s%d\n", messagePrefix, id)
	}
	err := b.Flush() // a bufio.Writer keeps its first error
	return count.n, err
}

// appendLine appends the numbered line of f to dst, with its newline.
func (f *fingerprint) appendLine(dst []byte) []byte {
	dst = strconv.AppendUint(append(dst, numberedPrefix...), uint64(f.id), 10)
	dst = append(dst, ' ')
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[f.value>>shift&15])
	}
	return append(dst, '\n')
}

// counts returns the content of the counts line.
func (m *Mapping) counts() string {
	return countsOf(m.living, len(m.focus), m.size()-m.living, len(m.fingerprints))
}

func countsOf(living, focus, retired, numbered int) string {
	counts := fmt.Sprintf("%d methods, %d focus, %d retired", living, focus, retired)
	if numbered > 0 { // a mapping without numbered lines has no such count
		counts += fmt.Sprintf(", %d numbered", numbered)
	}
	return counts
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// SourceLine is the place of a method in its source.
type SourceLine struct {
	ID     uint32 // of a living method
	Source string // the SourceFile attribute (JVMS 4.7.10), MUTF-8; "" if there is none
	First  int    // the lowest line_number of the method (JVMS 4.7.12); 0 if there is none
}

const linesHeader = "# tracegen-lines 1"

// WriteLines writes a table of the places of methods: tab-separated ID, source file and first line, sorted by ID,
// after a header with the mapping's digest:
//
//	# tracegen-lines 1
//	# digest 9f86d081884c7d65
//	17	Foo.java	42
//
// The name of a source file is escaped as in the text form, but its dots and slashes are not changed. lines may be in
// any order. If there are several for one ID, because the inputs contain a class more than once, the least is
// written. If a line has an ID that no living method has, WriteLines fails and writes nothing.
func (m *Mapping) WriteLines(w io.Writer, lines []SourceLine) error {
	lines = slices.Clone(lines)
	for _, l := range lines {
		if i := m.seek(0, m.living, l.ID); i == m.living || m.id(i) != l.ID {
			return fmt.Errorf("source line of ID %d: no method of the mapping has this ID", l.ID)
		}
	}
	slices.SortFunc(lines, func(a, b SourceLine) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), strings.Compare(a.Source, b.Source), cmp.Compare(a.First, b.First))
	})
	lines = slices.CompactFunc(lines, func(a, b SourceLine) bool { return a.ID == b.ID })
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString(linesHeader + "\n" + digestPrefix + m.Digest() + "\n")
	for _, l := range lines {
		fmt.Fprintf(b, "%d\t%s\t%d\n", l.ID, appendSource(nil, l.Source), l.First)
	}
	return b.Flush()
}
