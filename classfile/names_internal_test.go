package classfile

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// isUnqualified is ValidName from version 49 on as JVMS 4.2.1 and 4.2.2 have it, but for <init> and <clinit>.
func isUnqualified(name string, kind NameKind) bool {
	switch {
	case name == "" || strings.ContainsAny(name, ".;["):
		return false
	case kind == ClassName:
		for part := range strings.SplitSeq(name, "/") {
			if part == "" {
				return false
			}
		}
		return true
	case strings.Contains(name, "/"):
		return false
	}
	return kind == FieldName || !strings.ContainsAny(name, "<>")
}

// randomText returns up to 24 characters, of which one in a number is odd.
func randomText(rng *rand.Rand, odd string) string {
	const even = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$_-"
	rarity := 1 + rng.IntN(30)
	text := make([]byte, rng.IntN(25))
	for i := range text {
		from := even
		if rng.IntN(rarity) == 0 {
			from = odd
		}
		text[i] = from[rng.IntN(len(from))]
	}
	return string(text)
}

// TestValidName: names are valid as JVMS 4.2 has it, and what is known of a string leads to the same answer.
func TestValidName(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 300_000 {
		name := randomText(rng, "././;[<>=:?\x00\x01\x1B\x2D{}\x80\xAE\xAF\xBB\xDB\xC3")
		for _, kind := range []NameKind{ClassName, FieldName, MethodName} {
			want := isUnqualified(name, kind)
			if got := ValidName(name, kind, 49); got != want {
				t.Fatalf("%q, kind %d: %v, want %v", name, kind, got, want)
			}
			if want {
				valid++
			}
		}
	}
	if valid < 100_000 {
		t.Errorf("%d names were valid, too few", valid)
	}
}
