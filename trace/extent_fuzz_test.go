package trace

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// FuzzExtent reads anything as a recording of which only the extent is asked for.
//
// Invariant: The extent of a recording is not negative and does not depend on how the recording is read.
func FuzzExtent(f *testing.F) {
	for _, name := range []string{"every.tgd", "many.tgd", "open.tgd", "incidents.tgd"} {
		f.Add(vector(f, name))
	}
	f.Add([]byte{0x1F, 0x8B, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadExtent(bytes.NewReader(data))
		again, errAgain := ReadExtent(iotest.HalfReader(bytes.NewReader(data)))
		if e != again || (err == nil) != (errAgain == nil) {
			t.Errorf("%+v (%v), then %+v (%v)", e, err, again, errAgain)
		}
		if e.Span < 0 || e.Precision < 0 {
			t.Errorf("%+v", e)
		}
	})
}
