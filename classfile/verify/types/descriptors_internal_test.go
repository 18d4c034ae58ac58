package types

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// randomDescriptor returns a descriptor, or a text with a fault like those of one.
func randomDescriptor(rng *rand.Rand) string {
	parts := []string{"I", "J", "D", "Z", "[I", "[[J", "Ljava/lang/Object;", "Ljava/lang/String;", "La/B;", "[La/B;", "V",
		"(", ")", "L", ";", "[", "Q", "La/B", "L;", "La//B;", "L/a;", "La/;", "La.B;", "L[I;", "La<B;", "", ")V", ")I",
		strings.Repeat("[", 255) + "I", strings.Repeat("[", 256) + "I", "L\x00;", "LC3é;", "L0;"}
	part := func(n int) string { return parts[rng.IntN(n)] }
	if rng.IntN(2) == 0 {
		if rng.IntN(4) == 0 {
			return part(len(parts)) + part(len(parts))
		}
		return part(len(parts))
	}
	good := slices.Index(parts, "V")
	text := "("
	for range rng.IntN(4) {
		text += part(good)
	}
	if text += ")" + part(good+1); rng.IntN(2) > 0 {
		return text
	}
	at := rng.IntN(len(text) + 1)
	return text[:at] + part(len(parts)) + text[min(len(text), at+rng.IntN(2)):]
}

// TestDescriptors: descriptors are valid as JVMS 4.3 has it, for whichever use they were read first.
func TestDescriptors(t *testing.T) {
	const field = `\[{0,255}(?:[BCDFIJSZ]|L[^.;\[/]+(?:/[^.;\[/]+)*;)`
	isField := regexp.MustCompile(`(?s)^` + field + `$`)
	isMethod := regexp.MustCompile(`(?s)^\((?:` + field + `)*\)(?:V|` + field + `)$`)
	rng := rand.New(rand.NewPCG(7, 8))
	fields, methods := 0, 0
	for round := range 10_000 {
		descriptor := randomDescriptor(rng)
		name := []string{"", "f", "<init>", "<clinit>"}[rng.IntN(4)]
		a := crafted.NewClass([]uint16{49, 51, 61}[rng.IntN(3)], "T", "java/lang/Object")
		i := a.Utf8(descriptor)
		c := a.Parse(t)
		k := newChecker()
		k.pool, k.major, k.constants = c.ConstantPool(), majorOf(c), make([]constant, c.ConstantPool().Len())
		k.names.reset()
		field := func() {
			got, want := k.fieldType(i), isField.MatchString(descriptor)
			if got != want {
				t.Fatalf("round %d: field %q: %t, want %t", round, descriptor, got, want)
			}
			if want {
				fields++
			}
		}
		method := func(name string) {
			_, got := k.methodType(i, name)
			want := isMethod.MatchString(descriptor) && (name == "" || name[0] != '<' ||
				strings.HasSuffix(descriptor, ")V")) && (name != "<clinit>" || k.major < 51 || descriptor == "()V")
			if got != want {
				t.Fatalf("round %d: method %q%q, version %d: %t, want %t", round, name, descriptor, k.major, got, want)
			}
			if want {
				methods++
			}
		}
		uses := []func(){field, field, func() { method(name) }, func() { method("f") }}
		rng.Shuffle(len(uses), func(i, j int) { uses[i], uses[j] = uses[j], uses[i] })
		for _, use := range uses {
			use()
		}
	}
	if fields < 1000 || methods < 1000 {
		t.Errorf("%d valid fields and %d valid methods are too few", fields, methods)
	}
}

// TestEndsPlain: a byte that is zero or not ASCII is found wherever it is, and no other.
func TestEndsPlain(t *testing.T) {
	for size := range 20 {
		for at := range size {
			for c := range 256 {
				for _, other := range []byte{0x01, 0x41, 0x7F} {
					text := bytes.Repeat([]byte{other}, 8+size)
					text[8+at] = byte(c)
					if got, want := endsPlain(text, size), c > 0 && c < 0x80; got != want {
						t.Fatalf("%x, the last %d: %v, want %v", text, size, got, want)
					}
				}
			}
		}
	}
}
