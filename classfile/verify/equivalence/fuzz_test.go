package equivalence_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// seeds are the small classes, original and instrumented, with the mode's number.
func seeds(f *testing.F, add func(original, rewritten []byte, mode byte)) {
	for _, c := range crafted.All(f) {
		if len(c.Bytes()) > 4096 {
			continue
		}
		for i, m := range crafted.Modes {
			if data, _, ok := m.Instrument(f, c); ok {
				add(c.Bytes(), data, byte(i))
			}
		}
	}
}

// FuzzStrip: no bytes make Strip panic or loop, and what Strip returns is a class.
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
		stripped, removed, err := equivalence.Strip(c, crafted.Modes[int(mode)%len(crafted.Modes)].Options.RuntimeClass)
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

// FuzzEquivalent: no bytes make the equivalence check panic or loop, and of each class that it accepts Strip returns
// the original.
//
// Invariant: Removing the calls from an instrumented class returns the bytes of the original: strip(inject(x)) = x.
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
		m := crafted.Modes[int(number)%len(crafted.Modes)]
		want := m.Expected(m.Request(m.Injector(), original))
		if len(equivalence.Check(original, rewritten, want)) > 0 || bytes.Equal(before, after) || want.Digest != "" {
			return
		}
		stripped, _, err := equivalence.Strip(rewritten, m.Options.RuntimeClass)
		if !errors.Is(err, equivalence.ErrForeignCalls) && !bytes.Equal(stripped, before) {
			t.Errorf("accepted, and strip returns other bytes, error %v", err)
		}
	})
}

// FuzzRoundTrip: strip undoes what the injector makes of a class, however broken, or the equivalence check has
// findings. Strip may refuse a class with methods that were not rewritten and use constants that were not there.
func FuzzRoundTrip(f *testing.F) {
	seeds(f, func(original, _ []byte, mode byte) { f.Add(original, mode) })
	f.Fuzz(func(t *testing.T, data []byte, number byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		if inject.IsMappingInfo(c) {
			return // strip writes zeros into it, whatever it had
		}
		m := crafted.Modes[int(number)%len(crafted.Modes)]
		in := m.Injector()
		_, err = m.RoundTrip(in, c, m.Request(in, c))
		var rejection *crafted.Rejection
		if err != nil && !errors.Is(err, crafted.ErrInject) && !errors.As(err, &rejection) &&
			!errors.Is(err, equivalence.ErrForeignCalls) {
			t.Error(err)
		}
	})
}
