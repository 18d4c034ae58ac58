package types_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// TestConstructorWithResult: a constructor that returns a value is found in every version, though its name and its
// descriptor were found good in other constants before.
func TestConstructorWithResult(t *testing.T) {
	for _, major := range []uint16{45, 48, 49, 61} {
		a := crafted.NewClass(major, "A", "java/lang/Object")
		a.Methodref("A", "<init>", "()V")
		a.Methodref("A", "f", "()Ljava/lang/Object;")
		a.Methodref("A", "<init>", "()Ljava/lang/Object;")
		c, err := classfile.Parse(a.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if found := types.Check(c, nil); len(found) != 1 ||
			!strings.Contains(found[0].Got, `"<init>()Ljava/lang/Object;"`) {
			t.Errorf("version %d: %v", major, found)
		}
	}
}
