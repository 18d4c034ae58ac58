package mapping

import "testing"

// TestAllPlain puts every byte at every place among plain ones, and behind each other: what is not plain is never
// taken for plain, and what is plain alone is.
func TestAllPlain(t *testing.T) {
	word := func(b [8]byte) (v uint64) {
		for i, c := range b {
			v |= uint64(c) << (8 * i)
		}
		return v
	}
	for b := range 256 {
		for at := range 8 {
			text := [8]byte{'c', 'o', 'm', '.', 'A', '$', '_', '~'}
			text[at] = byte(b)
			if got, want := allPlain(word(text)), plain(byte(b)); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
			for next := range 256 {
				text[(at+1)%8] = byte(next)
				if allPlain(word(text)) && !(plain(byte(b)) && plain(byte(next))) {
					t.Fatalf("%q is taken for plain", text)
				}
			}
		}
	}
}
