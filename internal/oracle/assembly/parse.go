package assembly

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// Parse returns a class that a test reads, and which must be one.
func Parse(t testing.TB, data []byte) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
