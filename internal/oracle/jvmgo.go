package oracle

import (
	"fmt"

	"github.com/zxh0/jvm.go/classfile"
)

// JVMGoMaxMajor is the newest major version that jvm.go reads.
const JVMGoMaxMajor = 57

// Structure is the structure of a class file, in a form in which two decoders can be compared. Names are those of the
// constant pool.
type Structure struct {
	// Minor and Major are the version, Constants is constant_pool_count.
	Minor, Major uint16
	Constants    int
	// Access holds access_flags.
	Access uint16
	// Name and Super are internal names, Super empty if there is none.
	Name, Super string
	// Interfaces are the direct superinterfaces.
	Interfaces []string
	// Fields and Methods are in the order of the file.
	Fields, Methods []StructureMember
	// Attributes lists the name and the length of the info of each attribute, as "SourceFile 2".
	Attributes []string
}

// StructureMember is a field or method of a [Structure].
type StructureMember struct {
	// Access holds access_flags.
	Access uint16
	// Name and Desc are as in the constant pool.
	Name, Desc string
	// Attributes is as in Structure, but leaves Code out.
	Attributes []string
	// Code is nil if there is none.
	Code *StructureCode
}

// StructureCode is the Code attribute of a method.
type StructureCode struct {
	// MaxStack and MaxLocals are as in the file.
	MaxStack, MaxLocals uint16
	// Bytes is the code array.
	Bytes []byte
	// Handlers holds start_pc, end_pc, handler_pc and catch_type of each exception range.
	Handlers [][4]uint16
	// Attributes is as in Structure.
	Attributes []string
}

// DecodeJVMGo reads a class file with jvm.go, an independent decoder in Go. It reads major versions up to
// [JVMGoMaxMajor]. jvm.go panics on some class files; that is returned as an error.
func DecodeJVMGo(data []byte) (s *Structure, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("jvm.go: %v", r)
		}
	}()
	cf, err := classfile.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("jvm.go: %w", err)
	}
	return &Structure{
		Minor: cf.MinorVersion, Major: cf.MajorVersion, Constants: len(cf.ConstantPool),
		Access: cf.AccessFlags, Name: cf.GetThisClassName(), Super: cf.GetSuperClassName(),
		Interfaces: cf.GetInterfaceNames(), Fields: jvmGoMembers(cf, cf.Fields),
		Methods: jvmGoMembers(cf, cf.Methods), Attributes: jvmGoAttributes(cf.AttributeTable),
	}, nil
}

func jvmGoMembers(cf *classfile.ClassFile, members []classfile.MemberInfo) []StructureMember {
	list := make([]StructureMember, 0, len(members))
	for _, m := range members {
		s := StructureMember{Access: m.AccessFlags, Name: cf.GetRawUTF8(m.NameIndex),
			Desc: cf.GetRawUTF8(m.DescriptorIndex), Attributes: jvmGoAttributes(m.AttributeTable)}
		if c, ok := m.GetCodeAttribute(); ok {
			s.Code = &StructureCode{MaxStack: c.MaxStack, MaxLocals: c.MaxLocals, Bytes: c.Code,
				Attributes: jvmGoAttributes(c.AttributeTable)}
			for _, e := range c.ExceptionTable {
				s.Code.Handlers = append(s.Code.Handlers, [4]uint16{e.StartPc, e.EndPc, e.HandlerPc, e.CatchType})
			}
		}
		list = append(list, s)
	}
	return list
}

// jvmGoAttributes computes the lengths of attributes from their decoded content, because jvm.go does not keep them. A
// decoder that read wrong bytes would not arrive at the number in the file.
func jvmGoAttributes(table classfile.AttributeTable) []string {
	var list []string
	for _, a := range table {
		name, size := "", 2
		switch a := a.(type) {
		case classfile.UnparsedAttribute:
			name, size = a.Name, len(a.Info)
		case classfile.BootstrapMethodsAttribute:
			name = "BootstrapMethods"
			for _, m := range a.BootstrapMethods {
				size += 4 + 2*len(m.BootstrapArguments)
			}
		case classfile.CodeAttribute:
			continue
		case classfile.ConstantValueAttribute:
			name = "ConstantValue"
		case classfile.DeprecatedAttribute:
			name, size = "Deprecated", 0
		case classfile.SyntheticAttribute:
			name, size = "Synthetic", 0
		case classfile.EnclosingMethodAttribute:
			name, size = "EnclosingMethod", 4
		case classfile.ExceptionsAttribute:
			name, size = "Exceptions", 2+2*len(a.ExceptionIndexTable)
		case classfile.InnerClassesAttribute:
			name, size = "InnerClasses", 2+8*len(a.Classes)
		case classfile.LineNumberTableAttribute:
			name, size = "LineNumberTable", 2+4*len(a.LineNumberTable)
		case classfile.LocalVariableTableAttribute:
			name, size = "LocalVariableTable", 2+10*len(a.LocalVariableTable)
		case classfile.LocalVariableTypeTableAttribute:
			name, size = "LocalVariableTypeTable", 2+10*len(a.LocalVariableTypeTable)
		case classfile.SignatureAttribute:
			name = "Signature"
		case classfile.SourceFileAttribute:
			name = "SourceFile"
		default:
			name, size = fmt.Sprintf("%T", a), 0
		}
		list = append(list, fmt.Sprint(name, " ", size))
	}
	return list
}
