package inject_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

const (
	continuation = "Lkotlin/coroutines/Continuation;"
	stateMachine = "kotlin/coroutines/jvm/internal/ContinuationImpl"
	lambda       = "kotlin/coroutines/jvm/internal/SuspendLambda"
	anObject     = "Ljava/lang/Object;"
)

// coroutineShapes are methods of classes, and the code that they become with coroutines. The ID of a method is 5, that
// of the continuation 200.
var coroutineShapes = []struct {
	name, super string
	method      assembly.Method
	traced      bool
	want        string
	need        uint16
}{
	{"a suspend function", "", returning(static, "load", "(I"+continuation+")"+anObject), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: dup | 6: iconst_5 | 7: o(Object) | 10: areturn", 3},
	{"one with default values", "", returning(static, "load$default", "("+continuation+"II"+anObject+")"+anObject), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: dup | 6: iconst_5 | 7: o(Object) | 10: areturn", 3},
	{"an array of continuations", "", returning(static, "f", "(I["+continuation+")"+anObject), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: iconst_5 | 6: o | 9: areturn", 2},
	{"a class whose name ends like a continuation", "", returning(static, "f", "(ILa/"+continuation+")"+anObject), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: iconst_5 | 6: o | 9: areturn", 2},
	{"another result", "", returning(static, "create", "(I"+continuation+")"+continuation), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: iconst_5 | 6: o | 9: areturn", 2},
	{"invokeSuspend of no lambda", "", returning(classfile.AccPublic, "invokeSuspend", "("+anObject+")"+anObject), true,
		"0: iconst_5 | 1: i | 4: aload_1 | 5: iconst_5 | 6: o | 9: areturn", 2},
	{"a suspend lambda", lambda, returning(classfile.AccPublic, "invokeSuspend", "("+anObject+")"+anObject), true,
		"0: aload_0 | 1: sipush 200 | 4: resumes | 7: iconst_5 | 8: i | 11: aload_1 | 12: dup | 13: iconst_5 | " +
			"14: o(Object) | 17: areturn", 3},
	{"the constructor of a lambda", lambda, constructing("aconst_null | invokespecial " + lambda + ".<init>(" +
		continuation + ")V | return"), false,
		"0: aload_0 | 1: aconst_null | 2: SUPER | 5: aload_0 | 6: sipush 200 | 9: starts | 12: return", 2},
	{"the constructor of a state machine", stateMachine, constructing("aconst_null | invokespecial " + stateMachine +
		".<init>(" + continuation + ")V | return"), false,
		"0: aload_0 | 1: aconst_null | 2: SUPER | 5: aload_0 | 6: sipush 200 | 9: continues | 12: return", 2},
	{"a constructor that writes local 0", stateMachine, constructing("aconst_null | invokespecial " + stateMachine +
		".<init>(" + continuation + ")V | aconst_null | astore_0 | return"), false,
		"0: aload_0 | 1: aconst_null | 2: SUPER | 5: aconst_null | 6: astore_0 | 7: return", 2},
	{"invokeSuspend of a state machine", stateMachine,
		returning(classfile.AccPublic, "invokeSuspend", "("+anObject+")"+anObject), false,
		"0: aload_0 | 1: sipush 200 | 4: resumes | 7: aload_1 | 8: areturn", 2},
}

// returning returns a method that returns local variable 1.
func returning(access uint16, name, descriptor string) assembly.Method {
	return assembly.Method{Access: access, Name: name, Descriptor: descriptor, Stack: 1, Locals: 4,
		Code: "aload_1 | areturn"}
}

// constructing returns a constructor that loads `this` and goes on with the code.
func constructing(code string) assembly.Method {
	return assembly.Method{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", Stack: 2, Locals: 1,
		Code: "aload_0 | " + code}
}

// Invariant: With coroutines, the exit call before an areturn of suspending code takes the result, and a continuation
// class reports its instances, in front of all other calls; everything else is as without.
func TestCoroutines(t *testing.T) {
	for _, shape := range coroutineShapes {
		c := assembly.Class{Name: "T", Super: shape.super, Major: 48, Methods: []assembly.Method{shape.method}}.Parse()
		request := inject.Request{Coroutines: true}
		if shape.traced {
			request = traced(5, 0)
			request.Coroutines = true
		}
		if shape.super != "" {
			request.Continuation = 200
		}
		for _, exits := range inject.ExitModes() {
			t.Run(shape.name+"/"+exits.String(), func(t *testing.T) {
				o := inject.Options{Exits: exits, Coroutines: true}
				out := rewrite(t, c, o, request)
				if got := shortListing(out); !strings.HasPrefix(got, shape.want) {
					t.Errorf("got  %s\nwant %s", got, shape.want)
				}
				if body, _, _ := out.Code(&out.Methods()[0]); body.MaxStack != shape.need {
					t.Errorf("max_stack %d, want %d", body.MaxStack, shape.need)
				}
				if findings := equivalence.Check(c, out, plan.Expected(o, request)); len(findings) > 0 {
					t.Error(findings[0])
				}
				stripped, _, err := equivalence.Strip(out, inject.DefaultRuntimeClass)
				if err != nil || string(stripped) != string(c.Bytes()) {
					t.Errorf("strip: %v, or other bytes than the original's", err)
				}
			})
		}
	}
}

// shortListing returns the code of the first method with short names for the calls.
func shortListing(c *classfile.Class) string {
	const runtime = "invokestatic " + inject.DefaultRuntimeClass + "."
	return strings.NewReplacer(runtime+"o("+anObject+"I)V", "o(Object)", runtime+"o(I)V", "o", runtime+"i(I)V", "i",
		runtime+"continues("+anObject+"I)V", "continues", runtime+"starts("+anObject+"I)V", "starts",
		runtime+"resumes("+anObject+"I)V", "resumes", "invokespecial "+lambda+".<init>("+continuation+")V", "SUPER",
		"invokespecial "+stateMachine+".<init>("+continuation+")V", "SUPER").
		Replace(assembly.Listing(c, &c.Methods()[0], ""))
}

// TestContinuationOfNoClass: a request that reports instances of a class that has none fails.
func TestContinuationOfNoClass(t *testing.T) {
	c := assembly.Class{Name: "T", Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
		Code: "return"}}}.Parse()
	if _, err := inject.New(inject.Options{}).Rewrite(c, inject.Request{Continuation: 7}); err == nil {
		t.Error("no error")
	}
}

// Invariant: The method that a continuation class belongs to is the one that EnclosingMethod names, if it can be a
// suspend function; of a lambda it is its invokeSuspend.
func TestContinuedBy(t *testing.T) {
	resume := returning(classfile.AccPublic, "invokeSuspend", "("+anObject+")"+anObject)
	suspending := "(" + continuation + ")" + anObject
	for _, row := range []struct {
		name, super, enclosing string // enclosing is the descriptor of the method, "" for no attribute
		want                   inject.MethodRef
	}{
		{"a state machine", stateMachine, suspending,
			inject.MethodRef{Class: "Feed", Name: "load", Descriptor: suspending}},
		{"of restricted suspension", "kotlin/coroutines/jvm/internal/RestrictedContinuationImpl", suspending,
			inject.MethodRef{Class: "Feed", Name: "load", Descriptor: suspending}},
		{"written by hand", stateMachine, "", inject.MethodRef{}},
		{"in a method that does not suspend", stateMachine, "()V", inject.MethodRef{}},
		{"a lambda", lambda, "()V", inject.MethodRef{Class: "T", Name: resume.Name, Descriptor: resume.Descriptor}},
		{"another class", "java/lang/Object", suspending, inject.MethodRef{}},
	} {
		c := assembly.Class{Name: "T", Super: row.super, Methods: []assembly.Method{resume}, Enclosing: row.enclosing}
		if row.enclosing != "" {
			c.Enclosing = "Feed.load" + row.enclosing
		}
		got, ok := inject.ContinuedBy(c.Parse())
		if ok != (row.want != inject.MethodRef{}) || ok && got != row.want {
			t.Errorf("%s: got %v, %v", row.name, got, ok)
		}
	}
}

// Invariant: The equivalence checker rejects a class without the reports of its instances, also if its constructor is
// not traced.
func TestMissingReportsAreFound(t *testing.T) {
	class := assembly.Class{Name: "T", Super: lambda, Major: 48, Methods: []assembly.Method{
		constructing("aconst_null | invokespecial " + lambda + ".<init>(" + continuation + ")V | return"),
		returning(classfile.AccPublic, "invokeSuspend", "("+anObject+")"+anObject),
		returning(classfile.AccPublic, "plain", "("+anObject+")"+anObject),
	}}.Parse()
	o := inject.Options{Coroutines: true, Exits: inject.ExitsNormal}
	request := inject.Request{Methods: []inject.Traced{{Method: 1, ID: 5}, {Method: 2, ID: 4}}, Coroutines: true,
		Continuation: 5}
	want := plan.Expected(o, request)
	if findings := equivalence.Check(class, rewrite(t, class, o, request), want); len(findings) > 0 {
		t.Error(findings[0])
	}
	request.Continuation = 0
	if findings := equivalence.Check(class, rewrite(t, class, o, request), want); len(findings) == 0 ||
		!strings.Contains(findings[0].String(), "equivalence: continuation") {
		t.Errorf("reports that are missing: %v", findings)
	}
}
