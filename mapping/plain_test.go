package mapping

import "testing"

// TestAllPlain puts every byte, and every two consecutive bytes, at every place among plain ones.
func TestAllPlain(t *testing.T) {
	word := func(b [8]byte) (v uint64) {
		for i, c := range b {
			v |= uint64(c) << (8 * i)
		}
		return v
	}
	quickly := 0
	for _, but := range []byte("/.") {
		fits := func(b byte) bool { return b != but && (b == '/' || plain(b)) }
		for b := range 256 {
			for at := range 8 {
				text := [8]byte{'c', 'o', 'm', 'A', '9', '_', '~', '/' + '.' - but}
				text[at] = byte(b)
				if got, want := allPlain(word(text), uint64(but)), fits(byte(b)); got != want {
					t.Errorf("%q without %q: %v, want %v", text, but, got, want)
				}
				for next := range 256 {
					text[(at+1)%8] = byte(next)
					if got, want := allPlain(word(text), uint64(but)), fits(byte(b)) && fits(byte(next)); got != want {
						t.Fatalf("%q without %q: %v, want %v", text, but, got, want)
					}
					v := word(text)
					quick := quicklyPlain(v, bytesOf(v, '/'))
					if quick && !allPlain(v, '.') {
						t.Fatalf("%q is not plain", text)
					}
					if quick {
						quickly++
					}
				}
			}
		}
	}
	if quickly == 0 {
		t.Error("nothing is quickly plain")
	}
}
