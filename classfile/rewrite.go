package classfile

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Edit describes the changes that [Class.Rewrite] makes to a class. The zero Edit changes nothing.
type Edit struct {
	// Constants are appended to the pool. The builder must have been made for this class's pool.
	Constants *PoolBuilder
	// KeepConstants, unless 0, cuts the pool to that constant_pool_count. It excludes Constants. The caller must
	// make sure that nothing in the copied bytes refers to a constant that is cut off.
	KeepConstants int
	// Codes replaces the info of Code attributes, by index into Methods, in ascending order.
	Codes []CodeEdit
	// KeepMethods, unless nil, drops all methods from that index on; Codes may only name others.
	KeepMethods *int
	// AddMethods are complete method_info structures (JVMS 4.6) that are appended, in order. They are not checked.
	AddMethods [][]byte
	// Attributes replaces the info of the class's own attributes, by index into [Class.Attributes].
	Attributes map[int][]byte
	// Utf8 replaces the bytes of Utf8 entries by others of the same length, by index.
	Utf8 map[uint16]string
}

// CodeEdit replaces the Code attribute of one method.
type CodeEdit struct {
	Method int    // index into [Class.Methods]
	Info   []byte // the attribute's new info (JVMS 4.7.3, from max_stack on)
}

// Rewrite returns the class file with the edit applied; everything else is copied byte by byte. It fails if a count
// or length would outgrow its field, or if the edit names something that does not exist.
func (c *Class) Rewrite(e Edit) ([]byte, error) { return c.AppendRewrite(nil, e) }

// AppendRewrite appends the result of [Class.Rewrite] to out, so that a caller can use the same memory for one
// class after another. out must not share memory with the class. If AppendRewrite fails, it returns nil, and the
// bytes between the length and the capacity of out are unspecified.
func (c *Class) AppendRewrite(out []byte, e Edit) ([]byte, error) {
	count, poolEnd, added, err := c.editPool(&e)
	if err != nil {
		return nil, err
	}
	start, size := len(out), c.sizeWith(&e, len(added))
	if size > cap(out)-start {
		out = append(make([]byte, 0, start+size), out...) // the exact size, since callers keep many results
	}
	out = append(out, c.data[:8]...)
	out = binary.BigEndian.AppendUint16(out, uint16(count))
	out = append(out, c.data[10:poolEnd]...)
	if err := c.replaceUtf8(out[start:], e.Utf8); err != nil {
		return nil, err
	}
	out = append(out, added...)
	out = append(out, c.data[len(c.pool.data):c.methodsAt]...)
	if out, err = c.rewriteMethods(out, &e); err != nil {
		return nil, err
	}
	return c.rewriteAttributes(out, e.Attributes)
}

// sizeWith returns the size of the class file after the edit, if the edit adds constants of that many bytes. The
// size is only an estimate for an edit that drops something or that is going to fail.
func (c *Class) sizeWith(e *Edit, constants int) int {
	size := len(c.data) + constants
	for _, code := range e.Codes {
		size += len(code.Info)
		if code.Method >= 0 && code.Method < len(c.methods) {
			old, _ := FindAttribute(c.methods[code.Method].Attributes, "Code")
			size -= len(old.Info)
		}
	}
	for _, m := range e.AddMethods {
		size += len(m)
	}
	for i, info := range e.Attributes {
		if size += len(info); i >= 0 && i < len(c.attributes) {
			size -= len(c.attributes[i].Info)
		}
	}
	return max(size, 0)
}

// sortedKeys returns the keys of a map in order. It allocates nothing for an empty map, which is the most common
// one.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

func (c *Class) rewriteAttributes(out []byte, replacements map[int][]byte) ([]byte, error) {
	copied := c.methodsEnd
	for _, i := range sortedKeys(replacements) {
		if i < 0 || i >= len(c.attributes) || int64(len(replacements[i])) > math.MaxUint32 {
			return nil, fmt.Errorf("class %s: edit of attribute %d of %d, of %d bytes",
				c.name, i, len(c.attributes), len(replacements[i]))
		}
		a := &c.attributes[i]
		out = append(out, c.data[copied:a.Offset-4]...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(replacements[i])))
		out = append(out, replacements[i]...)
		copied = a.Offset + len(a.Info)
	}
	return append(out, c.data[copied:]...), nil
}

