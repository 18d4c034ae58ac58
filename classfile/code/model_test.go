package code_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// relocation is a method before and after Relocate, with the new positions as a simple and slow model finds them in
// the new code.
type relocation struct {
	t        testing.TB
	old, new sample
	patch    code.Patch
	notes    []code.Note
	inst     map[int]int // old position of an instruction, or of the end, to its new one
	target   map[int]int // likewise, to where a branch to it must lead
}

// relocated applies a patch, whose Outline it reads.
func relocated(m sample, patch code.Patch, pool *classfile.PoolBuilder) (info []byte, notes []code.Note, err error) {
	var outline code.Outline
	if err := outline.Read(m.code.Bytecode, &code.OpSet{}); err != nil {
		return nil, nil, err
	}
	patch.Outline = &outline
	var r code.Relocator
	return r.Relocate(nil, m.class, m.method, &m.code, patch, pool)
}

// relocate applies the patch and writes and parses the class.
func relocate(t testing.TB, old sample, patch code.Patch, pool *classfile.PoolBuilder) (*relocation, error) {
	t.Helper()
	info, notes, err := relocated(old, patch, pool)
	if err != nil {
		return nil, err
	}
	index := slices.IndexFunc(old.class.Methods(),
		func(m classfile.Member) bool { return m.Offset == old.method.Offset })
	data, err := old.class.Rewrite(classfile.Edit{Constants: pool,
		Codes: []classfile.CodeEdit{{Method: index, Info: info}}})
	if err != nil {
		t.Fatalf("%s: %v", old.name, err)
	}
	class, err := classfile.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", old.name, err)
	}
	method := &class.Methods()[index]
	body, ok, err := class.Code(method)
	if err != nil || !ok {
		t.Fatalf("%s: %v", old.name, err)
	}
	return &relocation{
		t: t, old: old, new: sample{old.name, class, method, body}, patch: patch, notes: notes,
		inst: map[int]int{}, target: map[int]int{},
	}, nil
}

func (r *relocation) errorf(format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s: %s", r.old.name, fmt.Sprintf(format, args...))
}

// check compares the new method with the old one under the patch, structure by structure.
func (r *relocation) check() {
	r.t.Helper()
	if r.new.code.MaxStack != r.patch.MaxStack || r.new.code.MaxLocals != r.old.code.MaxLocals {
		r.errorf("max_stack %d, max_locals %d", r.new.code.MaxStack, r.new.code.MaxLocals)
	}
	branches := r.walk()
	for _, b := range branches {
		r.checkBranch(b[0], b[1])
	}
	r.checkExceptions()
	wanted := len(r.old.code.Attributes)
	for i, a := range r.old.code.Attributes {
		if i < len(r.new.code.Attributes) && r.new.code.Attributes[i].Name == a.Name {
			r.checkAttribute(a, r.new.code.Attributes[i].Info)
		} else {
			r.errorf("attribute %d is not %s any more", i, a.Name)
		}
	}
	if _, major := r.old.class.Version(); r.patch.Handler != nil && major >= 50 {
		if _, ok := classfile.FindAttribute(r.old.code.Attributes, "StackMapTable"); !ok {
			wanted++
		}
	}
	if len(r.new.code.Attributes) != wanted {
		r.errorf("%d attributes, want %d", len(r.new.code.Attributes), wanted)
	}
}

// walk goes through the old and the new code side by side and compares everything but branches. It lists these with
// their positions in the old and the new code.
func (r *relocation) walk() (branches [][2]int) {
	r.t.Helper()
	at := 0
	insertions := r.patch.Insertions
	expect := func(want []byte) {
		if !bytes.HasPrefix(r.new.code.Bytecode[min(at, len(r.new.code.Bytecode)):], want) {
			r.t.Fatalf("%s: want % x at %d", r.old.name, want[:min(20, len(want))], at)
		}
		at += len(want)
	}
	for in := range code.Instructions(r.old.code.Bytecode) {
		exits := false
		for ; len(insertions) > 0 && insertions[0].PC == in.PC; insertions = insertions[1:] {
			if !insertions[0].Entry && !exits {
				r.target[in.PC], exits = at, true
			}
			expect(insertions[0].Bytecode)
		}
		if !exits {
			r.target[in.PC] = at
		}
		r.inst[in.PC] = at
		if len(slices.Collect(in.Targets())) == 0 {
			expect(in.Bytes())
			continue
		}
		branches = append(branches, [2]int{in.PC, at})
		moved, err := code.At(r.new.code.Bytecode, at)
		if err != nil {
			r.t.Fatalf("%s: %v", r.old.name, err)
		}
		at += moved.Size
	}
	end := len(r.old.code.Bytecode)
	r.inst[end], r.target[end] = at, at
	if r.patch.Handler != nil {
		expect(r.patch.Handler.Bytecode)
	}
	if at != len(r.new.code.Bytecode) || len(insertions) > 0 {
		r.errorf("code of %d bytes, want %d", len(r.new.code.Bytecode), at)
	}
	return branches
}

