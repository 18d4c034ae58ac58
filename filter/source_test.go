package filter

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// expectation is what a //= comment expects of the methods whose code starts on its line.
type expectation struct {
	method string                 // "" for any
	want   map[TrivialMode]Reason // in the modes smart and matrix
	used   bool
}

// inModes returns the reason in each mode. A reason other than trivial is the same in all modes.
func (e *expectation) inModes() [4]Reason {
	none := e.want[Matrix]
	if none == ReasonTrivial {
		none = ""
	}
	return [4]Reason{Bounded: e.want[Smart], Smart: e.want[Smart], Matrix: e.want[Matrix], None: none}
}

// expectations returns the //= comments of a source, by line.
func expectations(t *testing.T, path string) map[int][]*expectation {
	t.Helper()
	text := fixture.Read(t, path)
	found := map[int][]*expectation{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		_, comment, ok := strings.Cut(line, "//= ")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(comment, "|") {
			method, words, named := strings.Cut(strings.TrimSpace(part), ": ")
			if !named {
				method, words = "", method
			}
			fields := strings.Fields(words)
			if len(fields) != 2 {
				t.Fatalf("%s:%d: %q is not two reasons", path, n, part)
			}
			e := &expectation{method: method, want: make(map[TrivialMode]Reason)}
			for i, word := range fields {
				if word != "-" {
					e.want[[...]TrivialMode{Smart, Matrix}[i]] = Reason(word)
				}
			}
			found[n] = append(found[n], e)
		}
	}
	return found
}

// firstLine returns the source line of a method's first instruction.
func firstLine(code classfile.Code) int {
	table, ok := classfile.FindAttribute(code.Attributes, "LineNumberTable")
	for e := table.Info[min(2, len(table.Info)):]; ok && len(e) >= 4; e = e[4:] {
		if binary.BigEndian.Uint16(e) == 0 {
			return int(binary.BigEndian.Uint16(e[2:]))
		}
	}
	return 0
}

func parseFile(t testing.TB, path string) *classfile.Class {
	t.Helper()
	data := fixture.Read(t, path)
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

// TestSmallMethods compares the decisions on the classes of testdata with the comments in their sources. Every method
// with code must have a comment, and every comment a method.
func TestSmallMethods(t *testing.T) {
	for source, dir := range map[string]string{
		"testdata/release8/Small.java":   "testdata/release8",
		"testdata/release17/Modern.java": "testdata/release17",
	} {
		byLine := expectations(t, source)
		methods := 0
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".class" {
				return err
			}
			c := parseFile(t, path)
			for i := range c.Methods() {
				m := &c.Methods()[i]
				code, ok, err := c.Code(m)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				if !ok {
					continue
				}
				methods++
				line := firstLine(code)
				e := expectationFor(byLine[line], m.Name)
				if e == nil {
					t.Errorf("%s:%d: no //= for %s.%s%s", source, line, c.Name(), m.Name, m.Descriptor)
					continue
				}
				e.used = true
				for mode, want := range e.inModes() {
					cf := New(Options{Trivial: TrivialMode(mode)}).ForClass(c)
					if got := cf.Decide(m, code); got.Reason != want {
						t.Errorf("%s:%d: %s.%s%s: --trivial %v: got %q (%s), want %q",
							source, line, c.Name(), m.Name, m.Descriptor, TrivialMode(mode), got.Reason, got.Detail,
							want)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for line, es := range byLine {
			for _, e := range es {
				if !e.used {
					t.Errorf("%s:%d: no method for //= %s %v", source, line, e.method, e.want)
				}
			}
		}
		t.Logf("measured: %s: %d methods in four trivial modes", source, methods)
	}
}

func expectationFor(es []*expectation, method string) *expectation {
	for _, e := range es {
		if e.method == "" || e.method == method {
			return e
		}
	}
	return nil
}
