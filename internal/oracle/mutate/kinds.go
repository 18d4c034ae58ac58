package mutate

// Sort is one of the three sorts of mutants.
type Sort string

// The sorts, by what a mutant is made from.
const (
	// Structure: bytes and numbers of the class file's structures.
	Structure Sort = "structure"
	// Instructions: instructions, frames, handlers and what they name, each with one change.
	Instructions Sort = "instructions"
	// Recombined: parts of two classes or methods put together, and well-formed classes with an error of types.
	Recombined Sort = "recombined"
)

// Kind is a kind of fault.
type Kind string

// The kinds, by what they change.
const (
	AnyByte          Kind = "any byte"
	Number           Kind = "number in a structure"
	AttributeLength  Kind = "attribute length"
	AttributeContent Kind = "attribute content"
	AttributeName    Kind = "attribute name"
	AttributeTwice   Kind = "attribute twice or gone"
	MemberTwice      Kind = "member twice or gone"
	Text             Kind = "text"
	FileEnd          Kind = "end of the file"
	Version          Kind = "version"

	Opcode         Kind = "opcode"
	Operand        Kind = "operand"
	BranchTarget   Kind = "branch target"
	FrameEntry     Kind = "frame entry"
	FrameType      Kind = "frame type"
	DroppedFrame   Kind = "dropped frame"
	Descriptor     Kind = "descriptor"
	ConstantIndex  Kind = "constant index"
	ConstantKind   Kind = "constant kind"
	ExceptionRange Kind = "exception range"
	Maximum        Kind = "max_stack, max_locals"
	Flags          Kind = "flags"
	Swapped        Kind = "swapped instructions"
	CutMethod      Kind = "cut method"
	Hierarchy      Kind = "superclass, interface"

	BodyOfMethod     Kind = "code of another method"
	FramesOfMethod   Kind = "frames of another method"
	BodyOfClass      Kind = "code of another class"
	MethodOfClass    Kind = "method of another class"
	ConstantOfClass  Kind = "constant of another class"
	AttributeOfClass Kind = "attribute of another class"
	SuperOfClass     Kind = "superclass of another class"
	MemberType       Kind = "type of a member"
	UsedType         Kind = "type of a used member"
	UsedClass        Kind = "class of an instruction"
	Blank            Kind = "missing conversion"
	Relative         Kind = "instruction for another type"
)

// weights is how often the kinds of a sort are tried, so that each results in enough mutants that a verifier rejects,
// and more than half of those of instructions are about frames, types and operands.
var weights = map[Sort][]struct {
	kind  Kind
	times int
}{
	Structure: {
		{AnyByte, 4}, {Number, 4}, {AttributeLength, 1}, {AttributeContent, 4}, {AttributeName, 2}, {AttributeTwice, 3},
		{MemberTwice, 2}, {Text, 3}, {FileEnd, 1}, {Version, 1},
	},
	Instructions: {
		{FrameType, 10}, {FrameEntry, 5}, {DroppedFrame, 3}, {Operand, 6}, {Descriptor, 3}, {ConstantIndex, 2},
		{ConstantKind, 2},
		{ExceptionRange, 6}, {BranchTarget, 3}, {Flags, 2}, {Opcode, 1}, {Maximum, 1}, {Swapped, 1}, {CutMethod, 1},
		{Hierarchy, 1},
	},
	Recombined: {
		{BodyOfMethod, 2}, {FramesOfMethod, 2}, {BodyOfClass, 4}, {MethodOfClass, 4}, {ConstantOfClass, 3},
		{AttributeOfClass, 4}, {SuperOfClass, 2}, {MemberType, 3}, {UsedType, 3}, {UsedClass, 3}, {Blank, 3},
		{Relative, 4},
	},
}

// Sorts returns the three sorts.
func Sorts() []Sort { return []Sort{Structure, Instructions, Recombined} }

// Weighted returns every kind of a sort as often as it should be tried.
func Weighted(sort Sort) []Kind {
	var all []Kind
	for _, w := range weights[sort] {
		for range w.times {
			all = append(all, w.kind)
		}
	}
	return all
}

// Mutate returns the class with one fault of a kind, or false if it has no place for such a fault.
func (m *Mutator) Mutate(kind Kind) ([]byte, bool) {
	if len(m.bodies) == 0 && needsCode(kind) {
		return nil, false
	}
	data := append([]byte(nil), m.data...)
	if change, ok := m.inPlace(kind); ok {
		return data, change(data)
	}
	switch kind {
	case AttributeName:
		return m.attributeName(data)
	case AttributeTwice:
		return m.attributeTwice(data)
	case MemberTwice:
		return m.memberTwice(data)
	case Text:
		return m.text(data)
	case FileEnd:
		return m.fileEnd(data)
	case DroppedFrame:
		return m.dropFrame()
	case CutMethod:
		return m.cut()
	case BodyOfMethod:
		return m.bodyOfMethod(data)
	case FramesOfMethod:
		return m.framesOfMethod()
	case BodyOfClass:
		return m.bodyOfClass(data)
	case MethodOfClass:
		return m.methodOfClass(data)
	case ConstantOfClass:
		return m.constantOfClass(data)
	case AttributeOfClass:
		return m.attributeOfClass(data)
	case SuperOfClass:
		return m.superOfClass(data)
	case MemberType:
		return m.memberType(data)
	case UsedType:
		return m.usedType(data)
	case UsedClass:
		return m.usedClass(data)
	}
	return nil, false
}

// inPlace returns the function that makes a change which leaves the class file as long as it is.
func (m *Mutator) inPlace(kind Kind) (func([]byte) bool, bool) {
	change, ok := map[Kind]func([]byte) bool{
		AnyByte: m.anyByte, Number: m.field, AttributeLength: m.attributeLength, AttributeContent: m.attributeContent,
		Version: m.version, Opcode: m.opcode, Operand: m.operand, BranchTarget: m.branch, FrameEntry: m.frameEntry,
		FrameType: m.frameType, Descriptor: m.descriptor, ConstantIndex: m.constantIndex, ConstantKind: m.constantKind,
		ExceptionRange: m.exceptionRange, Maximum: m.maximum, Flags: m.flags, Swapped: m.swap, Hierarchy: m.hierarchy,
		Blank: m.blank, Relative: m.relative,
	}[kind]
	return change, ok
}

func needsCode(kind Kind) bool {
	switch kind {
	case Descriptor, ConstantKind, Flags, Hierarchy, AnyByte, Number, AttributeLength, AttributeContent, AttributeName,
		AttributeTwice, MemberTwice, Text, FileEnd, Version, MethodOfClass, ConstantOfClass, AttributeOfClass,
		SuperOfClass, MemberType, UsedType:
		return false
	}
	return true
}
