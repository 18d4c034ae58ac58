package pipeline

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/inject"
)

// changes says whether the class will be written otherwise than it came.
func (u *unit) changes() bool {
	if u.entry.dropped {
		return false
	}
	if u.focus != inject.FocusNone || u.stamped || u.stripped || u.requires {
		return true
	}
	for i := range u.methods {
		if u.methods[i].decision.Traced() {
			return true
		}
	}
	return false
}

// request lists what the class gets, and the same as the referee wants it told: IDs by method index.
func (r *run) request(u *unit) (request inject.Request, ids []uint32) {
	request.Focus = u.focus
	if u.stamped {
		request.Digest = r.mapping.Digest()
	}
	for i := range u.methods {
		m := &u.methods[i]
		if !m.decision.Traced() {
			continue
		}
		id, ok := r.mapping.ByMethod(m.identity)
		if !ok {
			continue // cannot be: the mapping was made from the same list. The referee would miss it.
		}
		request.Methods = append(request.Methods, inject.Traced{Method: m.index, ID: id})
		for len(ids) <= m.index {
			ids = append(ids, 0)
		}
		ids[m.index] = id
	}
	return request, ids
}

// refereeExits and refereeEntries translate the options of package inject, which package verify does not see.
var (
	refereeExits = map[inject.ExitMode]verify.Exits{
		inject.ExitsNormal: verify.ExitsNormal, inject.ExitsThrows: verify.ExitsThrows, inject.ExitsExact: verify.ExitsExact,
	}
	refereeEntries = map[inject.ConstructorEntry]verify.ConstructorEntry{
		inject.EntryAtStart: verify.EntryStart, inject.EntryAfterSuper: verify.EntryAfterSuper,
	}
	refereeFocus = map[inject.Focus]verify.Focus{
		inject.FocusNone: verify.FocusNone, inject.FocusHook: verify.FocusHook, inject.FocusAdd: verify.FocusAdd,
	}
)

// rewrite gives the class as it is to be written. objection, unless empty, says why the class must stay as it
// was; the result is then the original.
func (w *worker) rewrite(u *unit) (data []byte, objection string, err error) {
	if data, err = w.read(u.entry, nil); err != nil {
		return nil, "", err
	}
	w.advance(int64(len(data)))
	c, err := classfile.Parse(data)
	if err != nil {
		return nil, "", fmt.Errorf("%s: changed while tracegen was running: %w", u.source.where(u.entry), err)
	}
	if u.stripped {
		if c, err = w.original(u, c); err != nil {
			return nil, "", err
		}
	}
	if u.requires {
		return w.addRequires(c)
	}
	request, ids := w.request(u)
	rewritten, err := w.injector.Rewrite(c, request)
	if err != nil {
		return c.Bytes(), err.Error(), nil
	}
	again, err := classfile.Parse(rewritten)
	if err != nil {
		return c.Bytes(), "the rewritten class does not parse: " + err.Error(), nil
	}
	findings := verify.Equivalent(c, again, verify.Instrumentation{
		RuntimeClass:     w.config.Inject.RuntimeClass,
		Exits:            refereeExits[w.config.Inject.Exits],
		ConstructorEntry: refereeEntries[w.config.Inject.ConstructorEntry],
		IDs:              ids,
		Focus:            refereeFocus[request.Focus],
		Digest:           request.Digest,
	})
	if len(findings) > 0 {
		return c.Bytes(), findings[0].String(), nil
	}
	return rewritten, "", nil
}

// addRequires lets a module read the runtime's.
func (w *worker) addRequires(c *classfile.Class) (data []byte, objection string, err error) {
	rewritten, err := inject.AddRequires(c, w.config.AddRequires)
	if err != nil {
		return c.Bytes(), err.Error(), nil
	}
	again, err := classfile.Parse(rewritten)
	if err != nil {
		return c.Bytes(), "the rewritten module-info does not parse: " + err.Error(), nil
	}
	if findings := verify.EquivalentModule(c, again, w.config.AddRequires); len(findings) > 0 {
		return c.Bytes(), findings[0].String(), nil
	}
	return rewritten, "", nil
}
