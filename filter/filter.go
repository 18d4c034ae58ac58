package filter

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/mapping/r8"
)

// DefaultRuntime is the runtime class, in internal form, if [Options] name no other. Its package is protected
// in any case: it holds what else the runtime brings along.
const DefaultRuntime = contract.RuntimeClass

const matrixPackage = "com/tencent/matrix/"

// Options say what a [Filter] goes by. The zero Options are those of a run without any.
type Options struct {
	// Rules in order, those of a block list before those of tracegen.yml.
	Rules []Rule
	// Trivial is what is too small to be worth measuring.
	Trivial TrivialMode
	// RuntimeClass is the class that is called at entries and exits, with dots or slashes; "" for the
	// [DefaultRuntime]. Its package and all below it are never traced; of one in the unnamed package, only
	// the class and its nested classes.
	RuntimeClass string
	// MatrixRuntime protects com.tencent.matrix and all below it as well.
	MatrixRuntime bool
	// R8 says what classes and methods were called before they were renamed; rules and RuntimeClass go by these
	// names. nil if they have their own.
	R8 *r8.Mapping
}

// Filter decides which methods are traced. It is immutable, and safe for use by several goroutines.
type Filter struct {
	index     *ruleIndex
	trivial   TrivialMode
	protected []protection
	r8        *r8.Mapping
}

// protection is a prefix of class names that are the runtime's.
type protection struct {
	prefix string // ends in a slash, but for a class in the unnamed package
	detail string
}

// New makes a filter.
func New(o Options) *Filter {
	f := &Filter{index: newRuleIndex(o.Rules), trivial: o.Trivial, r8: o.R8}
	runtime := strings.ReplaceAll(classfile.EncodeMUTF8(o.RuntimeClass), ".", "/")
	if runtime == "" {
		runtime = DefaultRuntime
	}
	f.protect(DefaultRuntime)
	if f.runtimeDetail(runtime) == "" {
		f.protect(runtime)
	}
	if o.MatrixRuntime && f.runtimeDetail(matrixPackage) == "" {
		f.protect(matrixPackage)
	}
	return f
}

// protect adds the package of a class; a name that ends in a slash is one.
func (f *Filter) protect(class string) {
	prefix := class[:strings.LastIndexByte(class, '/')+1]
	if prefix == "" {
		f.protected = append(f.protected, protection{class, "the runtime class " + class})
		return
	}
	dotted, _ := classfile.DecodeMUTF8(strings.ReplaceAll(prefix, "/", "."))
	f.protected = append(f.protected, protection{prefix, "the runtime's package " + dotted[:len(dotted)-1]})
}

// runtimeDetail says what makes a class a part of the runtime; "" if it is none.
func (f *Filter) runtimeDetail(class string) string {
	for i := range f.protected {
		p := &f.protected[i]
		rest, found := strings.CutPrefix(class, p.prefix)
		if found && (strings.HasSuffix(p.prefix, "/") || rest == "" || rest[0] == '$') {
			return p.detail
		}
	}
	return ""
}

// ClassFilter judges the methods of one class. It holds on to the class, and allocates nothing unless rules ask for
// supertypes. It is not safe for use by several goroutines.
type ClassFilter struct {
	filter  *Filter
	class   *classfile.Class
	name    string   // of the class, before it was renamed
	before  *renamed // nil if nothing was
	whole   Decision
	decided bool // whole holds for every method
	rules   classRules
	flags   map[signature]uint16 // access_flags of methods, nil for a class with few

	// What rules with conditions ask of the class.
	traits    uint32
	annotated []int32    // rules whose annotation the class has, ascending
	own       Supertypes // what holds by the supertypes that the class names
	complete  bool       // and it has no others
	pending   struct {   // what was written down last
		rule int32
		text Pending
	}
}

// signature is what tells methods of one class apart (JVMS 4.6).
type signature struct{ name, descriptor string }

// fewMethods is the number up to which looking through all methods of a class is cheaper than a table of them.
// Above it, a class of methods that all call each other would cost its square.
const fewMethods = 500

// ForClass looks at what depends on the class alone.
func (f *Filter) ForClass(c *classfile.Class) ClassFilter {
	if f.r8 != nil {
		return f.forRenamed(c)
	}
	return f.forName(c, c.Name())
}

