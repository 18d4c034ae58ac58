package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// conditions are what a rule requires besides its pattern. All of them must hold.
type conditions struct {
	annotation *classPattern  // of an annotation of the method or its class; nil if there is no such condition
	supertypes []classPattern // each of them must match some supertype

	// On the method itself; nil if there is no such condition.
	synchronized, loop *bool
	instructions       *bounds
}

// bounds are bounds, both included, on the number of instructions.
type bounds struct{ least, most int }

// measurement is what is counted in the code of a method, when it is first needed.
type measurement struct {
	code      []byte
	done      bool // the fields below are set
	decodable bool
	loops     bool
	size      int // in instructions
}

// measure counts the instructions and looks for loops. It counts as javap does: a wide prefix and its instruction are
// one.
func (s *measurement) measure() {
	s.done = true
	for pc := 0; pc < len(s.code); s.size++ {
		in, err := code.At(s.code, pc)
		if err != nil {
			return
		}
		if target, branches := in.Branch(); branches {
			s.loops = s.loops || target <= pc
		} else if in.Op == code.Tableswitch || in.Op == code.Lookupswitch {
			for target := range in.Targets() {
				s.loops = s.loops || target <= pc
			}
		}
		pc += in.Size
	}
	s.decodable = true
}

// none reports whether there is no condition at all.
func (c *conditions) none() bool {
	return c.annotation == nil && len(c.supertypes) == 0 && !c.needMethod()
}

// needMethod reports whether there is a condition on the method itself.
func (c *conditions) needMethod() bool {
	return c.synchronized != nil || c.loop != nil || c.instructions != nil
}

// holdFor reports whether the conditions on the method itself hold. On code that cannot be decoded, no condition on
// loops or size holds.
func (c *conditions) holdFor(m *classfile.Member, body *measurement) bool {
	if c.synchronized != nil && *c.synchronized != (m.AccessFlags&classfile.AccSynchronized != 0) {
		return false
	}
	if c.loop == nil && c.instructions == nil {
		return true
	}
	if c.instructions != nil && c.instructions.least > len(body.code) { // each instruction has at least one byte
		return false
	}
	if !body.done {
		body.measure()
	}
	return body.decodable && (c.loop == nil || *c.loop == body.loops) &&
		(c.instructions == nil || c.instructions.least <= body.size && body.size <= c.instructions.most)
}

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
var conditionKeys = []string{"class", "method", "annotation", "extends", "implements", "synchronized", "loop",
	"instructions"}

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
	case "extends", "implements":
		p, err := parseClassPattern(value, false)
		r.conditions.supertypes = append(r.conditions.supertypes, p)
		return err
	case "synchronized":
		r.conditions.synchronized, err = readBool(value)
	case "loop":
		r.conditions.loop, err = readBool(value)
	default:
		r.conditions.instructions, err = readBounds(value)
	}
	return err
}

func readBool(s string) (*bool, error) {
	if s != "true" && s != "false" {
		return nil, fmt.Errorf("found %q, want true or false", s)
	}
	is := s == "true"
	return &is, nil
}

// readBounds reads comparisons such as ">200". Several are separated by spaces, and all must hold: ">=10 <50".
func readBounds(s string) (*bounds, error) {
	b := &bounds{0, math.MaxInt}
	comparisons := strings.Fields(s)
	if len(comparisons) == 0 {
		comparisons = []string{""}
	}
	for _, comparison := range comparisons {
		number := strings.TrimLeft(comparison, "<>=")
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%q is not a comparison such as \">200\" or \">=10 <50\"", s)
		}
		switch comparison[:len(comparison)-len(number)] {
		case "<":
			b.most = min(b.most, int(n)-1)
		case "<=":
			b.most = min(b.most, int(n))
		case ">":
			b.least = max(b.least, int(n)+1)
		case ">=":
			b.least = max(b.least, int(n))
		case "=":
			b.least, b.most = max(b.least, int(n)), min(b.most, int(n))
		default:
			return nil, fmt.Errorf("%q has no comparison operator: write \"<%[2]s\", \"<=%[2]s\", \">%[2]s\", "+
				"\">=%[2]s\" or \"=%[2]s\"",
				s, number)
		}
	}
	if b.least > b.most {
		return nil, fmt.Errorf("no number meets %q", s)
	}
	return b, nil
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
