package foreign

import (
	"slices"
	"strings"
)

// Wait is a thread that waits for a lock, and the thread that holds it.
type Wait struct {
	// Thread waits for Lock. Holder is nil if it is not known which thread holds it.
	Thread, Holder *Thread
	Lock           Lock
}

// Deadlocks returns the circles of threads that wait for each other. Each begins with its first thread in the order of
// the text, and they are in that order.
func (p *Process) Deadlocks() [][]Wait {
	holders := p.holders()
	const (
		unseen = iota
		open
		done
	)
	seen := map[*Thread]int{}
	var all [][]Wait
	for _, first := range p.Threads {
		var path []Wait
		t := first
		for t != nil && seen[t] == unseen {
			w, waits := p.wait(t, holders)
			seen[t] = open
			path = append(path, w)
			if !waits {
				t = nil
				break
			}
			t = w.Holder
		}
		if t != nil && seen[t] == open {
			from := slices.IndexFunc(path, func(w Wait) bool { return w.Thread == t })
			all = append(all, p.ordered(path[from:]))
		}
		for _, w := range path {
			seen[w.Thread] = done
		}
	}
	at := p.positions()
	slices.SortFunc(all, func(a, b []Wait) int { return at[a[0].Thread] - at[b[0].Thread] })
	return all
}

// ordered turns a circle so that its first thread in the order of the text is the first.
func (p *Process) ordered(circle []Wait) []Wait {
	at := p.positions()
	first := 0
	for k := range circle {
		if at[circle[k].Thread] < at[circle[first].Thread] {
			first = k
		}
	}
	return slices.Concat(circle[first:], circle[:first])
}

func (p *Process) positions() map[*Thread]int {
	at := make(map[*Thread]int, len(p.Threads))
	for k, t := range p.Threads {
		at[t] = k
	}
	return at
}

// Chain follows the locks from a thread. It is empty if the thread waits for none. It ends with a thread that waits for
// no lock, with a lock whose holder is not known, or with the first thread that is in the chain already.
func (p *Process) Chain(t *Thread) []Wait {
	holders := p.holders()
	var chain []Wait
	for t != nil && !slices.ContainsFunc(chain, func(w Wait) bool { return w.Thread == t }) {
		w, waits := p.wait(t, holders)
		if !waits {
			break
		}
		chain = append(chain, w)
		t = w.Holder
	}
	return chain
}

// holders has the thread that holds each lock, by the lock; nil if several seem to. It also has the threads by ID, the
// first of several, by name, nil if several have it, and those that initialize a class.
type holders struct {
	byLock, byID, byName, byInit map[string]*Thread
}

// key identifies a lock in a process: the numbers of some texts are hash codes, which locks of other classes may have.
func (l *Lock) key() string {
	if strings.HasPrefix(l.ID, "0x") {
		return l.ID
	}
	return l.Class + "@" + l.ID
}

func (p *Process) holders() holders {
	h := holders{map[string]*Thread{}, map[string]*Thread{}, map[string]*Thread{}, map[string]*Thread{}}
	only := func(m map[string]*Thread, key string, t *Thread) {
		if other, found := m[key]; found && other != t {
			t = nil
		}
		m[key] = t
	}
	for _, t := range p.Threads {
		if h.byID[t.ID] == nil {
			h.byID[t.ID] = t
		}
		only(h.byName, t.Name, t)
		for _, l := range t.Locked {
			only(h.byLock, l.key(), t)
		}
		for _, f := range t.Frames {
			if class, ok := strings.CutSuffix(FrameMethod(f), ".<clinit>"); ok {
				only(h.byInit, class, t)
			}
		}
	}
	return h
}

// wait returns what a thread waits for. The holder that the text names counts before what the stacks show.
func (p *Process) wait(t *Thread, h holders) (w Wait, waits bool) {
	w = Wait{Thread: t}
	if t.Waits == nil {
		return w, false
	}
	w.Lock = *t.Waits
	switch l := &w.Lock; {
	case l.by != nil:
		w.Holder = l.by
	case l.Init:
		w.Holder = h.byInit[l.Class]
	case l.HolderID != "":
		w.Holder = h.byID[l.HolderID]
	default:
		w.Holder = h.byLock[l.key()]
		if w.Holder == nil && l.Holder != "" {
			w.Holder = h.byName[l.Holder]
		}
	}
	if w.Holder == t {
		w.Holder = nil // a thread does not wait for itself: the text was taken while the lock changed its owner
	}
	return w, true
}
