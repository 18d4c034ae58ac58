package filter

import (
	"slices"
	"strings"
)

// ruleIndex finds the rules that may match a class and its methods. What it computes is what a loop over all rules
// computes, backward from the last one until one matches; the index only skips rules that cannot match. A rule is
// identified by its number in the ordered list, so that the greater of two numbers wins. All lists of numbers are
// ascending.
//
// Each rule is stored in exactly one place, by the property that the fewest classes and methods have:
//
//   - A rule with a condition on an annotation is in annotations, by the name of the annotation's type. Each
//     annotation of a class or method is looked up there.
//   - A rule on methods of all classes (**#name) is in everywhere, by the name of the method.
//   - A rule of conditions only is in supertypesOnly, perMethod or general.
//   - Every other rule is in the tree at root, which has a node for each package that some pattern begins with. A
//     pattern is stored at the node of its longest literal prefix of packages: a.b.**.Foo* at a.b. The patterns
//     that can match a class are therefore on the path from the root to the node of its own package. At a node,
//     names without wildcards are found in a map, the others by the literal text that they begin or end with
//     (globRules).
//
// A look-up for a class therefore takes time for the depth of its package, the $ signs in its name and the rules
// that are found, and is independent of the number of all rules. The exceptions are evaluated one by one: globs
// that begin and end with *, and the rules in general and perMethod. Memory is linear in the text of the rules.
type ruleIndex struct {
	rules   []Rule
	details []string // the text of each rule, made once, so that a decision allocates no memory
	root    packageRules
	// everywhere has the rules on methods of all classes. They are looked up for each method instead of being
	// collected for each class, which would cost the number of these rules times the number of classes.
	everywhere methodRules

	// Rules that have conditions, but neither a pattern nor a condition on an annotation:
	supertypesOnly []int32      // conditions on supertypes only
	perMethod      []methodRule // conditions on the method only
	general        []int32      // all others: they are evaluated for every class
	hasConditions  bool

	lastForMethods int32 // the last rule in everywhere, perMethod and annotations, -1 if there is none

	annotations    typeIndex // a pattern has the number of its rule
	supertypes     typeIndex // the patterns' numbers count the conditions on supertypes of all rules
	conditionRule  []int32   // the rule of each condition on supertypes, ascending
	withSupertypes []int32   // rules with conditions on supertypes
}

// methodRule is a rule of conditions on the method alone. These rules have a slice of their own with their
// conditions, because each of them is evaluated for every method.
type methodRule struct {
	rule int32
	methodConditions
}

// packageRules is a node of the tree: the rules whose patterns begin with the same literal packages, by what follows.
type packageRules struct {
	packages map[string]*packageRules
	here     map[string][]int32 // packages and then a literal class name
	below    map[string][]int32 // packages, ** and a literal class name
	all      []int32            // packages and ** only
	globs    globRules          // all others, by their last segment
	longest  int                // the length of the longest key of here and below
}

// methodRules finds rules by the name of a method.
type methodRules struct {
	named map[string][]int32
	globs globRules
	last  int32 // the last rule in it, -1 if there is none
}

// globRules finds the rules whose globs may match a name. Each glob is stored under the literal text after its last
// *, or if there is none, under the text before its first *. A look-up takes as many map accesses as there are
// different lengths of such texts. The globs that it finds must still be matched.
type globRules struct {
	byTail, byHead map[string][]int32 // by the text after the last *, before the first *
	tails, heads   []int              // the lengths of the keys
	rest           []int32            // globs that begin and end with *
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

// each calls visit with lists that contain all rules whose glob matches the name. If nested is true, the lists also
// contain rules that match the beginning of the name up to some $.
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

// add stores a rule at the place that the comment on ruleIndex describes.
func (x *ruleIndex) add(rule int32, r *Rule) {
	k := r.conditions
	if k != nil {
		x.hasConditions = true
		for i := range k.supertypes {
			x.supertypes.add(int32(len(x.conditionRule)), &k.supertypes[i])
			x.conditionRule = append(x.conditionRule, rule)
		}
		if len(k.supertypes) > 0 {
			x.withSupertypes = append(x.withSupertypes, rule)
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
		x.supertypesOnly = append(x.supertypesOnly, rule)
	case everyClass && k != nil && k.class.mask == 0 && len(k.supertypes) == 0:
		x.perMethod = append(x.perMethod, methodRule{rule, k.methodConditions})
		x.lastForMethods = rule
	case everyClass && k != nil:
		x.general = append(x.general, rule)
	default:
		x.insert(rule)
	}
}

// insert stores a rule in the tree of packages.
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

// append appends a rule to a list of rules that all match the same classes. A rule on whole classes replaces the
// rules before it, because it wins over them.
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

// classRules are the rules for one class.
type classRules struct {
	class     int32   // the last rule that matches all of its methods, -1 if there is none
	methods   []int32 // later rules that may match some of its methods, descending
	undecided []int32 // later rules that match all of its methods if it has certain supertypes, ascending
}

// match returns the rules in the tree that may match a class or its methods.
func (x *ruleIndex) match(name string) classRules {
	found := classRules{class: -1}
	if len(x.rules) == 0 {
		return found
	}
	simple := name[strings.LastIndexByte(name, '/')+1:]
	for n, rest := &x.root, name; n != nil; {
		x.collect(&found, n.all)
		x.collectNamed(&found, n.below, simple, n.longest)
		pkg, below, isBelow := strings.Cut(rest, "/")
		if !isBelow {
			x.collectNamed(&found, n.here, simple, n.longest)
		}
		n.globs.each(simple, true, func(list []int32) {
			for i := len(list) - 1; i >= 0 && list[i] > found.class; i-- {
				if x.rules[list[i]].pattern.class.match(name) {
					x.collectRule(&found, list[i])
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

// collectNamed adds the rules for the simple name of a class, and those for the names of the classes around it.
func (x *ruleIndex) collectNamed(found *classRules, rules map[string][]int32, simple string, longest int) {
	if len(rules) == 0 {
		return
	}
	for end := 0; end < len(simple) && end <= longest; end++ {
		if simple[end] == '$' {
			x.collect(found, rules[simple[:end]])
		}
	}
	x.collect(found, rules[simple])
}

func (x *ruleIndex) collect(found *classRules, list []int32) {
	for i := len(list) - 1; i >= 0 && list[i] > found.class; i-- {
		x.collectRule(found, list[i])
	}
}

func (x *ruleIndex) collectRule(found *classRules, rule int32) {
	if x.rules[rule].isWhole() {
		found.class = rule
		return
	}
	found.methods = append(found.methods, rule)
}

// order removes the rules that the rule for the whole class wins over, and sorts the others in descending order.
func (r *classRules) order() {
	if len(r.methods) > 0 {
		r.methods = slices.DeleteFunc(r.methods, func(rule int32) bool { return rule < r.class })
		slices.SortFunc(r.methods, func(a, b int32) int { return int(b - a) })
	}
}

// after returns the ascending rules that come after the given one.
func after(rules []int32, rule int32) []int32 {
	at, _ := slices.BinarySearch(rules, rule+1)
	return rules[at:]
}
