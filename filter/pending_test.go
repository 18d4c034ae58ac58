package filter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// world is a random set of classes with all properties that rules have conditions on.
type world struct {
	classes []worldClass
	direct  map[string][]string // direct supertypes of classes, also of some that are not inputs
}

type worldClass struct {
	shape
	methods []method
	parsed  *classfile.Class
}

var (
	worldNames       = []string{"a/A", "a/B", "a/B$C", "b/A", "b/c/D", "b/c/R"}
	worldOutside     = []string{"lib/Base", "lib/Face", "lib/Far", "java/lang/Object"}
	worldAnnotations = []string{"q/Generated", "q/Keep", "r/Fast"}
	worldBodies      = [][]byte{
		{ret}, // trivial
		{byte(code.New), 0, 1, byte(code.Pop), ret},
		{byte(code.New), 0, 1, byte(code.Pop), byte(code.Goto), 0xFF, 0xFC},
		append(slices.Repeat([]byte{byte(code.Nop)}, 20), byte(code.Wide), byte(code.Iinc), 0, 0, 0, 1, ret),
		{byte(code.Nop), 0xFE}, // cannot be decoded
	}
)

// subset returns a random subset.
func subset(r *rand.Rand, of []string, chance float64) (picked []string) {
	for _, s := range of {
		if r.Float64() < chance {
			picked = append(picked, s)
		}
	}
	return picked
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func newWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{direct: map[string][]string{"lib/Base": {"lib/Far", "java/lang/Object"}, "lib/Face": {"lib/Base"}}}
	types := append(slices.Clone(worldNames), worldOutside...)
	for _, name := range worldNames {
		c := worldClass{shape: shape{name: name, super: pick(r, types), interfaces: subset(r, types, 0.1),
			annotations: subset(r, worldAnnotations, 0.2)}}
		for i := range 6 {
			c.methods = append(c.methods, method{
				name:       pick(r, []string{"get", "set", "<init>"}),
				descriptor: fmt.Sprintf("(%s)V", strings.Repeat("I", i)),
				flags: uint16(r.Uint32()) & (classfile.AccPublic | classfile.AccStatic |
					classfile.AccSynchronized | classfile.AccStrict),
				code: pick(r, worldBodies), annotations: subset(r, worldAnnotations, 0.2),
			})
			if strings.HasSuffix(name, "R") {
				c.methods[i].name = "<init>"
			}
			if r.IntN(8) == 0 {
				c.methods[i].flags |= classfile.AccBridge
			}
		}
		var a assembler
		for _, m := range c.methods {
			a.add(m)
		}
		c.parsed = a.shaped(t, c.shape)
		w.direct[name] = append([]string{c.super}, c.interfaces...)
		w.classes = append(w.classes, c)
	}
	delete(w.direct, "java/lang/Object")
	return w
}

// supertypesOf returns all supertypes of a class, computed in the simplest way.
func (w *world) supertypesOf(c *worldClass) map[string]bool {
	above := map[string]bool{}
	var climb func(names []string)
	climb = func(names []string) {
		for _, name := range names {
			if !above[name] {
				above[name] = true
				climb(w.direct[name])
			}
		}
	}
	climb(append([]string{c.super}, c.interfaces...))
	return above
}

// randomRules returns the text of a random configuration.
func randomRules(r *rand.Rand) string {
	types := []string{"a.A", "a.B", "a.*", "b.**", "**.R", "**.*", "lib.Base", "lib.Face", "lib.F*", "**.Far",
		"java.lang.Object"}
	values := map[string][]string{
		"class":      {"a.*", "a.B", "b.**", "**.A", "**", "b.c.R"},
		"method":     {"get", "<init>", "*e*", "'get(I**)'", "'*(**)V'"},
		"annotation": {"q.Generated", "q.*", "**.Fast", "**"}, "extends": types, "implements": types,
	}
	keys := append(slices.Clone(conditionKeys), "extends", "extends")
	text := "rules:\n"
	for range 1 + r.IntN(10) {
		conditions := map[string]string{}
		for range 1 + r.IntN(3)*r.IntN(2) {
			key := pick(r, keys)
			conditions[key] = pick(r, values[key])
		}
		text += "- " + pick(r, []string{"block", "allow"}) + ":\n"
		for key, value := range conditions {
			text += "    " + key + ": \"" + strings.Trim(value, "'") + "\"\n"
		}
	}
	return text
}