// checkBranch compares the branch or switch at oldPC with the new code at newPC.
func (r *relocation) checkBranch(oldPC, newPC int) {
	r.t.Helper()
	before, _ := code.At(r.old.code.Bytecode, oldPC)
	after, _ := code.At(r.new.code.Bytecode, newPC)
	var want []int
	for target := range before.Targets() {
		want = append(want, r.target[target])
	}
	if before.Op == code.Tableswitch || before.Op == code.Lookupswitch {
		if after.Op != before.Op || !slices.Equal(slices.Collect(after.Targets()), want) ||
			!bytes.Equal(switchKeys(after), switchKeys(before)) {
			r.errorf("%v at %d, now %v at %d, differ; targets %v", before.Op, oldPC, after.Op, newPC, want)
		}
		return
	}
	if target, _ := after.Branch(); after.Op != before.Op || target != want[0] {
		r.errorf("%v at %d leads to %d, want %d", before.Op, oldPC, target, want[0])
	}
}

// switchKeys returns the words of a switch that are not offsets. Its padding must be zero.
func switchKeys(in code.Instruction) []byte {
	b := bytes.Clone(in.Bytes())
	for place := range in.SwitchOffsets() {
		copy(b[place-in.PC:], "\x00\x00\x00\x00")
	}
	start := 4 - in.PC%4
	return append(bytes.TrimLeft(b[1:start], "\x00"), b[start:]...)
}

func u2(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }

func (r *relocation) checkExceptions() {
	r.t.Helper()
	var want []byte
	put := func(values ...int) {
		for _, v := range values {
			want = binary.BigEndian.AppendUint16(want, uint16(v))
		}
	}
	for e := r.old.code.ExceptionTable; len(e) > 0; e = e[8:] {
		put(r.target[u2(e, 0)], r.target[u2(e, 2)], r.target[u2(e, 4)], u2(e, 6))
	}
	if h := r.patch.Handler; h != nil {
		for _, span := range h.Ranges {
			put(r.target[span[0]], r.target[span[1]], r.target[len(r.old.code.Bytecode)], 0)
		}
	}
	if !bytes.Equal(want, r.new.code.ExceptionTable) {
		r.errorf("exception table % x, want % x", r.new.code.ExceptionTable, want)
	}
}

// start and last are the functions by which lines and variables are moved.
func (r *relocation) start(p int) int {
	if p == 0 {
		return 0
	}
	return r.target[p]
}

func (r *relocation) checkAttribute(old classfile.Attribute, info []byte) {
	r.t.Helper()
	want := bytes.Clone(old.Info)
	put := func(at, v int) { binary.BigEndian.PutUint16(want[at:], uint16(v)) }
	putRange := func(at int) {
		p, n := u2(old.Info, at), u2(old.Info, at+2)
		put(at, r.start(p))
		if n > 0 {
			put(at+2, r.target[p+n]-r.start(p))
		}
	}
	switch old.Name {
	case "LineNumberTable":
		for at := 2; at < len(want); at += 4 {
			put(at, r.start(u2(old.Info, at)))
		}
	case "LocalVariableTable", "LocalVariableTypeTable":
		for at := 2; at < len(want); at += 10 {
			putRange(at)
		}
	case "CharacterRangeTable":
		for at := 2; at < len(want); at += 14 {
			put(at, r.start(u2(old.Info, at)))
			put(at+2, r.target[u2(old.Info, at+2)+1]-1)
		}
	case "RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations":
		positions, ranges := annotationPositions(r.t, old.Info)
		for _, at := range positions {
			put(at, r.inst[u2(old.Info, at)])
		}
		for _, at := range ranges {
			putRange(at)
		}
	case "StackMapTable":
		r.checkFrames(old.Info, info)
		return
	default:
		r.t.Fatalf("%s: no check of %s", r.old.name, old.Name)
	}
	if !bytes.Equal(want, info) {
		r.errorf("%s (-want +got):\n%s", old.Name, cmp.Diff(want, info))
	}
}

// annotationPositions finds where a type annotations attribute (JVMS 4.7.20) has positions in the code, and where
// it has a position and a length.
func annotationPositions(t testing.TB, info []byte) (positions, ranges []int) {
	t.Helper()
	at := 2
	var value func()
	annotation := func() {
		pairs := u2(info, at+2)
		at += 4
		for range pairs {
			at += 2
			value()
		}
	}
	value = func() {
		tag := info[at]
		at++
		switch {
		case tag == '@':
			annotation()
		case tag == '[':
			n := u2(info, at)
			at += 2
			for range n {
				value()
			}
		case tag == 'e':
			at += 4
		case strings.ContainsRune("BCDFIJSZsc", rune(tag)):
			at += 2
		default:
			t.Fatalf("annotation value %c", tag)
		}
	}
	for range u2(info, 0) {
		kind := info[at]
		at++
		switch {
		case kind == 0x40 || kind == 0x41:
			n := u2(info, at)
			at += 2
			for range n {
				ranges = append(ranges, at)
				at += 6
			}
		case kind == 0x42:
			at += 2
		case kind >= 0x43 && kind <= 0x46:
			positions = append(positions, at)
			at += 2
		case kind >= 0x47 && kind <= 0x4B:
			positions = append(positions, at)
			at += 3
		default:
			t.Fatalf("target_type %#x", kind)
		}
		at += 1 + 2*int(info[at])
		annotation()
	}
	if at != len(info) {
		t.Fatalf("annotations end at %d of %d", at, len(info))
	}
	return positions, ranges
}

