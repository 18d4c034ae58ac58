package types_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// TestThisOnStack: from version 71, an uninitialised this that is only on the stack of a frame sets flagThisUninit
// (JVMS 4.7.4); before, it does not, as HotSpot 25 has it.
func TestThisOnStack(t *testing.T) {
	for _, major := range []uint16{70, 71} {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		bytecode := slices.Concat(crafted.Op(code.Aload0), crafted.Op(code.Iconst0), crafted.Branch(code.Ifeq, 2, 5),
			crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...),
			crafted.Op(code.Return))
		a.Add(crafted.Method{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", MaxStack: 2, MaxLocals: 1,
			Code: bytecode, Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 5, 0, 0, 0, 1, 6})}})
		findings := types.Check(a.Parse(t), smallWorld(t))
		if refused := major < 71; refused != (len(findings) > 0) {
			t.Errorf("version %d: %v", major, findings)
		}
	}
}