// matchesPlainly reports whether a rule matches, computed from the description of the class instead of its bytes.
func matchesPlainly(rule *Rule, c *worldClass, m *method, above map[string]bool) bool {
	if !rule.pattern.class.match(c.name) || rule.pattern.method != nil &&
		!rule.pattern.method.match(m.name, m.descriptor) {
		return false
	}
	k := rule.conditions
	if k == nil {
		return true
	}
	if k.annotation != nil && !slices.ContainsFunc(slices.Concat(c.annotations, m.annotations), k.annotation.match) {
		return false
	}
	for _, p := range k.supertypes {
		found := false
		for name := range above {
			found = found || p.match(name)
		}
		if !found {
			return false
		}
	}
	return true
}

// TestResolveAgreesWithFullKnowledge compares the decisions that are made for a class alone and resolved with its
// supertypes with a loop over all rules that knows the supertypes from the start.
//
// Invariant: A decision that is made from a class alone and completed with its supertypes is the same as one made
// with all facts at once.
func TestResolveAgreesWithFullKnowledge(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, text := newWorld(t, r), randomRules(r)
		config, err := ParseConfig("t.yml", []byte(text), nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		f, without := New(Options{Rules: config.Rules}), New(Options{})
		for i := range w.classes {
			c := &w.classes[i]
			above := w.supertypesOf(c)
			var supertypes Supertypes
			for name := range above {
				supertypes = supertypes.Union(f.Supertype(name))
			}
			got, other := decideAll(t, f, c.parsed), decideAll(t, without, c.parsed)
			cf := f.ForClass(c.parsed)
			whole, isWhole := cf.Whole()
			for j := range c.methods {
				want := other[j]
				for n := len(config.Rules) - 1; n >= 0; n-- {
					if rule := &config.Rules[n]; matchesPlainly(rule, c, &c.methods[j], above) {
						if !rule.allow {
							want = Decision{Reason: ReasonBlocked, Detail: rule.String()}
						} else if want.Traced() {
							want.Detail = rule.String()
						}
						break
					}
				}
				if isWhole && (whole != got[j] || whole.Traced() || whole.Pending != "") {
					t.Fatalf("seed %d: %s as a whole is %+v, a method %+v", seed, c.name, whole, got[j])
				}
				final, err := f.Resolve(got[j], supertypes, false)
				if err != nil || final != want {
					t.Fatalf("seed %d: %s %+v above %v: method %+v\ngot  %+v, %v, from %+v\nwant %+v\n%s",
						seed, c.name, c.shape, above, c.methods[j], final, err, got[j], want, text)
				}
				counts["all"]++
				if got[j].Pending != "" {
					counts["pending"]++
				}
				if strings.Contains(final.Detail, "extends") || strings.Contains(final.Detail, "implements") {
					counts["by supertype"]++
				}
				counts[string(final.Reason)]++
			}
		}
	}
	for _, least := range []string{"pending", "by supertype", "blocked", "trivial", "generated", "malformed", ""} {
		if counts[least] < 300 {
			t.Errorf("only %d of %q", counts[least], least)
		}
	}
	t.Logf("measured: %v", counts)
}

