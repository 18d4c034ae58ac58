package verify_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
)

// TestConstructorWithResult: a constructor that gives something back is found in every version, though its name and its
// descriptor were found good in other constants before.
func TestConstructorWithResult(t *testing.T) {
	for _, major := range []uint16{45, 48, 49, 61} {
		a := newAssembler(major, "A", "java/lang/Object")
		a.methodref("A", "<init>", "()V")
		a.methodref("A", "f", "()Ljava/lang/Object;")
		a.methodref("A", "<init>", "()Ljava/lang/Object;")
		c, err := classfile.Parse(a.bytes())
		if err != nil {
			t.Fatal(err)
		}
		if found := types.Check(c, nil); len(found) != 1 || !strings.Contains(found[0].Got, `"<init>()Ljava/lang/Object;"`) {
			t.Errorf("version %d: %v", major, found)
		}
	}
}
