package inject_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

const static = classfile.AccPublic | classfile.AccStatic

// rewrite carries out the request and returns the new class.
func rewrite(t *testing.T, c *classfile.Class, o inject.Options, r inject.Request) *classfile.Class {
	t.Helper()
	data, err := inject.New(o).Rewrite(c, r)
	if err != nil {
		t.Fatal(err)
	}
	again := assembly.Parse(t, data)
	return again
}

func traced(id uint32, methods ...int) inject.Request {
	var r inject.Request
	for _, m := range methods {
		r.Methods = append(r.Methods, inject.Traced{Method: m, ID: id})
	}
	return r
}

// listing returns the code of a method and its max_stack as text.
func listing(t *testing.T, c *classfile.Class, method int) string {
	t.Helper()
	m := &c.Methods()[method]
	body, _, err := c.Code(m)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s | stack %d", assembly.Listing(c, m, inject.DefaultRuntimeClass), body.MaxStack)
}

// shape is a method with a special shape of code, and its expected code in each exit mode.
type shape struct {
	name                  string
	method                assembly.Method
	normal, throws, exact string // "" is the same as the mode before
}

// class returns a class whose only method is the shape. It has no frames, which other tests cover.
func (s shape) class() *classfile.Class {
	m := s.method
	m.Name, m.Access = "f", static
	if m.Descriptor == "" {
		m.Descriptor = "()V"
	}
	return assembly.Class{Name: "T", Major: 48, Methods: []assembly.Method{m}}.Parse()
}

