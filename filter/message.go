package filter

import (
	"errors"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// ParseMessage returns the rule that makes the calls of methods messages, as a request is on a thread of a pool. The
// pattern names a method as in a rule, CLASS#METHOD. Such a rule does not decide whether a method is traced. at is
// the place where the rule was written; an error begins with it, unless at is the zero Position.
func ParseMessage(pattern string, at Position) (Rule, error) {
	r, err := parseRule(false, pattern, "message "+pattern, at)
	if err == nil && r.pattern.method == nil {
		err = fmt.Errorf("%v: message %s: name a method: CLASS#METHOD", at, pattern)
	}
	if err != nil {
		return Rule{}, err
	}
	r.message = true
	return r, nil
}

// MessageRules returns those rules that [ParseMessage] made.
func MessageRules(rules []Rule) (messages []Rule) {
	for _, r := range rules {
		if r.message {
			messages = append(messages, r)
		}
	}
	return messages
}

// MatchMethod reports whether the pattern of a rule without conditions matches a method, given in internal form. A
// method without a descriptor, as in mappings that Matrix wrote, matches a pattern with parameters never.
func (r *Rule) MatchMethod(class, name, descriptor string) bool {
	p := &r.pattern
	return p.class.match(class) && (p.method == nil || p.method.match(name, descriptor))
}

// decisive returns the rules that decide whether methods are traced.
func decisive(rules []Rule) []Rule {
	if !slices.ContainsFunc(rules, func(r Rule) bool { return r.message }) {
		return rules
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.message })
}

var errMessageConditions = errors.New("message: conditions are not supported; give a pattern, CLASS#METHOD")

// messageRule reads the value of the key message.
func (r *configReader) messageRule(n *yaml.Node) (Rule, bool) {
	if n.Kind == yaml.MappingNode {
		r.errorf(n, "%w", errMessageConditions)
		return Rule{}, false
	}
	text, ok := r.scalar("message", n)
	if !ok {
		return Rule{}, false
	}
	rule, err := ParseMessage(text, r.at(n))
	if err != nil {
		r.errs = append(r.errs, lineError{n.Line, err})
	}
	return rule, err == nil
}
