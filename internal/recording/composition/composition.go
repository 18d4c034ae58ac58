// Package composition counts which composables of Compose a recording shows: how often each was executed, skipped and
// executed again, for how long, and what of its parameters had changed.
//
// Compose's hook reports executions alone, see [trace.Composition]. That a composable was called and skipped shows by
// a call of its method in which nothing was executed: it is known of composables that are traced.
package composition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/units"
	"github.com/tracegen/tracegen/trace"
)

// Composable is a composable with all its executions, or with those in a stall.
type Composable struct {
	// Name is its name in the source, with its package: "com.app.Feed", "com.app.Feed.<anonymous>" for a lambda in it.
	// File and Line are where it begins; empty and 0 if Compose's compiler does not say.
	Name, File string
	Line       int
	// Executed is how often it was executed. Again is how many of these were not the first in their place: at least, as an
	// execution with nothing but new parameters looks like the first. Itself is how many began with it, because a state
	// that it had read changed, rather than with its caller.
	Executed, Again, Itself uint64
	// Changed has, for each parameter, in how many of the Again it had changed.
	Changed []uint64
	// Total is how long it was executed, Own how long of that no other composable was. Longest is the longest execution.
	Total, Own, Longest time.Duration
}

// String returns the name, and the line of a lambda.
func (c *Composable) String() string {
	if c.Line > 0 && strings.HasSuffix(c.Name, anonymous) {
		return c.Name + " of line " + strconv.Itoa(c.Line)
	}
	return c.Name
}

// anonymous ends the name of a lambda.
const anonymous = ".<anonymous>"

// Times says in words how often it was executed, and whether for the first time.
func (c *Composable) Times() string {
	times := units.Count(c.Executed, "time")
	switch c.Again {
	case 0:
		return "composed " + times
	case c.Executed:
		return "recomposed " + times
	}
	return fmt.Sprintf("composed %s (at least %s of them again)", times, units.Thousands(c.Again))
}

// Compositions is what a recording shows of composables.
type Compositions struct {
	// List has the composables, that with the most own time first.
	List []Composable
	// Lost is how many executions the recorder has lost.
	Lost uint64
	// calls is how often the methods of composables were called, by name.
	calls map[string]uint64
}

// Skipped returns how often a composable was called and not executed; known is false if that is not known.
func (c *Compositions) Skipped(of *Composable) (n uint64, known bool) {
	executed := uint64(0)
	for i := range c.List {
		if c.List[i].Name == of.Name {
			executed += c.List[i].Executed
		}
	}
	calls := c.calls[of.Name]
	return calls - executed, c.Lost == 0 && calls >= executed
}

// Of returns a composable without executions, by the text of Compose's compiler: "com.app.Feed (Feed.kt:12)".
func Of(text string) Composable {
	c := Composable{Name: text}
	name, place, ok := strings.Cut(text, " (")
	place, closed := strings.CutSuffix(place, ")")
	colon := strings.LastIndexByte(place, ':')
	if !ok || !closed || colon < 0 {
		return c
	}
	if line, err := strconv.ParseUint(place[colon+1:], 10, 31); err == nil {
		c.Name, c.File, c.Line = name, place[:colon], int(line)
	}
	if pkg, lambda, ok := strings.Cut(c.Name, "ComposableSingletons$"); ok {
		// The class of a file's lambdas that capture nothing: the place says which one it is.
		file, _, _ := strings.Cut(lambda, ".")
		c.Name = pkg + file + anonymous
	}
	return c
}

// The states of a parameter in the dirty bits: three each, behind the lowest bit, which says that the composable was
// executed although no parameter had changed.
const (
	stateSame      = 1
	stateDifferent = 2

	stateBits       = 3
	parametersAWord = 10
)

// Add counts an execution, without its times.
func (c *Composable) Add(e *trace.Composition) {
	c.Executed++
	var changed []int
	itself, again := false, false
	for word, bits := range e.Dirty {
		if bits == -1 {
			continue // there is none
		}
		itself = itself || bits&1 != 0
		for i := range parametersAWord {
			switch bits >> (1 + stateBits*i) & 3 {
			case stateSame:
				again = true
			case stateDifferent:
				changed = append(changed, word*parametersAWord+i)
			}
		}
	}
	if itself {
		c.Itself++
	}
	if !itself && !again {
		return
	}
	c.Again++
	for _, i := range changed {
		if i >= len(c.Changed) {
			c.Changed = append(c.Changed, make([]uint64, i+1-len(c.Changed))...)
		}
		c.Changed[i]++
	}
}

// sum sums executions up by composable. They are of one thread, and in the order of their ends, so that those that are
// part of another one come before it.
func sum(list []trace.Composition, into map[string]*Composable) {
	type open struct {
		e     *trace.Composition
		inner int64 // how long others were executed in it
	}
	var around []open
	leave := func() {
		last := &around[len(around)-1]
		around = around[:len(around)-1]
		c := into[last.e.Composable]
		if c == nil {
			parsed := Of(last.e.Composable)
			c = &parsed
			into[last.e.Composable] = c
		}
		outer := slices.ContainsFunc(around, func(o open) bool { return o.e.Composable == last.e.Composable })
		c.Add(last.e)
		c.Own += time.Duration(last.e.Nanos - min(last.inner, last.e.Nanos))
		c.Longest = max(c.Longest, time.Duration(last.e.Nanos))
		if !outer { // it is not part of another execution of the composable
			c.Total += time.Duration(last.e.Nanos)
		}
	}
	// Backwards, so that what is around others comes before them.
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		for len(around) > 0 && e.Begin < around[len(around)-1].e.Begin {
			leave()
		}
		if n := len(around); n > 0 {
			around[n-1].inner += e.Nanos
		}
		around = append(around, open{e: e})
	}
	for len(around) > 0 {
		leave()
	}
}

// sorted returns composables, that with the most own time first.
func sorted(by map[string]*Composable) []Composable {
	list := make([]Composable, 0, len(by))
	for _, c := range by {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Composable) int {
		return cmp.Or(cmp.Compare(b.Own, a.Own), cmp.Compare(b.Executed, a.Executed), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Line, b.Line))
	})
	return list
}
