package r8

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRetrace reads any text as a mapping, and looks up the methods that it lists. It checks that any text is retraced
// without a panic and with a bounded result, and that only lines with a class of the mapping change.
//
// Invariant: Every method that an R8 mapping lists is found by its name and descriptor in the renamed class.
//
// Invariant: A stack trace changes only in lines that name a class of the mapping.
func FuzzRetrace(f *testing.F) {
	f.Add(inlining, "\tat a.b.a(SourceFile:4)\r\nCaused by: a.c: x\na.b.a(X:1)\nstack = a.b.a(F.kt)\nat a.b:a(3)")
	f.Add("A -> a:\n 1:1:void f():1:2147483647 -> a\n void g() -> a\n", "at a.a(X:1)\nat a.a(X)\nat a.<init>(:0)~[x]\n")
	f.Add("A -> a:\n", "at at at a.(\n[CIRCULAR REFERENCE:a]\n\"\n: a:\n")
	f.Add(sample, "")
	f.Add("A -> a:\n 3:0:void f():7:0 -> b\n 1:2:int[] x.y.g(a,b[]) -> c\n", "")
	f.Add("a->a:\n a a->a\n a a()->a\n# {'id':'com.android.tools.r8.mapping','version':'2.2'}\n", "")
	f.Fuzz(func(t *testing.T, mapping, text string) {
		m, err := Parse("m", mapping)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "m:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		if utf8.ValidString(mapping) { // no name of a class file leads to bytes that are no text
			checkListed(t, m)
		}
		retraced := retraceWith(m, text)
		if bound := (len(text) + len(mapping) + 100) * (len(text) + 100) * maxAlternatives; len(retraced) > bound {
			t.Fatalf("%d bytes came of %d", len(retraced), len(text))
		}
		stack := mustParse(t, "Original -> never.there:\n").Stack()
		for line := range strings.Lines(text) {
			if got := string(stack.AppendLine(nil, []byte(line))); got != line &&
				!strings.Contains(line, "never.there") {
				t.Fatalf("%q became %q", line, got)
			}
		}
	})
}

// checkListed looks up the methods that a mapping lists.
func checkListed(t *testing.T, m *Mapping) {
	t.Helper()
	for i := range m.classes {
		c := &m.classes[i]
		if m.byResidual[c.residual] != int32(i) {
			continue
		}
		for _, l := range c.methods {
			residual := Method{rawName(c.residual), rawName(l.residual),
				rawName(descriptor(l.returns(), l.arguments(), m.residual))}
			if a := m.originals(residual); len(a.methods) == 0 || a.certainty == unlisted {
				t.Fatalf("%v is listed, the answer is %v", residual, a)
			}
		}
	}
}
