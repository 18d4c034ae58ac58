package export_test

import (
	"bytes"
	"io"
	"strconv"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// plainCall is a call as the small replay of this file has it: written for the tests, from FORMAT.md, with nothing of
// the replay that views are fed by.
type plainCall struct {
	Thread, Name     string
	Begin, End       int64 // nanoseconds since tick 0
	Depth            int
	parent           int // index, -1 for none
	open, unwoundOut bool
}

// plainThread is a thread that is replayed.
type plainThread struct {
	name  string
	calls []plainCall
	open  []int
	last  int64
}

// plain replays a recording whose records are all there: an exit ends the innermost call of its method and, at the
// same time, those within it; what is open at the end ends with the thread's last record. before is how many calls are
// in front of those that it returns.
func plain(t testing.TB, data []byte, names trace.Names, before int) []plainCall {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tick := int64(0)
	threads := map[uint32]*plainThread{}
	var order []uint32
	for {
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *trace.Meta:
			if tick, err = strconv.ParseInt(c.Values["tickNanos"], 10, 64); err != nil {
				t.Fatal(err)
			}
		case *trace.Threads:
			for _, th := range c.List {
				name := th.Name
				if !th.Main && th.ID > 0 {
					name += " #" + strconv.FormatInt(th.ID, 10)
				}
				threads[th.Index] = &plainThread{name: name}
				order = append(order, th.Index)
			}
		case *trace.Records:
			for _, rec := range c.List {
				threads[c.Thread].take(rec, tick, names)
			}
		}
	}
	var all []plainCall
	for _, index := range order {
		p := threads[index]
		for len(p.open) > 0 {
			p.calls[p.open[len(p.open)-1]].open = true
			p.pop()
		}
		offset := before + len(all)
		for _, c := range p.calls {
			if c.parent >= 0 {
				c.parent += offset
			}
			all = append(all, c)
		}
	}
	return all
}

func (p *plainThread) pop() {
	p.calls[p.open[len(p.open)-1]].End = p.last
	p.open = p.open[:len(p.open)-1]
}

func (p *plainThread) take(rec trace.Record, tick int64, names trace.Names) {
	p.last = max(p.last, rec.Ticks()*tick)
	name, _ := names.Name(trace.Method(rec.ID()))
	if rec.Entry() {
		parent := -1
		if len(p.open) > 0 {
			parent = p.open[len(p.open)-1]
		}
		p.calls = append(p.calls, plainCall{Thread: p.name, Name: name.String(), Begin: p.last, Depth: len(p.open),
			parent: parent})
		p.open = append(p.open, len(p.calls)-1)
		return
	}
	at := len(p.open) - 1
	for at >= 0 && p.calls[p.open[at]].Name != name.String() {
		at--
	}
	for at >= 0 && len(p.open) > at+1 {
		p.calls[p.open[len(p.open)-1]].unwoundOut = true
		p.pop()
	}
	if at >= 0 {
		p.pop()
	}
}

// method is a method on a thread; the thread is empty where a reader does not distinguish threads.
type method struct{ Thread, Name string }

// measure is what readers say of a method, in nanoseconds; -1 is what one does not say.
type measure struct {
	Calls, Self int64
	// Sum is of all its calls, Total of those that are not within another.
	Sum, Total int64
}

// measured adds up calls by method.
func measured(calls []plainCall) map[method]measure {
	all := map[method]measure{}
	for _, c := range calls {
		took := c.End - c.Begin
		key := method{c.Thread, c.Name}
		m := all[key]
		m.Calls++
		m.Self += took
		m.Sum += took
		within := false
		for up := c.parent; up >= 0 && !within; up = calls[up].parent {
			within = calls[up].Name == c.Name
		}
		if !within {
			m.Total += took
		}
		all[key] = m
		if c.parent >= 0 {
			key.Name = calls[c.parent].Name
			m := all[key]
			m.Self -= took
			all[key] = m
		}
	}
	return all
}

// together is all threads as one.
func together(all map[method]measure) map[method]measure {
	one := map[method]measure{}
	for key, m := range all {
		key.Thread = ""
		o := one[key]
		one[key] = measure{o.Calls + m.Calls, o.Self + m.Self, o.Sum + m.Sum, o.Total + m.Total}
	}
	return one
}
