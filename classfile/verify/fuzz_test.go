package verify_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
)

// seeds are the small classes, original and instrumented, with the mode's number.
func seeds(f *testing.F, add func(original, rewritten []byte, mode byte)) {
	for _, c := range everything(f) {
		if len(c.Bytes()) > 4096 {
			continue
		}
		for i, m := range modes {
			if data, _, ok := instrument(f, m, c); ok {
				add(c.Bytes(), data, byte(i))
			}
		}
	}
}

// FuzzStrip: no bytes make it panic or loop, and what it gives is a class.
func FuzzStrip(f *testing.F) {
	seeds(f, func(original, rewritten []byte, mode byte) {
		f.Add(original, mode)
		f.Add(rewritten, mode)
	})
	f.Fuzz(func(t *testing.T, data []byte, mode byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		stripped, removed, err := equivalence.Strip(c, modes[int(mode)%len(modes)].runtime)
		if err != nil {
			return
		}
		if removed == 0 && !bytes.Equal(stripped, data) {
			t.Error("nothing was removed, and the bytes are others")
		}
		if _, err := classfile.Parse(stripped); err != nil {
			t.Errorf("stripped: %v", err)
		}
	})
}

// FuzzEquivalent: no bytes make it panic or loop, and of what it accepts strip gives the original.
func FuzzEquivalent(f *testing.F) {
	seeds(f, func(original, rewritten []byte, mode byte) { f.Add(original, rewritten, mode) })
	f.Fuzz(func(t *testing.T, before, after []byte, number byte) {
		original, err := classfile.Parse(before)
		if err != nil {
			return
		}
		rewritten, err := classfile.Parse(after)
		if err != nil {
			return
		}
		m := modes[int(number)%len(modes)]
		want := m.wanted(m.request(m.injector(), original))
		if len(equivalence.Check(original, rewritten, want)) > 0 || bytes.Equal(before, after) || want.Digest != "" {
			return
		}
		stripped, _, err := equivalence.Strip(rewritten, m.runtime)
		if !errors.Is(err, equivalence.ErrForeignCalls) && !bytes.Equal(stripped, before) {
			t.Errorf("accepted, and strip gives other bytes, error %v", err)
		}
	})
}

// FuzzRoundTrip: what the injector makes of a class, however broken, strip undoes, or else the referee objects.
// Strip may refuse a class with methods that were not rewritten and use constants that were not there.
func FuzzRoundTrip(f *testing.F) {
	seeds(f, func(original, _ []byte, mode byte) { f.Add(original, mode) })
	f.Fuzz(func(t *testing.T, data []byte, number byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		if inject.IsMappingInfo(c) {
			return // strip gives it zeros, whatever it had
		}
		m := modes[int(number)%len(modes)]
		in := m.injector()
		_, err = m.roundTrip(in, c, m.request(in, c))
		var objection *objection
		if err != nil && !errors.Is(err, errInject) && !errors.As(err, &objection) && !errors.Is(err, equivalence.ErrForeignCalls) {
			t.Error(err)
		}
	})
}
