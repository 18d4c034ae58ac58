package filter

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// knownOptions are option names as a caller has them.
var knownOptions = []string{"runtime-class", "exits", "trivial", "constructor-entry", "focus-hook", "target", "allow-huge",
	"preset", "id-order", "compression", "runtime-external"}

func TestParseConfig(t *testing.T) {
	const text = `# a comment
runtime-class: com.beat.Beat
exits: throws
allow-huge: true
trivial: "none"
rules:
  - block: com.example.generated.**          # dots or slashes
  - block: "**.*Binding"
  - allow: com.example.generated.Important

  - block: com.example.Feed#get*(**)
  - { allow: "com/example/Feed#put(int, java.lang.String)" }
id-order: compact
`
	c, err := ParseConfig("tracegen.yml", []byte(text), knownOptions)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range c.Rules {
		rules = append(rules, r.String())
		if r.Allow() != strings.Contains(r.String(), ": allow ") || r.Position().File != "tracegen.yml" {
			t.Errorf("%v: allow is %v, position %v", r, r.Allow(), r.Position())
		}
	}
	const want = `tracegen.yml:7: block com.example.generated.**
tracegen.yml:8: block **.*Binding
tracegen.yml:9: allow com.example.generated.Important
tracegen.yml:11: block com.example.Feed#get*(**)
tracegen.yml:12: allow com/example/Feed#put(int, java.lang.String)`
	if got := strings.Join(rules, "\n"); got != want {
		t.Errorf("got rules\n%s\nwant\n%s", got, want)
	}
	at := func(line int) Position { return Position{"tracegen.yml", line} }
	options := map[string]Option{
		"runtime-class": {"com.beat.Beat", at(2)}, "exits": {"throws", at(3)}, "allow-huge": {"true", at(4)},
		"trivial": {"none", at(5)}, "id-order": {"compact", at(13)},
	}
	if !maps.Equal(c.Options, options) {
		t.Errorf("got options %v, want %v", c.Options, options)
	}
}

func TestParseConfigOfNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "rules:\n", "rules: []\n", "{}", "null\n", "\uFEFFrules: []\n"} {
		c, err := ParseConfig("tracegen.yml", []byte(text), nil)
		if err != nil || len(c.Rules) != 0 || len(c.Options) != 0 {
			t.Errorf("%q: got %v, %v", text, c, err)
		}
	}
}

