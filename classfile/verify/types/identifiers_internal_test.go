package types

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// isUnqualified is validUnqualified as JVMS 4.2.1 and 4.2.2 have it, one character after the other.
func isUnqualified(name string, kind nameKind) bool {
	switch {
	case name == "" || strings.ContainsAny(name, ".;["):
		return false
	case kind == nameOfClass:
		for part := range strings.SplitSeq(name, "/") {
			if part == "" {
				return false
			}
		}
		return true
	case strings.Contains(name, "/"):
		return false
	}
	return kind == nameOfField || !strings.ContainsAny(name, "<>")
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
		for _, kind := range []nameKind{nameOfClass, nameOfField, nameOfMethod} {
			want := isUnqualified(name, kind)
			if got := validUnqualified(name, kind); got != want {
				t.Fatalf("%q, kind %d: %v, want %v", name, kind, got, want)
			}
			if want {
				valid++
			}
			for _, major := range []int{48, 49, 61} {
				k := checker{major: major, facts: make([]facts, 1)}
				want := validName(name, kind, major)
				for range 2 { // it is known the second time
					if got := k.validName(0, name, kind); got != want {
						t.Fatalf("%q, kind %d, version %d: %v, want %v", name, kind, major, got, want)
					}
				}
			}
		}
	}
	if valid < 100_000 {
		t.Errorf("%d names were valid, too few", valid)
	}
}

// TestPlainNames: usual names pass the quick tests.
func TestPlainNames(t *testing.T) {
	for _, name := range []string{"a", "x9", "abc", "get$1", "access$", "toString", "getComponentType_9", "lambda$0"} {
		if !isPlainName(name) || !isPlainClassName(name) || !isPlainClassName("p/"+name) ||
			!isPlainClassName("java/util/"+name+"/A$1") {
			t.Errorf("%q is not plain", name)
		}
	}
}

// TestFewOf: the bytes of a short text are in the result, each once.
func TestFewOf(t *testing.T) {
	const text = "abcdefg"
	for n := range len(text) + 1 {
		var want [8]byte
		copy(want[:], text[:n])
		if got := fewOf(text[:n]); got != binary.LittleEndian.Uint64(want[:]) {
			t.Errorf("%q: %016x", text[:n], got)
		}
	}
}

// TestZeroOrNonASCII: a byte that is zero or not ASCII is found wherever it is, and no other.
func TestZeroOrNonASCII(t *testing.T) {
	for c := range uint64(256) {
		for at := 0; at < 64; at += 8 {
			for _, other := range []uint64{0x01, 0x41, 0x7F} {
				eight := other*eachByte&^(0xFF<<at) | c<<at
				if got, want := zeroOrNonASCII(eight)&signs != 0, c == 0 || c >= 0x80; got != want {
					t.Fatalf("%016x: %v, want %v", eight, got, want)
				}
			}
		}
	}
}
