package mutate

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// typesOf splits the parameters of a method's descriptor.
func typesOf(descriptor string) (parameters []string, result string, ok bool) {
	inner, result, ok := strings.Cut(strings.TrimPrefix(descriptor, "("), ")")
	if !ok || result == "" {
		return nil, "", false
	}
	for inner != "" {
		n := len(inner) - len(strings.TrimLeft(inner, "["))
		if n == len(inner) {
			return nil, "", false
		}
		end := n + 1
		if inner[n] == 'L' {
			end = strings.IndexByte(inner, ';') + 1
		}
		if end <= n {
			return nil, "", false
		}
		parameters = append(parameters, inner[:end])
		inner = inner[end:]
	}
	return parameters, result, true
}

var someTypes = []string{
	"I", "J", "F", "D", "Z", "B", "S", "C", "[I", "[Z", "[[J", "Ljava/lang/Object;", "Ljava/lang/String;",
	"Ljava/lang/Runnable;", "[Ljava/lang/String;", "Ljava/lang/Throwable;",
}

// otherDescriptor returns a well-formed descriptor near another one: a type replaced, or two parameters exchanged.
func (m *Mutator) otherDescriptor(descriptor string) (string, bool) {
	other := someTypes[m.rng.IntN(len(someTypes))]
	if !strings.HasPrefix(descriptor, "(") {
		return other, other != descriptor
	}
	parameters, result, ok := typesOf(descriptor)
	if !ok {
		return "", false
	}
	switch n := len(parameters); {
	case n > 1 && m.rng.IntN(2) == 0:
		i := m.rng.IntN(n - 1)
		parameters[i], parameters[i+1] = parameters[i+1], parameters[i]
	case n > 0 && m.rng.IntN(2) == 0:
		parameters[m.rng.IntN(n)] = other
	default:
		result = other
		if m.rng.IntN(3) == 0 {
			result = "V"
		}
	}
	changed := "(" + strings.Join(parameters, "") + ")" + result
	return changed, changed != descriptor
}

// memberType changes the type of a field or method to another one than its users and its code believe.
func (m *Mutator) memberType(data []byte) ([]byte, bool) {
	members := append(append([]classfile.Member(nil), m.class.Methods()...), m.class.Fields()...)
	if len(members) == 0 {
		return nil, false
	}
	f := &members[m.rng.IntN(len(members))]
	changed, ok := m.otherDescriptor(f.Descriptor)
	if !ok {
		return nil, false
	}
	t := m.newTail()
	put2(data[f.Offset+4:], int(t.utf8(changed)))
	return t.append(data)
}

// usedType changes the type of a field or method that is used to another one than the instructions around believe.
func (m *Mutator) usedType(data []byte) ([]byte, bool) {
	pool := m.class.ConstantPool()
	for range 200 {
		i := uint16(1 + m.rng.IntN(pool.Len()-1))
		if pool.Tag(i) != classfile.TagNameAndType {
			continue
		}
		_, descriptor, err := pool.NameAndType(i)
		if err != nil {
			continue
		}
		changed, ok := m.otherDescriptor(descriptor)
		if !ok {
			continue
		}
		t := m.newTail()
		put2(data[pool.Offset(int(i))+3:], int(t.utf8(changed)))
		return t.append(data)
	}
	return nil, false
}

// someClasses are classes of several kinds: final, abstract, an interface, an array, one that is thrown.
var someClasses = []string{
	"java/lang/Object", "java/lang/String", "java/lang/Number", "java/lang/Runnable", "java/lang/Throwable",
	"java/lang/Integer", "java/util/ArrayList", "java/util/List", "[I", "[Ljava/lang/Object;", "java/lang/Class",
}

