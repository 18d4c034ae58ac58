package pipeline

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/expect"
)

// changes says whether the class will be written otherwise than it came.
func (u *unit) changes() bool { return !u.entry.dropped && (u.stripped || u.instrumented()) }

// instrumented says whether anything is put into the class.
func (u *unit) instrumented() bool {
	if u.focus != inject.FocusNone || u.stamped || u.requires {
		return true
	}
	for i := range u.methods {
		if u.methods[i].traced() {
			return true
		}
	}
	return false
}

// request lists what the class gets.
func (u *unit) request() (request inject.Request) {
	request.Focus, request.Digest = u.focus, u.digest
	for i := range u.methods {
		m := &u.methods[i]
		if !m.traced() {
			continue
		}
		request.Methods = append(request.Methods, inject.Traced{Method: int(m.index), ID: m.id})
	}
	return request
}

// expected is [expect.Instrumentation], but for tests that let the equivalence check fail.
var expected = expect.Instrumentation

// parse reads the class of u once more, without the calls of an earlier run. The file may not have changed since
// the scan: what was decided is about the class that it was.
func (r *run) parse(u *unit) (*classfile.Class, error) {
	data, err := r.reread(u, nil)
	if err != nil {
		return nil, err
	}
	return r.parseAgain(u, new(classfile.Parser), data)
}

// parse is the same in memory that the worker's next class will have.
func (w *worker) parse(u *unit) (*classfile.Class, error) {
	data, err := w.reread(u, w.buffer)
	if err != nil {
		return nil, err
	}
	if u.data == nil {
		w.buffer = data
	}
	return w.parseAgain(u, &w.original, data)
}

func (r *run) reread(u *unit, buffer []byte) ([]byte, error) {
	if u.data != nil {
		return u.data, nil
	}
	if err := r.known.open(u.source.input); err != nil {
		return nil, err
	}
	return r.read(u.entry, buffer)
}

func (r *run) parseAgain(u *unit, parser *classfile.Parser, data []byte) (*classfile.Class, error) {
	if r.config.Slice != nil && u.sum != sumOf(data) {
		return nil, r.stale(r.config.Slice, u, "was another")
	}
	c, err := parser.Parse(data)
	if err == nil && !u.foreign {
		c, err = r.withoutCalls(c)
	}
	if r.config.Slice != nil && err == nil {
		return c, nil
	}
	same := err == nil && c.Name() == u.class
	for i := 0; same && i < len(u.methods); i++ {
		m := &u.methods[i]
		same = int(m.index) < len(c.Methods()) && c.Methods()[m.index].Name == m.name && c.Methods()[m.index].Descriptor == m.descriptor
	}
	if !same {
		return nil, fmt.Errorf("%s: changed while tracegen was running; run it again when nothing else writes it", u.source.where(u.entry))
	}
	return c, nil
}

// objection is why a class must stay as it was.
type objection struct {
	detail      string
	preExisting bool // the original has the fault
	// refusals, if there are any, are all there is to it: of methods that are not to be traced, though the others may.
	refusals []inject.Refusal
}

// rewrite gives the class as it is to be written, in memory that the worker's next class will have. With an objection, the
// result is the original.
func (w *worker) rewrite(u *unit) (data []byte, against *objection, err error) {
	c, err := w.parse(u)
	if err != nil {
		return nil, nil, err
	}
	w.advance(u.entry.size)
	if u.requires {
		return w.addRequires(u, c)
	}
	request := u.request()
	if len(request.Methods) == 0 && request.Focus == inject.FocusNone && request.Digest == "" {
		return c.Bytes(), nil, nil // all that changes is what an earlier run inserted
	}
	if data, against = w.apply(u, c, request); against != nil {
		return c.Bytes(), against, nil
	}
	return data, nil, nil
}

// apply carries out a request and lets the referees judge what came of it.
func (w *worker) apply(u *unit, c *classfile.Class, request inject.Request) ([]byte, *objection) {
	rewritten, err := w.injector.AppendRewrite(w.output[:0], c, request)
	if err != nil {
		against := &objection{detail: err.Error()}
		if u.untried {
			against.refusals = w.injector.Try(c, u.traced(), inject.FocusNone)
		}
		return nil, against
	}
	w.output = rewritten
	again, err := w.again.Parse(rewritten)
	if err != nil {
		return nil, &objection{detail: "the rewritten class does not parse: " + err.Error()}
	}
	if findings := w.prover.Check(c, again, expected(w.config.Inject, request)); len(findings) > 0 {
		return nil, &objection{detail: findings[0].String()}
	}
	if against := w.judge(u, c, again); against != nil {
		return nil, against
	}
	u.calls = w.injector.Cost().Calls
	return rewritten, nil
}

// judge asks the type verifier about a rewritten class. Only if it finds something does it look at the original:
// the code of that is still there, and what was wrong with it still is.
//
// What becomes of a class must not depend on the JDK that a machine happens to have. A fault that shows only beside the
// JDK's classes, and that the original has too, is noted: the rewritten class is as good as that was.
func (w *worker) judge(u *unit, original, rewritten *classfile.Class) *objection {
	if w.referee == nil {
		return nil
	}
	result := w.referee.check(u, rewritten)
	w.noteUnknown(u, result.Unknown)
	if len(result.Findings) == 0 {
		return nil
	}
	if found := w.referee.checkPortably(u, rewritten).Findings; len(found) > 0 {
		if before := w.referee.checkPortably(u, original).Findings; len(before) > 0 {
			return &objection{detail: "pre-existing: " + before[0].String(), preExisting: true}
		}
		return &objection{detail: found[0].String()}
	}
	before := w.referee.check(u, original).Findings
	if introduced := verify.Introduced(before, result.Findings); len(introduced) > 0 {
		return &objection{detail: introduced[0].String()}
	}
	w.noteTolerated(u, before[0].String())
	return nil
}

// noteTolerated remembers a fault that a class keeps.
func (r *run) noteTolerated(u *unit, fault string) {
	r.noted.Lock()
	defer r.noted.Unlock()
	r.noted.tolerated[u.source.where(u.entry)+": "+fault] = true
	r.known.noteTolerated(u, fault)
}

// noteUnknown remembers classes that were not found, without the class files that they are mentioned in.
func (r *run) noteUnknown(u *unit, names []string) {
	if len(names) == 0 {
		return
	}
	r.noted.Lock()
	defer r.noted.Unlock()
	for _, name := range names {
		if !r.noted.unknown[name] {
			r.noted.unknown[strings.Clone(name)] = true
		}
		r.known.noteUnknown(u, name)
	}
}

// addRequires lets a module read the runtime's.
func (w *worker) addRequires(u *unit, c *classfile.Class) (data []byte, against *objection, err error) {
	rewritten, err := inject.AddRequires(c, w.config.AddRequires)
	if err != nil {
		return c.Bytes(), &objection{detail: err.Error()}, nil
	}
	again, err := w.again.Parse(rewritten)
	if err != nil {
		return c.Bytes(), &objection{detail: "the rewritten module-info does not parse: " + err.Error()}, nil
	}
	if findings := equivalence.CheckModule(c, again, w.config.AddRequires); len(findings) > 0 {
		return c.Bytes(), &objection{detail: findings[0].String()}, nil
	}
	if against := w.judge(u, c, again); against != nil {
		return c.Bytes(), against, nil
	}
	return rewritten, nil, nil
}
