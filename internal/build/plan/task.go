package plan

import (
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/mapping"
)

// Task is what is done to one class: all that its new bytes depend on, besides the old ones and the options of
// inserting.
type Task struct {
	Request  inject.Request // what is inserted
	Requires bool           // it is a module-info that has to require the runtime's module
	Stripped bool           // calls of an earlier run are taken out first
	Foreign  bool           // it holds calls of the runtime that are not ours, and stay
	Dropped  bool           // it is left out
}

// Instruments reports whether anything is put into the class.
func (t *Task) Instruments() bool {
	return t.Requires || len(t.Request.Methods) > 0 || t.Request.Focus != inject.FocusNone || t.Request.Digest != "" ||
		t.Request.Continuation != 0
}

// Changes reports whether the class is written otherwise than it came.
func (t *Task) Changes() bool { return !t.Dropped && (t.Stripped || t.Instruments()) }

// Task implements [Decisions].
func (p *Plan) Task(class int, memory []inject.Traced) Task {
	c, own := p.facts[class], &p.classes[class]
	t := Task{
		Request:  inject.Request{Methods: memory, Focus: own.focus, Coroutines: p.coroutines},
		Requires: own.requires, Stripped: c.Stripped, Foreign: c.Foreign, Dropped: own.left != nil,
	}
	t.Request.Continuation = p.continuationID(class)
	if p.stamped(class) {
		t.Request.Digest = p.Mapping.Digest()
	}
	ids := p.IDs(class)
	for i := range c.Methods {
		if Traced(p.decision(class, i)) {
			t.Request.Methods = append(t.Request.Methods, inject.Traced{Method: int(c.Methods[i].Index), ID: ids[0]})
			ids = ids[1:]
		}
	}
	return t
}

// Trial returns all that might be done to a class, but for a focus hook, with IDs as long as any.
func Trial(c *Class, coroutines bool) Task {
	t := Task{Request: inject.Request{Coroutines: coroutines}, Stripped: c.Stripped, Foreign: c.Foreign}
	if c.Stamped {
		t.Request.Digest = "0123456789abcdef"
	}
	if c.Continued != nil {
		t.Request.Continuation = mapping.Capacity - uint32(len(c.Methods))
	}
	for i := range c.Methods {
		if Traced(c.Methods[i].Decision) {
			t.Request.Methods = append(t.Request.Methods, inject.Traced{Method: int(c.Methods[i].Index),
				ID: mapping.Capacity - uint32(i)})
		}
	}
	return t
}

// ByNames recognizes classes by their names, and those of their methods.
type ByNames []*Class

// CheckBytes implements [Identity]: the class is compared when it is parsed.
func (ByNames) CheckBytes(int, []byte) error { return nil }

// SameClass implements [Identity].
func (b ByNames) SameClass(class int, c *classfile.Class) bool {
	facts := b[class]
	if c.Name() != facts.Name {
		return false
	}
	for i := range facts.Methods {
		m := &facts.Methods[i]
		if int(m.Index) >= len(c.Methods()) || c.Methods()[m.Index].Name != m.Name ||
			c.Methods()[m.Index].Descriptor != m.Descriptor {
			return false
		}
	}
	return true
}

// Pack packs or unpacks the task: for slices, and for the keys of outputs in the cache.
func (t *Task) Pack(k *wire.Codec) {
	k.Flags(&t.Dropped, &t.Stripped, &t.Foreign, &t.Requires, &t.Request.Coroutines)
	k.Text(&t.Request.Digest)
	if d := t.Request.Digest; d != "" && (len(d) != 16 || strings.Trim(d, "0123456789abcdef") != "") {
		k.Fail()
	}
	wire.Number(k, &t.Request.Focus, uint64(inject.FocusAdd))
	wire.Number(k, &t.Request.Continuation, mapping.Capacity)
	next := 0
	wire.List(k, &t.Request.Methods, 2, func(m *inject.Traced) { wire.Ascending(k, &m.Method, &next, 1<<16) })
	for i := range t.Request.Methods { // together, as they cannot be compressed
		id := &t.Request.Methods[i].ID
		if wire.Number(k, id, mapping.Capacity); *id == 0 {
			k.Fail()
		}
	}
}
