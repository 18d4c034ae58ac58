package filter

import (
	"encoding/binary"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// conditions are what a rule requires besides its pattern. All of them must hold.
type conditions struct {
	annotation *classPattern  // of an annotation of the method or its class; nil if there is no such condition
	supertypes []classPattern // each of them must match some supertype
}

// none reports whether there is no condition at all.
func (c *conditions) none() bool { return c.annotation == nil && len(c.supertypes) == 0 }

// eachAnnotation calls visit with the class name of each annotation in the Runtime(In)VisibleAnnotations attributes
// of a class or method (JVMS 4.7.16, 4.7.17). It skips the rest of an attribute after a malformed annotation, because
// a JVM links a class with such an attribute, too.
func eachAnnotation(pool *classfile.ConstantPool, attributes []classfile.Attribute, visit func(name string)) {
	for i := range attributes {
		a := &attributes[i]
		if a.Name != "RuntimeVisibleAnnotations" && a.Name != "RuntimeInvisibleAnnotations" || len(a.Info) < 2 {
			continue
		}
		at := 2
		for range binary.BigEndian.Uint16(a.Info) {
			end, err := code.AnnotationEnd(a.Info, at)
			if err != nil {
				break
			}
			descriptor, err := pool.Utf8(binary.BigEndian.Uint16(a.Info[at:]))
			if n := len(descriptor); err == nil && n > 2 && descriptor[0] == 'L' && descriptor[n-1] == ';' {
				visit(descriptor[1 : n-1])
			}
			at = end
		}
	}
}

// conditionKeys are the keys of a rule with conditions. The package comment says what they mean.
var conditionKeys = []string{"class", "method", "annotation", "extends", "implements"}

// readCondition reads the value of one of conditionKeys into the rule.
func (r *Rule) readCondition(key, value string) (err error) {
	if err := checkText(value); err != nil {
		return err
	}
	switch key {
	case "class":
		r.pattern.class, err = parseClassPattern(value, true)
	case "method":
		r.pattern.method, err = parseMethodPattern(value)
	case "annotation":
		if name, at := strings.CutPrefix(value, "@"); at {
			return fmt.Errorf("the @ is not part of the type's name: write %q", name)
		}
		p, err := parseClassPattern(value, false)
		r.conditions.annotation = &p
		return err
	default: // extends, implements
		p, err := parseClassPattern(value, false)
		r.conditions.supertypes = append(r.conditions.supertypes, p)
		return err
	}
	return err
}

// conditionalRule reads a rule whose value is a YAML mapping; ok is false if it reported an error.
func (r *configReader) conditionalRule(verb *yaml.Node, n *yaml.Node) (rule Rule, ok bool) {
	if len(n.Content) == 0 {
		r.errorf(n, "%s: no condition; to match every method, write \"**\"", verb.Value)
		return Rule{}, false
	}
	rule = Rule{allow: verb.Value == "allow", at: r.at(verb), conditions: &conditions{}}
	rule.pattern.class, _ = parseClassPattern(spanning, true) // unless the key class sets another
	wrong := len(r.errs)
	var text []string
	for key, value := range r.entries(n, conditionKeys) {
		s, isPlain := r.scalar(key.Value, value)
		if !isPlain {
			continue
		}
		if err := rule.readCondition(key.Value, s); err != nil {
			r.errorf(value, "%s: %w", key.Value, err)
		}
		text = append(text, key.Value+": "+s)
	}
	rule.text = verb.Value + " {" + strings.Join(text, ", ") + "}"
	if rule.conditions.none() {
		rule.conditions = nil // class and method alone are a pattern
	}
	return rule, len(r.errs) == wrong
}
