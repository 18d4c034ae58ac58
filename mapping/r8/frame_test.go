package r8

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// r8Cases contains features that only R8 writes. The expected results are those of R8's own retrace (9.0.32, built
// from its sources).
var r8Cases = []struct{ name, mapping, text, want string }{
	{"outline", `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.example.Outline -> a.o:
    1:2:int outline() -> a
    # {"id":"com.android.tools.r8.outline"}
com.example.Caller -> a.c:
    4:4:int call(int):98:98 -> s
    5:5:int call(int):100:100 -> s
    27:27:int call(int):0:0 -> s
    # {"id":"com.android.tools.r8.outlineCallsite","positions":{"1":4,"2":5},"outline":"La/o;a()I"}
`, "java.io.IOException: no\n\tat a.o.a(SourceFile:2)\n\tat a.c.s(SourceFile:27)\n\tat a.c.s(SourceFile:4)\n",
		"java.io.IOException: no\n\tat com.example.Caller.call(Caller.java:100)\n" +
			"\tat com.example.Caller.call(Caller.java:98)\n"},
	{"outline with a line that the caller does not have", `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.example.Outline -> a.o:
    1:3:int outline() -> a
    # {"id":"com.android.tools.r8.outline"}
com.example.Caller -> a.c:
    3:3:int call(int):98:98 -> s
    27:27:int call(int):0:0 -> s
    # {"id":"com.android.tools.r8.outlineCallsite","positions":{"1":4,"2":5},"outline":"La/o;a()I"}
`, "\tat a.o.a(SourceFile:3)\n\tat a.c.s(SourceFile:27)\n", "\tat com.example.Caller.call(Caller.java:98)\n"},
	{"rewritten frame, only below its exception", `# {"id":"com.android.tools.r8.mapping","version":"2.0"}
com.example.Foo -> a:
    4:4:void other.Checks.notNull():23:23 -> a
    4:4:void foo(other.Checks):7 -> a
    # {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(Ljava/lang/NullPointerException;)"],"actions":["removeInnerFrames(1)"]}
`, "java.lang.NullPointerException: no\n\tat a.a(:4)\n\tat a.a(:4)\njava.lang.Error\n\tat a.a(:4)\n",
		"java.lang.NullPointerException: no\n\tat com.example.Foo.foo(Foo.java:7)\n" +
			"\tat other.Checks.notNull(Checks.java:23)\n\tat com.example.Foo.foo(Foo.java:7)\n" +
			"java.lang.Error\n\tat other.Checks.notNull(Checks.java:23)\n\tat com.example.Foo.foo(Foo.java:7)\n"},
	{"synthesized lambda", `# {"id":"com.android.tools.r8.mapping","version":"1.0"}
com.example.Main -> a:
    4:4:void com.example.Main.lambda$main$0():225:225 -> a
    4:4:void run(com.example.Main):2 -> a
      # {"id":"com.android.tools.r8.synthesized"}
`, "\tat a.a(Unknown Source:4)\n", "\tat com.example.Main.lambda$main$0(Main.java:225)\n"},
	{"alternatives without a line", "com.example.Foo -> a.a:\n    void foo(int) -> a\n    void bar(int,int) -> a\n" +
		"    void baz(int,int):17:19 -> b\n",
		"  at a.a.a(SourceFile)\n  at a.a.b(SourceFile)\n",
		"  at com.example.Foo.bar(Foo.java)\n  <OR> at com.example.Foo.foo(Foo.java)\n" +
			"  at com.example.Foo.baz(Foo.java)\n"},
	{"alternatives with inlined frames", "com.example.Foo -> a:\n    1:1:void one():8:8 -> a\n" +
		"    1:1:void foo():20 -> a\n    1:1:void two():9:9 -> b\n    2:4:void wide(int):5:6 -> c\n" +
		"    2:4:void top(int):5:7 -> d\n",
		"\tat a.a(F:1)\n\tat a.c(F:3)\n\tat a.d(F:9)\n\tat a.d(F)\n",
		"\tat com.example.Foo.one(Foo.java:8)\n\tat com.example.Foo.foo(Foo.java:20)\n" +
			"\tat com.example.Foo.wide(Foo.java:5)\n\t<OR> at com.example.Foo.wide(Foo.java:6)\n" +
			"\tat com.example.Foo.d(Foo.java:9)\n\tat com.example.Foo.top(Foo.java)\n"},
	{"catch-all", "com.example.Foo -> a:\n    0:65535:void foo():33:33 -> a\n",
		"\tat a.a(:7)\n\tat a.a(Unknown Source)\n",
		"\tat com.example.Foo.foo(Foo.java:33)\n\tat com.example.Foo.foo(Foo.java:33)\n"},
	{"source files", "com.example.FooKt -> a:\n    1:1:void com.example.Bar$Inner.in():5:5 -> a\n" +
		"    1:1:void out():6 -> a\n# {\"id\":\"sourceFile\",\"fileName\":\"no.kt\"}\ncom.example.Bar$Inner -> b:\n" +
		"# {\"id\":\"sourceFile\",\"fileName\":\"Odd.kt\"}\n",
		"\tat a.a(SourceFile:1)\n\tat a.a(x.java:1)\n\tat b.x(y.kt:3)\n",
		"\tat com.example.Bar$Inner.in(Odd.kt:5)\n\tat com.example.FooKt.out(Foo.kt:6)\n" +
			"\tat com.example.Bar$Inner.in(Odd.kt:5)\n\tat com.example.FooKt.out(FooKt.java:6)\n" +
			"\tat com.example.Bar$Inner.x(Odd.kt:3)\n"},
}

// Invariant: Retraced stack traces are those of R8's retrace.
func TestR8Features(t *testing.T) {
	for _, test := range r8Cases {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, retrace(t, test.mapping, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFrames(t *testing.T) {
	m := mustParse(t, inlining)
	for _, test := range []struct {
		class, method string
		line          int32
		want          [][]frame
	}{
		{"a.b", "a", 4, [][]frame{{{"com.example.Util", "check", "", 31}, {"com.example.Foo", "bar", "Foo.kt", 13}}}},
		{"a.b", "z", 4, [][]frame{{{"com.example.Foo", "z", "Foo.kt", 4}}}},
		{"z", "z", 0, [][]frame{{{"z", "z", "", 0}}}},
	} {
		stacks, _ := m.frames(test.class, test.method, test.line, context{})
		var got [][]frame
		for _, s := range stacks {
			got = append(got, s.frames)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(frame{})); diff != "" {
			t.Errorf("%s.%s:%d: %s", test.class, test.method, test.line, diff)
		}
	}
	// A mapping with two billion original lines must not become two billion lines of text.
	wide := mustParse(t, "A -> a:\n 1:1:void f():1:2147483647 -> a\n")
	if stacks, _ := wide.frames("a", "a", 1, context{}); len(stacks) != maxAlternatives {
		t.Errorf("%d alternatives", len(stacks))
	}
}