var shapes = []shape{
	{
		name:   "one return",
		method: assembly.Method{Code: "return"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | stack 1",
		exact:  "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | stack 1",
	},
	{
		name: "two returns, the one branched to behind its exit's start",
		method: assembly.Method{Descriptor: "(I)I", Stack: 1, Locals: 1,
			Code: "iload_0 | ifeq zero | iconst_1 | ireturn | zero: iconst_0 | ireturn"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifeq 14 | 8: iconst_1 | 9: iconst_5 | " +
			"10: invokestatic o | 13: ireturn | " +
			"14: iconst_0 | 15: iconst_5 | 16: invokestatic o | 19: ireturn | stack 2",
		exact: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifeq 14 | 8: iconst_1 | 9: iconst_5 | " +
			"10: invokestatic o | 13: ireturn | " +
			"14: iconst_0 | 15: iconst_5 | 16: invokestatic o | 19: ireturn | 20: iconst_5 | 21: invokestatic o | " +
			"24: athrow | " +
			"4-9 20 any | 14-15 20 any | stack 2",
	},
	{
		name: "a branch to a return runs its exit",
		method: assembly.Method{Descriptor: "(I)V", Stack: 1, Locals: 1,
			Code: "iload_0 | ifeq end | nop | end: return"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifeq 9 | 8: nop | 9: iconst_5 | " +
			"10: invokestatic o | 13: return | stack 1",
		exact: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifeq 9 | 8: nop | 9: iconst_5 | " +
			"10: invokestatic o | 13: return | " +
			"14: iconst_5 | 15: invokestatic o | 18: athrow | 4-9 14 any | stack 2",
	},
	{
		name: "a branch to the start does not enter again",
		method: assembly.Method{Descriptor: "(I)V", Stack: 1, Locals: 1,
			Code: "start: iload_0 | ifne start | return"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifne 4 | 8: iconst_5 | 9: invokestatic o | " +
			"12: return | stack 1",
		exact: "0: iconst_5 | 1: invokestatic i | 4: iload_0 | 5: ifne 4 | 8: iconst_5 | 9: invokestatic o | " +
			"12: return | " +
			"13: iconst_5 | 14: invokestatic o | 17: athrow | 4-8 13 any | stack 2",
	},
	{
		name: "no return",
		method: assembly.Method{Stack: 0,
			Code: "start: goto start"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: goto 4 | stack 1",
		exact: "0: iconst_5 | 1: invokestatic i | 4: goto 4 | 7: iconst_5 | 8: invokestatic o | 11: athrow | " +
			"4-7 7 any | stack 2",
	},
	{
		name: "an athrow that nothing covers",
		method: assembly.Method{Descriptor: "(Ljava/lang/Throwable;)V", Stack: 1, Locals: 1,
			Code: "aload_0 | athrow"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: athrow | stack 1",
		throws: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: iconst_5 | 6: invokestatic o | 9: athrow | stack 2",
		exact: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: athrow | 6: iconst_5 | 7: invokestatic o | " +
			"10: athrow | " +
			"4-6 6 any | stack 2",
	},
	{
		name: "an athrow that a handler covers, whatever it catches, and one behind its range",
		method: assembly.Method{Descriptor: "(Ljava/lang/Throwable;)V", Stack: 1, Locals: 1,
			Handlers: []string{"from to handler java/lang/Error"},
			Code:     "from: aload_0 | athrow | to: nop | handler: athrow"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: athrow | 6: nop | 7: athrow | " +
			"4-6 7 java/lang/Error | stack 1",
		throws: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: athrow | 6: nop | 7: iconst_5 | " +
			"8: invokestatic o | 11: athrow | " +
			"4-6 7 java/lang/Error | stack 2",
		exact: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: athrow | 6: nop | 7: athrow | 8: iconst_5 | " +
			"9: invokestatic o | 12: athrow | " +
			"4-6 7 java/lang/Error | 4-8 8 any | stack 2",
	},
	{
		name: "a return in a handler's range",
		method: assembly.Method{Stack: 1, Locals: 1, Handlers: []string{"from to to any"},
			Code: "from: return | to: athrow"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | 9: athrow | " +
			"4-9 9 any | stack 1",
		throws: "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | 9: iconst_5 | " +
			"10: invokestatic o | 13: athrow | 4-9 9 any | stack 2",
		exact: "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | 9: athrow | " +
			"10: iconst_5 | 11: invokestatic o | 14: athrow | 4-9 9 any | 9-10 10 any | stack 2",
	},
	{
		name:   "more on the stack than the return takes",
		method: assembly.Method{Descriptor: "()I", Stack: 5, Code: "lconst_0 | lconst_0 | iconst_0 | ireturn"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: lconst_0 | 6: iconst_0 | 7: iconst_5 | " +
			"8: invokestatic o | 11: ireturn | stack 6",
		exact: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: lconst_0 | 6: iconst_0 | 7: iconst_5 | " +
			"8: invokestatic o | 11: ireturn | " +
			"12: iconst_5 | 13: invokestatic o | 16: athrow | 4-7 12 any | stack 6",
	},
	{
		name:   "a max_stack that was greater than needed stays",
		method: assembly.Method{Descriptor: "()J", Stack: 9, Code: "lconst_0 | lreturn"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: iconst_5 | 6: invokestatic o | 9: lreturn | " +
			"stack 9",
		exact: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: iconst_5 | 6: invokestatic o | 9: lreturn | " +
			"10: iconst_5 | 11: invokestatic o | 14: athrow | 4-5 10 any | stack 9",
	},
	{
		name:   "dead code, whose return is taken to have what it needs",
		method: assembly.Method{Descriptor: "()J", Stack: 2, Code: "lconst_0 | lreturn | nop | lreturn"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: iconst_5 | 6: invokestatic o | 9: lreturn | " +
			"10: nop | " +
			"11: iconst_5 | 12: invokestatic o | 15: lreturn | stack 3",
		exact: "0: iconst_5 | 1: invokestatic i | 4: lconst_0 | 5: iconst_5 | 6: invokestatic o | 9: lreturn | " +
			"10: nop | " +
			"11: iconst_5 | 12: invokestatic o | 15: lreturn | 16: iconst_5 | 17: invokestatic o | 20: athrow | " +
			"4-5 16 any | 10-11 16 any | stack 3",
	},
	{
		name:   "dead code that needs more than all that is reached",
		method: assembly.Method{Descriptor: "()J", Stack: 2, Code: "start: goto start | lreturn"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: goto 4 | 7: iconst_5 | 8: invokestatic o | 11: lreturn | stack 3",
		exact: "0: iconst_5 | 1: invokestatic i | 4: goto 4 | 7: iconst_5 | 8: invokestatic o | 11: lreturn | " +
			"12: iconst_5 | 13: invokestatic o | 16: athrow | 4-7 12 any | stack 3",
	},
	{
		name: "a subroutine: one word more",
		method: assembly.Method{Stack: 3, Locals: 1,
			Code: "jsr sub | return | sub: astore_0 | ret 0"},
		normal: "0: iconst_5 | 1: invokestatic i | 4: jsr 12 | 7: iconst_5 | 8: invokestatic o | 11: return | " +
			"12: astore_0 | 13: ret 00 | stack 4",
		exact: "0: iconst_5 | 1: invokestatic i | 4: jsr 12 | 7: iconst_5 | 8: invokestatic o | 11: return | " +
			"12: astore_0 | 13: ret 00 | " +
			"15: iconst_5 | 16: invokestatic o | 19: athrow | 4-7 15 any | 12-15 15 any | stack 4",
	},
}

// Invariant: Every shape of code gets the calls, handlers and limits that the exit mode asks for.
func TestInsertedCode(t *testing.T) {
	for _, shape := range shapes {
		c := shape.class()
		want := ""
		for _, mode := range []struct {
			name  string
			exits inject.ExitMode
			want  string
		}{{"normal", inject.ExitsNormal, shape.normal}, {"throws", inject.ExitsThrows, shape.throws},
			{"exact", inject.ExitsExact, shape.exact}} {
			if mode.want != "" {
				want = mode.want
			}
			t.Run(shape.name+"/"+mode.name, func(t *testing.T) {
				out := rewrite(t, c, inject.Options{Exits: mode.exits}, traced(5, 0))
				if got := listing(t, out, 0); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// constructors are constructors (ILjava/lang/Throwable;)V of T extends S, and their expected code.
var constructors = []struct {
	name, code          string
	stack               uint16
	start, after, exact string
}{
	{
		name: "plain", code: "aload_0 | invokespecial S.<init>()V | return", stack: 1,
		start: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: invokespecial S.<init>()V | 8: iconst_5 | " +
			"9: invokestatic o | 12: return | stack 1",
		after: "0: aload_0 | 1: invokespecial S.<init>()V | 4: iconst_5 | 5: invokestatic i | 8: iconst_5 | " +
			"9: invokestatic o | 12: return | stack 1",
		exact: "0: aload_0 | 1: invokespecial S.<init>()V | 4: iconst_5 | 5: invokestatic i | 8: iconst_5 | " +
			"9: invokestatic o | 12: return | stack 1",
	},
	{
		name: "work before and behind", stack: 2,
		code: "iload_1 | pop | aload_0 | invokespecial S.<init>()V | iload_1 | pop | return",
		start: "0: iconst_5 | 1: invokestatic i | 4: iload_1 | 5: pop | 6: aload_0 | 7: invokespecial S.<init>()V | " +
			"10: iload_1 | 11: pop | 12: iconst_5 | 13: invokestatic o | 16: return | stack 2",
		after: "0: iload_1 | 1: pop | 2: aload_0 | 3: invokespecial S.<init>()V | 6: iconst_5 | 7: invokestatic i | " +
			"10: iload_1 | 11: pop | 12: iconst_5 | 13: invokestatic o | 16: return | stack 2",
		exact: "0: iload_1 | 1: pop | 2: aload_0 | 3: invokespecial S.<init>()V | 6: iconst_5 | 7: invokestatic i | " +
			"10: iload_1 | 11: pop | 12: iconst_5 | 13: invokestatic o | 16: return | " +
			"17: iconst_5 | 18: invokestatic o | 21: athrow | 10-12 17 any | stack 2",
	},
	{
		name: "this() on one path, super() on the other, which meet", stack: 2,
		code: "iload_1 | ifeq b | aload_0 | iconst_0 | invokespecial T.<init>(I)V | goto end | b: aload_0 | " +
			"invokespecial S.<init>()V | end: return",
		start: "0: iconst_5 | 1: invokestatic i | 4: iload_1 | 5: ifeq 16 | 8: aload_0 | 9: iconst_0 | " +
			"10: invokespecial T.<init>(I)V | 13: goto 20 | " +
			"16: aload_0 | 17: invokespecial S.<init>()V | 20: iconst_5 | 21: invokestatic o | 24: return | stack 2",
		after: "0: iload_1 | 1: ifeq 16 | 4: aload_0 | 5: iconst_0 | 6: invokespecial T.<init>(I)V | 9: iconst_5 | " +
			"10: invokestatic i | 13: goto 24 | " +
			"16: aload_0 | 17: invokespecial S.<init>()V | 20: iconst_5 | 21: invokestatic i | 24: iconst_5 | " +
			"25: invokestatic o | 28: return | stack 2",
		exact: "0: iload_1 | 1: ifeq 16 | 4: aload_0 | 5: iconst_0 | 6: invokespecial T.<init>(I)V | 9: iconst_5 | " +
			"10: invokestatic i | 13: goto 24 | " +
			"16: aload_0 | 17: invokespecial S.<init>()V | 20: iconst_5 | 21: invokestatic i | 24: iconst_5 | " +
			"25: invokestatic o | 28: return | " +
			"29: iconst_5 | 30: invokestatic o | 33: athrow | 13-16 29 any | stack 2",
	},
	{
		name: "an argument by ?:", stack: 3,
		code: "aload_0 | iload_1 | ifeq b | iconst_0 | goto c | b: iconst_1 | c: invokespecial S.<init>(I)V | return",
		start: "0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: iload_1 | 6: ifeq 13 | 9: iconst_0 | 10: goto 14 | " +
			"13: iconst_1 | 14: invokespecial S.<init>(I)V | " +
			"17: iconst_5 | 18: invokestatic o | 21: return | stack 3",
		after: "0: aload_0 | 1: iload_1 | 2: ifeq 9 | 5: iconst_0 | 6: goto 10 | 9: iconst_1 | " +
			"10: invokespecial S.<init>(I)V | 13: iconst_5 | 14: invokestatic i | " +
			"17: iconst_5 | 18: invokestatic o | 21: return | stack 3",
		exact: "0: aload_0 | 1: iload_1 | 2: ifeq 9 | 5: iconst_0 | 6: goto 10 | 9: iconst_1 | " +
			"10: invokespecial S.<init>(I)V | 13: iconst_5 | 14: invokestatic i | " +
			"17: iconst_5 | 18: invokestatic o | 21: return | stack 3",
	},
	{
		name: "a throw before super()", stack: 1,
		code: "aload_2 | ifnull ok | aload_2 | athrow | ok: aload_0 | invokespecial S.<init>()V | aload_2 | athrow",
		start: "0: iconst_5 | 1: invokestatic i | 4: aload_2 | 5: ifnull 14 | 8: aload_2 | 9: iconst_5 | " +
			"10: invokestatic o | 13: athrow | 14: aload_0 | 15: invokespecial S.<init>()V | " +
			"18: aload_2 | 19: iconst_5 | 20: invokestatic o | 23: athrow | stack 2",
		after: "0: aload_2 | 1: ifnull 6 | 4: aload_2 | 5: athrow | 6: aload_0 | 7: invokespecial S.<init>()V | " +
			"10: iconst_5 | 11: invokestatic i | " +
			"14: aload_2 | 15: iconst_5 | 16: invokestatic o | 19: athrow | stack 2",
		exact: "0: aload_2 | 1: ifnull 6 | 4: aload_2 | 5: athrow | 6: aload_0 | 7: invokespecial S.<init>()V | " +
			"10: iconst_5 | 11: invokestatic i | " +
			"14: aload_2 | 15: athrow | 16: iconst_5 | 17: invokestatic o | 20: athrow | 14-16 16 any | stack 2",
	},
	{
		name: "another object's constructor is none of ours", stack: 3,
		code: "new S | dup | invokespecial S.<init>()V | pop | aload_0 | invokespecial S.<init>()V | return",
		start: "0: iconst_5 | 1: invokestatic i | 4: new S | 7: dup | 8: invokespecial S.<init>()V | 11: pop | " +
			"12: aload_0 | 13: invokespecial S.<init>()V | " +
			"16: iconst_5 | 17: invokestatic o | 20: return | stack 3",
		after: "0: new S | 3: dup | 4: invokespecial S.<init>()V | 7: pop | 8: aload_0 | " +
			"9: invokespecial S.<init>()V | 12: iconst_5 | 13: invokestatic i | " +
			"16: iconst_5 | 17: invokestatic o | 20: return | stack 3",
		exact: "0: new S | 3: dup | 4: invokespecial S.<init>()V | 7: pop | 8: aload_0 | " +
			"9: invokespecial S.<init>()V | 12: iconst_5 | 13: invokestatic i | " +
			"16: iconst_5 | 17: invokestatic o | 20: return | stack 3",
	},
}

// Invariant: Every shape of code gets the calls, handlers and limits that the exit mode asks for.
func TestConstructors(t *testing.T) {
	for _, k := range constructors {
		c := assembly.Class{Name: "T", Super: "S", Major: 48, Methods: []assembly.Method{
			{Access: classfile.AccPublic, Name: "<init>", Descriptor: "(ILjava/lang/Throwable;)V", Stack: k.stack,
				Locals: 3, Code: k.code},
		}}.Parse()
		for _, mode := range []struct {
			name    string
			options inject.Options
			want    string
		}{
			{"start", inject.Options{}, k.start},
			{"after super", inject.Options{ConstructorEntry: inject.EntryAfterSuper}, k.after},
			{"exact", inject.Options{Exits: inject.ExitsExact}, k.exact},
		} {
			t.Run(k.name+"/"+mode.name, func(t *testing.T) {
				if got := listing(t, rewrite(t, c, mode.options, traced(5, 0)), 0); got != mode.want {
					t.Errorf("got  %s\nwant %s", got, mode.want)
				}
			})
		}
	}
	t.Run("of java/lang/Object", func(t *testing.T) {
		c := assembly.Class{Name: "java/lang/Object", Super: "-", Methods: []assembly.Method{
			{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", Locals: 1, Code: "return"}}}.Parse()
		out := rewrite(t, c, inject.Options{ConstructorEntry: inject.EntryAfterSuper}, traced(5, 0))
		want := "0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | stack 1"
		if got := listing(t, out, 0); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestPush checks the instructions that push IDs, with a pool whose new constants ldc can load and one where ldc_w
// is needed.
func TestPush(t *testing.T) {
	for _, row := range []struct {
		id    uint32
		small string
		large string
	}{
		{1, "0: iconst_1 | 1: invokestatic i", ""},
		{5, "0: iconst_5 | 1: invokestatic i", ""},
		{6, "0: bipush 6 | 2: invokestatic i", ""},
		{127, "0: bipush 127 | 2: invokestatic i", ""},
		{128, "0: sipush 128 | 3: invokestatic i", ""},
		{32767, "0: sipush 32767 | 3: invokestatic i", ""},
		{32768, "0: ldc 32768 | 2: invokestatic i", "0: ldc_w 32768 | 3: invokestatic i"},
		{1048573, "0: ldc 1048573 | 2: invokestatic i", "0: ldc_w 1048573 | 3: invokestatic i"},
	} {
		for _, constants := range []int{0, 253, 254} { // the ID's is the third of the block
			c := assembly.Class{Name: "T", Constants: constants, Methods: []assembly.Method{
				{Access: static, Name: "f", Descriptor: "()V", Code: "return"}}}.Parse()
			want := row.small
			if constants > 253 && row.large != "" {
				want = row.large
			}
			got := listing(t, rewrite(t, c, inject.Options{}, traced(row.id, 0)), 0)
			if !strings.HasPrefix(got, want+" | ") {
				t.Errorf("ID %d behind %d constants: got %s, want %s", row.id, constants, got, want)
			}
		}
	}
}

// TestBlock checks the constants that are added: the runtime's name and Class first, although the class has equal
// ones, then an Integer for each method, so that ldc can load it, then the others, unless the class has equal ones.
func TestBlock(t *testing.T) {
	c := assembly.Class{Name: "T", Methods: []assembly.Method{
		{Access: static, Name: "f", Descriptor: "()V", Code: "return"},
		{Access: static, Name: "g", Descriptor: "()V", Stack: 1,
			Code: "iconst_1 | invokestatic " + inject.DefaultRuntimeClass + ".i(I)V | return"},
		{Access: static, Name: "h", Descriptor: "()V", Code: "return"},
	}}.Parse()
	out := rewrite(t, c, inject.Options{}, traced(100000, 0, 2))
	var got []string
	pool := out.ConstantPool()
	for i := c.ConstantPool().Len(); i < pool.Len(); i++ {
		got = append(got, pool.Tag(uint16(i)).String())
	}
	const want = "Utf8 Class Integer Integer Methodref Utf8 NameAndType Methodref"
	if have := strings.Join(got, " "); have != want {
		t.Errorf("added %s, want %s", have, want)
	}
	if !bytes.Equal(out.Bytes()[10:pool.Offset(c.ConstantPool().Len())],
		c.Bytes()[10:pool.Offset(c.ConstantPool().Len())]) {
		t.Error("old constants have changed")
	}
}

func TestNotes(t *testing.T) {
	for _, row := range []struct {
		name   string
		method assembly.Method
		exits  inject.ExitMode
		want   string
	}{
		{"none needed", assembly.Method{Stack: 1, Code: "iconst_0 | pop | return"}, inject.ExitsThrows, ""},
		{"max_stack greater than the flow's, then needed", assembly.Method{Stack: 1, Code: "return"},
			inject.ExitsThrows, "tracegen:0s1"},
		{"max_stack of 2 under exact", assembly.Method{Stack: 2, Code: "nop | return"}, inject.ExitsExact,
			"tracegen:0s2"},
		{"max_stack greater than needed", assembly.Method{Stack: 2, Code: "return"}, inject.ExitsThrows, ""},
		{"frame in a long form", assembly.Method{Stack: 1, Code: "iconst_0 | ifeq end | end: return",
			Attributes: []assembly.Attribute{
				{Name: "StackMapTable", Info: []byte{0, 1, 251, 0, 4}}}}, inject.ExitsThrows, ""},
		{"frame table without frames", assembly.Method{Code: "return", Attributes: []assembly.Attribute{
			{Name: "StackMapTable", Info: []byte{0, 0}}}}, inject.ExitsThrows, ""},
		{"frame table without frames, which gets one",
			assembly.Method{Code: "nop | return", Attributes: []assembly.Attribute{
				{Name: "StackMapTable", Info: []byte{0, 0}}}}, inject.ExitsExact, "tracegen:0t"},
		{"two in one method", assembly.Method{Stack: 2, Code: "nop | return", Attributes: []assembly.Attribute{
			{Name: "StackMapTable", Info: []byte{0, 0}}}}, inject.ExitsExact, "tracegen:0s2;0t"},
		{"a handler that looks like the exact one", assembly.Method{Stack: 1, Handlers: []string{"from to to any"},
			Code: "from: nop | return | to: athrow"}, inject.ExitsThrows, "tracegen:0h"},
		{"the same, without an exit there", assembly.Method{Stack: 1, Handlers: []string{"from to to any"},
			Code: "from: nop | return | to: athrow"}, inject.ExitsNormal, ""},
	} {
		row.method.Access, row.method.Name, row.method.Descriptor = static, "f", "()V"
		c := assembly.Class{Name: "T", Methods: []assembly.Method{row.method}}.Parse()
		out := rewrite(t, c, inject.Options{Exits: row.exits}, traced(5, 0))
		last, err := out.ConstantPool().Utf8(uint16(out.ConstantPool().Len() - 1))
		if err != nil || !strings.HasPrefix(last, "tracegen:") {
			last = ""
		}
		if last != row.want {
			t.Errorf("%s: notes %q, want %q", row.name, last, row.want)
		}
	}
}

// TestRefusals checks every reason for which a method or class is refused, with a class just past each limit and
// one just within it.
//
// Invariant: The injector refuses a method or class just past each limit, and accepts it just before.
func TestRefusals(t *testing.T) {
	f := func(m assembly.Method) assembly.Class {
		m.Access, m.Name, m.Descriptor = static, "f", "()V"
		return assembly.Class{Name: "T", Constants: 300, Methods: []assembly.Method{m}} // new constants need ldc_w
	}
	constructor := func(code string) assembly.Class {
		return assembly.Class{Name: "T", Methods: []assembly.Method{
			{Access: classfile.AccPublic, Name: "<init>", Descriptor: "()V", Stack: 1, Locals: 1, Code: code}}}
	}
	full := func(constants int) assembly.Class {
		c := f(assembly.Method{Code: "return"})
		c.Constants = constants
		return c
	}
	jit, exact := inject.Options{KeepCompilable: true}, inject.Options{Exits: inject.ExitsExact}
	after := inject.Options{ConstructorEntry: inject.EntryAfterSuper}
	none := inject.Options{}
	// A trial inserts two calls of 6 bytes, and adds 11 constants: 2 Utf8 and Class, the Integer, 4 for i (Utf8 i,
	// Utf8 (I)V, NameAndType, Methodref), 3 for o, and the notes.
	for _, row := range []struct {
		name    string
		class   assembly.Class
		options inject.Options
		want    error
	}{
		{"65,530 bytes", f(assembly.Method{Code: "nops 65529 | return"}), none, inject.ErrTooLarge},
		{"65,524 bytes", f(assembly.Method{Code: "nops 65523 | return"}), none, inject.ErrTooLarge},
		{"65,523 bytes", f(assembly.Method{Code: "nops 65522 | return"}), none, nil},
		{"65,523 bytes, exact", f(assembly.Method{Code: "nops 65522 | return"}), exact, inject.ErrTooLarge},
		{"max_stack of 65,535, none to spare", f(assembly.Method{Stack: 65535, Code: "jsr s | s: pop | return"}), none,
			inject.ErrTooLarge},
		{"8,000 bytes that were 7,995", f(assembly.Method{Code: "nops 7994 | return"}), jit, inject.ErrJITLimit},
		{"8,000 bytes that were 7,988", f(assembly.Method{Code: "nops 7987 | return"}), jit, nil},
		{"8,001 bytes that were 7,989", f(assembly.Method{Code: "nops 7988 | return"}), jit, inject.ErrJITLimit},
		{"more than 8,000 bytes before", f(assembly.Method{Code: "nops 8000 | return"}), jit, nil},
		{"7,995 bytes where that is no limit", f(assembly.Method{Code: "nops 7994 | return"}), none, nil},
		{"65,520 constants", full(65520), none, nil},
		{"65,524 constants", full(65524), none, nil},
		{"65,525 constants", full(65525), none, inject.ErrPoolFull},
		{"65,535 constants", full(65535), none, inject.ErrPoolFull},
		{"unknown attribute", f(assembly.Method{Code: "return",
			Attributes: []assembly.Attribute{{Name: "com.example.Offsets"}}}), none, inject.ErrUnknownAttribute},
		{"constructor without super()", constructor("return"), after, inject.ErrNoEntry},
		{"constructor that loops", constructor("start: goto start"), after, inject.ErrNoEntry},
		{"constructor without super(), entered at its start", constructor("return"), none, nil},
		{"unknown opcode", f(assembly.Method{Code: "byte 254"}), none, inject.ErrMalformed},
		{"stack underflow", f(assembly.Method{Code: "pop | return"}), none, inject.ErrMalformed},
		{"falls off its end", f(assembly.Method{Code: "nop"}), none, inject.ErrMalformed},
		{"no code", f(assembly.Method{}), none, inject.ErrMalformed},
		{"frames that run past their end", f(assembly.Method{Code: "return",
			Attributes: []assembly.Attribute{{Name: "StackMapTable", Info: []byte{0, 1}}}}), none, inject.ErrMalformed},
		{"line behind the code", f(assembly.Method{Code: "return",
			Attributes: []assembly.Attribute{{Name: "LineNumberTable",
				Info: []byte{0, 1, 0, 9, 0, 1}}}}), none, inject.ErrMalformed},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := row.class.Parse()
			refusals := inject.New(row.options).Try(c, []int{0}, inject.FocusNone)
			if row.want == nil && len(refusals) > 0 {
				t.Fatalf("refused: %v", refusals[0].Err)
			}
			if row.want != nil && (len(refusals) != 1 || refusals[0].Method != 0 ||
				!errors.Is(refusals[0].Err, row.want)) {
				t.Fatalf("got %v, want %v", refusals, row.want)
			}
			data, err := inject.New(row.options).Rewrite(c, traced(1048573, 0))
			if row.want == nil && err != nil {
				t.Fatal(err)
			}
			if row.want != nil && row.want != inject.ErrPoolFull &&
				(data != nil || !errors.Is(err, row.want) || !strings.Contains(err.Error(), "class T: method ")) {
				t.Errorf("Rewrite: %v, want %v of a method of class T", err, row.want)
			}
		})
	}
}

// TestTryRefusesOne checks that Try refuses only those methods of a class that cannot be instrumented, by their
// indices.
func TestTryRefusesOne(t *testing.T) {
	method := func(name, code string) assembly.Method {
		return assembly.Method{Access: static, Name: name, Descriptor: "()V", Code: code}
	}
	c := assembly.Class{Name: "T", Methods: []assembly.Method{
		method("a", "return"), method("b", "pop | return"), method("c", "return"),
		method("d", "nops 65530 | return")}}.Parse()
	got := inject.New(inject.Options{}).Try(c, []int{0, 1, 2, 3}, inject.FocusNone)
	if len(got) != 2 || got[0].Method != 1 || got[1].Method != 3 ||
		!errors.Is(got[0].Err, inject.ErrMalformed) || !errors.Is(got[1].Err, inject.ErrTooLarge) {
		t.Errorf("refused %v", got)
	}
}

func TestRewriteRefusesRequests(t *testing.T) {
	c := assembly.Class{Name: "T", Methods: []assembly.Method{
		{Access: static, Name: "f", Descriptor: "()V", Code: "return"},
		{Access: static, Name: "g", Descriptor: "()V", Code: "return"}}}.Parse()
	object := assembly.Class{Name: "java/lang/Object", Super: "-"}.Parse()
	for _, row := range []struct {
		name    string
		class   *classfile.Class
		request inject.Request
		want    string
	}{
		{"no ID", c, traced(0, 0), "class T: ID 0 for method 0"},
		{"the dispatch's ID", c, traced(1048574, 1), "class T: ID 1048574 for method 1"},
		{"no such method", c, traced(1, 0, 2),
			"class T: request for method 2, which is out of order or not one of 2 methods"},
		{"descending", c, traced(1, 1, 0), "class T: request for method 0"},
		{"no superclass to call", object, inject.Request{Focus: inject.FocusAdd},
			"class java/lang/Object has no superclass"},
		{"no digest method", c, inject.Request{Digest: "0123456789abcdef"},
			"class T: cannot make digest()Ljava/lang/String; return the mapping's digest: there is no such method"},
	} {
		data, err := inject.New(inject.Options{}).Rewrite(row.class, row.request)
		if data != nil || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	if data, err := inject.New(inject.Options{}).Rewrite(c, inject.Request{}); err != nil ||
		!bytes.Equal(data, c.Bytes()) {
		t.Errorf("a request for nothing changes the class, or fails: %v", err)
	}
}
