package filter

import (
	"slices"
	"strings"
)

// ruleIndex finds the rules that match a class. It is a tree of the packages that patterns start with; a class
// is held against the rules on the path to its own package, and most of these are found by its name.
//
// Rules are known by their number in the ordered list. Every list of numbers is ascending.
type ruleIndex struct {
	rules   []Rule
	details []string // String of each rule, so that a decision allocates nothing
	root    packageRules
	// everywhere are rules for methods of all classes (**#name). Collecting them for each class anew would
	// make their cost the product of their number and that of the classes.
	everywhere methodRules

	// Rules with conditions are found by the annotation, if they ask for one, or else by their pattern, as others
	// are. Of those that have no pattern:
	extending     []int32      // ask for supertypes and nothing else
	perMethod     []methodRule // ask only for what a method has
	general       []int32      // the rest
	hasConditions bool

	lastForMethods int32 // the greatest number in everywhere, perMethod and annotations, -1 if there is none

	annotations typeIndex // by the numbers of rules
	supertypes  typeIndex // by the numbers of conditions, which are those of all rules one after the other
	askedBy     []int32   // the rule of each condition
	asking      []int32   // rules that ask for supertypes
}

// methodRule is a rule of conditions on the method alone. They are kept in one place: every method is asked for them.
type methodRule struct {
	rule int32
	methodConditions
}

// packageRules holds the rules whose patterns start with the same literal packages, by what comes next.
type packageRules struct {
	packages map[string]*packageRules
	here     map[string][]int32 // a literal class name
	below    map[string][]int32 // ** and a literal class name
	all      []int32            // ** alone
	globs    globRules          // the rest, by the last segment
	longest  int                // the length of the longest key of here and below
}

// methodRules finds rules by a method's name.
type methodRules struct {
	named map[string][]int32
	globs globRules
	last  int32 // the greatest number in it, -1 if there is none
}

// globRules finds the rules whose glob could match a name by what the glob ends with, or else starts with.
// What it finds still has to be matched.
type globRules struct {
	byTail, byHead map[string][]int32
	tails, heads   []int // the lengths of the keys
	rest           []int32
}

func (g *globRules) add(rule int32, glob string) {
	head, tail := glob[:strings.IndexByte(glob+"*", '*')], glob[strings.LastIndexByte(glob, '*')+1:]
	switch {
	case tail != "":
		g.byTail, g.tails = addKey(g.byTail, g.tails, tail, rule)
	case head != "":
		g.byHead, g.heads = addKey(g.byHead, g.heads, head, rule)
	default:
		g.rest = append(g.rest, rule)
	}
}

func addKey(m map[string][]int32, lengths []int, key string, rule int32) (map[string][]int32, []int) {
	if m == nil {
		m = map[string][]int32{}
	}
	m[key] = append(m[key], rule)
	if !slices.Contains(lengths, len(key)) {
		lengths = append(lengths, len(key))
	}
	return m, lengths
}

// each calls visit with lists that together hold all rules whose glob matches the name or, if nested is true,
// the start of the name up to some $.
func (g *globRules) each(name string, nested bool, visit func([]int32)) {
	for _, n := range g.heads {
		if n <= len(name) {
			visit(g.byHead[name[:n]])
		}
	}
	if len(g.tails) > 0 {
		for end := range name {
			if nested && name[end] == '$' {
				g.eachTail(name[:end], visit)
			}
		}
		g.eachTail(name, visit)
	}
	visit(g.rest)
}

func (g *globRules) eachTail(name string, visit func([]int32)) {
	for _, n := range g.tails {
		if n <= len(name) {
			visit(g.byTail[name[len(name)-n:]])
		}
	}
}

func newRuleIndex(rules []Rule) *ruleIndex {
	x := &ruleIndex{rules: slices.Clone(rules), details: make([]string, len(rules)), everywhere: methodRules{last: -1}}
	x.annotations.last, x.supertypes.last, x.lastForMethods = -1, -1, -1
	for i := range x.rules {
		r := &x.rules[i]
		x.details[i] = r.String()
		if len(r.pattern.class.segments) > 0 {
			x.add(int32(i), r)
		}
	}
	return x
}

// add puts a rule where it is found by what it asks for that the fewest classes and methods have.
func (x *ruleIndex) add(rule int32, r *Rule) {
	k := r.conditions
	if k != nil {
		x.hasConditions = true
		for i := range k.supertypes {
			x.supertypes.add(int32(len(x.askedBy)), &k.supertypes[i])
			x.askedBy = append(x.askedBy, rule)
		}
		if len(k.supertypes) > 0 {
			x.asking = append(x.asking, rule)
		}
	}
	switch everyClass := r.pattern.class.matchesAll(); {
	case k != nil && k.annotation != nil:
		x.annotations.add(rule, k.annotation)
		x.lastForMethods = rule
	case everyClass && r.pattern.method != nil:
		x.everywhere.add(rule, r.pattern.method.name)
		x.lastForMethods = rule
	case everyClass && k != nil && k.onlySupertypes():
		x.extending = append(x.extending, rule)
	case everyClass && k != nil && k.class.mask == 0 && len(k.supertypes) == 0:
		x.perMethod = append(x.perMethod, methodRule{rule, k.methodConditions})
		x.lastForMethods = rule
	case everyClass && k != nil:
		x.general = append(x.general, rule)
	default:
		x.insert(rule)
	}
}