// editPool returns the constant_pool_count of the edited class, the offset where the constants to copy end, and the
// bytes of the constants to add.
func (c *Class) editPool(e *Edit) (count, end int, added []byte, err error) {
	count, end = c.pool.Len(), len(c.pool.data)
	keep := e.KeepConstants
	switch {
	case e.Constants != nil && keep != 0:
		return 0, 0, nil, fmt.Errorf("class %s: cannot both add constants and drop some", c.name)
	case e.Constants != nil && e.Constants.base != &c.pool:
		return 0, 0, nil, fmt.Errorf("class %s: the constants to add were made for another class", c.name)
	case e.Constants != nil:
		if err := e.Constants.Err(); err != nil {
			return 0, 0, nil, fmt.Errorf("class %s: %w", c.name, err)
		}
		return e.Constants.Len(), end, e.Constants.added, nil
	case keep == 0 || keep == count:
		return count, end, nil, nil
	case keep < 0 || keep > count:
		return 0, 0, nil, fmt.Errorf("class %s: cannot keep %d of %d constants", c.name, keep, count)
	case c.pool.offsets[keep] == 0:
		return 0, 0, nil, fmt.Errorf("class %s: cannot cut the constant pool at %d, inside a constant", c.name, keep)
	}
	return keep, int(c.pool.offsets[keep]), nil, nil
}

// replaceUtf8 replaces Utf8 entries in out, which holds the class file up to the end of the constants that are
// kept.
func (c *Class) replaceUtf8(out []byte, replacements map[uint16]string) error {
	for _, i := range sortedKeys(replacements) {
		old, err := c.pool.Utf8(i)
		if err != nil {
			return fmt.Errorf("class %s: %w", c.name, err)
		}
		s, at := replacements[i], int(c.pool.offsets[i])+3
		if len(old) != len(s) {
			return fmt.Errorf("class %s: Utf8 at index %d has %d bytes, its replacement %d",
				c.name, i, len(old), len(s))
		}
		if at > len(out) {
			return fmt.Errorf("class %s: Utf8 at index %d is not kept, so that it cannot be replaced", c.name, i)
		}
		copy(out[at:], s)
	}
	return nil
}

func (c *Class) rewriteMethods(out []byte, e *Edit) ([]byte, error) {
	kept := len(c.methods)
	if e.KeepMethods != nil {
		kept = *e.KeepMethods
	}
	n := kept + len(e.AddMethods)
	if kept < 0 || kept > len(c.methods) || n > math.MaxUint16 {
		return nil, fmt.Errorf("class %s: cannot keep %d of %d methods and add %d (at most %d in all)",
			c.name, kept, len(c.methods), len(e.AddMethods), math.MaxUint16)
	}
	out = binary.BigEndian.AppendUint16(out, uint16(n))
	copied := c.methodsAt + 2
	last := -1
	for _, code := range e.Codes {
		if code.Method <= last || code.Method >= kept {
			return nil, fmt.Errorf("class %s: Code edit of method %d after that of %d: not in order, or not one of %d",
				c.name, code.Method, last, kept)
		}
		last = code.Method
		m := &c.methods[code.Method]
		a, ok := FindAttribute(m.Attributes, "Code")
		if !ok {
			return nil, fmt.Errorf("class %s: method %s%s has no Code to replace", c.name, m.Name, m.Descriptor)
		}
		if int64(len(code.Info)) > math.MaxUint32 {
			return nil, fmt.Errorf("class %s: method %s%s: Code of %d bytes",
				c.name, m.Name, m.Descriptor, len(code.Info))
		}
		out = append(out, c.data[copied:a.Offset-4]...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(code.Info)))
		out = append(out, code.Info...)
		copied = a.Offset + len(a.Info)
	}
	end := c.methodsEnd
	if kept < len(c.methods) {
		end = c.methods[kept].Offset
	}
	out = append(out, c.data[copied:end]...)
	for _, m := range e.AddMethods {
		out = append(out, m...)
	}
	return out, nil
}
