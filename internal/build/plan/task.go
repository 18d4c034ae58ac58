package plan

import (
	"encoding/hex"

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
	return t.Requires || len(t.Request.Methods) > 0 || t.Request.Focus != inject.FocusNone || t.Request.Digest != ""
}

// Changes reports whether the class is written otherwise than it came.
func (t *Task) Changes() bool { return !t.Dropped && (t.Stripped || t.Instruments()) }

// Task implements [Decisions].
func (p *Plan) Task(class int, memory []inject.Traced) Task {
	c, own := p.facts[class], &p.classes[class]
	t := Task{
		Request:  inject.Request{Methods: memory, Focus: own.focus},
		Requires: own.requires, Stripped: c.Stripped, Foreign: c.Foreign, Dropped: own.left != nil,
	}
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
func Trial(c *Class) Task {
	t := Task{Stripped: c.Stripped, Foreign: c.Foreign}
	if c.Stamped {
		t.Request.Digest = "0123456789abcdef"
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

const digestSize = 8

// Pack writes the task: for slices, and for the keys of outputs in the cache.
func (t *Task) Pack(k *wire.Packer) {
	k.Flags(t.Dropped, t.Stripped, t.Foreign, t.Requires, t.Request.Digest != "",
		t.Request.Focus != inject.FocusNone)
	if t.Request.Digest != "" {
		digest, err := hex.DecodeString(t.Request.Digest)
		if err != nil || len(digest) != digestSize {
			digest = make([]byte, digestSize) // cannot happen: package mapping makes digests of this size
		}
		k.Raw(digest...)
	}
	if t.Request.Focus != inject.FocusNone {
		k.Int(int(t.Request.Focus))
	}
	k.Int(len(t.Request.Methods))
	next := 0
	for _, m := range t.Request.Methods {
		k.Int(m.Method - next)
		next = m.Method + 1
	}
	for _, m := range t.Request.Methods {
		k.Int(int(m.ID))
	}
}

// UnpackTask reads what [Task.Pack] has written.
func UnpackTask(u *wire.Unpacker) Task {
	var t Task
	var stamped, hooked bool
	u.Flags(&t.Dropped, &t.Stripped, &t.Foreign, &t.Requires, &stamped, &hooked)
	if stamped {
		t.Request.Digest = hex.EncodeToString(u.Raw(digestSize))
	}
	if hooked {
		if t.Request.Focus = inject.Focus(u.Below(int(inject.FocusAdd) + 1)); t.Request.Focus == inject.FocusNone {
			u.Fail()
		}
	}
	n := u.Count(2)
	if n == 0 {
		return t
	}
	t.Request.Methods = make([]inject.Traced, n)
	next := 0
	for i := range t.Request.Methods {
		t.Request.Methods[i].Method = int(u.IndexFrom(next))
		next = t.Request.Methods[i].Method + 1
	}
	for i := range t.Request.Methods {
		id := uint32(u.Below(mapping.Capacity + 1))
		if id == 0 {
			u.Fail()
		}
		t.Request.Methods[i].ID = id
	}
	return t
}
