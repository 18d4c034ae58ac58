package equivalence

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// ErrForeignCalls is wrapped by the error of [Strip] for a class that calls methods of the runtime class that inserted
// code calls, in a way in which tracegen does not: the calls were written by hand or by another tool.
var ErrForeignCalls = errors.New("calls of the runtime that tracegen did not insert")

// The class that carries the mapping's digest, and its one method.
const (
	stampedClass      = "dev/tracegen/runtime/MappingInfo"
	stampedMethod     = "digest"
	stampedDescriptor = "()Ljava/lang/String;"
	unstamped         = "0000000000000000"
)

// Strip returns the class as it was before tracegen inserted calls of runtimeClass (in internal form), stamped it with
// the mapping's digest, or added a dependence to a module. removed is the number of calls, stamps and dependences that
// were removed; if it is 0, stripped is [classfile.Class.Bytes] of the class.
//
// Strip fails with an error that wraps [ErrForeignCalls] if the class has calls that are not tracegen's.
func Strip(c *classfile.Class, runtimeClass string) (stripped []byte, removed int, err error) {
	if index, digest, ok := digestOf(c); ok && digest != unstamped {
		stripped, err := c.Rewrite(classfile.Edit{Utf8: map[uint16]string{index: unstamped}})
		return stripped, 1, err
	}
	if c.AccessFlags()&classfile.AccModule != 0 {
		if stripped, ok, err := stripRequires(c); ok {
			return stripped, 1, err
		}
	}
	pool := c.ConstantPool()
	if !mayName(c, runtimeClass) {
		return c.Bytes(), 0, nil
	}
	if _, ok := pool.FindUtf8(runtimeClass); !ok {
		return c.Bytes(), 0, nil
	}
	var block block
	found, why := block.find(pool, runtimeClass)
	if found {
		s := stripper{body: body{class: c, pool: pool, block: &block}}
		edit := s.edit()
		if len(s.findings) == 0 && s.removed > 0 {
			if stripped, err = c.Rewrite(edit); err != nil {
				return nil, 0, err
			}
			// If constants of the block name members or attributes, it was no block of tracegen's.
			if _, err = classfile.Parse(stripped); err == nil {
				return stripped, s.removed, nil
			}
			why = fmt.Sprintf("%s: without its last constants the class is malformed: %v", c.Name(), err)
		} else if len(s.findings) > 0 {
			why = s.findings[0].String()
		}
	}
	// Any class that names the runtime class may have constants that look like a block. It is an error only if it also
	// has calls.
	call, calls := findCall(c, runtimeClass)
	if !calls {
		return c.Bytes(), 0, nil
	}
	if why == "" {
		why = call
	}
	return nil, 0, fmt.Errorf("%w: %s", ErrForeignCalls, why)
}

// mayName reports whether a constant of the class may be that name: whether the bytes of the pool contain its last
// part. Few classes have it, and it begins with an upper-case letter, which are rare, so that most bytes are only
// compared with that one letter.
func mayName(c *classfile.Class, name string) bool {
	pool := c.ConstantPool()
	last := name[strings.LastIndexByte(name, '/')+1:]
	return bytes.Contains(c.Bytes()[:pool.Offset(pool.Len())], []byte(last))
}

// digestOf returns the string that MappingInfo.digest() returns, and the index of its Utf8. ok is false if c is not
// that class or the method is not as it was compiled: one ldc and one areturn.
func digestOf(c *classfile.Class) (index uint16, digest string, ok bool) {
	if c.Name() != stampedClass {
		return 0, "", false
	}
	for i := range c.Methods() {
		m := &c.Methods()[i]
		if m.Name != stampedMethod || m.Descriptor != stampedDescriptor {
			continue
		}
		body, hasCode, err := c.Code(m)
		if err != nil || !hasCode {
			return 0, "", false
		}
		in, err := code.At(body.Bytecode, 0)
		if err != nil || in.Op != code.Ldc && in.Op != code.LdcW ||
			len(body.Bytecode) != in.Size+1 || code.Op(body.Bytecode[in.Size]) != code.Areturn {
			return 0, "", false
		}
		digest, err = c.ConstantPool().NamedBy(in.Constant(), classfile.TagString)
		if err != nil || !isDigest(digest) {
			return 0, "", false
		}
		return binary.BigEndian.Uint16(c.ConstantPool().Raw(in.Constant())), digest, true
	}
	return 0, "", false
}

func isDigest(s string) bool {
	return len(s) == len(unstamped) && strings.Trim(s, "0123456789abcdef") == ""
}