// plainFrame is a stack map frame with the types of all locals and stack entries.
type plainFrame struct {
	pc            int
	kind          byte // frame_type, 0 and 64 for the two short forms
	delta         int
	locals, stack []string
}

// plainFrames returns every frame of a StackMapTable as a plainFrame; position maps the offsets of Uninitialized
// items.
func plainFrames(t testing.TB, m sample, info []byte, position func(int) int) (frames []plainFrame) {
	t.Helper()
	at := 2
	items := func(n int) (all []string) {
		for range n {
			tag := info[at]
			at++
			switch {
			case tag == 7:
				name, err := m.class.ConstantPool().ClassName(uint16(u2(info, at)))
				if err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				all = append(all, "L"+name)
				at += 2
			case tag == 8:
				all = append(all, fmt.Sprint("new ", position(u2(info, at))))
				at += 2
			default:
				all = append(all, strings.Fields("top I F D J null this")[tag])
			}
		}
		return all
	}
	locals, pc := parameters(m), -1
	for range u2(info, 0) {
		f := plainFrame{kind: info[at]}
		at++
		if f.kind < 128 {
			f.delta, f.kind = int(f.kind&63), f.kind&64
		} else {
			f.delta = u2(info, at)
			at += 2
		}
		switch {
		case f.kind == 64 || f.kind == 247:
			f.stack = items(1)
		case f.kind >= 248 && f.kind < 251:
			locals = locals[:len(locals)-int(251-f.kind)]
		case f.kind > 251 && f.kind < 255:
			locals = slices.Concat(locals, items(int(f.kind)-251))
		case f.kind == 255:
			at += 2
			locals = items(u2(info, at-2))
			at += 2
			f.stack = items(u2(info, at-2))
		}
		pc += f.delta + 1
		f.pc, f.locals = pc, locals
		frames = append(frames, f)
	}
	if at != len(info) {
		t.Fatalf("%s: frames end at %d of %d", m.name, at, len(info))
	}
	return frames
}

// parameters returns the locals at a method's start.
func parameters(m sample) (locals []string) {
	switch {
	case m.method.AccessFlags&classfile.AccStatic != 0:
	case m.method.Name == "<init>":
		locals = append(locals, "this")
	default:
		locals = append(locals, "L"+m.class.Name())
	}
	d := m.method.Descriptor[1:strings.IndexByte(m.method.Descriptor, ')')]
	for d != "" {
		n := len(d) - len(strings.TrimLeft(d, "["))
		size := n + 1
		if d[n] == 'L' {
			size = strings.IndexByte(d, ';') + 1
		}
		switch {
		case n > 0:
			locals = append(locals, "L"+d[:size])
		case d[0] == 'L':
			locals = append(locals, d[:size-1])
		case strings.ContainsRune("BCSZ", rune(d[0])):
			locals = append(locals, "I")
		default:
			locals = append(locals, d[:1])
		}
		d = d[size:]
	}
	return locals
}

func (r *relocation) checkFrames(old, new []byte) {
	r.t.Helper()
	before := plainFrames(r.t, r.old, old, func(p int) int { return r.inst[p] })
	after := plainFrames(r.t, r.new, new, func(p int) int { return p })
	if r.patch.Handler != nil {
		last := after[len(after)-1]
		after = after[:len(after)-1]
		if last.pc != r.target[len(r.old.code.Bytecode)] || last.kind != 255 || len(last.locals) > 0 ||
			fmt.Sprint(last.stack) != "[Ljava/lang/Throwable]" {
			r.errorf("the handler's frame is %+v", last)
		}
	}
	for i, f := range before {
		if len(after) == 0 {
			r.errorf("no frame for the one at %d", f.pc)
			return
		}
		g := after[0]
		after = after[1:]
		if g.pc != r.target[f.pc] || !slices.Equal(g.locals, f.locals) || !slices.Equal(g.stack, f.stack) {
			r.errorf("frame at %d is %+v, was %+v", r.target[f.pc], g, f)
		}
		kind := f.kind
		if kind < 128 && g.delta >= 64 {
			kind = 251 - 4*(kind>>6)
		}
		if g.kind != kind {
			r.errorf("frame %d has the form %d, want %d", i, g.kind, kind)
		}
	}
	if len(after) > 0 {
		r.errorf("an added frame at %d", after[0].pc)
	}
}
