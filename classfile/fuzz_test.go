package classfile_test

import (
	"bytes"
	"math"
	"runtime/metrics"
	"testing"
	"unicode/utf8"

	"github.com/tracegen/tracegen/classfile"
)

// FuzzParse checks that no input makes Parse panic or allocate more than a fixed multiple of its size, and that an
// accepted class can be used and is written back to the same bytes, also if every part is replaced by itself.
//
// Invariant: A class that is parsed and written has the same bytes, also if every part of it is replaced by itself.
//
// Invariant: No bytes make the class file parser panic.
//
// Invariant: The class file parser allocates at most ten times the size of the class file.
func FuzzParse(f *testing.F) {
	for _, data := range sampleClasses(f) {
		if len(data) < 2000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		input := bytes.Clone(data)
		c, err := classfile.Parse(data)
		if least := leastAllocated(data); least > uint64(10*len(data)+1<<14) {
			t.Errorf("%d bytes allocated for %d", least, len(data))
		}
		if err != nil {
			checkFormatError(t, data, err)
			return
		}
		exercise(t, c)
		if again, err := reassembled(c); err != nil || !bytes.Equal(again, data) {
			t.Errorf("reassembling changes it (%v)", err)
		}
		if !bytes.Equal(data, input) {
			t.Error("the input was written to")
		}
	})
}

// leastAllocated returns the number of bytes that Parse allocates: the least of some runs, since the fuzzing engine
// allocates at the same time. Most inputs need one run.
func leastAllocated(data []byte) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	least := uint64(math.MaxUint64)
	for run := 0; run < 10 && least > uint64(10*len(data)+1<<14); run++ {
		metrics.Read(sample)
		before := sample[0].Value.Uint64()
		_, _ = classfile.Parse(data)
		metrics.Read(sample)
		least = min(least, sample[0].Value.Uint64()-before)
	}
	return least
}

// FuzzMUTF8 checks that decoding and encoding never panic and undo each other; what cannot be decoded is returned
// unchanged.
//
// Invariant: Modified UTF-8 is the same after decoding and encoding, and malformed bytes are kept.
func FuzzMUTF8(f *testing.F) {
	for _, test := range mutf8Golden {
		f.Add(test.mutf8)
		f.Add(test.text)
	}
	for _, malformed := range []string{"a\x00", "\x80", "\xC3", "\xE5\x90", "\xC3a", "\xE5\x90a", "\xC0\xAF",
		"\xE0\x80\x80", "\xE0\x9F\xBF", "\xFF", "\xED\xA0\xBDx", "\xED\xB8\x80\xED\xA0\xBD",
		"\xED\xA0\xBD\xED\xA0\xBD", "\xED\xA0\xBD\xED\xB8", "\xED\xA0\xBD\xED\xB8\x80\xFF"} {
		f.Add(malformed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		decoded, ok := classfile.DecodeMUTF8(s)
		switch {
		case !ok && decoded != s:
			t.Errorf("% x does not decode, but becomes %q", s, decoded)
		case ok && !utf8.ValidString(decoded):
			t.Errorf("% x decodes to % x, which is no UTF-8", s, decoded)
		case ok && classfile.EncodeMUTF8(decoded) != s:
			t.Errorf("% x decodes to %q, which encodes to % x", s, decoded, classfile.EncodeMUTF8(decoded))
		}
		if back, ok := classfile.DecodeMUTF8(classfile.EncodeMUTF8(s)); !ok || back != string([]rune(s)) {
			t.Errorf("%q encodes and decodes to %q, %v", s, back, ok)
		}
	})
}
