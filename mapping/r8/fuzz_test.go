package r8

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse holds that any text is read or refused with an error, and that what
// was read answers questions about itself.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("A -> a:\n 3:0:void f():7:0 -> b\n 1:2:int[] x.y.g(a,b[]) -> c\n")
	f.Add("a->a:\n a a->a\n a a()->a\n# {'id':'com.android.tools.r8.mapping','version':'2.2'}\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("m", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "m:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		if !utf8.ValidString(text) {
			return // no name of a class file leads to bytes that are no text
		}
		for i := range m.classes {
			c := &m.classes[i]
			if m.byResidual[c.residual] != int32(i) {
				continue
			}
			for _, l := range c.methods {
				residual := Method{rawName(c.residual), rawName(l.residual), rawName(descriptor(l.returns(), l.arguments(), m.residual))}
				if a := m.Originals(residual); len(a.Methods) == 0 || a.Match == Unlisted {
					t.Fatalf("%v is listed, the answer is %v", residual, a)
				}
				m.Residuals(originalOf(c, &l))
			}
		}
	})
}
