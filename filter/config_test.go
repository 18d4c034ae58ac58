package filter

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// knownOptions are the option names that the tests' caller supports.
var knownOptions = []string{"runtime-class", "exits", "trivial", "constructor-entry", "focus-hook", "target",
	"allow-huge",
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
  - { allow: "com/example/Feed#put(ILjava.lang.String;)" }
id-order: compact
`
	c, err := ParseConfig("tracegen.yml", []byte(text), knownOptions, nil)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range c.Rules {
		rules = append(rules, r.String())
		if r.allow != strings.Contains(r.String(), ": allow ") || r.at.File != "tracegen.yml" {
			t.Errorf("%v: allow is %v, position %v", r, r.allow, r.at)
		}
	}
	const want = `tracegen.yml:7: block com.example.generated.**
tracegen.yml:8: block **.*Binding
tracegen.yml:9: allow com.example.generated.Important
tracegen.yml:11: block com.example.Feed#get*(**)
tracegen.yml:12: allow com/example/Feed#put(ILjava.lang.String;)`
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
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "rules:\n", "rules: []\n", "{}", "null\n",
		"\uFEFFrules: []\n"} {
		c, err := ParseConfig("tracegen.yml", []byte(text), nil, nil)
		if err != nil || len(c.Rules) != 0 || len(c.Options) != 0 {
			t.Errorf("%q: got %v, %v", text, c, err)
		}
	}
}

