package r8

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// retrace parses a mapping and returns the retraced text.
func retrace(t testing.TB, mapping, text string) string {
	t.Helper()
	return retraceWith(mustParse(t, mapping), text)
}

// retraceWith retraces text line by line, as the callers of the package do.
func retraceWith(m *Mapping, text string) string {
	stack := m.Stack()
	var out []byte
	for line := range strings.Lines(text) {
		out = stack.AppendLine(out, []byte(line))
	}
	return string(out)
}

const inlining = `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.example.Foo -> a.b:
# {"id":"sourceFile","fileName":"Foo.kt"}
    1:3:int bar(int):10:12 -> a
    4:4:void com.example.Util.check(int):31:31 -> a
    4:4:int bar(int):13 -> a
com.example.FailException -> a.c:
com.example.Util -> a.d:
`

func TestStackForms(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"frame", "\tat a.b.a(SourceFile:2)\n", "\tat com.example.Foo.bar(Foo.kt:11)\n"},
		{"inlined", "\tat a.b.a(SourceFile:4)\r\n",
			"\tat com.example.Util.check(Util.java:31)\r\n\tat com.example.Foo.bar(Foo.kt:13)\r\n"},
		{"loader and module", "    at app//mod@1.0/a.b.a(Unknown Source:1)",
			"    at app//mod@1.0/com.example.Foo.bar(Foo.kt:10)"},
		{"map id", "  at a.b.a(r8-map-id-7e3a2b1:3)\n", "  at com.example.Foo.bar(Foo.kt:12)\n"},
		{"jar", "  at a.b.a(SourceFile:3) ~[a.jar:1.0]\n", "  at com.example.Foo.bar(Foo.kt:12) ~[a.jar:1.0]\n"},
		{"logcat", "11-21 10:00:00.123  1  2 E AndroidRuntime: \tat a.b.a(SourceFile:3)\n",
			"11-21 10:00:00.123  1  2 E AndroidRuntime: \tat com.example.Foo.bar(Foo.kt:12)\n"},
		{"unlisted method", "  at a.b.<init>(SourceFile:3)\n", "  at com.example.Foo.<init>(Foo.kt:3)\n"},
		{"unlisted class", "  at z.z.a(SourceFile:3)\n", "  at z.z.a(SourceFile:3)\n"},
		{"native", "  at a.d.n(Native Method)\n", "  at com.example.Util.n(Native Method)\n"},
		{"BlockCanary", "stack = a.b.a(SourceFile:4)\r\na.d.x(SourceFile)\r\n",
			"stack = com.example.Util.check(Util.java:31)\r\ncom.example.Foo.bar(Foo.kt:13)\r\n" +
				"com.example.Util.x(Util.java)\r\n"},
		{"Matrix", "at a.b:a(3)\nat a.d:<init>(-1)\n", "at com.example.Foo:bar(12)\nat com.example.Util:<init>(-1)\n"},
		{"headers", "a.c: no\nCaused by: a.c\n\tSuppressed: a.c: x\n[CIRCULAR REFERENCE:a.c]\n" +
			"Exception in thread \"main\" a.c: a.d: b\n",
			"com.example.FailException: no\nCaused by: com.example.FailException\n" +
				"\tSuppressed: com.example.FailException: x\n[CIRCULAR REFERENCE:com.example.FailException]\n" +
				"Exception in thread \"main\" com.example.FailException: a.d: b\n"},
		{"one line, blanks", "a.c at a.b.a(SourceFile:4) at a.b.a(SourceFile:2)\n", "com.example.FailException " +
			"at com.example.Util.check(Util.java:31) at com.example.Foo.bar(Foo.kt:13) at com.example.Foo.bar(Foo.kt:11)\n"},
		{"one line, <br>", "E<br>  at a.b.a(SourceFile:2)<br>  at a.b.a(SourceFile:4)<br>Caused by: a.c: x<br>",
			"E<br>  at com.example.Foo.bar(Foo.kt:11)<br>  at com.example.Util.check(Util.java:31)<br>  at " +
				"com.example.Foo.bar(Foo.kt:13)<br>Caused by: com.example.FailException: x<br>"},
		{"one line, bars", "failed: a.c: q | at a.b.a(SourceFile:1) | at z.z.a(SourceFile:3)\r\n",
			"failed: com.example.FailException: q | at com.example.Foo.bar(Foo.kt:10) | at z.z.a(SourceFile:3)\r\n"},
		{"string", `{"s":"a.c: x\r\n\tat a.b.a(SourceFile:4)\r\n\tat a.b.a(SourceFile:1)\nCaused by: a.c","c":"a.c"}`,
			`{"s":"com.example.FailException: x\r\n\tat com.example.Util.check(Util.java:31)\r\n\tat ` +
				`com.example.Foo.bar(Foo.kt:13)\r\n\tat com.example.Foo.bar(Foo.kt:10)\n` +
				`Caused by: com.example.FailException","c":"com.example.FailException"}`},
		{"list", `["a.b.a(SourceFile:4)"] {"s":"b"}`,
			`["com.example.Util.check(Util.java:31)", "com.example.Foo.bar(Foo.kt:13)"] {"s":"b"}`},
		{"value", `{\"s\":\"at a.b.a(SourceFile:4)\"}`,
			`{\"s\":\"at com.example.Util.check(Util.java:31)\\nat com.example.Foo.bar(Foo.kt:13)\"}`},
		{"other text", "[a.b.a(SourceFile:4)] at a.b.a(SourceFile:2) again", "[com.example.Util.check(Util.java:31), " +
			"com.example.Foo.bar(Foo.kt:13)] at com.example.Foo.bar(Foo.kt:11) again"},
		{"native", "#00 pc 0001  /base.odex (a.b.a+12)\n  native: #01 pc 02 x.so (a.b.x(int)+1)\n",
			"#00 pc 0001  /base.odex (com.example.Foo.bar+12)\n  native: #01 pc 02 x.so (a.b.x(int)+1)\n"},
		{"locks", "  - locked <0x1> (a a.b)\n" +
			" - waiting to lock <0x1> (a java.lang.Class<a.b>)\nBLOCKED on a.b@1f\nme@a.b (a b)\n",
			"  - locked <0x1> (a com.example.Foo)\n - waiting to lock <0x1> (a java.lang.Class<com.example.Foo>)\n" +
				"BLOCKED on com.example.Foo@1f\nme@a.b (a b)\n"},
		{"objects", `[{"method":"a","class":"a.b","file":"SourceFile","line":4},{"className":"z.z","methodName":"a","lineNumber":1}]`,
			`[{"method":"check","class":"com.example.Util","file":"Util.java","line":31},` +
				`{"method":"bar","class":"com.example.Foo","file":"Foo.kt","line":13},` +
				`{"className":"z.z","methodName":"a","lineNumber":1}]`},
		{"objects, the outer frame first", `{"frames":[{"function":"a","module":"a.b","lineno":4,"in_app":true}]}`,
			`{"frames":[{"function":"bar","module":"com.example.Foo","lineno":13,"in_app":true},` +
				`{"function":"check","module":"com.example.Util","lineno":31,"in_app":true}]}`},
		{"class and method in one", `{"symbol":"a.b.a","file":null,"line":2}`,
			`{"symbol":"com.example.Foo.bar","file":null,"line":11}`},
		{"other objects", `{"class":"a.b","method":"a"} {"class":"a c","method":"a","line":1}`,
			`{"class":"com.example.Foo","method":"a"} {"class":"a c","method":"a","line":1}`},
		{"no frames", "at a.b.a\nat a.b.a(\na.b.a(x)\nlat a.b.a(X:1)\n\t... 5 more\nat a.b(c)x\na.b\x00:\n\xff a.b.\n",
			"at a.b.a\nat a.b.a(\na.b.a(x)\nlat a.b.a(X:1)\n\t... 5 more\nat a.b(c)x\na.b\x00:\n\xff a.b.\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, retrace(t, inlining, test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHeaderWords checks that a class with a one-letter name is not found in every word of a log.
//
// Invariant: A stack trace changes only in lines that name a class of the mapping.
func TestHeaderWords(t *testing.T) {
	const mapping = "com.example.Foo -> a:\ncom.example.MyException -> e:\n"
	for in, want := range map[string]string{
		"a: 5\n":                    "a: 5\n",
		"plan a\n":                  "plan a\n",
		"state: a\n":                "state: a\n",
		"e: 5\n":                    "com.example.MyException: 5\n",
		"E/App: e: 5\n":             "E/App: com.example.MyException: 5\n",
		"Caused by: a: 5\n":         "Caused by: com.example.Foo: 5\n",
		"e: a: 5\n":                 "com.example.MyException: a: 5\n",
		"1e: 5\n":                   "1e: 5\n",
		"http://a:80/\n":            "http://a:80/\n",
		"time: 12:30\nGET /a.b e\n": "time: 12:30\nGET /a.b e\n",
	} {
		if got := retrace(t, mapping, in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
