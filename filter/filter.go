package filter

import (
	"fmt"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/mapping/r8"
)

const matrixPackage = "com/tencent/matrix/"

// Options configure a [Filter]. The zero value has no rules, the trivial mode [Bounded] and the default runtime class.
type Options struct {
	// Rules in order: the rules of block lists come before the rules of tracegen.yml.
	Rules []Rule
	// Trivial says which methods are too small to be traced.
	Trivial TrivialMode
	// RuntimeClass is the class that entry and exit calls call, with dots or slashes; "" is the default,
	// dev.tracegen.runtime.AppMethodBeat. Its package and all packages below it are never traced. For a class in the
	// unnamed package, only the class and its nested classes are never traced. The package of the default class is
	// never traced, whatever class is called.
	RuntimeClass string
	// MatrixRuntime excludes com.tencent.matrix and all packages below it as well.
	MatrixRuntime bool
	// Profile says which methods recordings of an earlier build have shown to be worth their cost; nil if there is none.
	Profile *Profile
	// R8 translates the names of classes and methods to their original names, if the inputs are shrunk. Rules and
	// RuntimeClass use original names then. nil if the inputs have their original names.
	R8 *r8.Mapping
	// Scope says how much of the libraries is traced, and Libraries has the names of their classes, the original ones in
	// internal form.
	Scope     Scope
	Libraries map[string]bool
}

// Filter decides which methods are traced. It is immutable, and safe for use by several goroutines.
type Filter struct {
	rules     []Rule   // that decide, in order
	details   []string // the text of each rule, made once, so that a decision allocates no memory
	heads     []string // classPattern.head of each rule, side by side, as all are compared with each class
	trivial   TrivialMode
	protected []protection
	profile   *Profile
	r8        *r8.Mapping
	lists     *lists // about libraries

	supertypes []supertypeCondition // of all rules, in their order
}

// protection is a prefix of the names of classes that belong to the runtime.
type protection struct {
	prefix string // ends in a slash, unless it is a class in the unnamed package
	detail string
}

// New returns the filter for the options.
func New(o Options) *Filter {
	f := &Filter{rules: decisive(o.Rules), trivial: o.Trivial, profile: o.Profile, r8: o.R8, lists: newLists(o)}
	for i := range f.rules {
		f.details = append(f.details, f.rules[i].String())
		f.heads = append(f.heads, f.rules[i].pattern.class.head)
		if k := f.rules[i].conditions; k != nil {
			for n := range k.supertypes {
				f.supertypes = append(f.supertypes, supertypeCondition{int32(i), &k.supertypes[n]})
			}
		}
	}
	runtime := strings.ReplaceAll(classfile.EncodeMUTF8(o.RuntimeClass), ".", "/")
	if runtime == "" {
		runtime = contract.RuntimeClass
	}
	// The package of the default runtime class contains other classes of the runtime, whatever class is called.
	f.protect(contract.RuntimeClass)
	if f.runtimeDetail(runtime) == "" {
		f.protect(runtime)
	}
	if o.MatrixRuntime && f.runtimeDetail(matrixPackage) == "" {
		f.protect(matrixPackage)
	}
	return f
}

// protect excludes the package of a class from tracing. A name that ends in a slash is a package.
func (f *Filter) protect(class string) {
	prefix := class[:strings.LastIndexByte(class, '/')+1]
	if prefix == "" {
		f.protected = append(f.protected, protection{class, "the runtime class " + class})
		return
	}
	dotted, _ := classfile.DecodeMUTF8(strings.ReplaceAll(prefix, "/", "."))
	f.protected = append(f.protected, protection{prefix, "the runtime's package " + dotted[:len(dotted)-1]})
}

// runtimeDetail returns the detail of the reason runtime if the class belongs to the runtime, else "".
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

// ClassFilter decides about the methods of one class. It keeps a reference to the class. It allocates no memory
// but a list of the rules for some of its methods, unless rules have conditions on supertypes. It is not safe for use
// by several goroutines.
type ClassFilter struct {
	filter    *Filter
	class     *classfile.Class
	name      string         // of the class, the original one if it was renamed
	originals *originalNames // nil unless the filter has an R8 mapping
	whole     Decision
	decided   bool        // whole holds for every method
	library   bool        // the class is of a library
	family    string      // of the class, see lists.family
	open      []openRule  // rules that may match some of its methods, descending
	last      int32       // the rule before them that matches all of its methods, -1 if there is none
	methods   methodIndex // of the class

	own       Supertypes // conditions that hold by the direct supertypes of the class
	complete  bool       // the class has no supertypes but the direct ones
	undecided []int32    // rules that match the last method if the class has certain supertypes, descending
	pending   struct {   // the Pending that was made last
		rules     []int32
		otherwise int32
		text      Pending
	}
}

// signature identifies a method within its class (JVMS 4.6).
type signature struct{ name, descriptor string }

// fewMethods is the number of methods up to which a search through all methods of a class is cheaper than a table.
// With more methods and no table, a class whose methods all call each other would take quadratic time.
const fewMethods = 500

// methodIndex finds methods of a class. It has a table only of a class with many.
type methodIndex map[signature]int

