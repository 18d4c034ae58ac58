package types

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
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

// TestDescriptorsAgree: descriptors that are read once and kept are found valid where those are that are read each
// time, for whichever use they were read first.
//
// Invariant: The type checker's quick tests of constants report what the exact tests report.
func TestDescriptorsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	fields, methods := 0, 0
	k := newChecker()
	for round := range 40_000 {
		descriptor := randomDescriptor(rng)
		name := []string{"", "f", "<init>", "<clinit>"}[rng.IntN(4)]
		major := []int{45, 48, 49, 51, 61}[rng.IntN(5)]
		k.names.reset()
		k.major, k.constants, k.arena, k.loaded = major, make([]constant, 1), k.arena[:0], [loadedTypes]vtype{}
		field := func() {
			got, want := k.validField(0, descriptor), validField(descriptor, major)
			if got != want {
				t.Fatalf("round %d: field %q, version %d: %t, want %t", round, descriptor, major, got, want)
			}
			if want {
				fields++
			}
		}
		method := func(name string) {
			words, got := k.argumentWords(0, name, descriptor)
			wantWords, want := argumentWords(name, descriptor, major)
			if got != want || want && words != wantWords {
				t.Fatalf("round %d: method %q%q, version %d: %d %t, want %d %t", round, name, descriptor, major, words, got,
					wantWords, want)
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
	if fields < 5000 || methods < 5000 {
		t.Errorf("%d valid fields and %d valid methods are too few", fields, methods)
	}
}
