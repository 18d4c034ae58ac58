package pipeline

import (
	"fmt"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/mapping"
)

// matchMessages returns the function that reports whether a rule matches a method; nil if there are no rules.
func matchMessages(rules []filter.Rule) func(mapping.Identity) bool {
	if len(rules) == 0 {
		return nil
	}
	return func(m mapping.Identity) bool {
		for i := range rules {
			if rules[i].MatchMethod(m.Class, m.Name, m.Descriptor) {
				return true
			}
		}
		return false
	}
}

// messageWarnings returns a warning for each rule that matches no traced method.
func messageWarnings(rules []filter.Rule, of *mapping.Mapping) (warnings []string) {
	for i := range rules {
		matched := false
		for _, id := range of.Messages() {
			e, _ := of.ByID(id)
			matched = matched || rules[i].MatchMethod(e.Class, e.Name, e.Descriptor)
		}
		if !matched {
			warnings = append(warnings, fmt.Sprintf("%v: no traced method matches, so that no calls are messages by this "+
				"rule; tracegen explain --method CLASS#METHOD says why a method is not traced", rules[i]))
		}
	}
	return warnings
}

// setMessages notes by which rule the calls of traced methods are messages: the last one that matches.
func setMessages(classes []buildreport.ExplainedClass, rules []filter.Rule) {
	for i := range classes {
		for j := range classes[i].Methods {
			m := &classes[i].Methods[j]
			for k := range rules {
				if m.ID != 0 && rules[k].MatchMethod(m.Class, m.Name, m.Descriptor) {
					m.Message = rules[k].String()
				}
			}
		}
	}
}
