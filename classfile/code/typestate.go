package code

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// item is a verification type (JVMS 4.10.1.2) of one local variable slot or operand stack word. The second
// word of a long or double is an item of its own, with the tag secondWord.
type item struct {
	tag   byte
	class string // of itemObject: name in internal form, or array descriptor
	pc    uint16 // of itemUninitialized: the position of its `new` instruction
}

const secondWord = 0xFF

// typeState has the types of all local variables and operand stack words at one position, as a stack map frame
// describes them (JVMS 4.10.1.4).
type typeState struct {
	locals, stack []item
}

// maxAddedFrames is the greatest number of bytes that the frames added to one method may take. Each frame may
// describe every local variable of the method, so that without the limit a small class could make a very big one.
const maxAddedFrames = 1 << 20

// addedFrames returns the frames that widened conditional branches need, as full_frames with old positions, in
// order.
//
// A widened branch jumps over a goto_w to the instruction behind it, which so becomes a branch target and needs a
// frame (JVMS 4.10.1). In general, the types at a branch target are found by merging the types of all paths, which
// takes the class hierarchy. Here merging is not needed: where there was no frame, only one path led to the
// instruction, from the instruction before it. So its types follow from the last frame before it, or from the start
// of the method, by executing the instructions in between. typeFlow does that for all added frames in one pass
// through the method.
//
// Code without a StackMapTable needs no frames, since it is verified by type inference (JVMS 4.10.2).
func (r *Relocator) addedFrames() ([]frame, error) {
	var added []frame
	flow := typeFlow{r: r}
	size := 0
	for i := range r.branches {
		b := &r.branches[i]
		if b.width != 8 {
			continue
		}
		next := b.pc + b.size
		at, found := slices.BinarySearchFunc(r.frames, next, func(f frame, pc int) int { return f.pc - pc })
		if found { // without a note, undoing the patch could take it for an added one
			r.notes = append(r.notes, Note{Kind: NoteKeptFrame, Index: at})
			continue
		}
		err := flow.applyFrames(at)
		if err == nil {
			err = flow.execute(next)
		}
		if err != nil {
			return nil, fmt.Errorf("frame behind the branch at %d, which is too long for two bytes: %w", b.pc, err)
		}
		for n := len(flow.now.locals); n > 0 && flow.now.locals[n-1].tag == itemTop; n-- {
			flow.now.locals = flow.now.locals[:n-1]
		}
		f := frame{pc: next, kind: fullFrame, moves: true, body: r.fullFrameBody(&flow.now)}
		if size += len(f.body); size > maxAddedFrames {
			return nil, fmt.Errorf("%w: its added frames would take more than %d bytes", ErrTooLarge, maxAddedFrames)
		}
		added = append(added, f)
	}
	return added, nil
}

// typeFlow computes the types at positions of a method, in ascending order.
type typeFlow struct {
	r      *Relocator
	frames int       // how many frames have been applied to frame, plus 1 for the initial state
	frame  typeState // the types of the last frame
	now    typeState // the types at pc
	pc     int
}

// applyFrames advances to the n-th frame (1 for the first, 0 for the method's start), unless f is already there or
// behind it.
func (f *typeFlow) applyFrames(n int) error {
	if f.frames > n {
		return nil
	}
	if f.frames == 0 {
		s, err := f.r.initialState()
		if err != nil {
			return err
		}
		f.frame, f.frames = *s, 1
	}
	for ; f.frames <= n; f.frames++ {
		next := f.r.frames[f.frames-1]
		if err := f.frame.apply(f.r.class.ConstantPool(), next); err != nil {
			return err
		}
		f.pc = next.pc
	}
	f.now = typeState{slices.Clone(f.frame.locals), slices.Clone(f.frame.stack)}
	return nil
}

// initialState returns the types at the start of the method, which follow from its descriptor and flags (JVMS
// 4.10.1.6).
func (r *Relocator) initialState() (*typeState, error) {
	s := &typeState{}
	m := r.method
	if m.AccessFlags&classfile.AccStatic == 0 {
		this := item{tag: itemObject, class: r.class.Name()}
		if m.Name == "<init>" && r.class.SuperName() != "" {
			this = item{tag: itemUninitializedThis}
		}
		s.locals = append(s.locals, this)
	}
	for d := strings.TrimPrefix(m.Descriptor, "("); d != "" && d[0] != ')'; {
		_, size := fieldWords(d)
		if size == 0 {
			return nil, fmt.Errorf("malformed method descriptor %q", m.Descriptor)
		}
		s.locals = appendItem(s.locals, fieldItem(d[:size]))
		d = d[size:]
	}
	return s, nil
}

// fieldItem returns the type of a value with that field descriptor, which must be well-formed.
func fieldItem(descriptor string) item {
	switch descriptor[0] {
	case 'J':
		return item{tag: itemLong}
	case 'D':
		return item{tag: itemDouble}
	case 'F':
		return item{tag: itemFloat}
	case 'L':
		return item{tag: itemObject, class: descriptor[1 : len(descriptor)-1]}
	case '[':
		return item{tag: itemObject, class: descriptor}
	}
	return item{tag: itemInteger}
}

