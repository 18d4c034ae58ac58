package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Pending names the rules that a decision waits for: those that match if the class has certain supertypes, which
// nobody can tell who sees that class alone. It is text that may be stored, and means something to a filter of the
// same rules only. The empty Pending waits for nothing.
//
// Rules have their numbers in the ordered list, from 0. Those that may match come first, the last first, separated
// by commas; 9-3 stands for the rules 9 to 3 as far as they ask for supertypes. Behind a colon stands the rule that
// matches if none of them does; without a colon there is none.
type Pending string

// Supertypes says which conditions of a [Filter]'s rules hold for a class by its supertypes, that is all that it
// extends and implements, directly or not, but itself. The zero Supertypes is that of a class of which nothing holds.
// It is immutable.
type Supertypes struct {
	held []int32 // numbers of conditions, ascending
}

// Union gives what holds by either.
func (s Supertypes) Union(t Supertypes) Supertypes {
	switch {
	case len(t.held) == 0:
		return s
	case len(s.held) == 0:
		return t
	}
	held := slices.Concat(s.held, t.held)
	slices.Sort(held)
	return Supertypes{slices.Compact(held)}
}

// Len is the number of conditions that hold. It grows with each Union that adds something.
func (s Supertypes) Len() int { return len(s.held) }

// AsksForSupertypes says whether decisions of the filter can be pending.
func (f *Filter) AsksForSupertypes() bool { return len(f.index.asking) > 0 }

// Supertype gives what holds for a class that has one supertype, of that internal name.
func (f *Filter) Supertype(name string) Supertypes {
	held := f.index.supertypes.appendMatches(nil, f.original(name))
	slices.Sort(held)
	return Supertypes{held}
}

// Resolve makes a pending decision final, given all supertypes of the method's class. One that is not pending stays
// as it is. It fails if the decision comes from a filter of other rules.
func (f *Filter) Resolve(d Decision, s Supertypes) (Decision, error) {
	if d.Pending == "" {
		return d, nil
	}
	p, err := f.index.parsePending(d.Pending)
	if err != nil {
		return Decision{}, fmt.Errorf("decision waits for rules %q: %w; it was made with other rules than these", string(d.Pending), err)
	}
	rule := p.otherwise
	for i := len(s.held) - 1; i >= 0; i-- {
		if r := f.index.askedBy[s.held[i]]; p.has(r) && f.index.heldBy(r, s) {
			rule = r
			break
		}
	}
	switch byRule := f.byRule(rule); {
	case !byRule.Traced() || d.Traced():
		return byRule, nil
	default:
		return Decision{Reason: d.Reason, Detail: d.Detail}, nil
	}
}

// heldBy says whether all conditions of a rule on supertypes hold.
func (x *ruleIndex) heldBy(rule int32, s Supertypes) bool {
	held := 0
	for _, condition := range s.held {
		if x.askedBy[condition] == rule {
			held++
		}
	}
	return held == len(x.rules[rule].conditions.supertypes)
}

// waiting is a parsed [Pending].
type waiting struct {
	runs      [][2]int32 // from greater to less, each as well
	otherwise int32      // -1 for none
}

func (w *waiting) has(rule int32) bool {
	return slices.ContainsFunc(w.runs, func(run [2]int32) bool { return rule <= run[0] && rule >= run[1] })
}

// pending writes down the rules, ascending, of which all ask for supertypes, and what holds otherwise.
func (x *ruleIndex) pending(rules []int32, otherwise int32) Pending {
	if len(rules) == 0 {
		return ""
	}
	var text []byte
	for end := len(rules); end > 0; {
		// A run goes on as long as no other rule that asks for supertypes is between two.
		start := end - 1
		at, _ := slices.BinarySearch(x.asking, rules[start])
		for start > 0 && at > 0 && rules[start-1] == x.asking[at-1] {
			start, at = start-1, at-1
		}
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(rules[end-1]), 10)
		if start < end-1 {
			text = strconv.AppendInt(append(text, '-'), int64(rules[start]), 10)
		}
		end = start
	}
	if otherwise >= 0 {
		text = strconv.AppendInt(append(text, ':'), int64(otherwise), 10)
	}
	return Pending(text)
}

func (x *ruleIndex) parsePending(p Pending) (waiting, error) {
	list, otherwise, hasOtherwise := strings.Cut(string(p), ":")
	w, before := waiting{otherwise: -1}, int32(len(x.rules))
	for run := range strings.SplitSeq(list, ",") {
		from, to, isRun := strings.Cut(run, "-")
		if !isRun {
			to = from
		}
		var limits [2]int32
		for i, text := range []string{from, to} {
			rule, err := strconv.ParseInt(text, 10, 32)
			if err != nil || rule < 0 || int32(rule) > before || int32(rule) == before && i == 0 {
				return w, fmt.Errorf("%q is no rule before number %d", text, before)
			}
			if _, asks := slices.BinarySearch(x.asking, int32(rule)); !asks {
				return w, fmt.Errorf("rule %d does not ask for supertypes", rule)
			}
			before = int32(rule)
			limits[i] = before
		}
		w.runs = append(w.runs, limits)
	}
	if hasOtherwise {
		rule, err := strconv.ParseInt(otherwise, 10, 32)
		if err != nil || rule < 0 || int32(rule) >= before {
			return w, fmt.Errorf("%q is no rule before number %d", otherwise, before)
		}
		w.otherwise = int32(rule)
	}
	return w, nil
}

const objectName = "java/lang/Object"

// ownSupertypes gives what holds by the supertypes that a class names itself, and whether there are no others.
func (f *Filter) ownSupertypes(c *classfile.Class) (s Supertypes, complete bool) {
	var held []int32
	held = f.index.supertypes.appendMatches(held, f.original(c.SuperName()))
	for _, name := range c.Interfaces() {
		held = f.index.supertypes.appendMatches(held, f.original(name))
	}
	slices.Sort(held)
	super := c.SuperName()
	return Supertypes{slices.Compact(held)}, len(c.Interfaces()) == 0 && (super == objectName || super == "")
}
