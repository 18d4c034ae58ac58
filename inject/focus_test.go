package inject_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

func TestFocusHooks(t *testing.T) {
	type classes = map[string]inject.Ancestry
	lacks := func(super string) inject.Ancestry { return inject.Ancestry{SuperName: super} }
	has := func(super string) inject.Ancestry { return inject.Ancestry{SuperName: super, DeclaresFocus: true} }
	bars := func(super string) inject.Ancestry { return inject.Ancestry{SuperName: super, BarsFocus: true} }
	const hook, add = inject.FocusHook, inject.FocusAdd
	for _, row := range []struct {
		name    string
		classes classes
		want    map[string]inject.Focus
	}{
		{"no class", nil, nil},
		{"an Activity with the method", classes{"A": has("android/app/Activity")}, map[string]inject.Focus{"A": hook}},
		{"an Activity without it", classes{"A": lacks("android/app/Activity")}, map[string]inject.Focus{"A": add}},
		{"other framework Activities", classes{"A": lacks("android/app/ListActivity"),
			"B": has("android/preference/PreferenceActivity")},
			map[string]inject.Focus{"A": add, "B": hook}},
		{"the topmost of a chain only", classes{"A": lacks("android/app/Activity"), "B": lacks("A"), "C": lacks("B")},
			map[string]inject.Focus{"A": add}},
		{"each of a chain that has it", classes{"A": lacks("android/app/Activity"), "B": has("A"), "C": lacks("B"),
			"D": has("C")},
			map[string]inject.Focus{"A": add, "B": hook, "D": hook}},
		{"none is added below one that has it, for that may be final",
			classes{"A": has("android/app/Activity"), "B": lacks("A")},
			map[string]inject.Focus{"A": hook}},
		{"one that cannot take it", classes{"A": bars("android/app/Activity")}, nil},
		{"below one that cannot take it", classes{"A": bars("android/app/Activity"), "B": lacks("A"), "C": has("B")},
			map[string]inject.Focus{"C": hook}},
		{"below an unknown class", classes{"A": lacks("androidx/core/app/ComponentActivity"), "B": has("A")}, nil},
		{"no Activity", classes{"A": lacks("java/lang/Object"), "B": has("android/app/Service")}, nil},
		{"no superclass", classes{"A": has("")}, nil},
		{"extends itself", classes{"A": has("A")}, nil},
		{"extend each other", classes{"A": has("B"), "B": has("A")}, nil},
		{"the framework itself among the inputs",
			classes{"android/app/Activity": has("android/view/ContextThemeWrapper"),
				"A": lacks("android/app/Activity")},
			map[string]inject.Focus{"A": add}},
	} {
		if got := inject.FocusHooks(row.classes); !maps.Equal(got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

const focusMethod = "onWindowFocusChanged"

func activity(methods ...assembly.Method) assembly.Class {
	return assembly.Class{Name: "A", Super: "android/app/Activity", Methods: methods}
}

func TestAncestryOf(t *testing.T) {
	method := func(access uint16, code string) []assembly.Method {
		return []assembly.Method{{Access: access, Name: focusMethod, Descriptor: "(Z)V", Locals: 2, Code: code}}
	}
	for _, row := range []struct {
		name       string
		class      assembly.Class
		want, bars bool
	}{
		{"without", activity(), false, false},
		{"with", activity(method(classfile.AccPublic, "return")...), true, false},
		{"protected", activity(method(classfile.AccProtected, "return")...), true, false},
		{"final", activity(method(classfile.AccPublic|classfile.AccFinal, "return")...), true, false},
		{"static", activity(method(static, "return")...), false, true},
		{"private", activity(method(classfile.AccPrivate, "return")...), false, true},
		{"abstract", activity(method(classfile.AccPublic|classfile.AccAbstract, "")...), false, true},
		{"native", activity(method(classfile.AccPublic|classfile.AccNative, "")...), false, true},
		{"of another descriptor", activity(assembly.Method{Access: classfile.AccPublic, Name: focusMethod,
			Descriptor: "(I)V", Locals: 2, Code: "return"}), false, false},
		{"an interface", assembly.Class{Name: "A", Super: "android/app/Activity",
			Access: classfile.AccPublic | classfile.AccInterface | classfile.AccAbstract}, false, true},
	} {
		want := inject.Ancestry{SuperName: "android/app/Activity", DeclaresFocus: row.want, BarsFocus: row.bars}
		if got := inject.AncestryOf(row.class.Parse()); got != want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, want)
		}
	}
}

func TestFocusCode(t *testing.T) {
	empty := assembly.Method{Access: classfile.AccPublic, Name: focusMethod, Descriptor: "(Z)V", Locals: 2,
		Code: "return"}
	other := assembly.Method{Access: classfile.AccPublic, Name: "f", Descriptor: "()V", Locals: 1, Code: "return"}
	ids := func(r inject.Request, f inject.Focus) inject.Request { r.Focus = f; return r }
	for _, row := range []struct {
		name    string
		class   assembly.Class
		request inject.Request
		want    []string // the listing of each method
	}{
		{"untraced", activity(empty), ids(traced(5), inject.FocusHook), []string{
			"0: aload_0 | 1: iload_1 | 2: invokestatic at | 5: return | stack 2"}},
		{"traced", activity(empty), ids(traced(5, 0), inject.FocusHook), []string{
			"0: iconst_5 | 1: invokestatic i | 4: aload_0 | 5: iload_1 | 6: invokestatic at | 9: iconst_5 | " +
				"10: invokestatic o | 13: return | stack 2"}},
		{"added", activity(other), ids(traced(5, 0), inject.FocusAdd), []string{
			"0: iconst_5 | 1: invokestatic i | 4: iconst_5 | 5: invokestatic o | 8: return | stack 1",
			"0: aload_0 | 1: iload_1 | 2: invokespecial android/app/Activity.onWindowFocusChanged(Z)V | 5: aload_0 | " +
				"6: iload_1 | 7: invokestatic at | 10: return | stack 2"}},
	} {
		out := rewrite(t, row.class.Parse(), inject.Options{}, row.request)
		if len(out.Methods()) != len(row.want) {
			t.Errorf("%s: %d methods, want %d", row.name, len(out.Methods()), len(row.want))
			continue
		}
		for i, want := range row.want {
			if got := listing(t, out, i); got != want {
				t.Errorf("%s: method %d\ngot  %s\nwant %s", row.name, i, got, want)
			}
		}
	}
	out := rewrite(t, activity().Parse(), inject.Options{}, inject.Request{Focus: inject.FocusAdd})
	if m := out.Methods()[0]; m.AccessFlags != classfile.AccPublic || m.Name != focusMethod || m.Descriptor != "(Z)V" {
		t.Errorf("added %#x %s%s", m.AccessFlags, m.Name, m.Descriptor)
	}
}

// TestDigest writes digests into MappingInfo, and checks that classes whose method digest differs from the
// runtime's are refused.
func TestDigest(t *testing.T) {
	const digest = "0123456789abcdef"
	info := func(code string) assembly.Class {
		return assembly.Class{Name: "dev/tracegen/runtime/MappingInfo", Methods: []assembly.Method{
			{Access: static, Name: "digest", Descriptor: "()Ljava/lang/String;", Stack: 1, Code: code}}}
	}
	good := info(`ldc "0000000000000000" | areturn`).Parse()
	if !inject.IsMappingInfo(good) || inject.IsMappingInfo(activity().Parse()) {
		t.Error("IsMappingInfo takes one class for the other")
	}
	if err := inject.CheckMappingInfo(good); err != nil {
		t.Error(err)
	}
	out := rewrite(t, good, inject.Options{}, inject.Request{Digest: digest})
	if want := strings.Replace(string(good.Bytes()), strings.Repeat("0", 16), digest, 1); string(out.Bytes()) != want {
		t.Error("more has changed than the 16 digits")
	}
	again := rewrite(t, out, inject.Options{}, inject.Request{Digest: "fedcba9876543210"})
	if _, ok := again.ConstantPool().FindUtf8("fedcba9876543210"); !ok {
		t.Error("a digest cannot be replaced")
	}
	for _, row := range []struct {
		class assembly.Class
		want  string
	}{
		{assembly.Class{Name: "dev/tracegen/runtime/MappingInfo"}, "there is no such method"},
		{info(""), "it has no code"},
		{info("aconst_null | areturn"), "it does more than return a constant"},
		{info(`ldc "0000000000000000" | nop | areturn`), "it does more than return a constant"},
		{info(`ldc "0000000000000000" | areturn | areturn`), "it does more than return a constant"},
		{info(`ldc "0000000000000000"`), "it does more than return a constant"},
		{info("ldc 12 | areturn"), "String"},
		{info(`ldc "0" | areturn`), `its string "0" does not consist of 16 hexadecimal digits`},
		{info(`ldc "000000000000000G" | areturn`), "does not consist of 16 hexadecimal digits"},
	} {
		if err := inject.CheckMappingInfo(row.class.Parse()); err == nil || !strings.Contains(err.Error(), row.want) ||
			strings.Contains(err.Error(), "%!") {
			t.Errorf("got %v, want %q", err, row.want)
		}
	}
}

// TestStripUndoes checks that strip restores an instrumented class, and that instrumenting the restored class again
// writes the same bytes as the first time.
func TestStripUndoes(t *testing.T) {
	for _, c := range realClasses(t) {
		in := inject.New(inject.Options{Exits: inject.ExitsExact})
		request := inject.Request{}
		for _, m := range acceptable(in, c) {
			request.Methods = append(request.Methods, inject.Traced{Method: m, ID: uint32(m + 100000)})
		}
		first := rewrite(t, c, inject.Options{Exits: inject.ExitsExact}, request)
		stripped, removed, err := equivalence.Strip(first, inject.DefaultRuntimeClass)
		if err != nil || (removed == 0) != (len(request.Methods) == 0) || string(stripped) != string(c.Bytes()) {
			t.Errorf("%s: strip removed %d calls of %d methods and does not restore the class: %v",
				c.Name(), removed, len(request.Methods), err)
			continue
		}
		original := assembly.Parse(t, stripped)
		second := rewrite(t, original, inject.Options{Exits: inject.ExitsExact}, request)
		if string(second.Bytes()) != string(first.Bytes()) {
			t.Errorf("%s: instrumenting again writes other bytes", c.Name())
		}
	}
}