// appendItem appends a value to words: two words for long and double.
func appendItem(words []item, it item) []item {
	words = append(words, it)
	if it.tag == itemLong || it.tag == itemDouble {
		words = append(words, item{tag: secondWord})
	}
	return words
}

// readItems decodes n verification_type_info structures from the start of b.
func readItems(pool *classfile.ConstantPool, b []byte, n int) (words []item, rest []byte, err error) {
	for range n {
		it := item{tag: b[0]}
		switch it.tag {
		case itemObject:
			if it.class, err = pool.ClassName(binary.BigEndian.Uint16(b[1:])); err != nil {
				return nil, nil, err
			}
		case itemUninitialized:
			it.pc = binary.BigEndian.Uint16(b[1:])
		}
		end, _, _ := itemsSize(b, 0, 1)
		words, b = appendItem(words, it), b[end:]
	}
	return words, b, nil
}

// apply replaces s by the types that f describes. s must be the types of the frame before f.
func (s *typeState) apply(pool *classfile.ConstantPool, f frame) error {
	s.stack = nil
	var err error
	switch {
	case f.kind == sameLocals1 || f.kind == sameLocals1Extended:
		s.stack, _, err = readItems(pool, f.body, 1)
	case f.kind >= chopFirst && f.kind < sameFrameExtended:
		for range sameFrameExtended - f.kind {
			if n := len(s.locals); n > 0 && s.locals[n-1].tag == secondWord {
				s.locals = s.locals[:n-1]
			}
			if len(s.locals) == 0 {
				return fmt.Errorf("frame at %d drops more locals than there are", f.pc)
			}
			s.locals = s.locals[:len(s.locals)-1]
		}
	case f.kind >= appendFirst && f.kind < fullFrame:
		var more []item
		more, _, err = readItems(pool, f.body, int(f.kind)-sameFrameExtended)
		s.locals = append(s.locals, more...)
	case f.kind == fullFrame:
		b := f.body
		if s.locals, b, err = readItems(pool, b[2:], int(binary.BigEndian.Uint16(b))); err == nil {
			s.stack, _, err = readItems(pool, b[2:], int(binary.BigEndian.Uint16(b)))
		}
	}
	return err
}

// fullFrameBody returns the body of a full_frame with the types s. It adds missing Class constants to the pool.
func (r *Relocator) fullFrameBody(s *typeState) []byte {
	var b []byte
	write := func(words []item) {
		at, n := len(b), 0
		b = append(b, 0, 0)
		for _, it := range words {
			if it.tag == secondWord {
				continue
			}
			n++
			b = append(b, it.tag)
			switch it.tag {
			case itemObject:
				b = binary.BigEndian.AppendUint16(b, r.pool.Class(it.class))
			case itemUninitialized:
				b = binary.BigEndian.AppendUint16(b, it.pc)
			}
		}
		binary.BigEndian.PutUint16(b[at:], uint16(n))
	}
	write(s.locals)
	write(s.stack)
	return b
}

// execute applies the effects of the instructions up to position end to f.now. There must be no frame in between,
// so that each of them is reached from the one before it only.
func (f *typeFlow) execute(end int) error {
	for f.pc < end {
		in, err := At(f.r.code.Bytecode, f.pc)
		if err != nil {
			return err
		}
		if err := f.r.executeOne(&f.now, in); err != nil {
			return fmt.Errorf("%v at %d: %w", in.Op, f.pc, err)
		}
		f.pc += in.Size
	}
	return nil
}

// executeOne applies the effect of one instruction to s (JVMS 4.10.1.9).
func (r *Relocator) executeOne(s *typeState, in Instruction) error {
	pool := r.class.ConstantPool()
	pops, pushes, err := in.StackWords(pool)
	if err != nil {
		return err
	}
	if pops > len(s.stack) {
		return fmt.Errorf("takes %d words off a stack of %d", pops, len(s.stack))
	}
	base := len(s.stack) - pops
	taken := slices.Clone(s.stack[base:])
	s.stack = s.stack[:base]
	op := in.Op
	if op == Wide {
		op = Op(in.U1(0))
	}
	before, after, _ := strings.Cut(ops[op].stack, ">")
	if after != "" && after[0] >= 'a' && after[0] <= 'z' {
		for _, word := range after {
			s.stack = append(s.stack, taken[strings.IndexRune(before, word)])
		}
		return nil
	}
	if op == Invokespecial && len(taken) > 0 {
		if ref, err := pool.Ref(in.Constant()); err == nil && ref.Name == "<init>" {
			if err := r.initialise(s, taken[0]); err != nil {
				return err
			}
		}
	}
	local, isLocal := in.Local()
	if isLocal && pops > 0 {
		s.store(local, taken)
	}
	if pushes == 0 {
		return nil
	}
	result, err := r.result(s, in, op, taken)
	if err != nil {
		return err
	}
	if isLocal && pushes == 1 && result.tag == itemObject {
		if local >= len(s.locals) {
			return fmt.Errorf("loads local %d of %d", local, len(s.locals))
		}
		result = s.locals[local]
	}
	s.stack = appendItem(s.stack, result)
	return nil
}

