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
// order and separated by commas. After a colon follows the rule that matches if none of them does; without a colon
// there is no such rule. After a semicolon follows the detail of the reason library, for a method of a library that is
// traced only if a rule allows it or, with some details, if the program calls it.
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
	held []int32 // the numbers of the conditions that hold, ascending; see Filter.supertypes
}

// supertypeCondition is a condition on supertypes of a rule.
type supertypeCondition struct {
	rule    int32
	pattern *classPattern
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
// pending but those that [Pending.OnCall] reports.
func (f *Filter) NeedsSupertypes() bool { return len(f.supertypes) > 0 }

// Supertype returns the conditions that hold for a class because it has a supertype of the given internal name.
func (f *Filter) Supertype(name string) (s Supertypes) {
	name = f.original(name)
	for i := range f.supertypes {
		if f.supertypes[i].pattern.match(name) {
			s.held = append(s.held, int32(i))
		}
	}
	return s
}

// Resolve makes a pending decision final, given all supertypes of the method's class, and whether the program itself
// calls the method, if it is of a library. It returns a decision that is not pending unchanged. It fails if the
// decision was made by a filter with other rules.
func (f *Filter) Resolve(d Decision, s Supertypes, called bool) (Decision, error) {
	if d.Pending == "" {
		return d, nil
	}
	onRules, library, _ := strings.Cut(string(d.Pending), ";")
	var rules []int32
	last := int32(-1) // of the rules that match
	if onRules != "" {
		var err error
		if rules, last, err = f.parsePending(Pending(onRules)); err != nil {
			return Decision{}, fmt.Errorf("pending decision %q: %w; it was made with other rules", string(d.Pending), err)
		}
	}
	if i := slices.IndexFunc(rules, func(rule int32) bool { return f.conditionsHold(rule, s) }); i >= 0 {
		last = rules[i]
	}
	switch byRule := f.ruleDecision(last); {
	case !byRule.Traced():
		return byRule, nil
	case !d.Traced():
		return Decision{Reason: d.Reason, Detail: d.Detail}, nil
	case last >= 0 || library == "" || library == cannotStall && called:
		return byRule, nil
	default:
		return Decision{Reason: ReasonLibrary, Detail: library}, nil
	}
}

// OnCall reports whether a decision depends on whether the program itself calls the method.
func (p Pending) OnCall() bool { return strings.HasSuffix(string(p), ";"+cannotStall) }

// orLibrary returns the Pending of a method of a library, with the detail of why it is not traced.
func (p Pending) orLibrary(detail string) Pending { return p + Pending(";"+detail) }

// conditionsHold reports whether all conditions of a rule on supertypes hold.
func (f *Filter) conditionsHold(rule int32, s Supertypes) bool {
	held := 0
	for _, condition := range s.held {
		if f.supertypes[condition].rule == rule {
			held++
		}
	}
	return held == len(f.rules[rule].conditions.supertypes)
}

// newPending returns the Pending of rules, descending, and of the rule that matches if none of them does.
func newPending(rules []int32, otherwise int32) Pending {
	var text []byte
	for i, rule := range rules {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(rule), 10)
	}
	if otherwise >= 0 {
		text = strconv.AppendInt(append(text, ':'), int64(otherwise), 10)
	}
	return Pending(text)
}

// parsePending reads what newPending has written; otherwise is -1 if there is no such rule.
func (f *Filter) parsePending(p Pending) (rules []int32, otherwise int32, err error) {
	before := int32(len(f.rules))
	number := func(text string) int32 {
		rule, parseErr := strconv.ParseInt(text, 10, 32)
		if parseErr != nil || rule < 0 || int32(rule) >= before {
			err = fmt.Errorf("%q is not the number of a rule below %d", text, before)
			return -1
		}
		before = int32(rule)
		return before
	}
	list, last, hasOtherwise := strings.Cut(string(p), ":")
	for text := range strings.SplitSeq(list, ",") {
		rule := number(text)
		if err == nil && (f.rules[rule].conditions == nil || len(f.rules[rule].conditions.supertypes) == 0) {
			err = fmt.Errorf("rule %d has no condition on supertypes", rule)
		}
		if err != nil {
			return nil, -1, err
		}
		rules = append(rules, rule)
	}
	if !hasOtherwise {
		return rules, -1, nil
	}
	otherwise = number(last)
	return rules, otherwise, err
}

const objectName = "java/lang/Object"

// ownSupertypes returns the conditions that hold by the direct supertypes of a class. complete reports whether these
// are all of its supertypes.
func (f *Filter) ownSupertypes(c *classfile.Class) (s Supertypes, complete bool) {
	super := c.SuperName()
	s = f.Supertype(super)
	for _, name := range c.Interfaces() {
		s = s.Union(f.Supertype(name))
	}
	return s, len(c.Interfaces()) == 0 && (super == objectName || super == "")
}