func TestParseConfigFollowsAliases(t *testing.T) {
	c, err := ParseConfig("t.yml",
		[]byte("exits: &e normal\ntrivial: *e\nrules:\n- &r {block: a.B}\n- *r\n- block: *e\n"), knownOptions, nil)
	if err != nil || c.Options["trivial"].Value != "normal" || len(c.Rules) != 3 || c.Rules[1].text != "block a.B" {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestFaultyConfigs(t *testing.T) {
	cases := []struct{ text, want string }{
		{"exist: throws\n", `t.yml:1: unknown key "exist"; did you mean exits?`},
		{"exits: throws\nrule:\n- block: a.B\n", `t.yml:2: unknown key "rule"; did you mean rules?`},
		{"exits: throws\ntrivial: none\nexits: exact\n", `t.yml:3: exits is given twice, first on line 1`},
		{"rules: []\nrules: []\n", `t.yml:2: rules is given twice, first on line 1`},
		{"exits:\n", `t.yml:1: exits: the value is missing`},
		{"exits: \"\"\n", `t.yml:1: exits: the value is missing`},
		{"exits: []\n", `t.yml:1: exits: found a list, want a single value`},
		{"exits: [throws, [none]]\n", `t.yml:1: exits: found a list, want a single value`},
		{"exits:\n  mode: throws\n", `t.yml:2: exits: found a mapping, want a single value`},
		{"- block: a.B\n", `t.yml:1: found a list, want KEY: VALUE lines (keys: rules, include, ` +
			strings.Join(knownOptions, ", ") + ")"},
		{"[a]: b\n", `t.yml:1: a list cannot be a key (keys: rules, include, ` + strings.Join(knownOptions, ", ") +
			")"},
		{"rules: a.B\n", `t.yml:1: rules: found "a.B", want a list such as "- block: com.example.**"`},
		{"rules:\n  block: a.B\n", `t.yml:2: rules: found a mapping, want a list such as "- block: com.example.**"`},
		{"rules:\n- a.B\n", `t.yml:2: found "a.B", want KEY: VALUE lines (keys: block, allow, message)`},
		{"rules:\n- blok: a.B\n", `t.yml:2: unknown key "blok"; did you mean block?`},
		{"rules:\n- deny: a.B\n", `t.yml:2: unknown key "deny"; known are block, allow, message`},
		{"rules:\n- block: a.B\n  allow: a.C\n",
			"t.yml:2: a rule with 2 keys, want one, block, allow or message: begin each rule with \"- \""},
		{"rules:\n- {block: a.B#c(int, long)}\n",
			"t.yml:2: a rule with 2 keys, want one, block, allow or message: inside { }, quote a pattern that has a comma"},
		{"rules:\n- block:\n", `t.yml:2: block: the value is missing`},
		{"rules:\n- block: [ a.B ]\n", `t.yml:2: block: found a list, want a single value`},
		{"rules:\n- block: a..B\n- allow: a.B\n- block: c?\n",
			"t.yml:2: class pattern \"a..B\" has an empty segment\n" +
				"t.yml:4: pattern \"c?\" contains '?': the only wildcard is *, for any number of characters"},
		{"rules:\n- block: a..B\nexist: x\n", "t.yml:2: class pattern \"a..B\" has an empty segment\n" +
			`t.yml:3: unknown key "exist"; did you mean exits?`},
		{"rules:\n- block: {}\n", `t.yml:2: block: no condition; to match every method, write "**"`},
		{"rules:\n- block: { anotation: a.B }\n", `t.yml:2: unknown key "anotation"; did you mean annotation?`},
		{"rules:\n- block: { annotation: '@a.B' }\n",
			`t.yml:2: annotation: the @ is not part of the type's name: write "a.B"`},
		{"rules:\n- block: { subclass: a.B }\n",
			`t.yml:2: unknown key "subclass"; known are class, method, annotation, extends, implements`},
		{"rules:\n- block:\n    class: a.B\n    class: a.C\n", `t.yml:4: class is given twice, first on line 3`},
		{"rules:\n- block: { annotation: }\n", `t.yml:2: annotation: the value is missing`},
		{"rules:\n- block: { annotation: [ a.B ] }\n", `t.yml:2: annotation: found a list, want a single value`},
		{"rules:\n- block: { annotation: a..B }\n", `t.yml:2: annotation: class pattern "a..B" has an empty segment`},
		{"rules:\n- block: { annotation: \"@a.B?\" }\n",
			`t.yml:2: annotation: pattern "@a.B?" contains '?': the only wildcard is *, for any number of characters`},
		{"rules:\n- block: { class: a.B#c }\n",
			`t.yml:2: class: class pattern "a.B#c" contains #: give the method by the key "method"`},
		{"rules:\n- block: { extends: a.B#c }\n",
			`t.yml:2: extends: class pattern "a.B#c" contains #: give the method by the key "method"`},
		{"rules:\n- block: { method: a.b }\n",
			`t.yml:2: method: method pattern "a.b": "a.b" is not the name of a method`},
		{"rules:\n- block:\n    anotation: a.B\n    extends: a..C\n- allow: a..B\nexist: x\n",
			"t.yml:3: unknown key \"anotation\"; did you mean annotation?\n" +
				"t.yml:4: extends: class pattern \"a..C\" has an empty segment\nt.yml:5: class pattern \"a..B\" has an empty " +
				"segment\n" +
				`t.yml:6: unknown key "exist"; did you mean exits?`},
		{"exits: a\n---\nexits: b\n", "t.yml:2: a second YAML document starts here; a file must have one only"},
	}
	for _, c := range cases {
		got, err := ParseConfig("t.yml", []byte(c.text), knownOptions, nil)
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
		if len(got.Rules) != 0 || len(got.Options) != 0 {
			t.Errorf("%q: an error, and %v", c.text, got)
		}
	}
}

// TestConfigsThatAreNotYAML checks position and hint of errors. The text between them is that of the YAML library.
func TestConfigsThatAreNotYAML(t *testing.T) {
	cases := []struct{ text, start, end string }{
		{"rules:\n- block: **.Foo\n", "t.yml:2: not YAML: ", `(quote a pattern that begins with *: "**.*Binding")`},
		{"rules:\n- block: *Foo\n", "t.yml: not YAML: ", `(quote a pattern that begins with *: "**.*Binding")`},
		{"exits: throws\n\tx: y\n", "t.yml:2: not YAML: ", ""},
		{"exits: \xff\n", "t.yml: not YAML: ", ""},
		{"exits: [", "t.yml:1: not YAML: ", ""},
	}
	for _, c := range cases {
		_, err := ParseConfig("t.yml", []byte(c.text), knownOptions, nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.start) || !strings.HasSuffix(err.Error(), c.end) {
			t.Errorf("%q: got %v\nwant %s…%s", c.text, err, c.start, c.end)
		}
	}
}

// files returns a function that reads included files from memory.
func files(texts map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := texts[filepath.ToSlash(name)]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("there is no " + filepath.ToSlash(name))
	}
}

func TestInclude(t *testing.T) {
	read := files(map[string]string{
		"conf/a.yml": "rules:\n- block: a.A\n", "conf/sub/b.yml": "include: ../c.yml\nrules:\n- block: b.B\n",
		"conf/c.yml":     "rules: [{block: {extends: c.C}}]",
		"conf/empty.yml": "",
	})
	c, err := ParseConfig("conf/t.yml", []byte("rules:\n- allow: t.T\ninclude:\n- a.yml\n- sub/b.yml\n- empty.yml\n"+
		"- c.yml\nexits: throws\n"), knownOptions, read)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Rules {
		got = append(got, filepath.ToSlash(r.String()))
	}
	const want = "a.yml:2: block a.A\nc.yml:1: block {extends: c.C}\nsub/b.yml:3: block b.B\n" +
		"c.yml:1: block {extends: c.C}\nt.yml:2: allow t.T"
	if strings.Join(got, "\n") != want {
		t.Errorf("got rules\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	included := filepath.ToSlash(strings.Join(c.Included, " "))
	if included != "conf/a.yml conf/sub/b.yml conf/c.yml conf/empty.yml conf/c.yml" {
		t.Errorf("got files %s", included)
	}
	if c.Options["exits"].Value != "throws" {
		t.Errorf("got options %v", c.Options)
	}
}

func TestFaultyIncludes(t *testing.T) {
	read := files(map[string]string{
		"self.yml": "include: self.yml", "a.yml": "rules: []\ninclude: [ d/b.yml ]\n",
		"d/b.yml": "include: [ ../a.yml ]\n", "back.yml": "include: t.yml",
		"options.yml": "exits: throws\nexist: throws\n", "bad.yml": "rules:\n- block: a..B\n- blok: c\n",
		"not.yml":   "[",
		"twice.yml": "include: [twice2.yml, twice2.yml]", "twice2.yml": "include: [twice3.yml, twice3.yml]",
	})
	cases := []struct{ text, want string }{
		{"\ninclude: self.yml\n", "self.yml:1: include: self.yml includes itself: self.yml -> self.yml"},
		{"include: t.yml\n", "t.yml:1: include: t.yml includes itself: t.yml -> t.yml"},
		{"include: ./back.yml\n", "back.yml:1: include: t.yml includes itself: t.yml -> back.yml -> t.yml"},
		{"include: [ a.yml ]\n", "d/b.yml:1: include: a.yml includes itself: a.yml -> d/b.yml -> a.yml"},
		{"exits: throws\ninclude:\n- no.yml\n- nor.yml",
			"t.yml:3: include: there is no no.yml\nt.yml:4: include: there is no nor.yml"},
		{"include: options.yml\n",
			"options.yml:1: exits: options are not allowed in an included file; move it to t.yml\n" +
				`options.yml:2: unknown key "exist"; did you mean exits?`},
		{"rules:\n- block: x..Y\ninclude: [ bad.yml, not.yml ]\nexist: 1\n",
			"t.yml:2: class pattern \"x..Y\" has an empty segment\n" +
				"bad.yml:2: class pattern \"a..B\" has an empty segment\nbad.yml:3: unknown key \"blok\"; did you " +
				"mean block?\n" +
				"not.yml:1: not YAML: did not find expected node content\nt.yml:4: unknown key \"exist\"; did you " +
				"mean exits?"},
		{"include: { file: a.yml }\n", "t.yml:1: include: found a mapping, want a single value"},
		{"include: [ [ a.yml ] ]\n", "t.yml:1: include: found a list, want a single value"},
		{"include: [ '' ]\n", "t.yml:1: include: the value is missing"},
	}
	for _, c := range cases {
		got, err := ParseConfig("t.yml", []byte(c.text), knownOptions, read)
		if err == nil || filepath.ToSlash(err.Error()) != c.want {
			t.Errorf("%q: got %v\nwant %s", c.text, err, c.want)
		}
		if len(got.Rules) != 0 || len(got.Options) != 0 {
			t.Errorf("%q: an error, and %v", c.text, got)
		}
	}
}

// TestIncludesAreBounded reads files that each include the next one twice. Without a limit, 2^30 files would be read.
//
// Invariant: Neither aliases nor includes make a configuration file cost more than its size allows.
func TestIncludesAreBounded(t *testing.T) {
	n := 0
	_, err := ParseConfig("0.yml", []byte("include: [ 1.yml, 1.yml ]"), nil, func(name string) ([]byte, error) {
		n++
		number, err := strconv.Atoi(strings.TrimSuffix(name, ".yml"))
		if number == 30 {
			return []byte("rules: [{block: a.B}]"), err
		}
		return fmt.Appendf(nil, "include: [ %d.yml, %[1]d.yml ]", number+1), err
	})
	if err == nil || !strings.Contains(err.Error(), "more than 1000 files are included") || n > maxIncluded {
		t.Errorf("%d files were read, and %v", n, err)
	}
}

// TestAliasesAreBounded reads lists of aliases of lists of aliases. They must not be expanded.
//
// Invariant: Neither aliases nor includes make a configuration file cost more than its size allows.
func TestAliasesAreBounded(t *testing.T) {
	text := "x0: &x0 [a, a]\n"
	for i := range 40 {
		text += fmt.Sprintf("x%d: &x%[1]d [*x%d, *x%[2]d, *x%[2]d, *x%[2]d, *x%[2]d, *x%[2]d, *x%[2]d, *x%[2]d]\n",
			i+1, i)
	}
	_, err := ParseConfig("t.yml", []byte(text+"rules: *x40\ninclude: *x40\n"), nil, nil)
	if err == nil || strings.Count(err.Error(), "\n") > 100 {
		t.Errorf("got %v", err)
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
			if got := Distance(c.a, c.b, limit); got != want {
				t.Errorf("%s to %s below %d: got %d, want %d", c.a, c.b, limit, got, want)
			}
			if got := Distance(c.b, c.a, limit); got != want {
				t.Errorf("%s to %s below %d: got %d, want %d", c.b, c.a, limit, got, want)
			}
		}
	}
}

func TestParseBlockList(t *testing.T) {
	const text = "\uFEFF[package]\r\n-keeppackage org/\r\n  # -keeppackage com/\n\n-keeppackage com/example/gen\n" +
		"[class]\n" +
		"-keepclass a/b/C\n\t-keepclass   a.b.D$E \n-keeppackage net.dots.\n"
	rules, err := ParseBlockList("block.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Rules: rules})
	for class, want := range map[string]string{
		"org/A": "block.txt:2: -keeppackage org/", "org/a/B": "block.txt:2: -keeppackage org/", "organizer/A": "",
		"org":               "",
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

// TestBlockListComesFirst checks that a rule of tracegen.yml wins over one of a block list.
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
		{"-keepclass a/*\n",
			`b.txt:1: "a/*": a block list takes names only; write a rule with wildcards or methods in tracegen.yml`},
		{"-keepclass a/B#c\n",
			`b.txt:1: "a/B#c": a block list takes names only; write a rule with wildcards or methods in tracegen.yml`},
		{"-keepclass a/b/\n",
			`b.txt:1: class pattern "a/b/" ends in a separator: to match all classes below a package, write "a/b/**"`},
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

// checkRules checks what must hold for all rules that a parser returns: the positions are lines of the file, in
// ascending order, and the text of the pattern can be parsed again.
func checkRules(t *testing.T, name string, data []byte, rules []Rule) {
	t.Helper()
	lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + 1
	f := New(Options{Rules: rules})
	for _, r := range rules {
		if p := r.at; p.File != name || p.Line < 1 || p.Line > lines {
			t.Errorf("%v: a position in a file of %d lines", r, lines)
		}
		again, err := parseRule(r.allow, patternText(r.pattern), r.text, r.at)
		if err != nil || patternText(again.pattern) != patternText(r.pattern) {
			t.Errorf("%v: %s is read again as %s, %v", r, patternText(r.pattern), patternText(again.pattern), err)
		}
		globs := []string{r.pattern.class.glob, r.pattern.class.nested}
		if m := r.pattern.method; m != nil {
			globs = append(globs, m.name)
		}
		if k := r.conditions; k != nil {
			for _, p := range k.supertypes {
				globs = append(globs, p.glob)
			}
			if k.annotation != nil {
				globs = append(globs, k.annotation.glob)
			}
			if k.none() {
				t.Errorf("%v: conditions %+v", r, k)
			}
		}
		for _, glob := range globs {
			if strings.Contains(glob, "?") {
				t.Errorf("%v: %s has a wildcard that rules do not have", r, glob)
			}
		}
	}
	for _, class := range []string{"A", "a/B$C", "com/example/Foo", strings.Repeat("a/", 50) + "b$c$d"} {
		lastRule(f, class, "get", "(I[Ljava/lang/String;)V")
	}
}

// patternText returns the class and method name of a pattern as text. Bytes that are not UTF-8 are replaced.
func patternText(p pattern) string {
	text := strings.ReplaceAll(p.class.glob, "/", ".")
	if p.method != nil {
		text += "#" + p.method.name
	}
	return strings.ToValidUTF8(text, "x")
}

// FuzzParseConfig reads any bytes as a configuration file and as a list of blocked classes.
//
// Invariant: Neither aliases nor includes make a configuration file cost more than its size allows.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[package]\n-keeppackage com/example/\n# no\n-keepclass a/b/C$D\n"))
	f.Add([]byte("-keepclass a.b.C\r\n-keeppackage org\r-keepclass x\n"))
	f.Add([]byte("-keeppackage /\n-allowpackage a/\n\x00\xff"))
	f.Add([]byte("exits: throws\nrules:\n- block: com.example.**\n- allow: \"**.*B#get*(I**)\"\n"))
	f.Add([]byte("rules: [{block: &a a.B}, {allow: *a}, {block: 'Foo#a(I[La.B;)V'}]\n---\n"))
	f.Add([]byte("rules:\n  block: {annotation: x}\nexist: 1\n? [a]\n: b\n"))
	f.Add([]byte(`rules: [{block: 'a{b\.c}#d{e]'}]`))
	f.Add([]byte("a: &x [*x]\n<<: *x\n"))
	f.Add([]byte("include: [more.yml, f.yml]\nrules:\n- allow: {annotation: a.B, extends: '**.C', implements: D, " +
		"method: 'f(int)'}\n"))
	f.Add([]byte("include: more.yml\nrules:\n- &a block: &b\n    extends: a.B\n    annotation: c.D\n- *a\n- " +
		"allow: *b\n- block: {}\n"))
	read := files(map[string]string{"more.yml": "rules: [{block: more.B}]"})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkBlockList(t, data)
		c, err := ParseConfig("f.yml", data, knownOptions, read)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yml") && !strings.HasPrefix(err.Error(), "more.yml") ||
				len(c.Rules)+len(c.Options) > 0 {
				t.Errorf("error %v with %v", err, c)
			}
			return
		}
		checkRules(t, "f.yml", data, slices.DeleteFunc(c.Rules, func(r Rule) bool { return r.at.File == "more.yml" }))
		for key, o := range c.Options {
			if o.Value == "" || o.At.Line < 1 {
				t.Errorf("%s: %+v", key, o)
			}
		}
	})
}

func checkBlockList(t *testing.T, data []byte) {
	t.Helper()
	rules, err := ParseBlockList("b.txt", data)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "b.txt") || rules != nil || errors.Unwrap(err) != nil {
			t.Errorf("error %v with %v", err, rules)
		}
		return
	}
	checkRules(t, "b.txt", data, rules)
	for _, r := range rules {
		if r.allow || r.pattern.method != nil {
			t.Errorf("%v does more than block classes", r)
		}
	}
}

// TestConditionsAreDocumented checks that docs/rules.md and the package comment mention each key of a rule.
//
// Invariant: docs/rules.md shows every condition of rules.
func TestConditionsAreDocumented(t *testing.T) {
	for _, file := range []string{"../docs/rules.md", "doc.go"} {
		text := fixture.Read(t, file)
		for _, name := range conditionKeys {
			if !regexp.MustCompile(`[\x60 \t]` + name + `[\x60:, \n]`).Match(text) {
				t.Errorf("%s says nothing of %s", file, name)
			}
		}
	}
}