// reset prepares the index for a class.
func (x *methodIndex) reset(c *classfile.Class) {
	clear(*x)
	if methods := c.Methods(); len(methods) > fewMethods {
		if *x == nil {
			*x = make(methodIndex, len(methods))
		}
		for i := range methods {
			(*x)[signature{methods[i].Name, methods[i].Descriptor}] = i
		}
	}
}

// find returns the index of a method of the class, -1 if it has none of that name.
func (x methodIndex) find(c *classfile.Class, name, descriptor string) int {
	if len(x) > 0 {
		if i, found := x[signature{name, descriptor}]; found {
			return i
		}
		return -1
	}
	methods := c.Methods()
	for i := range methods {
		if methods[i].Name == name && methods[i].Descriptor == descriptor {
			return i
		}
	}
	return -1
}

// ForClass returns the filter for the methods of a class.
func (f *Filter) ForClass(c *classfile.Class) ClassFilter {
	if f.r8 != nil {
		return f.forRenamed(c)
	}
	return f.forName(c, c.Name())
}

// forName is [Filter.ForClass] for a class that rules know by the given original name.
func (f *Filter) forName(c *classfile.Class, name string) ClassFilter {
	cf := ClassFilter{filter: f, class: c, name: name, library: f.lists.libraries[name]}
	if cf.library {
		cf.family = f.lists.family(name)
	}
	if cf.whole, cf.decided = f.wholeClass(c, name); cf.decided {
		return cf
	}
	cf.findRules()
	sameForAll := len(cf.open) == 0
	cf.whole = f.ruleDecision(cf.last)
	if sameForAll && !cf.whole.Traced() {
		cf.decided = true
		return cf
	}
	if isGenerated(c, name) {
		cf.whole = Decision{Reason: ReasonGenerated, Detail: "only constants and initialisers"}
		cf.decided = sameForAll
		return cf
	}
	if f.trivial <= Smart {
		cf.methods.reset(c)
	}
	return cf
}

// wholeClass returns the reasons that hold for a whole class and that no rule can change.
func (f *Filter) wholeClass(c *classfile.Class, name string) (Decision, bool) {
	if c.IsFuture() {
		minor, major := c.Version()
		detail := fmt.Sprintf("class file version %d.%d is later than %d, the last that is known", major, minor,
			classfile.MaxMajor)
		return Decision{Reason: ReasonUnsupportedVersion, Detail: detail}, true
	}
	if c.AccessFlags()&classfile.AccModule != 0 || c.Name() == "module-info" {
		return Decision{Reason: ReasonModuleInfo}, true
	}
	if detail := f.runtimeDetail(name); detail != "" {
		return Decision{Reason: ReasonRuntime, Detail: detail}, true
	}
	return Decision{}, false
}

// ruleDecision returns the decision that rule number i makes; "traced" for -1.
func (f *Filter) ruleDecision(i int32) Decision {
	if i < 0 {
		return Decision{}
	}
	d := Decision{Detail: f.details[i]}
	if !f.rules[i].allow {
		d.Reason = ReasonBlocked
	}
	return d
}

// Whole returns the decision that holds for all methods of the class; ok is false if there is no such decision. If ok
// is true, no method of the class is traced, and the methods need not be read.
func (cf *ClassFilter) Whole() (d Decision, ok bool) {
	return cf.whole, cf.decided && (cf.originals == nil || !cf.originals.merged)
}

// Library reports whether the class is of a library.
func (cf *ClassFilter) Library() bool { return cf.library }

// Decide returns the decision on a method of the class. The method must have a Code attribute, which is c.
func (cf *ClassFilter) Decide(m *classfile.Member, c classfile.Code) Decision {
	if cf.originals != nil {
		cf, m = cf.underOriginalName(m)
	}
	return cf.decide(m, &c)
}

// decide is [ClassFilter.Decide] for a method under its original name.
func (cf *ClassFilter) decide(m *classfile.Member, c *classfile.Code) Decision {
	if cf.decided {
		return cf.whole
	}
	rule, pending := int32(-1), Pending("")
	if len(cf.filter.rules) > 0 {
		rule, pending = cf.lastMatchingRule(m)
	}
	d := cf.filter.ruleDecision(rule)
	if pending == "" && !d.Traced() {
		return d
	}
	other := cf.decideUnblocked(m, c)
	if !other.Traced() || pending != "" {
		d = other
	}
	d.Pending = pending
	if cf.library && other.Traced() && (rule < 0 || pending != "") {
		return cf.decideLibrary(m, c, d)
	}
	return d
}

// decideUnblocked returns the decision on a method that no rule blocks.
func (cf *ClassFilter) decideUnblocked(m *classfile.Member, c *classfile.Code) Decision {
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
	if detail, err := cf.composeGlue(m, c); err != nil {
		return Decision{Reason: ReasonMalformed, Detail: err.Error()}
	} else if detail != "" {
		return Decision{Reason: ReasonCompose, Detail: detail}
	}
	if d := cf.profiled(m, c); !d.Traced() {
		return d
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

// flagsOf returns the access_flags of a method of the class; ok is false if the class does not have the method.
func (cf *ClassFilter) flagsOf(name, descriptor string) (flags uint16, ok bool) {
	if i := cf.methods.find(cf.class, name, descriptor); i >= 0 {
		return cf.class.Methods()[i].AccessFlags, true
	}
	return 0, false
}
