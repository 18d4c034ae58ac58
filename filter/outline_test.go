package filter

import (
	"fmt"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestOutlines wants the outline of each form of method, or none: none of a method with a loop or with anything else
// that may take long whatever it calls.
//
// Invariant: A call of a method with an outline executes each instruction at most once.
func TestOutlines(t *testing.T) {
	final, own := uint16(classfile.AccFinal), "own/C"
	for about, row := range map[string]struct {
		code, want string
		flags      uint16
		handler    string
	}{
		"a return":                      {code: "return", want: "1"},
		"forward":                       {code: "iload_0 | ifeq end | nop | end: return", want: "4"},
		"backward":                      {code: "a: iload_0 | ifeq a | return"},
		"itself":                        {code: "a: goto a"},
		"jsr":                           {code: "jsr a | a: astore_1 | return"},
		"a ret":                         {code: "ret 1"},
		"wide ret":                      {code: "byte 196 | byte 169 | byte 0 | byte 1"},
		"wide load":                     {code: "byte 196 | byte 21 | byte 0 | byte 1 | ireturn", want: "2"},
		"synchronized":                  {code: "return", flags: classfile.AccSynchronized},
		"monitor":                       {code: "aload_0 | monitorenter | return"},
		"throw":                         {code: "aload_0 | athrow"},
		"handler ahead":                 {code: "a: nop | b: return | c: pop | return", want: "4", handler: "a b c any"},
		"handler before":                {code: "c: nop | a: nop | b: return", handler: "a b c any"},
		"handler in its range":          {code: "a: nop | c: pop | b: return", handler: "a b c any"},
		"interface":                     {code: "aload_0 | invokeinterface i/I.f()V | return"},
		"the most":                      {code: "nops 199 | return", want: "200"},
		"more":                          {code: "nops 200 | return"},
		"an array":                      {code: "bipush 64 | newarray 10 | areturn", want: "3"},
		"an array of objects":           {code: "iconst_3 | anewarray a/A | areturn", want: "3"},
		"a long array":                  {code: "bipush 65 | newarray 10 | areturn"},
		"an array of any length":        {code: "iload_0 | newarray 10 | areturn"},
		"an array of a negative length": {code: "iconst_m1 | newarray 10 | areturn"},
		"an array of two lengths": {code: "iload_0 | ifeq a | iload_0 | goto b | a: iconst_1 | b: newarray 10 | " +
			"areturn"},
		"own static field":     {code: "getstatic own/C.f:I | ireturn", want: "2"},
		"another static field": {code: "getstatic a/A.f:I | getstatic a/A.f:I | iadd | ireturn", want: "4 init a/A"},
		"a field of the JDK":   {code: "getstatic java/util/Locale.US:Ljava/util/Locale; | areturn"},
		"Unit":                 {code: "getstatic kotlin/Unit.INSTANCE:Lkotlin/Unit; | areturn", want: "2"},
		"an object":            {code: "new a/A | areturn", want: "2 init a/A"},
		"an object of the JDK": {code: "new java/util/Scanner | areturn"},
		"a call of the JDK":    {code: "aload_0 | invokevirtual java/lang/String.length()I | ireturn", want: "27"},
		"a long one":           {code: "aload_0 | invokevirtual java/lang/String.hashCode()I | ireturn"},
		"a static call":        {code: "invokestatic a/A.f()V | return", want: "2 init a/A, 1 a/A.f()V"},
		"a call twice": {code: "aload_0 | invokevirtual a/A.f()V | aload_0 | invokevirtual a/A.f()V | return",
			want: "5 3 a/A.f()V, 3 a/A.f()V"},
		"a constructor":         {code: "aload_0 | invokespecial a/A.<init>()V | return", want: "3 2 a/A.<init>()V"},
		"an array's method":     {code: "aload_0 | invokevirtual [I.clone()Ljava/lang/Object; | areturn"},
		"own private method":    {code: "aload_0 | invokevirtual own/C.private()V | return", want: "3 own 0"},
		"own final method":      {code: "aload_0 | invokevirtual own/C.final()V | return", want: "3 own 1"},
		"own method":            {code: "aload_0 | invokevirtual own/C.open()V | return"},
		"own method by special": {code: "aload_0 | invokespecial own/C.open()V | return", want: "3 own 2"},
		"own native method":     {code: "invokestatic own/C.native()V | return"},
		"own abstract method":   {code: "aload_0 | invokespecial own/C.abstract()V | return"},
		"an inherited method":   {code: "invokestatic own/C.other()V | return", want: "2 1 own/C.other()V"},
	} {
		t.Run(about, func(t *testing.T) {
			m := assembly.Method{Access: row.flags, Name: "m", Descriptor: "()V", Stack: 9, Locals: 9, Code: row.code}
			if row.handler != "" {
				m.Handlers = []string{row.handler}
			}
			empty := func(access uint16, name string) assembly.Method {
				return assembly.Method{Access: access, Name: name, Descriptor: "()V", Code: "return"}
			}
			bare := func(access uint16, name string) assembly.Method {
				return assembly.Method{Access: access, Name: name, Descriptor: "()V"}
			}
			methods := []assembly.Method{empty(classfile.AccPrivate, "private"), empty(final, "final"), empty(0, "open"),
				bare(classfile.AccStatic|classfile.AccNative, "native"), bare(classfile.AccAbstract, "abstract"), m}
			for range []int{0, fewMethods}[len(about)%2] { // with a table and without
				methods = append(methods, empty(0, "f"))
			}
			c := assembly.Class{Name: own, Methods: methods}.Parse()
			body, _, err := c.Code(&c.Methods()[5])
			if err != nil {
				t.Fatal(err)
			}
			var o Outliner
			o.Class(c)
			if got := outlineText(t, c, &o, &body); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// outlineText returns an outline of method 5 as text: its size, and its calls, with kinds as numbers; "" for none.
func outlineText(t *testing.T, c *classfile.Class, o *Outliner, body *classfile.Code) string {
	t.Helper()
	outline, ok := o.Outline(&c.Methods()[5], body)
	if !ok {
		return ""
	}
	text, separator := fmt.Sprint(outline.Size), " "
	for _, call := range outline.Calls {
		ref, err := c.ConstantPool().Ref(call.Index)
		switch {
		case call.Kind == CallOwn:
			text += fmt.Sprintf("%sown %d", separator, call.Index)
		case call.Kind == CallInitialiser && err == nil:
			text += separator + "init " + ref.Class
		case call.Kind == CallInitialiser:
			name, err := c.ConstantPool().ClassName(call.Index)
			if err != nil {
				t.Fatal(err)
			}
			text += separator + "init " + name
		default:
			text += fmt.Sprintf("%s%d %s.%s%s", separator, call.Kind, ref.Class, ref.Name, ref.Descriptor)
		}
		separator = ", "
	}
	return text
}
