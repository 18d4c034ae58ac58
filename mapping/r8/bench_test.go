package r8

import (
	"fmt"
	"strings"
	"testing"
)

// large returns a mapping of about size bytes that contains what R8 writes for an app: inlined frames, source files,
// residual signatures.
func large(size int) string {
	var b strings.Builder
	b.WriteString("# compiler: R8\n# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\n")
	for c := 0; b.Len() < size; c++ {
		fmt.Fprintf(&b, "com.example.feature%d.Screen%dPresenter -> %s.a:\n"+
			"# {\"id\":\"sourceFile\",\"fileName\":\"Screen%d.kt\"}\n", c%40, c, base26(c), c)
		for f := range 4 {
			fmt.Fprintf(&b, "    java.util.List field%d -> %s\n", f, base26(f))
		}
		for k := range 12 {
			fmt.Fprintf(&b, "    %d:%d:void onEvent%d(android.view.View,int):%d:%d -> %s\n", 3*k+1, 3*k+1, k, 10*k,
				10*k, base26(k/3))
			fmt.Fprintf(&b, "    %d:%d:int com.example.util.Checks.require(java.lang.Object):17:17 -> %s\n", 3*k+2,
				3*k+2, base26(k/3))
			fmt.Fprintf(&b, "    %d:%d:void onEvent%d(android.view.View,int):%d -> %s\n", 3*k+2, 3*k+2, k, 10*k+1,
				base26(k/3))
			if k%3 == 0 {
				fmt.Fprintf(&b, "      # "+
					"{\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(Landroid/view/View;)V\"}\n")
			}
		}
	}
	return b.String()
}

// base26 returns the n-th of R8's short names.
func base26(n int) string {
	name := string(rune('a' + n%26))
	for n /= 26; n > 0; n /= 26 {
		name = string(rune('a'+(n-1)%26)) + name
		n--
	}
	return name
}

func BenchmarkParse(b *testing.B) {
	text := large(100 << 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("m", strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOriginals(b *testing.B) {
	m := mustParse(b, large(10<<20))
	for b.Loop() {
		if m.originals(Method{"cd/a", "b", "(Landroid/view/View;)V"}).certainty == unlisted {
			b.Fatal("not found")
		}
	}
}
