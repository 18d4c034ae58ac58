package filter_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	. "github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// ofLibrary returns the decision about the last method of a class that is of a library, in a scope.
func ofLibrary(t *testing.T, scope Scope, c assembly.Class, rules ...Rule) Decision {
	t.Helper()
	f := New(Options{Scope: scope, Libraries: map[string]bool{c.Name: true}, Rules: rules, Trivial: None})
	class := c.Parse()
	forClass := f.ForClass(class)
	if !forClass.Library() {
		t.Fatalf("%s is not of a library", c.Name)
	}
	m := &class.Methods()[len(class.Methods())-1]
	code, ok, err := class.Code(m)
	if err != nil || !ok {
		t.Fatalf("%s: no code: %v", m.Name, err)
	}
	return forClass.Decide(m, code)
}

// elevenNops makes a method larger than one that is never traced because it cannot stall.
const elevenNops = "nop | nop | nop | nop | nop | nop | nop | nop | nop | nop | nop | "

// TestCanStall checks which methods of a library can take long by themselves. The others are traced only if the program
// calls them, and they are not small.
func TestCanStall(t *testing.T) {
	const static = classfile.AccStatic
	for _, row := range []struct {
		name   string
		access uint16
		code   string
		stalls bool
	}{
		{"nothing", static, "return", false},
		{"forward", static, "iconst_0 | ifeq end | nop | end: return", false},
		{"loop", static, "top: iconst_0 | ifeq top | return", true},
		{"endless", static, "top: goto top", true},
		{"subroutine", static, "jsr sub | return | sub: astore_0 | ret 0", true},
		{"lock", static, "aconst_null | monitorenter | return", true},
		{"synchronized", static | classfile.AccSynchronized, "return", true},
		{"calls a native method", static, "invokestatic lib/A.native()V | return", true},
		{"calls another method of its class", static, "invokestatic lib/A.abstract()V | return", false},
		{"calls another class", static, "invokestatic lib/B.f()V | return", false},
		{"reads", static, "aconst_null | invokevirtual java/io/InputStream.read()I | pop | return", true},
		{"fails to read", static, "new java/io/IOException | dup | invokespecial java/io/IOException.<init>()V | athrow",
			false},
		{"makes a path", static,
			`new java/io/File | dup | ldc "x" | invokespecial java/io/File.<init>(Ljava/lang/String;)V | return`, false},
		{"makes a path and looks for it", static,
			`new java/io/File | dup | ldc "x" | invokespecial java/io/File.<init>(Ljava/lang/String;)V |
			invokevirtual java/io/File.exists()Z | pop | return`, true},
		{"takes a lock", static,
			"aconst_null | invokevirtual java/util/concurrent/locks/ReentrantLock.lock()V | return", true},
		{"returns a lock", static,
			"aconst_null | invokevirtual java/util/concurrent/locks/ReentrantLock.unlock()V | return", false},
		{"waits", static, "aconst_null | invokevirtual java/lang/Object.wait()V | return", true},
		{"notifies", static, "aconst_null | invokevirtual java/lang/Object.notify()V | return", false},
		{"loads", static, `ldc "x" | invokestatic java/lang/Class.forName(Ljava/lang/String;)Ljava/lang/Class; | areturn`,
			true},
		{"asks for a name", static, "ldc lib/A | invokevirtual java/lang/Class.getName()Ljava/lang/String; | areturn",
			false},
		{"writes preferences", static,
			"aconst_null | invokeinterface android/content/SharedPreferences$Editor.commit()Z | pop | return", true},
	} {
		c := assembly.Class{Name: "lib/A", Methods: []assembly.Method{
			{Access: static | classfile.AccNative, Name: "native", Descriptor: "()V"},
			{Access: classfile.AccAbstract, Name: "abstract", Descriptor: "()V"},
			{Access: row.access, Name: "m", Descriptor: "()V", Stack: 4, Locals: 1, Code: elevenNops + row.code},
		}}
		d := ofLibrary(t, ScopeOwnAndLibraries, c)
		if stalls := d == (Decision{}); stalls != row.stalls {
			t.Errorf("%s: %+v, want traced: %v", row.name, d, row.stalls)
		}
		if !row.stalls && !d.Pending.OnCall() {
			t.Errorf("%s: does not depend on whether the program calls it: %+v", row.name, d)
		}
		c.Methods[2].Code = row.code
		if d := ofLibrary(t, ScopeOwnAndLibraries, c); row.stalls != (d == Decision{}) ||
			!row.stalls && (d.Reason != ReasonLibrary || !strings.Contains(d.Detail, "at most 10 instructions")) {
			t.Errorf("%s, small: %+v, want traced: %v", row.name, d, row.stalls)
		}
		c.Methods[2].Descriptor = "(Lkotlin/coroutines/Continuation;)Ljava/lang/Object;"
		if d := ofLibrary(t, ScopeOwnAndLibraries, c); !row.stalls && !d.Pending.OnCall() {
			t.Errorf("%s, small, a suspend function: does not depend on whether the program calls it: %+v", row.name, d)
		}
		c.Name = "kotlin/collections/A"
		if d := ofLibrary(t, ScopeOwnAndLibraries, c); d.Reason != ReasonLibrary {
			t.Errorf("%s, of a family: %+v", row.name, d)
		}
	}
}