// TestPendingForm checks the text of pending decisions. Other packages store it.
func TestPendingForm(t *testing.T) {
	text := "rules:\n- block: a.**\n"
	for i := range 3 {
		text += fmt.Sprintf("- allow: { extends: lib.Base%d }\n- block: b.Other%d\n", i, i)
	}
	text += "- block: { extends: lib.Last, class: c.** }\n- block: { extends: lib.End, method: run }\n"
	config, err := ParseConfig("t.yml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Rules: config.Rules})
	for class, want := range map[string]Pending{"a/B": "8,5,3,1:0", "c/D": "8,7,5,3,1", "b/Other1": "8,5:4",
		"b/Other2": "8:6"} {
		var a assembler
		a.busy("run")
		d := decideAll(t, f, a.shaped(t, shape{name: class, super: "lib/Some"}))[0]
		if d != (Decision{Pending: want}) {
			t.Errorf("%s: got %+v, want %q", class, d, want)
		}
	}
}

func TestResolveRefusesRulesOfOthers(t *testing.T) {
	config, err := ParseConfig("t.yml",
		[]byte("rules: [{block: {extends: a.B}}, {block: a.B}, {allow: {extends: a.C}}]"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Rules: config.Rules})
	for _, p := range []Pending{"1", "3", "-1", "2,2", "0,2", "2-0", "x", "2:2", "2:", "2:-1", ",", "2,", "2-", ":1",
		"2:1:0", "99999999999", "2-1"} {
		if d, err := f.Resolve(Decision{Pending: p}, Supertypes{}, false); err == nil ||
			!strings.Contains(err.Error(), "it was made with other rules") {
			t.Errorf("%q: got %+v, %v", p, d, err)
		}
	}
	for p, want := range map[Pending]string{"": "", "2": "", "2:1": "t.yml:1: block a.B", "2,0": ""} {
		if d, err := f.Resolve(Decision{Pending: p}, Supertypes{}, false); err != nil || d.Detail != want || d.Pending != "" {
			t.Errorf("%q: got %+v, %v", p, d, err)
		}
	}
}

// everyKind returns rules with all conditions that exist.
func everyKind(t testing.TB) []Rule {
	t.Helper()
	text := "rules:\n- block: { annotation: q.Generated }\n- block: { annotation: '**.*e*', extends: '**.Base', method: " +
		"'s*' }\n" +
		"- allow: { implements: lib.Face, class: '**.*B*' }\n"
	c, err := ParseConfig("t.yml", []byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Rules
}

// FuzzDecide reads random class files with rules that have all conditions.
func FuzzDecide(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		t := new(testing.T)
		for _, c := range newWorld(t, r).classes {
			f.Add(c.parsed.Bytes())
		}
	}
	filter := New(Options{Rules: everyKind(f)})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		cf := filter.ForClass(c)
		whole, isWhole := cf.Whole()
		for i := range c.Methods() {
			m := &c.Methods()[i]
			code, ok, err := c.Code(m)
			if err != nil || !ok {
				continue
			}
			d := cf.Decide(m, code)
			if isWhole && d != whole {
				t.Errorf("the class is %+v, a method %+v", whole, d)
			}
			if final, err := filter.Resolve(d, filter.Supertype(c.SuperName()), false); err != nil || final.Pending != "" {
				t.Errorf("%+v is made %+v, %v", d, final, err)
			}
		}
	})
}

// TestMalformedAnnotations checks that annotations before a malformed one count, and that nothing after it does.
func TestMalformedAnnotations(t *testing.T) {
	var a assembler
	keep := a.Utf8("Lq/Keep;")
	plain := []byte{byte(keep >> 8), byte(keep), 0, 0}
	for _, c := range []struct {
		about string
		info  []byte
		want  int
	}{
		{"nothing", nil, 0},
		{"no annotations", []byte{0, 0}, 0},
		{"one", append([]byte{0, 1}, plain...), 1},
		{"one, and another that is cut off", append(append([]byte{0, 2}, plain...), plain[:3]...), 1},
		{"a type that is no Utf8", append([]byte{0, 2, 0xFF, 0xFF, 0, 0}, plain...), 1},
		{"pairs that are not there", []byte{0, 1, byte(keep >> 8), byte(keep), 0xFF, 0xFF}, 0},
		{"an array that is not there", []byte{0, 1, byte(keep >> 8), byte(keep), 0, 1, 0, 1, '[', 0xFF, 0xFF}, 0},
	} {
		class := a.shaped(t, shape{name: "a/B"})
		n := 0
		eachAnnotation(class.ConstantPool(),
			[]classfile.Attribute{{Name: "RuntimeInvisibleAnnotations", Info: c.info}}, func(name string) {
				if name == "q/Keep" {
					n++
				}
			})
		if n != c.want {
			t.Errorf("%s: %d annotations, want %d", c.about, n, c.want)
		}
	}
}