// findCall returns a description of the first instruction that calls i, o, at or posted of the runtime class.
func findCall(c *classfile.Class, runtimeClass string) (call string, found bool) {
	pool := c.ConstantPool()
	called := make(map[uint16]string)
	for i := 1; i < pool.Len(); i++ {
		if tag := pool.Tag(uint16(i)); tag != classfile.TagMethodref && tag != classfile.TagInterfaceMethodref {
			continue
		}
		if ref, err := pool.Ref(uint16(i)); err == nil && ref.Class == runtimeClass && isReport(ref) {
			called[uint16(i)] = ref.Name + ref.Descriptor
		}
	}
	if len(called) == 0 {
		return "", false
	}
	for i := range c.Methods() {
		m := &c.Methods()[i]
		body, ok, err := c.Code(m)
		if err != nil || !ok {
			continue
		}
		for in, err := range code.Instructions(body.Bytecode) {
			if err != nil {
				break
			}
			if name, ok := called[in.Constant()]; ok {
				return fmt.Sprintf("%s#%s%s@%d: a call of %s", c.Name(), m.Name, m.Descriptor, in.PC, name), true
			}
		}
	}
	return "", false
}

// isReport reports whether ref is a method that inserted code calls.
func isReport(ref classfile.Ref) bool {
	if ref.Name == focusName {
		return ref.Descriptor == focusDescriptor
	}
	if ref.Name == postName {
		return ref.Descriptor == postObjectDescriptor || ref.Descriptor == postWhatDescriptor
	}
	if ref.Descriptor == resultDescriptor {
		return ref.Name == exitName || slices.Contains(reportNames(), ref.Name)
	}
	return (ref.Name == entryName || ref.Name == exitName) && ref.Descriptor == callDescriptor
}

// stripper makes the edit that removes all inserted code from a class.
type stripper struct {
	body
	removed   int
	instances int32 // the ID of the class's continuations, 0 until it is known
}

func (s *stripper) edit() classfile.Edit {
	edit := classfile.Edit{KeepConstants: s.block.start}
	s.checkConstants()
	methods := s.class.Methods()
	if s.addedMethod() {
		methods = methods[:len(methods)-1]
		kept := len(methods)
		edit.KeepMethods = &kept
		s.removed++
	}
	for i := range methods {
		if ok, err := s.class.ReadCode(&methods[i], &s.code); err != nil || !ok {
			continue // malformed: the injector inserts nothing into such a method
		}
		s.setMethod(i)
		if !s.mentionsBlock(&s.code) {
			for in, err := range code.Instructions(s.code.Bytecode) {
				if err == nil && scanned[in.Op]&hasConstant != 0 {
					s.checkConstant(in.Op, in.PC)
				}
			}
			continue
		}
		if !s.recognise() || len(s.calls) == 0 {
			continue
		}
		info := s.rebuild(nil)
		s.checkPairs()
		s.removed += len(s.calls)
		edit.Codes = append(edit.Codes, classfile.CodeEdit{Method: i, Info: info})
	}
	s.checkUse()
	return edit
}

// checkConstants reports constants before the block that refer into the block. Such a block is not tracegen's, because
// the original's constants do not change.
func (b *body) checkConstants() {
	if !referPast(b.pool, b.class.Bytes(), b.block.start) {
		return
	}
	for i := 1; i < b.block.start; i++ {
		if tag := b.pool.Tag(uint16(i)); tag == 0 || tag == classfile.TagUtf8 {
			continue
		}
		to := referencesOf(b.class.Bytes()[b.pool.Offset(i):])
		for _, to := range [...]uint32{to >> 16, to & 0xFFFF} {
			if b.block.has(uint16(to)) {
				b.report(-1, rulePool, fmt.Sprintf("no earlier constant to refer to constants from %d on", b.block.start),
					fmt.Sprintf("a reference from constant %d", i))
			}
		}
	}
}

// referPast reports whether any constant before index limit refers to one from limit on. data is the class file.
func referPast(pool *classfile.ConstantPool, data []byte, limit int) bool {
	first, second := uint32(0), uint32(0)
	for i := range limit {
		if tag := pool.Tag(uint16(i)); tag == classfile.TagUtf8 || tag == 0 {
			continue
		}
		to := referencesOf(data[pool.Offset(i):])
		first, second = max(first, to), max(second, to&0xFFFF)
	}
	return int(first>>16) >= limit || int(second) >= limit
}

// referencesOf returns the indexes of the constants to which a constant refers, the first in the upper half; 0 for
// none. The constant is the one at the start of data, and no Utf8; four bytes follow its tag, some of which may be
// those behind the pool.
func referencesOf(data []byte) uint32 {
	tag, indexes := classfile.Tag(data[0]), binary.BigEndian.Uint32(data[1:])
	if tag == classfile.TagMethodHandle {
		indexes <<= 8 // the index follows the kind
	}
	return indexes & poolIndexes[tag]
}