// TestScopes checks what scopes, rules and the calls of the program decide about a method of a library that waits, and
// about one that does not.
func TestScopes(t *testing.T) {
	const waits, idle = "lconst_1 | invokestatic java/lang/Thread.sleep(J)V | return",
		elevenNops + "invokestatic x/X.x()V | return"
	rule := func(allow bool, pattern string) Rule {
		r, err := ParseRule(allow, pattern, Position{File: "t", Line: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	below := func(allow string) []Rule {
		c, err := ParseConfig("t", []byte("rules: [{"+allow+": {extends: base.B}}]"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Rules
	}
	for _, row := range []struct {
		name   string
		scope  Scope
		class  string
		code   string
		rules  []Rule
		called bool
		want   Reason
	}{
		{"all", ScopeAll, "lib/A", idle, nil, false, ""},
		{"own", ScopeOwn, "lib/A", waits, nil, true, ReasonLibrary},
		{"waits", ScopeOwnAndLibraries, "lib/A", waits, nil, false, ""},
		{"idle", ScopeOwnAndLibraries, "lib/A", idle, nil, false, ReasonLibrary},
		{"idle, called", ScopeOwnAndLibraries, "lib/A", idle, nil, true, ""},
		{"small, called", ScopeOwnAndLibraries, "lib/A", "invokestatic x/X.x()V | return", nil, true, ReasonLibrary},
		{"family, called", ScopeOwnAndLibraries, "kotlin/collections/A", waits, nil, true, ReasonLibrary},
		{"allowed", ScopeOwn, "lib/A", idle, []Rule{rule(true, "lib.A#m")}, false, ""},
		{"allowed class", ScopeOwn, "lib/A", idle, []Rule{rule(true, "lib.A")}, false, ""},
		{"allowed family", ScopeOwnAndLibraries, "kotlin/collections/A", idle, []Rule{rule(true, "kotlin.**")}, false, ""},
		{"other rule", ScopeOwn, "lib/A", idle, []Rule{rule(true, "lib.A#other")}, false, ReasonLibrary},
		{"blocked", ScopeOwnAndLibraries, "lib/A", waits, []Rule{rule(false, "lib.A")}, true, ReasonBlocked},
		{"idle, blocked by supertype", ScopeOwnAndLibraries, "lib/A", idle, below("block"), true, ReasonBlocked},
		{"idle, allowed by supertype", ScopeOwnAndLibraries, "lib/A", idle, below("allow"), false, ""},
		{"own, allowed by supertype", ScopeOwn, "lib/A", waits, below("allow"), false, ""},
		{"own, supertype of another", ScopeOwn, "other/A", waits, below("allow"), true, ReasonLibrary},
	} {
		c := assembly.Class{Name: row.class, Super: "base/Middle", Methods: []assembly.Method{
			{Access: classfile.AccStatic, Name: "m", Descriptor: "()V", Stack: 4, Locals: 1, Code: row.code}}}
		f := New(Options{Scope: row.scope, Libraries: map[string]bool{c.Name: true}, Rules: row.rules})
		var supertypes Supertypes
		if !strings.HasPrefix(c.Name, "other/") {
			supertypes = f.Supertype("base/B")
		}
		d, err := f.Resolve(ofLibrary(t, row.scope, c, row.rules...), supertypes, row.called)
		if err != nil || d.Reason != row.want || d.Pending != "" {
			t.Errorf("%s: %+v, %v; want the reason %q", row.name, d, err, row.want)
		}
	}
}

// TestFamilyOfMethods checks a family whose pattern has a method.
func TestFamilyOfMethods(t *testing.T) {
	c := assembly.Class{Name: "lib/A", Methods: []assembly.Method{{Access: classfile.AccStatic, Name: "toString",
		Descriptor: "()Ljava/lang/String;", Stack: 1, Code: "top: goto top"}}}
	d := ofLibrary(t, ScopeOwnAndLibraries, c)
	if d.Reason != ReasonLibrary || !strings.Contains(d.Detail, "#toString()") {
		t.Errorf("toString: %+v", d)
	}
	c.Methods[0].Descriptor = "(I)Ljava/lang/String;"
	if d := ofLibrary(t, ScopeOwnAndLibraries, c); d != (Decision{}) {
		t.Errorf("another toString: %+v", d)
	}
}

// TestTrivialComesFirst checks that the list of skipped methods has as many trivial ones in every scope, so that the
// number of those with the reason library is what the scope leaves out.
func TestTrivialComesFirst(t *testing.T) {
	c := assembly.Class{Name: "lib/A", Methods: []assembly.Method{
		{Access: classfile.AccStatic, Name: "m", Descriptor: "()V", Code: "return"}}}.Parse()
	forClass := New(Options{Scope: ScopeOwn, Libraries: map[string]bool{"lib/A": true}}).ForClass(c)
	code, _, err := c.Code(&c.Methods()[0])
	if err != nil {
		t.Fatal(err)
	}
	if d := forClass.Decide(&c.Methods()[0], code); d.Reason != ReasonTrivial {
		t.Errorf("%+v", d)
	}
}
