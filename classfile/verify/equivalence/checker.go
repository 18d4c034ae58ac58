package equivalence

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
)

// Check compares a rewritten class with the original and with what was asked for. If it returns no findings, the
// rewritten class is the original with exactly the calls asked for, and [Strip] returns the original. Otherwise it
// returns all findings. Neither class need be valid beyond what [classfile.Parse] checks.
func Check(original, rewritten *classfile.Class, want Instrumentation) []verify.Finding {
	var c Checker
	return c.Check(original, rewritten, want)
}

// Checker checks many classes, one at a time, as [Check] does. It keeps its working memory from class to class, and
// with it the last two classes. The zero Checker is ready for use. Goroutines must not share one.
type Checker struct{ checker checker }

// Check does what the function [Check] does.
func (keeper *Checker) Check(original, rewritten *classfile.Class, want Instrumentation) []verify.Finding {
	keeper.checker.check(original, rewritten, want)
	return keeper.checker.findings
}

// checker compares one class with its original, method by method.
type checker struct {
	body
	original *classfile.Class
	want     Instrumentation
	own      block          // what block points to
	rebuilt  []byte         // the Code attribute of the current method, with the calls taken out
	before   classfile.Code // rebuilt, as codeOf reads it
	coverage []int32
	entries  []int
	// The ranges of the exact handler of the current method.
	gotRanges, wantRanges [][2]int
}

// check compares two classes.
func (r *checker) check(original, rewritten *classfile.Class, want Instrumentation) {
	r.class, r.pool, r.original, r.want = rewritten, rewritten.ConstantPool(), original, want
	r.member, r.findings, r.seekPosts = nil, nil, want.Posts
	if !r.checkBlock() || !r.checkStructure() {
		return
	}
	for i := range original.Methods() {
		r.number, r.member = i, &rewritten.Methods()[i]
		r.checkMethod(&original.Methods()[i], r.member, want.id(i))
	}
	r.checkUse()
}

// checkBlock checks that the pool is the original's, followed by one block of new constants or by nothing.
func (r *checker) checkBlock() bool {
	before, after := r.original.ConstantPool(), r.pool
	r.block = &r.own
	if after.Len() == before.Len() {
		// No constant was added: the block is empty.
		r.own.reset(after, after.Len())
	} else {
		found, why := r.own.find(after, r.want.RuntimeClass)
		if !found || r.own.start != before.Len() {
			if found {
				why = fmt.Sprintf("a block of new constants from %d on", r.own.start)
			} else if why == "" {
				why = "no new Class of the runtime"
			}
			r.report(-1, rulePool, fmt.Sprintf("a block of new constants from %d on", before.Len()), why)
			return false
		}
		r.checkConstants() // an index that led nowhere in the original must not lead to a new constant
	}
	stamped := uint16(0)
	if r.want.Digest != "" {
		stamped = r.checkStamp()
	}
	r.checkOldConstants(stamped)
	return true
}

// checkStamp checks that MappingInfo.digest() returns the wanted digest. It returns the index of the digest's Utf8.
func (r *checker) checkStamp() uint16 {
	index, digest, ok := digestOf(r.class)
	was, _, existed := digestOf(r.original)
	if !ok || !existed || index != was || digest != r.want.Digest {
		r.report(-1, ruleStamp, fmt.Sprintf("%s.%s() to return %s", stampedClass, stampedMethod, r.want.Digest),
			fmt.Sprintf("%q", digest))
	}
	return index
}

// checkOldConstants compares the original's constants, except for the Utf8 at index stamped, with the rewritten
// class's.
func (r *checker) checkOldConstants(stamped uint16) {
	before, after := r.original.ConstantPool(), r.pool
	n := before.Len()
	old, now := r.original.Bytes()[10:before.Offset(n)], r.class.Bytes()[10:after.Offset(n)]
	if bytes.Equal(old, now) {
		return
	}
	for i := 1; i < n; i++ {
		if i != int(stamped) && (before.Tag(uint16(i)) != after.Tag(uint16(i)) ||
			!bytes.Equal(before.Raw(uint16(i)), after.Raw(uint16(i)))) {
			r.report(-1, rulePool, fmt.Sprintf("constant %d as it was", i), "another")
		}
	}
}

// layout holds the offsets at which the parts of a class file begin.
type layout struct{ header, methods, tail int }

// layoutOf returns the offsets of access_flags, of the first method, and of the class's attributes_count.
func layoutOf(c *classfile.Class) (l layout) {
	l.header = c.ConstantPool().Offset(c.ConstantPool().Len())
	l.tail = len(c.Bytes()) - 2
	if attributes := c.Attributes(); len(attributes) > 0 {
		l.tail = attributes[0].Offset - 8
	}
	l.methods = l.tail
	if methods := c.Methods(); len(methods) > 0 {
		l.methods = methods[0].Offset
	}
	return l
}

