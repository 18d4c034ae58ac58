package types

import (
	"math/rand/v2"
	"testing"
)

// TestValidName: what is known of a string's characters leads to the same answer as the string.
func TestValidName(t *testing.T) {
	const alphabet = "ab/.;[<>\x80Z"
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		name := make([]byte, rng.IntN(6))
		for i := range name {
			name[i] = alphabet[rng.IntN(len(alphabet))]
		}
		for _, major := range []int{48, 49, 61} {
			k := checker{major: major, uses: make([]utf8Use, 1)}
			for _, kind := range []nameKind{nameOfField, nameOfMethod} {
				if got, want := k.validName(0, string(name), kind), validName(string(name), kind, major); got != want {
					t.Fatalf("%q, kind %d, version %d: %v, want %v", name, kind, major, got, want)
				}
			}
		}
	}
}
