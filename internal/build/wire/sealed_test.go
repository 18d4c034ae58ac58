package wire

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
)

// TestModestContent has content that says of a little that it is very much, and content that is.
func TestModestContent(t *testing.T) {
	format := Format{Name: "test", Number: 1}
	much := &Sealed{Format: format, Content: make([]byte, 100<<20)}
	var b bytes.Buffer
	if _, err := much.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if s, err := Unseal(b.Bytes(), format); err != nil || len(s.Content) != len(much.Content) {
		t.Errorf("content that compresses well cannot be read: %v", err)
	}
	var before, after runtime.MemStats
	lies := binary.AppendUvarint(nil, 1<<30)
	for _, content := range [][]byte{append(slices.Clone(lies), 1, 2, 3), lies, {0xff}, nil} {
		runtime.ReadMemStats(&before)
		if _, err := unpackContent(content); err == nil && len(content) > 0 {
			t.Errorf("%x is taken", content)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%x: %d bytes allocated", content, got)
		}
	}
}