// usedClass lets an instruction or a handler name another class: of a new object, of a cast, of what is caught, or of
// the owner of a field or method.
func (m *Mutator) usedClass(data []byte) ([]byte, bool) {
	t := m.newTail()
	i := t.class(someClasses[m.rng.IntN(len(someClasses))])
	b, in, ok := m.find(func(in code.Instruction) bool {
		switch in.Op {
		case code.New, code.Checkcast, code.Instanceof, code.Anewarray:
			return true
		}
		return in.Constant() != 0 && in.Op.Operand() == code.OperandConstantW
	})
	pool := m.class.ConstantPool()
	switch {
	case m.rng.IntN(4) == 0:
		to := m.pick()
		n := len(to.code.ExceptionTable) / 8
		if n == 0 {
			return nil, false
		}
		put2(data[to.code.Offset+len(to.code.Bytecode)+2+8*m.rng.IntN(n)+6:], int(i))
	case !ok:
		return nil, false
	case pool.Tag(in.Constant()) == classfile.TagClass:
		put2(data[b.code.Offset+in.PC+1:], int(i))
	case len(pool.Raw(in.Constant())) == 4 && pool.Tag(in.Constant()) != classfile.TagInvokeDynamic:
		put2(data[pool.Offset(int(in.Constant()))+1:], int(i))
	default:
		return nil, false
	}
	return t.append(data)
}

// blank writes nops over an instruction whose absence is an error of types: a cast, a dup after new, a call of a
// constructor with no arguments (which becomes a pop).
func (m *Mutator) blank(data []byte) bool {
	pool := m.class.ConstantPool()
	b, in, ok := m.find(func(in code.Instruction) bool {
		switch in.Op {
		case code.Checkcast, code.Dup, code.Pop, code.I2l, code.L2i, code.I2f, code.AconstNull, code.Arraylength:
			return true
		case code.Invokespecial:
			ref, err := pool.Ref(in.Constant())
			return err == nil && ref.Name == "<init>" && ref.Descriptor == "()V"
		}
		return false
	})
	if !ok {
		return false
	}
	at := b.code.Offset + in.PC
	clear(data[at : at+in.Size])
	if in.Op == code.Invokespecial {
		data[at] = byte(code.Pop)
	}
	return true
}

// relatives are groups of instructions that differ in the types they take only.
var relatives = [][]code.Op{
	{code.Ireturn, code.Lreturn, code.Freturn, code.Dreturn, code.Areturn, code.Athrow, code.Return},
	{code.Iaload, code.Laload, code.Faload, code.Daload, code.Aaload, code.Baload, code.Caload, code.Saload},
	{code.Iastore, code.Lastore, code.Fastore, code.Dastore, code.Aastore, code.Bastore, code.Castore, code.Sastore},
	{code.Iload, code.Lload, code.Fload, code.Dload, code.Aload},
	{code.Istore, code.Lstore, code.Fstore, code.Dstore, code.Astore},
	{code.Invokevirtual, code.Invokespecial, code.Invokestatic},
	{code.Getfield, code.Getstatic, code.Putfield, code.Putstatic},
	{code.IfAcmpeq, code.IfIcmpeq}, {code.Ifnull, code.Ifeq},
	{code.Iadd, code.Ladd, code.Fadd, code.Dadd},
	{code.Iconst0, code.Lconst0, code.Fconst0, code.Dconst0, code.AconstNull},
	{code.Monitorenter, code.Pop, code.Pop2}, {code.Dup, code.Dup2, code.DupX1, code.DupX2, code.Swap},
	{code.Checkcast, code.Instanceof}, {code.New, code.Anewarray, code.LdcW},
}

// relative replaces an instruction by one for another type.
func (m *Mutator) relative(data []byte) bool {
	for range 30 {
		b, in := m.instruction()
		for _, group := range relatives {
			for _, op := range group {
				if op != in.Op {
					continue
				}
				now := group[m.rng.IntN(len(group))]
				data[b.code.Offset+in.PC] = byte(now)
				return now != in.Op
			}
		}
	}
	return false
}