func (x *ruleIndex) insert(rule int32) {
	segments := x.rules[rule].pattern.class.segments
	n, first := &x.root, 0
	for first < len(segments)-1 && isLiteral(segments[first]) {
		if n.packages == nil {
			n.packages = map[string]*packageRules{}
		}
		next := n.packages[segments[first]]
		if next == nil {
			next = &packageRules{}
			n.packages[segments[first]] = next
		}
		n, first = next, first+1
	}
	last := segments[len(segments)-1]
	spans := len(segments) == first+2 && segments[first] == spanning
	switch {
	case len(segments) == first+1 && isLiteral(last):
		n.here = x.appendTo(n.here, last, rule)
		n.longest = max(n.longest, len(last))
	case spans && isLiteral(last):
		n.below = x.appendTo(n.below, last, rule)
		n.longest = max(n.longest, len(last))
	case spans && last == "*":
		n.all = x.append(n.all, rule)
	default:
		n.globs.add(rule, last)
	}
}

func (x *ruleIndex) appendTo(m map[string][]int32, key string, rule int32) map[string][]int32 {
	if m == nil {
		m = map[string][]int32{}
	}
	m[key] = x.append(m[key], rule)
	return m
}

// append adds a rule to a list of rules that match the same classes: one for whole classes overrides all
// before it.
func (x *ruleIndex) append(list []int32, rule int32) []int32 {
	if x.rules[rule].isWhole() {
		list = list[:0]
	}
	return append(list, rule)
}

func (r *methodRules) add(rule int32, name string) {
	r.last = rule
	if !isLiteral(name) {
		r.globs.add(rule, name)
		return
	}
	if r.named == nil {
		r.named = map[string][]int32{}
	}
	r.named[name] = append(r.named[name], rule)
}

// classRules is what the index knows of one class.
type classRules struct {
	class   int32   // the last rule that matches the whole class, -1 if none does
	methods []int32 // later rules that may match some of its methods, the last first
	waiting []int32 // later rules that match the whole class if it has certain supertypes, which it may have
}

// match finds the rules for a class, but those for methods everywhere.
func (x *ruleIndex) match(name string) classRules {
	found, whole := classRules{class: -1}, matchable(name)
	simple := name[strings.LastIndexByte(name, '/')+1:]
	for n, rest := &x.root, name; n != nil; {
		x.take(&found, n.all)
		x.takeNamed(&found, n.below, simple, n.longest)
		pkg, below, isBelow := strings.Cut(rest, "/")
		if !isBelow {
			x.takeNamed(&found, n.here, simple, n.longest)
		}
		n.globs.each(simple, true, func(list []int32) {
			for i := len(list) - 1; i >= 0 && list[i] > found.class; i-- {
				if x.rules[list[i]].pattern.class.match(whole) {
					x.takeRule(&found, list[i])
				}
			}
		})
		if !isBelow {
			break
		}
		n, rest = n.packages[pkg], below
	}
	found.order()
	return found
}

// takeNamed takes the rules for a class's simple name, and those for the classes that it is nested in.
func (x *ruleIndex) takeNamed(found *classRules, rules map[string][]int32, simple string, longest int) {
	if len(rules) == 0 {
		return
	}
	for end := 0; end < len(simple) && end <= longest; end++ {
		if simple[end] == '$' {
			x.take(found, rules[simple[:end]])
		}
	}
	x.take(found, rules[simple])
}

func (x *ruleIndex) take(found *classRules, list []int32) {
	for i := len(list) - 1; i >= 0 && list[i] > found.class; i-- {
		x.takeRule(found, list[i])
	}
}

func (x *ruleIndex) takeRule(found *classRules, rule int32) {
	if x.rules[rule].isWhole() {
		found.class = rule
		return
	}
	found.methods = append(found.methods, rule)
}

// order forgets what the rule for the whole class overrides, and puts the others in order.
func (r *classRules) order() {
	if len(r.methods) > 0 {
		r.methods = slices.DeleteFunc(r.methods, func(rule int32) bool { return rule < r.class })
		slices.SortFunc(r.methods, func(a, b int32) int { return int(b - a) })
	}
}

// after gives those of ascending rules that come after one.
func after(rules []int32, rule int32) []int32 {
	at, _ := slices.BinarySearch(rules, rule+1)
	return rules[at:]
}
