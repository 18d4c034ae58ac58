package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/classfile"
)

// Pending lists the rules that a decision depends on and that match only if the class has certain supertypes, which
// cannot be known from that class alone. It is text that can be stored, and is valid only for a filter with the same
// rules. The empty Pending means that the decision is final.
//
// Rules are given by their numbers in the ordered list, from 0. First come the rules that may match, in descending
// order and separated by commas; 9-3 stands for all of the rules 9 to 3 with conditions on supertypes. After a
// colon follows the rule that matches if none of them does; without a colon there is no such rule.
//
// Why this is enough: a condition on supertypes that the direct supertypes of a class meet stays met, however many
// other supertypes turn up. So when the class is read, each rule either matches, or cannot match, or is undecided
// because only a condition on supertypes is not met yet. The last rule that matches in the end is the greatest of the
// undecided rules that turns out to match, or if there is none, the greatest that matched at once. Undecided rules
// before the latter never matter and are left out. All conditions but those on supertypes have been evaluated then,
// so that [Filter.Resolve] needs neither the class nor the method.
type Pending string

// Supertypes is the set of those conditions on supertypes of a [Filter]'s rules that a class meets by all that it
// extends and implements, directly or not, but itself. The zero value is the set of a class that meets none. It is
// immutable.
type Supertypes struct {
	held []int32 // the numbers of the conditions that hold, ascending; see ruleIndex.supertypes
}

// Union returns the conditions that hold by s or by t.
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

// Len returns the number of conditions that hold. A Union that adds a condition has a greater Len.
func (s Supertypes) Len() int { return len(s.held) }

// NeedsSupertypes reports whether a rule has conditions on supertypes. If none has, no decision of the filter is
// pending.
func (f *Filter) NeedsSupertypes() bool { return len(f.index.withSupertypes) > 0 }

// Supertype returns the conditions that hold for a class because it has a supertype of the given internal name.
func (f *Filter) Supertype(name string) Supertypes {
	held := f.index.supertypes.appendMatches(nil, f.original(name))
	slices.Sort(held)
	return Supertypes{held}
}

// Resolve makes a pending decision final, given all supertypes of the method's class. It returns a decision that is
// not pending unchanged. It fails if the decision was made by a filter with other rules.
func (f *Filter) Resolve(d Decision, s Supertypes) (Decision, error) {
	if d.Pending == "" {
		return d, nil
	}
	p, err := f.index.parsePending(d.Pending)
	if err != nil {
		return Decision{}, fmt.Errorf("pending decision %q: %w; it was made with other rules", string(d.Pending), err)
	}
	rule := p.otherwise
	for i := len(s.held) - 1; i >= 0; i-- {
		if r := f.index.conditionRule[s.held[i]]; p.has(r) && f.index.conditionsHold(r, s) {
			rule = r
			break
		}
	}
	switch byRule := f.ruleDecision(rule); {
	case !byRule.Traced() || d.Traced():
		return byRule, nil
	default:
		return Decision{Reason: d.Reason, Detail: d.Detail}, nil
	}
}

// conditionsHold reports whether all conditions of a rule on supertypes hold.
func (x *ruleIndex) conditionsHold(rule int32, s Supertypes) bool {
	held := 0
	for _, condition := range s.held {
		if x.conditionRule[condition] == rule {
			held++
		}
	}
	return held == len(x.rules[rule].conditions.supertypes)
}

// parsedPending is a parsed [Pending].
type parsedPending struct {
	runs      [][2]int32 // first and last rule of each run; descending
	otherwise int32      // the rule that matches if no other does; -1 if there is none
}

func (w *parsedPending) has(rule int32) bool {
	return slices.ContainsFunc(w.runs, func(run [2]int32) bool { return rule <= run[0] && rule >= run[1] })
}

// pending returns the Pending of rules, ascending, all of which have conditions on supertypes, and of the rule that
// matches if none of them does. Neighbours among such rules are written as one run, so that the text is short even
// with many rules.
func (x *ruleIndex) pending(rules []int32, otherwise int32) Pending {
	if len(rules) == 0 {
		return ""
	}
	var text []byte
	for end := len(rules); end > 0; {
		// A run ends where a rule with conditions on supertypes is missing.
		start := end - 1
		at, _ := slices.BinarySearch(x.withSupertypes, rules[start])
		for start > 0 && at > 0 && rules[start-1] == x.withSupertypes[at-1] {
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

func (x *ruleIndex) parsePending(p Pending) (parsedPending, error) {
	list, otherwise, hasOtherwise := strings.Cut(string(p), ":")
	w, before := parsedPending{otherwise: -1}, int32(len(x.rules))
	for run := range strings.SplitSeq(list, ",") {
		from, to, isRun := strings.Cut(run, "-")
		if !isRun {
			to = from
		}
		var limits [2]int32
		for i, text := range []string{from, to} {
			rule, err := strconv.ParseInt(text, 10, 32)
			if err != nil || rule < 0 || int32(rule) > before || int32(rule) == before && i == 0 {
				return w, fmt.Errorf("%q is not the number of a rule below %d", text, before)
			}
			if _, asks := slices.BinarySearch(x.withSupertypes, int32(rule)); !asks {
				return w, fmt.Errorf("rule %d has no condition on supertypes", rule)
			}
			before = int32(rule)
			limits[i] = before
		}
		w.runs = append(w.runs, limits)
	}
	if hasOtherwise {
		rule, err := strconv.ParseInt(otherwise, 10, 32)
		if err != nil || rule < 0 || int32(rule) >= before {
			return w, fmt.Errorf("%q is not the number of a rule below %d", otherwise, before)
		}
		w.otherwise = int32(rule)
	}
	return w, nil
}

const objectName = "java/lang/Object"

// ownSupertypes returns the conditions that hold by the direct supertypes of a class. complete reports whether these
// are all of its supertypes.
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
