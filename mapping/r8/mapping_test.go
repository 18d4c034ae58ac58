package r8

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample contains one of everything that a mapping can contain about names.
const sample = `# compiler: R8
# compiler_version: 8.13.6
# pg_map_id: 7e3a2b1
# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.example.Foo -> a.b:
# {"id":"sourceFile","fileName":"Foo.kt"}
    int count -> a
    int other.Base.total -> b
    1:3:int bar(int):10:12 -> a
    4:4:void com.example.Util.check(int):31:31 -> a
    4:4:int bar(int):13 -> a
    1:1:int bar(long):20:20 -> a
    8:8:void <init>():40:40 -> <init>
    8:8:void <init>(int):40:40 -> <init>
    com.example.Foo make(com.example.Foo[],int[][],java.lang.String) -> b
    boolean changed(com.example.Foo,int) -> c
      # {"id":"com.android.tools.r8.residualsignature","signature":"(La/b;)V"}
com.example.gone.Bar -> a.c:
    void run() -> run
    void com.example.Second.run() -> run
    0:65535:void only(int):7:7 -> d
    1:1:void com.example.Second.only(int):8:8 -> d
com.example.Foo$$ExternalSyntheticLambda0 -> a.d:
# {"id":"com.android.tools.r8.synthesized"}
    void com.example.Foo.accept() -> a
      # {"id":"com.android.tools.r8.synthesized"}
`

