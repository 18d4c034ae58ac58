package filter

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// conditionKey is a key of a rule with conditions. read parses the key's value into the rule.
type conditionKey struct {
	name string
	read func(*Rule, string) error
}

// conditionKeys returns all of them. The package comment says what they mean.
func conditionKeys() []conditionKey {
	keys := []conditionKey{
		{"class", func(r *Rule, s string) (err error) {
			r.pattern.class, err = parseClassPattern(s, true)
			return err
		}},
		{"method", func(r *Rule, s string) (err error) {
			r.pattern.method, err = parseMethodPattern(s)
			return err
		}},
		{"annotation", func(r *Rule, s string) error {
			if name, at := strings.CutPrefix(s, "@"); at {
				return fmt.Errorf("the @ is not part of the type's name: write %q", name)
			}
			p, err := parseClassPattern(s, false)
			r.conditions.annotation = &p
			return err
		}},
		{"extends", readSupertype},
		{"implements", readSupertype},
		{"instructions", func(r *Rule, s string) error { return r.conditions.readSize(s) }},
	}
	for _, t := range traits() {
		keys = append(keys, conditionKey{t.name, func(r *Rule, s string) error { return t.read(r.conditions, s) }})
	}
	return keys
}

func readSupertype(r *Rule, s string) error {
	p, err := parseClassPattern(s, false)
	r.conditions.supertypes = append(r.conditions.supertypes, p)
	return err
}

func (t trait) read(c *conditions, s string) error {
	f := t.of(c)
	switch s {
	case "true":
		f.want |= t.bit
	case "false":
	default:
		return fmt.Errorf("found %q, want true or false", s)
	}
	f.mask |= t.bit
	return nil
}

// readSize reads comparisons such as ">200". Several are separated by spaces, and all must hold: ">=10 <50".
func (c *conditions) readSize(s string) error {
	c.sized, c.least, c.most = true, 0, math.MaxInt
	comparisons := strings.Fields(s)
	if len(comparisons) == 0 {
		comparisons = []string{""}
	}
	for _, comparison := range comparisons {
		number := strings.TrimLeft(comparison, "<>=")
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return fmt.Errorf("%q is not a comparison such as \">200\" or \">=10 <50\"", s)
		}
		switch least, most := &c.least, &c.most; comparison[:len(comparison)-len(number)] {
		case "<":
			*most = min(*most, int(n)-1)
		case "<=":
			*most = min(*most, int(n))
		case ">":
			*least = max(*least, int(n)+1)
		case ">=":
			*least = max(*least, int(n))
		case "=":
			*least, *most = max(*least, int(n)), min(*most, int(n))
		default:
			return fmt.Errorf("%q has no comparison operator: write \"<%[2]s\", \"<=%[2]s\", \">%[2]s\", "+
				"\">=%[2]s\" or \"=%[2]s\"",
				s, number)
		}
	}
	if c.least > c.most {
		return fmt.Errorf("no number meets %q", s)
	}
	return nil
}

// conditionalRule reads a rule whose value is a YAML mapping; ok is false if it reported an error.
func (r *configReader) conditionalRule(verb *yaml.Node, n *yaml.Node) (rule Rule, ok bool) {
	if len(n.Content) == 0 {
		r.errorf(n, "%s: no condition; to match every method, write \"**\"", verb.Value)
		return Rule{}, false
	}
	rule = Rule{allow: verb.Value == "allow", at: r.at(verb), conditions: &conditions{}}
	rule.pattern.class, _ = parseClassPattern(spanning, true) // unless the key class sets another
	keys := conditionKeys()
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	wrong := len(r.errs)
	var text []string
	for key, value := range r.entries(n, names) {
		s, isPlain := r.scalar(key.Value, value)
		if !isPlain {
			continue
		}
		for _, k := range keys {
			if k.name != key.Value {
				continue
			}
			err := checkText(s)
			if err == nil {
				err = k.read(&rule, s)
			}
			if err != nil {
				r.errorf(value, "%s: %w", key.Value, err)
			}
		}
		text = append(text, key.Value+": "+s)
	}
	rule.text = verb.Value + " {" + strings.Join(text, ", ") + "}"
	if rule.conditions.none() {
		rule.conditions = nil // class and method alone are a pattern
	}
	return rule, len(r.errs) == wrong
}