// poolIndexes says, for each kind of constant (JVMS 4.4), which of the four bytes that follow the tag are indexes of
// other constants. In a MethodHandle, they are those that follow the kind.
var poolIndexes = func() (masks [256]uint32) {
	const first, second = 0xFFFF0000, 0xFFFF
	for _, tag := range []classfile.Tag{classfile.TagClass, classfile.TagString, classfile.TagMethodType,
		classfile.TagModule, classfile.TagPackage, classfile.TagMethodHandle} {
		masks[tag] = first
	}
	for _, tag := range []classfile.Tag{classfile.TagFieldref, classfile.TagMethodref,
		classfile.TagInterfaceMethodref, classfile.TagNameAndType} {
		masks[tag] = first | second
	}
	masks[classfile.TagDynamic], masks[classfile.TagInvokeDynamic] = second, second
	return masks
}()

// mentionsBlock reports whether the code may call a method of the block, that is, whether it contains the bytes of such
// an instruction anywhere. It is a quick test before the code is decoded.
func (b *body) mentionsBlock(c *classfile.Code) bool {
	rest := c.Bytecode
	for at := 0; at+3 <= len(rest); at++ {
		if code.Op(rest[at]) == code.Invokestatic && b.block.has(binary.BigEndian.Uint16(rest[at+1:])) {
			return true
		}
	}
	return false
}

// checkPairs checks that the calls of one method belong together: all have the same ID, or that of the class's
// continuations, and there is no exit call and no probe without an entry call. A probe may stand in front of the entry
// call, in the arguments of super().
func (b *stripper) checkPairs() {
	entered := slices.ContainsFunc(b.calls, func(c call) bool { return c.kind == callEntry })
	if !entered && slices.ContainsFunc(b.calls, func(c call) bool { return c.kind == callPost }) {
		b.report(-1, ruleEntry, "an entry call in a method with probes", "none")
	}
	entered = false
	var id int32
	for _, c := range b.calls {
		switch c.kind {
		case callFocus:
			continue
		case callInstance:
			if b.instances == 0 {
				b.instances = c.id
			}
			if c.id != b.instances {
				b.report(c.start, ruleID, fmt.Sprintf("the ID %d of other continuations", b.instances), fmt.Sprint(c.id))
			}
			continue
		}
		if id == 0 {
			id = c.id
		}
		if c.id != id {
			b.report(c.start, ruleID, fmt.Sprintf("the method's ID %d", id), fmt.Sprint(c.id))
		}
		if c.kind == callEntry {
			entered = true
		} else if !entered && c.kind != callPost {
			b.report(c.start, ruleEntry, "an entry before the first exit", "none")
			entered = true
		}
	}
}

// addedMethod reports whether the last method of the class is the onWindowFocusChanged that the focus hook adds. If so,
// it marks the constants that the method uses.
func (b *body) addedMethod() bool {
	methods := b.class.Methods()
	if b.block.hook == 0 || b.block.focus == 0 || len(methods) == 0 {
		return false
	}
	last := &methods[len(methods)-1]
	if last.AccessFlags != classfile.AccPublic || last.Name != hookedName || last.Descriptor != hookedDescriptor ||
		len(last.Attributes) != 1 {
		return false
	}
	super, _ := b.pool.Ref(b.block.hook)
	c, ok, err := b.class.Code(last)
	if err != nil || !ok || super.Class != b.class.SuperName() {
		return false
	}
	u2 := func(i uint16) string { return string([]byte{byte(i >> 8), byte(i)}) }
	want := string([]byte{byte(code.Aload0), byte(code.Iload1), byte(code.Invokespecial)}) + u2(b.block.hook) +
		string([]byte{byte(code.Aload0), byte(code.Iload1), byte(code.Invokestatic)}) + u2(b.block.focus) +
		string([]byte{byte(code.Return)})
	if string(c.Bytecode) != want || c.MaxStack != 2 || c.MaxLocals != 2 ||
		len(c.ExceptionTable)+len(c.Attributes) > 0 {
		return false
	}
	header := b.class.Bytes()[last.Offset:]
	b.block.use(binary.BigEndian.Uint16(header[2:]))
	b.block.use(binary.BigEndian.Uint16(header[4:]))
	b.block.use(last.Attributes[0].NameIndex)
	b.block.use(b.block.hook)
	b.block.use(b.block.focus)
	return true
}