func TestParseConfigFollowsAliases(t *testing.T) {
	c, err := ParseConfig("t.yml", []byte("exits: &e normal\ntrivial: *e\nrules:\n- &r {block: a.B}\n- *r\n- block: *e\n"), knownOptions)
	if err != nil || c.Options["trivial"].Value != "normal" || len(c.Rules) != 3 || c.Rules[1].text != "block a.B" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestFaultyConfigs(t *testing.T) {
	cases := []struct{ text, want string }{
		{"exist: throws\n", `t.yml:1: unknown key "exist"; did you mean exits?`},
		{"exits: throws\nrule:\n- block: a.B\n", `t.yml:2: unknown key "rule"; did you mean rules?`},
		{"include: [ more.yml ]\n", `t.yml:1: unknown key "include"; known are rules, ` + strings.Join(knownOptions, ", ")},
		{"exits: throws\ntrivial: none\nexits: exact\n", `t.yml:3: exits is given again, first on line 1`},
		{"rules: []\nrules: []\n", `t.yml:2: rules is given again, first on line 1`},
		{"exits:\n", `t.yml:1: exits: the value is missing`},
		{"exits: \"\"\n", `t.yml:1: exits: the value is missing`},
		{"exits: [throws]\n", `t.yml:1: exits: a list is found where a single value is expected`},
		{"exits:\n  mode: throws\n", `t.yml:2: exits: a mapping is found where a single value is expected`},
		{"- block: a.B\n", `t.yml:1: a list is found where KEY: VALUE lines are expected (keys: rules, ` + strings.Join(knownOptions, ", ") + ")"},
		{"[a]: b\n", `t.yml:1: a list is no key (keys: rules, ` + strings.Join(knownOptions, ", ") + ")"},
		{"rules: a.B\n", `t.yml:1: rules: "a.B" is found where a list is expected, of lines like "- block: com.example.**"`},
		{"rules:\n  block: a.B\n", `t.yml:2: rules: a mapping is found where a list is expected, of lines like "- block: com.example.**"`},
		{"rules:\n- a.B\n", `t.yml:2: "a.B" is found where KEY: VALUE lines are expected (keys: block, allow)`},
		{"rules:\n- blok: a.B\n", `t.yml:2: unknown key "blok"; did you mean block?`},
		{"rules:\n- deny: a.B\n", `t.yml:2: unknown key "deny"; known are block, allow`},
		{"rules:\n- block: a.B\n  allow: a.C\n", "t.yml:2: a rule has one key, block or allow, and this 2: start a new \"- \" for each rule"},
		{"rules:\n- {block: a.B#c(int, long)}\n", "t.yml:2: a rule has one key, block or allow, and this 2: in { } a pattern with a comma has to stand in quotes"},
		{"rules:\n- block:\n", `t.yml:2: block: the value is missing`},
		{"rules:\n- block: [ a.B ]\n", `t.yml:2: block: a list is found where a single value is expected`},
		{"rules:\n- block: a..B\n- allow: a.B\n- block: c?\n", "t.yml:2: class pattern \"a..B\" has an empty segment\n" +
			"t.yml:4: pattern \"c?\" holds '?': * is the wildcard, and stands for any characters"},
		{"rules:\n- block: a..B\nexist: x\n", "t.yml:2: class pattern \"a..B\" has an empty segment\n" +
			`t.yml:3: unknown key "exist"; did you mean exits?`},
		{"exits: a\n---\nexits: b\n", "t.yml:2: a second document starts here; only one is read"},
	}
	for _, c := range cases {
		got, err := ParseConfig("t.yml", []byte(c.text), knownOptions)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
		if len(got.Rules) != 0 || len(got.Options) != 0 {
			t.Errorf("%q: an error, and %v", c.text, got)
		}
	}
}

// TestConfigsThatAreNotYAML leaves the words to the YAML library; position and hint are ours.
func TestConfigsThatAreNotYAML(t *testing.T) {
	cases := []struct{ text, start, end string }{
		{"rules:\n- block: **.Foo\n", "t.yml:2: not YAML: ", `has to stand in quotes: "**.*Binding")`},
		{"rules:\n- block: *Foo\n", "t.yml: not YAML: ", `has to stand in quotes: "**.*Binding")`},
		{"exits: throws\n\tx: y\n", "t.yml:2: not YAML: ", ""},
		{"exits: \xff\n", "t.yml: not YAML: ", ""},
		{"exits: [", "t.yml:1: not YAML: ", ""},
	}
	for _, c := range cases {
		_, err := ParseConfig("t.yml", []byte(c.text), knownOptions)
		if err == nil || !strings.HasPrefix(err.Error(), c.start) || !strings.HasSuffix(err.Error(), c.end) {
			t.Errorf("%q: got %v\nwant %s…%s", c.text, err, c.start, c.end)
		}
	}
}

func TestDistance(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"exits", "exist", 2}, {"rule", "rules", 1},
		{"flaw", "lawn", 2}, {"größe", "grösse", 2}, {"abc", "abc", 0}, {"abcdef", "uvwxyz", 6},
	}
	for _, c := range cases {
		for limit := range 9 {
			want := min(c.want, limit)
			if got := distance(c.a, c.b, limit); got != want {
				t.Errorf("%s to %s below %d: got %d, want %d", c.a, c.b, limit, got, want)
			}
			if got := distance(c.b, c.a, limit); got != want {
				t.Errorf("%s to %s below %d: got %d, want %d", c.b, c.a, limit, got, want)
			}
		}
	}
}

