package filter

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// parseRules returns rules for patterns that begin with + to allow and - to block. Their file is called "rules".
func parseRules(t testing.TB, patterns ...string) []Rule {
	t.Helper()
	var rules []Rule
	for i, p := range patterns {
		r, err := ParseRule(p[0] == '+', p[1:], Position{"rules", i + 1})
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return rules
}

// lastRule returns the number of the last rule that matches a method, -1 if none does.
func lastRule(f *Filter, class, method, descriptor string) int32 {
	cf := ClassFilter{filter: f, name: class}
	cf.findRules()
	rule, _ := cf.lastMatchingRule(&classfile.Member{Name: method, Descriptor: descriptor})
	return rule
}

// TestClassPatterns has what [TestPatternsAgreeWithRegexp] does not: separators, and characters that are plain.
func TestClassPatterns(t *testing.T) {
	cases := []struct {
		pattern string
		match   string // class names
		differ  string
	}{
		{"com/example/Foo", "com/example/Foo com/example/Foo$1", "com/example/Foo1"},
		{"com/example.Foo", "com/example/Foo", ""},
		{"**.*Binding", "FooBinding a/FooBinding a/b/Binding a/FooBinding$1 a/Foo$BarBinding",
			"a/FooBindings a/Binding/Foo a/Bindingx$1"},
		{"com.exämple.😀", "com/exämple/\xed\xa0\xbd\xed\xb8\x80 com/exämple/\xed\xa0\xbd\xed\xb8\x80$1",
			"com/exämple/😀 com/example/A com/exämple/\xed\xa0\xbd\xed\xb8\x81 com/exämple/\ufffd"},
		{"com.*😀", "com/\xed\xa0\xbd\xed\xb8\x80 com/ä\xed\xa0\xbd\xed\xb8\x80$ö", "com/\xed\xa0\xbd\xed\xb8\x81"},
		{"**.a{b}*", "a{b} x/a{b}d a{b}$1", "ab x/ab a{b/d"},
		{`a*\b`, `a\b ax\b a\\b$1`, `ab a*b axb a\bc a\\`},
		{"*!^-}", "a!^-} !^-}$1", "a!^-"},
	}
	for _, c := range cases {
		p := parseRules(t, "-"+c.pattern)[0].pattern.class
		for _, name := range strings.Fields(c.match) {
			if !p.match(name) {
				t.Errorf("%s does not match %q", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.differ) {
			if p.match(name) {
				t.Errorf("%s matches %q", c.pattern, name)
			}
		}
	}
}

func TestMethodPatterns(t *testing.T) {
	cases := []struct {
		pattern string
		match   string // methods as NAME(PARAMETERS)RETURN
		differ  string
	}{
		{"a.B#get", "get()V get(I)I", "getX()V ge()V Get()V"},
		{"a.B#get*", "get()V getX(I)V", "ge()V aget()V"},
		{"a.B#get*(**)", "get()V getX(IJ)V", "set()V"},
		{"a.B#*", "a()V <init>()V <clinit>()V", ""},
		{"a.B#<init>", "<init>()V <init>(I)V", "init()V <clinit>()V"},
		{"a.B#*Loaded*Image", "onLoadedImage()V LoadedBigImage()V", "Loaded()V"},
		{"a.B#f()", "f()V f()I", "f(I)V g()V"},
		{"a.B#f(I[J)", "f(I[J)V", "f(IJ)V f(I[[J)V f([JI)V"},
		{"a.B#f(ZBCDFIJS)", "f(ZBCDFIJS)V", "f(ZBCDFIJ)V f(ZBCDFIJSS)V"},
		{"a.B#f(Ljava.lang.String;)", "f(Ljava/lang/String;)V",
			"f(Ljava/lang/StringBuilder;)V f([Ljava/lang/String;)V f(Ljava/lang/String$A;)V f(Ljava/lang/String;I)V"},
		{"a.B#f(Ljava/util/Map$Entry;)", "f(Ljava/util/Map$Entry;)V", "f(Ljava/util/Map;)V"},
		{"a.B#f(Ljava.util.*;)", "f(Ljava/util/List;)V f(Ljava/util/Map$Entry;)V",
			"f(Ljava/util/a/B;)V f(I)V f([Ljava/util/List;)V"},
		{"a.B#f([[L**.String;)", "f([[Ljava/lang/String;)V", "f([[LString;)V f([Ljava/lang/String;)V"},
		{"a.B#f(**I**)", "f(JI)V f([JILa/B;J)V f(I)V", "f(J)V f(JJ)V f()V"},
		{"a.B#f(I)", "f(I)V f(I)J", "f(LI;)V f(J)V"},
		{"a.B#f(I[Ljava/lang/String;)", "f(I[Ljava/lang/String;)V", "f(I)V"},
		{"a.B#f(I[Ljava.lang.String;)V", "f(I[Ljava/lang/String;)V", "f(I[Ljava/lang/String;)I"},
		{"a.B#f()Ljava/lang/Object;", "f()Ljava/lang/Object;", "f()V f()Ljava/lang/Objects;"},
		{"a.B#f(**)V", "f()V f(IJ)V", "f()I f(I"},
		{"a.B#f(**)[I", "f(I)[I", "f(I)I f(I)[[I"},
		{"a.B#f(I)*", "f(I)V f(I)J", "f(J)V"},
		{"a.B#a*****", "a()V ab()V", "b()V"},
		{"a.B#***a***b***", "ab()V xaybz()V", "ba()V"},
		{"a.B#{a,b}*]", "{a,b}]()V {a,b}x]()V", "a]()V b]()V {a,b}()V"},
		{`a.B#a\*`, `a\()V a\b()V`, `a*()V ab()V`},
		{"a.B#*😀", "\xed\xa0\xbd\xed\xb8\x80()V ä\xed\xa0\xbd\xed\xb8\x80()V", "\xed\xa0\xbd\xed\xb8\x81()V"},
		{"a.B#f(L*😀;)", "f(L\xed\xa0\xbd\xed\xb8\x80;)V", "f(L\xed\xa0\xbd\xed\xb8\x81;)V"},
		{"a.B#a\u2060b", "a\u2060b()V", "a()V b()V"},
		{"**#f(I)", "f(I)V", "f(J)V g(I)V"},
		{"**#g*(I)", "g(I)V get(I)V", "f(I)V g(J)V"},
	}
	for _, c := range cases {
		f := New(Options{Rules: parseRules(t, "-"+c.pattern)})
		check := func(methods string, want int32) {
			for _, m := range strings.Fields(methods) {
				name, descriptor, _ := strings.Cut(m, "(")
				if got := lastRule(f, "a/B", name, "("+descriptor); got != want {
					t.Errorf("%s and %s: got rule %d, want %d", c.pattern, m, got, want)
				}
			}
		}
		check(c.match, 0)
		check(c.differ, -1)
		if !strings.HasPrefix(c.pattern, "**") && lastRule(f, "a/C", "f", "(I)V") >= 0 {
			t.Errorf("%s matches a method of a/C", c.pattern)
		}
	}
}

// TestSourceNames compares patterns with what a compiler has made of a function.
func TestSourceNames(t *testing.T) {
	f := New(Options{Rules: parseRules(t, "-a.Feed#load")})
	described := New(Options{Rules: parseRules(t, "-a.Feed#load(I)")})
	for _, test := range []struct {
		class, method string
		want          int32
	}{
		{"a/Feed", "load", 0},
		{"a/Feed", "load$default", 0},
		{"a/Feed", "load-a1B2c3D", 0},
		{"a/Feed", "lambda$load$0", 0},
		{"a/Feed$load$1", "invokeSuspend", 0},
		{"a/Feed$load$1$2", "invoke", 0},
		{"a/Feed$Companion$load$1", "invoke", 0},
		{"a/Feed$other$1", "invoke", -1},
		{"a/Feed", "lambda$loaded$0", -1},
		{"b/Feed$load$1", "invoke", -1},
	} {
		if got := lastRule(f, test.class, test.method, "(J)V"); got != test.want {
			t.Errorf("%s.%s: got rule %d, want %d", test.class, test.method, got, test.want)
		}
		if got := lastRule(described, test.class, test.method, "(J)V"); got != -1 {
			t.Errorf("%s.%s matches a pattern with other parameters", test.class, test.method)
		}
	}
	u := f.Unmatched()
	u.Class("a/Feed$load$1", func(i int) (name, descriptor string, ok bool) { return "invoke", "()V", i == 0 })
	if rest := u.Rules(); len(rest) != 0 {
		t.Errorf("%v is said to match nothing", rest)
	}
}

func TestFaultyPatterns(t *testing.T) {
	cases := []struct{ pattern, want string }{
		{"", "the pattern is empty"},
		{"com..Foo", `class pattern "com..Foo" has an empty segment`},
		{".Foo", `class pattern ".Foo" has an empty segment`},
		{"com.example.",
			`class pattern "com.example." ends in a separator: to match all classes below a package, ` +
				`write "com.example.**"`},
		{"com.example**",
			`class pattern "com.example**": ** must be a whole segment, as in **.*Name; use * within a segment`},
		{"**Binding", `class pattern "**Binding": ** must be a whole segment, as in **.*Name; use * within a segment`},
		{"com.Fo?", `pattern "com.Fo?" contains '?': the only wildcard is *, for any number of characters`},
		{"com.Fo\n", `pattern "com.Fo\n" contains '\n': the only wildcard is *, for any number of characters`},
		{"com.\xff", `pattern "com.\xff" is not valid UTF-8`},
		{"com.Foo ", `class pattern "com.Foo ": "Foo " is not the name of a class or package`},
		{"com.Foo;", `class pattern "com.Foo;": "Foo;" is not the name of a class or package`},
		{"com.Foo()", `class pattern "com.Foo()": "Foo()" is not the name of a class or package`},
		{"#foo", `no class before #: to match a method of every class, write "**#foo"`},
		{"Foo#", "no method name after #: write * for any name"},
		{"Foo#(int)", "no method name after #: write * for any name"},
		{"Foo#a.b", `method pattern "a.b": "a.b" is not the name of a method`},
		{"Foo#<in*", `method pattern "<in*": "<in*" is not the name of a method`},
		{"Foo#a#b", `method pattern "a#b": "a#b" is not the name of a method`},
		{"Foo#a ()", `method pattern "a ()": "a " is not the name of a method`},
	}
	for _, method := range []string{"a(int", "a(I", "a(int)", "a(I, J)", "a(Ljava.lang.String)", "a(List<String>)", "a(*)",
		"a(L;)", "a([)", "a(L[I;)", "a()X", "a()int", "a()VV", "a()II", "a()**I", "a(V)"} {
		cases = append(cases, struct{ pattern, want string }{"Foo#" + method, `method pattern "` + method +
			`": write the parameters as in a mapping, (ILjava.lang.String;)V, or (**) for any`})
	}
	for _, c := range cases {
		_, err := ParseRule(false, c.pattern, Position{"tracegen.yml", 3})
		if want := "tracegen.yml:3: " + c.want; err == nil || err.Error() != want {
			t.Errorf("%q: got %v\nwant %s", c.pattern, err, want)
		}
	}
}

// TestManyWildcards checks that a pattern with many wildcards does not take exponential time.
func TestManyWildcards(t *testing.T) {
	wide, deep := strings.Repeat("a", 65535), strings.Repeat("aaa/", 16383)+"aaa"
	for _, text := range []string{
		strings.Repeat("*a", 50) + "b",
		strings.Repeat("**.*a*.", 50) + "b",
		"**." + strings.Repeat("*a*.", 50) + "b",
		strings.Repeat("**."+strings.Repeat("*a", 3)+".*.", 20) + "b*b",
	} {
		p, err := parsePattern(text + "#" + strings.Repeat("*a", 50) + "b")
		if err != nil {
			t.Fatal(err)
		}
		if p.class.match(wide) || p.class.match(deep) || p.method.match(wide, "()V") {
			t.Errorf("%s matched", text)
		}
	}
}

// TestPatternsAgreeWithRegexp compares class patterns with equivalent regular expressions, for all short patterns and
// names over a small alphabet.
func TestPatternsAgreeWithRegexp(t *testing.T) {
	names := shortNames()
	for _, text := range shortPatterns() {
		p, err := parsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		expr := regexp.QuoteMeta(strings.ReplaceAll(text, ".", "/"))
		expr = regexp.MustCompile(`(^|/)\\\*\\\*$`).ReplaceAllString(expr, "$1(.+/)?[^/]*")
		expr = regexp.MustCompile(`(\\\*\\\*/)+`).ReplaceAllString(expr, "(.+/)?")
		expr = strings.ReplaceAll(expr, `\*`, "[^/]*")
		re := regexp.MustCompile(`^` + expr + `($|\$[^/]*$)`)
		for _, name := range names {
			if got, want := p.class.match(name), re.MatchString(name); got != want {
				t.Errorf("%s and %s: got %v, want %v as %s", text, name, got, want, re)
			}
		}
	}
}

func shortPatterns() []string {
	segments := []string{"a", "b", "a*", "*", "**", "a$b"}
	patterns := segments
	for _, x := range segments {
		for _, y := range segments {
			patterns = append(patterns, x+"."+y)
			for _, z := range segments {
				patterns = append(patterns, x+"."+y+"."+z, "b."+x+"."+y+"."+z)
			}
		}
	}
	return patterns
}

func shortNames() []string {
	var names []string
	for _, x := range []string{"a", "b", "aa", "a$b", "a$", "$a"} {
		names = append(names, x)
		for _, y := range []string{"a", "b", "ab", "a$b$c"} {
			names = append(names, x+"/"+y, x+"/"+y+"/a", "c/"+x+"/"+y, "b/"+x+"/a/"+y, x+"/"+x+"/"+y+"/"+y)
		}
	}
	return names
}

// TestRulesAgreeWithPatterns compares the rules of a class with matching every rule separately.
//
// Invariant: The last rule that matches a method decides.
func TestRulesAgreeWithPatterns(t *testing.T) {
	var patterns []string
	for i, p := range shortPatterns() {
		patterns = append(patterns, [...]string{"-" + p, "+" + p + "#f", "-" + p + "#*", "+" + p}[i%4])
	}
	rules, names := parseRules(t, patterns...), shortNames()
	for end := 1; end <= len(rules); end++ {
		for start := range map[int]bool{end - 1: true, max(0, end-10): true, end / 2: true} {
			f := New(Options{Rules: rules[start:end]})
			for _, name := range names {
				for _, method := range []string{"f", "g"} {
					want := int32(-1)
					for i, r := range rules[start:end] {
						p := r.pattern
						if p.class.match(name) && (p.method == nil || p.method.match(method, "()V")) {
							want = int32(i)
						}
					}
					if got := lastRule(f, name, method, "()V"); got != want {
						t.Fatalf("rules %v: %s#%s: got %d, want %d", patterns[start:end], name, method, got, want)
					}
				}
			}
		}
	}
}