// forName does so for a class that rules call by that name.
func (f *Filter) forName(c *classfile.Class, name string) ClassFilter {
	cf := ClassFilter{filter: f, class: c, name: name}
	if cf.whole, cf.decided = f.wholeClass(c, name); cf.decided {
		return cf
	}
	cf.rules = f.index.match(name)
	if f.index.hasConditions {
		cf.applyConditions()
	}
	// Other rules may still say otherwise of some methods, or of all.
	alike := len(cf.rules.methods)+len(cf.rules.waiting) == 0 && f.index.lastForMethods <= cf.rules.class
	cf.whole = f.byRule(cf.rules.class)
	if alike && !cf.whole.Traced() {
		cf.decided = true
		return cf
	}
	if isGenerated(c, name) {
		cf.whole = Decision{Reason: ReasonGenerated, Detail: "only constants and initialisers"}
		cf.decided = alike
		return cf
	}
	if methods := c.Methods(); len(methods) > fewMethods && f.trivial == Smart {
		cf.flags = make(map[signature]uint16, len(methods))
		for i := range methods {
			m := &methods[i]
			cf.flags[signature{m.Name, m.Descriptor}] = m.AccessFlags
		}
	}
	return cf
}

// wholeClass finds the reasons that no rule can change.
func (f *Filter) wholeClass(c *classfile.Class, name string) (Decision, bool) {
	if c.IsPreview() {
		_, major := c.Version()
		return Decision{Reason: ReasonUnsupportedVersion, Detail: fmt.Sprintf("preview features of class file version %d", major)}, true
	}
	if c.AccessFlags()&classfile.AccModule != 0 || c.Name() == "module-info" {
		return Decision{Reason: ReasonModuleInfo}, true
	}
	if detail := f.runtimeDetail(name); detail != "" {
		return Decision{Reason: ReasonRuntime, Detail: detail}, true
	}
	return Decision{}, false
}

// byRule is the decision of rule number i; "traced" for -1.
func (f *Filter) byRule(i int32) Decision {
	if i < 0 {
		return Decision{}
	}
	d := Decision{Detail: f.index.details[i]}
	if !f.index.rules[i].allow {
		d.Reason = ReasonBlocked
	}
	return d
}

// Whole gives the decision on all methods of the class, if there is one: none of them is traced then, and none
// need be looked at.
func (cf *ClassFilter) Whole() (d Decision, ok bool) {
	return cf.whole, cf.decided && (cf.before == nil || !cf.before.scattered)
}

// Decide judges a method of the class, given its Code attribute. Methods without one are not to be asked about.
func (cf *ClassFilter) Decide(m *classfile.Member, c classfile.Code) Decision {
	if cf.before != nil {
		cf, m = cf.asBefore(m)
	}
	return cf.decide(m, &c)
}

// decide is Decide for a method under its original names.
func (cf *ClassFilter) decide(m *classfile.Member, c *classfile.Code) Decision {
	if cf.decided {
		return cf.whole
	}
	rule, pending := cf.ruled(m, c)
	d := cf.filter.byRule(rule)
	if pending == "" && !d.Traced() {
		return d
	}
	if other := cf.unlessBlocked(m, c); !other.Traced() || pending != "" {
		d = other
	}
	d.Pending = pending
	return d
}

// unlessBlocked judges a method that no rule blocks.
func (cf *ClassFilter) unlessBlocked(m *classfile.Member, c *classfile.Code) Decision {
	switch {
	case cf.whole.Reason == ReasonGenerated:
		return cf.whole
	case m.AccessFlags&classfile.AccBridge != 0:
		return Decision{Reason: ReasonBridge}
	}
	if is, err := isAccessor(m, c); err != nil {
		return Decision{Reason: ReasonMalformed, Detail: err.Error()}
	} else if is {
		return Decision{Reason: ReasonSyntheticAccessor}
	}
	if isInlineTemplate(m) {
		return Decision{Reason: ReasonInlineTemplate}
	}
	if detail, err := cf.trivial(m, c); err != nil {
		return Decision{Reason: ReasonMalformed, Detail: err.Error()}
	} else if detail != "" {
		return Decision{Reason: ReasonTrivial, Detail: detail}
	}
	if name := unknownAttribute(c); name != "" {
		return Decision{Reason: ReasonUnknownAttribute, Detail: "the attribute " + name + " of Code may hold offsets"}
	}
	return Decision{}
}

// flagsOf gives the access_flags of a method of the class; ok is false if the class does not have it.
func (cf *ClassFilter) flagsOf(name, descriptor string) (flags uint16, ok bool) {
	if cf.flags != nil {
		flags, ok = cf.flags[signature{name, descriptor}]
		return flags, ok
	}
	methods := cf.class.Methods()
	for i := range methods {
		if methods[i].Name == name && methods[i].Descriptor == descriptor {
			return methods[i].AccessFlags, true
		}
	}
	return 0, false
}