func TestParseBlockList(t *testing.T) {
	const text = "\uFEFF[package]\r\n-keeppackage org/\r\n  # -keeppackage com/\n\n-keeppackage com/example/gen\n[class]\n" +
		"-keepclass a/b/C\n\t-keepclass   a.b.D$E \n-keeppackage net.dots.\n"
	rules, err := ParseBlockList("block.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Rules: rules})
	for class, want := range map[string]string{
		"org/A": "block.txt:2: -keeppackage org/", "org/a/B": "block.txt:2: -keeppackage org/", "organizer/A": "", "org": "",
		"com/example/gen/A": "block.txt:5: -keeppackage com/example/gen", "com/example/generated/A": "", "com/A": "",
		"a/b/C": "block.txt:7: -keepclass a/b/C", "a/b/C$1": "block.txt:7: -keepclass a/b/C", "a/b/C1": "",
		"a/b/D$E": "block.txt:8: -keepclass   a.b.D$E", "a/b/D": "",
		"net/dots/A": "block.txt:9: -keeppackage net.dots.",
	} {
		var a assembler
		a.busy("run")
		if got := decideAll(t, f, a.finish(t, class, 0, 52, 0))[0]; got.Detail != want || got.Traced() != (want == "") {
			t.Errorf("%s: got %+v, want %q", class, got, want)
		}
	}
}

// TestBlockListComesFirst: a rule of tracegen.yml takes back one of the block list.
func TestBlockListComesFirst(t *testing.T) {
	rules, err := ParseBlockList("block.txt", []byte("-keeppackage a/\n"))
	if err != nil {
		t.Fatal(err)
	}
	var a assembler
	a.busy("run")
	f := New(Options{Rules: append(rules, parseRules(t, "+a.B")...)})
	if got := decideAll(t, f, a.finish(t, "a/B", 0, 52, 0))[0]; got != (Decision{Detail: "rules:1: allow a.B"}) {
		t.Errorf("got %+v", got)
	}
}

func TestFaultyBlockLists(t *testing.T) {
	cases := []struct{ text, want string }{
		{"-keepclas a/B\n", `b.txt:1: unknown directive "-keepclas"; did you mean -keepclass?`},
		{"\n-allowpackage a/\n", `b.txt:2: unknown directive "-allowpackage"; known are -keepclass, -keeppackage`},
		{"a/B\n", `b.txt:1: unknown directive "a/B"; known are -keepclass, -keeppackage`},
		{"-keepclass\n", `b.txt:1: -keepclass takes one name, found 0`},
		{"-keeppackage a/ # why\n", `b.txt:1: -keeppackage takes one name, found 3`},
		{"-keepclass a/*\n", `b.txt:1: "a/*": a block list has plain names; wildcards and methods belong into tracegen.yml`},
		{"-keepclass a/B#c\n", `b.txt:1: "a/B#c": a block list has plain names; wildcards and methods belong into tracegen.yml`},
		{"-keepclass a/b/\n", `b.txt:1: class pattern "a/b/" ends in a separator: write "a/b/**" for all classes below a package`},
		{"-keeppackage /\n", `b.txt:1: class pattern "/**" has an empty segment`},
		{"-keepclass a//B\n# fine\n-keep a\n", "b.txt:1: class pattern \"a//B\" has an empty segment\n" +
			`b.txt:3: unknown directive "-keep"; known are -keepclass, -keeppackage`},
		{"-keepclass \xff\n", "b.txt: not UTF-8 text"},
	}
	for _, c := range cases {
		rules, err := ParseBlockList("b.txt", []byte(c.text))
		if err == nil || err.Error() != c.want || rules != nil {
			t.Errorf("%q: got %v, %v\nwant %s", c.text, rules, err, c.want)
		}
	}
}

// checkRules holds rules that a parser accepted against what every rule has: a line of its file, later than
// those of the rules before it or the same, and a text that is a rule again.
func checkRules(t *testing.T, name string, data []byte, rules []Rule) {
	t.Helper()
	lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
	f := New(Options{Rules: rules})
	for _, r := range rules {
		if p := r.Position(); p.File != name || p.Line < 1 || p.Line > lines {
			t.Errorf("%v: a position in a file of %d lines", r, lines)
		}
		again, err := parseRule(r.allow, patternText(r.pattern), r.text, r.at)
		if err != nil || patternText(again.pattern) != patternText(r.pattern) {
			t.Errorf("%v: %s is read again as %s, %v", r, patternText(r.pattern), patternText(again.pattern), err)
		}
		globs := []string{r.pattern.class.glob, r.pattern.class.nested}
		if m := r.pattern.method; m != nil {
			globs = append(globs, m.glob)
		}
		for _, glob := range globs {
			if !doublestar.ValidatePattern(glob) {
				t.Errorf("%v: %s is no pattern of doublestar", r, glob)
			}
		}
	}
	for _, class := range []string{"A", "a/B$C", "com/example/Foo", strings.Repeat("a/", 50) + "b$c$d"} {
		lastRule(f, class, "get", "(I[Ljava/lang/String;)V")
	}
}

// patternText writes the class and method name of a pattern; names that are not UTF-8 have no other text.
func patternText(p pattern) string {
	text := strings.Join(p.class.segments, ".")
	if p.method != nil {
		text += "#" + p.method.name
	}
	return strings.ToValidUTF8(text, "x")
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("exits: throws\nrules:\n- block: com.example.**\n- allow: \"**.*B#get*(int, **)\"\n"))
	f.Add([]byte("rules: [{block: &a a.B}, {allow: *a}, {block: 'Foo#a(I[La.B;)V'}]\n---\n"))
	f.Add([]byte("rules:\n  block: {annotation: x}\nexist: 1\n? [a]\n: b\n"))
	f.Add([]byte(`rules: [{block: 'a{b\.c}#d{e]'}]`))
	f.Add([]byte("a: &x [*x]\n<<: *x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConfig("f.yml", data, knownOptions)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yml") || len(c.Rules)+len(c.Options) > 0 {
				t.Errorf("error %v with %v", err, c)
			}
			return
		}
		checkRules(t, "f.yml", data, c.Rules)
		for key, o := range c.Options {
			if o.Value == "" || o.At.Line < 1 {
				t.Errorf("%s: %+v", key, o)
			}
		}
	})
}

func FuzzParseBlockList(f *testing.F) {
	f.Add([]byte("[package]\n-keeppackage com/example/\n# no\n-keepclass a/b/C$D\n"))
	f.Add([]byte("-keepclass a.b.C\r\n-keeppackage org\r-keepclass x\n"))
	f.Add([]byte("-keeppackage /\n-allowpackage a/\n\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rules, err := ParseBlockList("b.txt", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "b.txt") || rules != nil || errors.Unwrap(err) != nil {
				t.Errorf("error %v with %v", err, rules)
			}
			return
		}
		checkRules(t, "b.txt", data, rules)
		for _, r := range rules {
			if r.Allow() || r.pattern.method != nil {
				t.Errorf("%v does more than block classes", r)
			}
		}
	})
}