func mustParse(t testing.TB, text string) *Mapping {
	t.Helper()
	m, err := Parse("mapping.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Invariant: Every method that an R8 mapping lists is found by its name and descriptor in the renamed class.
func TestOriginals(t *testing.T) {
	m := mustParse(t, sample)
	for _, test := range []struct {
		name     string
		residual Method
		want     answer
	}{
		{"inlined lines do not hide the method", Method{"a/b", "a", "(I)I"},
			answer{exact, []Method{{"com/example/Foo", "bar", "(I)I"}}}},
		{"overloads differ by descriptor", Method{"a/b", "a", "(J)I"},
			answer{exact, []Method{{"com/example/Foo", "bar", "(J)I"}}}},
		{"constructor", Method{"a/b", "<init>", "()V"},
			answer{exact, []Method{{"com/example/Foo", "<init>", "()V"}}}},
		{"overloads on one line are no inlining", Method{"a/b", "<init>", "(I)V"},
			answer{exact, []Method{{"com/example/Foo", "<init>", "(I)V"}}}},
		{"types are translated", Method{"a/b", "b", "([La/b;[[ILjava/lang/String;)La/b;"},
			answer{exact, []Method{
				{"com/example/Foo", "make", "([Lcom/example/Foo;[[ILjava/lang/String;)Lcom/example/Foo;"},
			}}},
		{"residual signature", Method{"a/b", "c", "(La/b;)V"},
			answer{exact, []Method{{"com/example/Foo", "changed", "(Lcom/example/Foo;I)Z"}}}},
		{"residual signature replaces the translated one", Method{"a/b", "c", "(La/b;I)Z"},
			answer{guess, []Method{{"com/example/Foo", "changed", "(Lcom/example/Foo;I)Z"}}}},
		{"merged classes", Method{"a/c", "run", "()V"},
			answer{merged, []Method{{"com/example/gone/Bar", "run", "()V"}, {"com/example/Second", "run", "()V"}}}},
		{"merged classes, with lines", Method{"a/c", "d", "(I)V"},
			answer{merged, []Method{{"com/example/gone/Bar", "only", "(I)V"}, {"com/example/Second", "only", "(I)V"}}}},
		{"unlisted method", Method{"a/b", "toString", "(La/c;)Ljava/lang/String;"},
			answer{unlisted, []Method{{"com/example/Foo", "toString", "(Lcom/example/gone/Bar;)Ljava/lang/String;"}}}},
		{"unlisted class", Method{"kept/K", "k", "(La/b;)V"},
			answer{unlisted, []Method{{"kept/K", "k", "(Lcom/example/Foo;)V"}}}},
		{"synthesized", Method{"a/d", "a", "()V"},
			answer{exact, []Method{{"com/example/Foo", "accept", "()V"}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, m.originals(test.residual), cmp.AllowUnexported(answer{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClasses(t *testing.T) {
	// The emoji is two surrogates in a class file and one character in text.
	m := mustParse(t, "café.\U0001F600 -> e:\ncom.Foo -> a.b:\ncom.Bar -> a.b:\n")
	if got, ok := m.OriginalClass("e"); got != "café/\xed\xa0\xbd\xed\xb8\x80" || !ok {
		t.Errorf("original of e: %q, %v", got, ok)
	}
	if got, ok := m.ResidualClass("café/\xed\xa0\xbd\xed\xb8\x80"); got != "e" || !ok {
		t.Errorf("residual: %q, %v", got, ok)
	}
	if got, ok := m.OriginalClass("a/b"); got != "com/Bar" || !ok {
		t.Errorf("the later of two classes counts, got %q, %v", got, ok)
	}
	if got, ok := m.OriginalClass("a/c"); got != "a/c" || ok {
		t.Errorf("unlisted: %q, %v", got, ok)
	}
	if got := m.originalDescriptor("(I[La/b;La/c;)La/b;"); got != "(I[Lcom/Bar;La/c;)Lcom/Bar;" {
		t.Errorf("descriptor: %s", got)
	}
}

// TestVersions checks that comments are ignored if the file's map version is older than they are.
func TestVersions(t *testing.T) {
	const body = "A -> a:\n  void f(int) -> b\n  # {\"id\":\"com.android.tools.r8.synthesized\"}\n" +
		"  # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"()V\"}\n"
	for _, test := range []struct {
		version, residual string
		synthesized       bool
		unknown           string
	}{
		{"none", "(I)V", false, ""},
		{"1.0", "(I)V", true, ""},
		{"2.0", "(I)V", true, ""},
		{"2.2", "()V", true, ""},
		{"3.0", "(I)V", false, "3.0"},
		{"experimental", "(I)V", false, ""},
	} {
		m := mustParse(t, `# {"id":"com.android.tools.r8.mapping","version":"`+test.version+"\"}\n"+body)
		want := answer{exact, []Method{{"A", "f", "(I)V"}}}
		if diff := cmp.Diff(want, m.originals(Method{"a", "b", test.residual}),
			cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s: %s", test.version, diff)
		}
		if stacks, _ := m.frames("a", "b", 0, context{}); (len(stacks[0].frames) == 0) != test.synthesized {
			t.Errorf("%s: frames %v", test.version, stacks)
		}
		if m.UnknownVersion() != test.unknown {
			t.Errorf("%s: unknown version %q", test.version, m.UnknownVersion())
		}
	}
}

func TestOddFiles(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"nothing", ""},
		{"header only", "# compiler: R8\n\n"},
		{"byte order mark, CRLF, no end of line", "\ufeffA -> a:\r\n  void f() -> b\r"},
		{"arrow without spaces", "com.example.package-info->a:\nA -> a:\n void f()->b\n"},
		{"names that javac would refuse",
			"A -> a:\n int ? -> b\n void <clinit>$redex$opt() -> b\n void f() -> b\n void it does this() -> b\n"},
		{"ranges that old versions got wrong", "A -> a:\n 3:0:void f():7:0 -> b\n 9:3:void f():3:9 -> b\n"},
		{"original lines alone", "A -> a:\n void f():7:9 -> b\n void f():7 -> b\n"},
		{"spaces", "  A  ->  a :\n 1 : 2 : void  f ( ) : 3 : 4  ->  b\n"},
		{"JSON that means nothing", "# {\n# {\"id\":7}\n# {\"id\":\"no.such\"}\nA -> a:\n# {}\n void f() -> b\n" +
			"# {\"id\":\"com.android.tools.r8.residualsignature\"}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := mustParse(t, test.text)
			if strings.Contains(test.text, "void f") || strings.Contains(test.text, "void  f") {
				methods := m.originals(Method{"a", "b", "()V"}).methods
				if !slices.Contains(methods, Method{"A", "f", "()V"}) {
					t.Errorf("originals of a.b: %v", methods)
				}
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"PK\x03\x04", `m:1: "PK\x03\x04": want a class, "original -> residual:"`},
		{"A -> a:\n void f() b\n",
			`m:2: "void f() b": want a member, "type name -> residual", or a class that ends with ':'`},
		{"A -> :\n", `m:1: "A -> :": want a class, "original -> residual:"`},
		{"# x\n void f() -> b\n", `m:2: "void f() -> b": want a class, "original -> residual:"`},
		{"A -> a:\n f() -> b\n", `m:2: "f() -> b": want a type and a name, with a space between`},
		{"A -> a:\n void f( -> b\n", `m:2: "void f( -> b": want the method's arguments in parentheses`},
		{"A -> a:\n void () -> b\n", `m:2: "void () -> b": the method's name is empty, or too long for a class file`},
		{"A -> a:\n 1:void f() -> b\n",
			`m:2: "1:void f() -> b": want two numbers, the residual lines, before the method`},
		{"A -> a:\n 1:2:void f():x -> b\n",
			`m:2: "1:2:void f():x -> b": want the original lines, ":first" or ":first:last", after the method`},
		{"A -> a:\n 1:2:void f()7 -> b\n",
			`m:2: "1:2:void f()7 -> b": want the original lines, ":first" or ":first:last", after the method`},
		{"A -> a:\n 1:99999999999:void f() -> b\n",
			`m:2: "1:99999999999:void f() -> b": a line number above 2147483647`},
	} {
		_, err := Parse("m", test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
	if _, err := Load("no/such/file"); err == nil ||
		!strings.Contains(err.Error(), "give the mapping.txt that R8 or ProGuard wrote") {
		t.Errorf("missing file: %v", err)
	}
}