// checkStructure compares everything except constants and methods, and checks the method that the focus hook adds. It
// reports whether the methods of the two classes correspond by index.
func (r *checker) checkStructure() bool {
	before, after := layoutOf(r.original), layoutOf(r.class)
	old, now := r.original.Bytes(), r.class.Bytes()
	same := func(what string, a, b []byte) {
		if !bytes.Equal(a, b) {
			r.report(-1, ruleClass, what+" as before", "a difference")
		}
	}
	same("magic and version", old[:8], now[:8])
	same("flags, names, interfaces and fields", old[before.header:before.methods-2], now[after.header:after.methods-2])
	same("the class's attributes", old[before.tail:], now[after.tail:])
	wanted := len(r.original.Methods())
	if r.want.FocusAdded {
		wanted++
	}
	if got := len(r.class.Methods()); got != wanted {
		r.report(-1, ruleClass, fmt.Sprintf("%d methods", wanted), fmt.Sprint(got))
		return false
	}
	if r.want.FocusAdded && !r.addedMethod() {
		r.report(-1, ruleFocus, "a last method onWindowFocusChanged(Z)V that calls the superclass's and at",
			"another method")
	}
	return true
}

// methodEnd returns the offset at which a method_info ends.
func methodEnd(m *classfile.Member) int {
	if len(m.Attributes) == 0 {
		return m.Offset + 8
	}
	last := &m.Attributes[len(m.Attributes)-1]
	return last.Offset + len(last.Info)
}

// checkMethod compares a method with its original. If their bytes are equal, it does not decode them.
func (r *checker) checkMethod(old, now *classfile.Member, id uint32) {
	hooked := r.want.FocusHooked && isHooked(now)
	if bytes.Equal(r.original.Bytes()[old.Offset:methodEnd(old)], r.class.Bytes()[now.Offset:methodEnd(now)]) {
		if id != 0 {
			r.report(-1, ruleEntry, fmt.Sprintf("calls with ID %d", id), "an unchanged method")
		}
		if hooked {
			r.report(-1, ruleFocus, "a call of at", "an unchanged method")
		}
		if r.lacksReports(old) {
			r.report(-1, ruleContinuation, "calls that report instances", "an unchanged method")
		}
		return
	}
	if id == 0 && !hooked && !r.lacksReports(old) {
		r.report(-1, ruleMethod, "the method unchanged", "a difference")
	}
	if !r.checkAttributes(old, now) {
		return
	}
	if _, err := r.class.ReadCode(now, &r.code); err != nil {
		r.report(-1, ruleMethod, "a well-formed Code attribute", err.Error())
		return
	}
	r.setMethod(r.number)
	known := len(r.findings)
	if !r.recognise() {
		return
	}
	r.rebuilt = r.rebuild(r.rebuilt[:0])
	r.checkIDs(id, hooked)
	was, _ := classfile.FindAttribute(old.Attributes, "Code")
	if bytes.Equal(r.rebuilt, was.Info) {
		r.before = codeOf(was.Info)
		r.checkExpectedCalls(old, &r.before, id)
	} else if len(r.findings) == known {
		r.reportDifference(old, was.Info)
	}
}

// codeOf reads the info of a Code attribute, without its attributes. The info must be well-formed, as what rebuild
// writes.
func codeOf(info []byte) classfile.Code {
	end := 8 + int(binary.BigEndian.Uint32(info[4:]))
	handlers := int(binary.BigEndian.Uint16(info[end:]))
	return classfile.Code{
		MaxStack:       binary.BigEndian.Uint16(info),
		MaxLocals:      binary.BigEndian.Uint16(info[2:]),
		Bytecode:       info[8:end],
		ExceptionTable: info[end+2 : end+2+8*handlers],
	}
}

// checkAttributes compares a method_info, except for the contents of its Code attribute. It reports whether all is
// equal and there is a Code attribute.
func (r *checker) checkAttributes(old, now *classfile.Member) bool {
	before, after := r.original.Bytes(), r.class.Bytes()
	ok := bytes.Equal(before[old.Offset:old.Offset+8], after[now.Offset:now.Offset+8])
	hasCode := false
	for k := range old.Attributes {
		if !ok {
			break
		}
		a, b := &old.Attributes[k], &now.Attributes[k]
		hasCode = hasCode || a.Name == "Code"
		ok = a.NameIndex == b.NameIndex && (a.Name == "Code" || bytes.Equal(a.Info, b.Info))
	}
	if !ok {
		r.report(-1, ruleMethod, "everything except the Code attribute as before", "a difference")
	} else if !hasCode {
		r.report(-1, ruleMethod, "a method without code unchanged", "a difference")
	}
	return ok && hasCode
}
