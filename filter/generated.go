package filter

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// isGenerated reports whether a class is one of constants that Android's build tools generate. The name alone is not
// enough: applications have classes named R and Manifest of their own.
func isGenerated(c *classfile.Class, name string) bool {
	switch simple := name[strings.LastIndexByte(name, '/')+1:]; {
	case simple == "R", simple == "BuildConfig", simple == "Manifest", strings.HasPrefix(simple, "R$"):
	default:
		return false
	}
	methods := c.Methods()
	for i := range methods {
		if methods[i].Name != "<init>" && methods[i].Name != "<clinit>" {
			return false
		}
	}
	return true
}

// isAccessor reports whether a method is an accessor that javac, ECJ or Kotlin generates to let a nested class reach
// a private member: one field access or call, and besides it only moves between locals and stack.
func isAccessor(m *classfile.Member, c *classfile.Code) (bool, error) {
	const flags = classfile.AccStatic | classfile.AccSynthetic
	if m.AccessFlags&flags != flags || !strings.HasPrefix(m.Name, "access$") {
		return false, nil
	}
	accesses := 0
	for pc := 0; pc < len(c.Bytecode) && accesses <= 1; {
		in, err := code.At(c.Bytecode, pc)
		if err != nil {
			return false, err
		}
		pc += in.Size
		switch op := in.Op; {
		case op >= code.Getstatic && op <= code.Invokeinterface:
			accesses++
		case isLoad(in), op >= code.Pop && op <= code.Swap, op == code.Checkcast, op.IsReturn():
		default:
			return false, nil
		}
	}
	return accesses == 1, nil
}

// isInlineTemplate reports whether a method is the copy of an inline function that the Kotlin compiler keeps for
// itself.
func isInlineTemplate(m *classfile.Member) bool { return strings.HasSuffix(m.Name, "$$forInline") }

// unknownAttribute returns the name of the first attribute of the code that is unknown there; "" if there is none.
func unknownAttribute(body *classfile.Code) string {
	for _, a := range body.Attributes {
		if !code.KnownInCode(a.Name) {
			return a.Name
		}
	}
	return ""
}
