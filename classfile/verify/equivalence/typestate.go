package equivalence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// typeState holds the types of all local variables and operand stack words at one position (JVMS 4.10.1.4). Each word
// is an item; the second word of a long or double is "".
//
// [body.execute] computes the types that an added frame must have. It repeats no code of the injector, which computes
// them to write the frame. It does not check that instructions get values of the types that they take: that is the type
// check's task.
type typeState struct{ locals, stack []string }

// trimTops cuts off the trailing tops of the locals: a frame means the same without them.
func (s *typeState) trimTops() {
	for n := len(s.locals); n > 0 && s.locals[n-1] == topItem; n-- {
		s.locals = s.locals[:n-1]
	}
}

// appendWords appends a value to words: two words for a long or double.
func appendWords(words []string, item string) []string {
	words = append(words, item)
	if item == longItem || item == doubleItem {
		words = append(words, "")
	}
	return words
}

// execute applies the effects of the instructions from position start to end. They must be reached one from another
// only, as they are if there is no frame in between.
func (b *body) execute(s *typeState, start, end int) error {
	for pc := start; pc < end; {
		in, err := code.At(b.code.Bytecode, pc)
		if err != nil {
			return err
		}
		if err := b.executeOne(s, in); err != nil {
			return fmt.Errorf("%v at %d: %w", in.Op, pc, err)
		}
		pc += in.Size
	}
	return nil
}

// executeOne applies the effect of one instruction (JVMS 4.10.1.9).
func (b *body) executeOne(s *typeState, in code.Instruction) error {
	pops, pushes, err := in.StackWords(b.pool)
	if err != nil {
		return err
	}
	base := len(s.stack) - pops
	if base < 0 {
		return fmt.Errorf("takes %d words off a stack of %d", pops, len(s.stack))
	}
	popped := slices.Clone(s.stack[base:])
	s.stack = s.stack[:base]
	op := in.Op
	if op == code.Wide {
		op = code.Op(in.U1(0))
	}
	taken, left, _ := op.Stack()
	if strings.Trim(left, "abcd") != left { // the instruction only moves words
		for _, letter := range left {
			s.stack = append(s.stack, popped[strings.IndexRune(taken, letter)])
		}
		return nil
	}
	local, hasLocal := in.Local()
	switch {
	case hasLocal && pops > 0:
		s.store(local, popped)
	case op == code.Invokespecial:
		if ref, err := b.pool.Ref(in.Constant()); err == nil && ref.Name == "<init>" {
			s.initialise(popped[0], ref.Class, b.class.Name())
		}
	}
	if pushes == 0 {
		return nil
	}
	item := topItem
	if hasLocal && left == "A" {
		if local < len(s.locals) {
			item = s.locals[local]
		}
	} else if item, err = b.resultOf(in, popped); err != nil {
		return err
	}
	s.stack = appendWords(s.stack, item)
	return nil
}

// store puts words into the locals from index on. If they replace one half of a long or double, the other half becomes
// unusable. All other locals stay as they are.
func (s *typeState) store(index int, words []string) {
	for len(s.locals) < index+len(words) {
		s.locals = append(s.locals, topItem)
	}
	if index > 0 && s.locals[index] == "" {
		s.locals[index-1] = topItem
	}
	copy(s.locals[index:], words)
	if next := index + len(words); next < len(s.locals) && s.locals[next] == "" {
		s.locals[next] = topItem
	}
}

// initialise replaces an uninitialised object everywhere by its class, after a call of <init>. A constructor called on
// a new object must be of the object's own class; one called on this may be of the superclass.
func (s *typeState) initialise(object, called, this string) {
	item := objectItem(called)
	switch {
	case object == thisItem:
		item = objectItem(this)
	case object == "" || object[0] != itemUninitialized:
		return
	}
	for _, words := range [][]string{s.locals, s.stack} {
		for i := range words {
			if words[i] == object {
				words[i] = item
			}
		}
	}
}

// resultOf returns the value that an instruction puts on the stack, which is no load of a reference from a local.
func (b *body) resultOf(in code.Instruction, popped []string) (string, error) {
	switch in.Op {
	case code.Aaload:
		if component, isArray := strings.CutPrefix(popped[0], objectItem("[")); isArray && component != "" {
			return descriptorItem(component), nil
		}
		return nullItem, nil
	case code.New:
		return fmt.Sprintf("%c%d", itemUninitialized, b.mapBack(in.PC, sideInst, "a new")), nil
	case code.Newarray:
		const first, components = 4, "ZCFDBSIJ" // atype (JVMS table 6.5.newarray-A)
		i := in.U1(0) - first
		if i < 0 || i >= len(components) {
			return "", fmt.Errorf("unknown array type %d", in.U1(0))
		}
		return objectItem("[" + components[i:i+1]), nil
	case code.Anewarray:
		name, err := b.pool.ClassName(in.Constant())
		if !strings.HasPrefix(name, "[") {
			name = "L" + name + ";"
		}
		return objectItem("[" + name), err
	case code.Checkcast, code.Multianewarray:
		name, err := b.pool.ClassName(in.Constant())
		return objectItem(name), err
	case code.Ldc, code.LdcW, code.Ldc2W:
		return b.loadedItem(in.Constant())
	}
	op := in.Op
	if op == code.Wide {
		op = code.Op(in.U1(0))
	}
	if _, left, ok := op.Stack(); ok {
		return letterItem(left[0]), nil
	}
	ref, err := b.pool.Ref(in.Constant())
	if err != nil {
		return "", err
	}
	return descriptorItem(ref.Descriptor[strings.IndexByte(ref.Descriptor, ')')+1:]), nil
}

// letterItem returns the item that a letter of the opcode table stands for.
func letterItem(letter byte) string {
	switch letter {
	case 'N':
		return nullItem
	case 'R': // frames have no type for return addresses
		return topItem
	}
	return descriptorItem(string(rune(letter)))
}

// loadedItem returns the value of a constant that ldc, ldc_w or ldc2_w loads (JVMS table 5.1-A).
func (b *body) loadedItem(constant uint16) (string, error) {
	switch tag := b.pool.Tag(constant); tag {
	case classfile.TagInteger:
		return integerItem, nil
	case classfile.TagFloat:
		return floatItem, nil
	case classfile.TagLong:
		return longItem, nil
	case classfile.TagDouble:
		return doubleItem, nil
	case classfile.TagString:
		return objectItem("java/lang/String"), nil
	case classfile.TagClass:
		return objectItem("java/lang/Class"), nil
	case classfile.TagMethodHandle:
		return objectItem("java/lang/invoke/MethodHandle"), nil
	case classfile.TagMethodType:
		return objectItem("java/lang/invoke/MethodType"), nil
	case classfile.TagDynamic:
		if ref, err := b.pool.Ref(constant); err == nil && ref.Descriptor != "" {
			return descriptorItem(ref.Descriptor), nil
		}
	}
	return "", fmt.Errorf("loads constant %d, which cannot be loaded", constant)
}
