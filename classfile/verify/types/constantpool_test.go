package types_test

import (
	"fmt"
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

// TestClassInitializerWithArguments: a NameAndType of <clinit> with arguments is found before and after one of <init>
// with the same descriptor. What was known of the descriptor as that of <init> was taken for <clinit>, too, and after
// that nothing else of the class was checked.
func TestClassInitializerWithArguments(t *testing.T) {
	for _, major := range []uint16{51, 52, 61} {
		for _, names := range [][]string{{"<init>", "<clinit>"}, {"<clinit>", "<init>"}} {
			a := crafted.NewClass(major, "A", "java/lang/Object")
			for _, name := range names {
				a.NameAndType(name, "(LA;)V")
			}
			checkFindings(t, fmt.Sprintf("version %d, %v", major, names), a, nil, `"<clinit>(LA;)V"`)
		}
	}
}