// store puts the words into the locals from index on. If they overwrite one half of a long or double, the other
// half becomes unusable too.
func (s *typeState) store(index int, words []item) {
	for len(s.locals) < index+len(words) {
		s.locals = append(s.locals, item{tag: itemTop})
	}
	if s.locals[index].tag == secondWord && index > 0 {
		s.locals[index-1] = item{tag: itemTop}
	}
	copy(s.locals[index:], words)
	if next := index + len(words); next < len(s.locals) && s.locals[next].tag == secondWord {
		s.locals[next] = item{tag: itemTop}
	}
}

// initialise replaces an uninitialised type everywhere by its class, as a call of <init> does (JVMS
// 4.10.1.9, invokespecial).
func (r *Relocator) initialise(s *typeState, object item) error {
	class := r.class.Name()
	switch object.tag {
	case itemUninitialized:
		in, err := At(r.code.Bytecode, int(object.pc))
		if err != nil {
			return err
		}
		if class, err = r.class.ConstantPool().ClassName(in.Constant()); err != nil {
			return err
		}
	case itemUninitializedThis:
	default:
		return nil
	}
	for _, words := range [][]item{s.locals, s.stack} {
		for i := range words {
			if words[i] == object {
				words[i] = item{tag: itemObject, class: class}
			}
		}
	}
	return nil
}

// letterItems has the types that the letters of the opcode table stand for.
var letterItems = map[byte]item{
	'I': {tag: itemInteger}, 'J': {tag: itemLong}, 'F': {tag: itemFloat}, 'D': {tag: itemDouble}, 'N': {tag: itemNull},
	'A': {tag: itemObject},
}

// result returns the type of the value that the instruction puts on the stack; for aload, an itemObject without a
// class.
func (r *Relocator) result(s *typeState, in Instruction, op Op, taken []item) (item, error) {
	pool := r.class.ConstantPool()
	switch op {
	case Aaload:
		class, isArray := strings.CutPrefix(taken[0].class, "[")
		if !isArray { // null is an array of null
			return item{tag: itemNull}, nil
		}
		if _, size := fieldWords(class); size == 0 || size != len(class) {
			return item{}, fmt.Errorf("malformed array class %q", taken[0].class)
		}
		return fieldItem(class), nil
	case New:
		return item{tag: itemUninitialized, pc: uint16(in.PC)}, nil
	case Newarray:
		i := in.U1(0) - 4 // atype (JVMS table 6.5.newarray-A)
		if i < 0 || i >= len("ZCFDBSIJ") {
			return item{}, fmt.Errorf("unknown array type %d", in.U1(0))
		}
		return item{tag: itemObject, class: "[" + "ZCFDBSIJ"[i:i+1]}, nil
	case Anewarray, Checkcast, Multianewarray:
		name, err := pool.ClassName(in.Constant())
		if op == Anewarray {
			if !strings.HasPrefix(name, "[") {
				name = "L" + name + ";"
			}
			name = "[" + name
		}
		return item{tag: itemObject, class: name}, err
	case Ldc, LdcW, Ldc2W:
		return r.constantItem(in.Constant())
	}
	if _, after, ok := strings.Cut(ops[op].stack, ">"); ok {
		return letterItems[after[0]], nil
	}
	ref, err := pool.Ref(in.Constant())
	if err != nil {
		return item{}, err
	}
	return fieldItem(ref.Descriptor[strings.IndexByte(ref.Descriptor, ')')+1:]), nil
}

// loadable has the type of each kind of constant that ldc may load (JVMS table 5.1-A), except Dynamic.
var loadable = map[classfile.Tag]item{
	classfile.TagInteger:      {tag: itemInteger},
	classfile.TagFloat:        {tag: itemFloat},
	classfile.TagLong:         {tag: itemLong},
	classfile.TagDouble:       {tag: itemDouble},
	classfile.TagString:       {tag: itemObject, class: "java/lang/String"},
	classfile.TagClass:        {tag: itemObject, class: "java/lang/Class"},
	classfile.TagMethodHandle: {tag: itemObject, class: "java/lang/invoke/MethodHandle"},
	classfile.TagMethodType:   {tag: itemObject, class: "java/lang/invoke/MethodType"},
}

// constantItem returns the type of a constant that ldc, ldc_w or ldc2_w loads.
func (r *Relocator) constantItem(index uint16) (item, error) {
	pool := r.class.ConstantPool()
	tag := pool.Tag(index)
	if it, ok := loadable[tag]; ok {
		return it, nil
	}
	ref, err := pool.Ref(index)
	if err != nil {
		return item{}, err
	}
	if _, size := fieldWords(ref.Descriptor); tag != classfile.TagDynamic || size == 0 || size != len(ref.Descriptor) {
		return item{}, fmt.Errorf("loads a %v with the descriptor %q", tag, ref.Descriptor)
	}
	return fieldItem(ref.Descriptor), nil
}
