package pipeline_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

func sampleJar(t *testing.T, path string) string {
	files := append(sampleClasses(t), runtimeClass(inject.DefaultRuntimeClass), mappingInfo(),
		file{"META-INF/services/a.b", []byte("x.Y\n")}, file{"res/", nil}, file{"res/raw.stored",
			bytes.Repeat([]byte("abc"), 100)})
	return archive(t, path, files...)
}

// TestMappingAndOutputAgree instruments real classes in every exit mode.
//
// Invariant: The IDs in the mapping are the IDs in the written classes.
func TestMappingAndOutputAgree(t *testing.T) {
	dir := t.TempDir()
	in := sampleJar(t, filepath.Join(dir, "in.jar"))
	for name, exits := range map[string]inject.ExitMode{"normal": inject.ExitsNormal, "throws": inject.ExitsThrows,
		"exact": inject.ExitsExact} {
		t.Run(name, func(t *testing.T) {
			c := config(in, filepath.Join(dir, name+".jar"))
			c.Inject.Exits = exits
			result := instrument(t, c)
			out := contents(t, c.Inputs[0].Output)
			checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass, out)
			if result.Mapping.Len() < 50 {
				t.Errorf("only %d methods in the mapping", result.Mapping.Len())
			}
			before := contents(t, in)
			changed, bytesIn, bytesOut := 0, 0, 0
			for i, f := range before {
				if out[i].name != f.name {
					t.Fatalf("entry %d is %s, was %s", i, out[i].name, f.name)
				}
				if strings.HasSuffix(f.name, ".class") {
					bytesIn, bytesOut = bytesIn+len(f.data), bytesOut+len(out[i].data)
					if !bytes.Equal(f.data, out[i].data) {
						changed++
					}
				} else if !bytes.Equal(f.data, out[i].data) {
					t.Errorf("%s has changed", f.name)
				}
			}
			r := result.Inputs[0]
			if r.Path != in || r.Output != c.Inputs[0].Output || r.Rewritten != changed || r.Classes != len(before)-3 ||
				r.ClassBytes != int64(bytesIn) || r.OutputBytes != int64(bytesOut) {
				t.Errorf("result says %+v; %d of %d classes changed, %d bytes to %d", r, changed, len(before)-3,
					bytesIn, bytesOut)
			}
			info := entryOf(t, out, "dev/tracegen/runtime/MappingInfo.class")
			if !bytes.Contains(info, []byte(result.Mapping.Digest())) {
				t.Error("MappingInfo does not hold the digest")
			}
		})
	}
}

// TestSameWhateverTheOrder checks that mapping and class bytes depend on the content of the inputs alone.
func TestSameWhateverTheOrder(t *testing.T) {
	helper := func(calls string) []assembly.Method {
		return []assembly.Method{{Access: static, Name: "f", Descriptor: "()V", Code: calls + "return"}}
	}
	// Copies of one class that lead to others, and Activities that disagree.
	versioned := func(prefix string, c assembly.Class) file { return file{prefix + c.Name + ".class", c.Bytes()} }
	focus := assembly.Method{Access: public, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2,
		Code: "return"}
	const nine, eleven = "META-INF/versions/9/", "META-INF/versions/11/"
	files := append(sampleClasses(t), runtimeClass(inject.DefaultRuntimeClass, "h/H.f()V"), mappingInfo(),
		versioned("", assembly.Class{Name: "h/H", Methods: helper("invokestatic h/Base.f()V | ")}),
		versioned(nine, assembly.Class{Name: "h/H", Methods: helper("invokestatic h/Nine.f()V | ")}),
		versioned(eleven, assembly.Class{Name: "h/H", Methods: helper("invokestatic h/Eleven.f()V | ")}),
		class("h/Base", "f"), class("h/Nine", "f"), class("h/Eleven", "f"), class("h/Other", "f"),
		versioned("", assembly.Class{Name: "a/Main", Super: "android/app/Activity"}),
		versioned(nine, assembly.Class{Name: "a/Main", Super: "android/app/Activity",
			Methods: []assembly.Method{focus}}),
		versioned(eleven, assembly.Class{Name: "a/Main", Super: "java/lang/Object",
			Access: public | classfile.AccFinal}),
		versioned(nine, assembly.Class{Name: "a/Second", Super: "android/app/Activity",
			Methods: []assembly.Method{focus}}),
		versioned("", assembly.Class{Name: "a/Second", Super: "android/app/Service",
			Methods: []assembly.Method{focus}}))
	slices.SortStableFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	files = slices.CompactFunc(files, func(a, b file) bool { return a.name == b.name })

	type outcome struct {
		mapping string
		classes map[string]string
	}
	run := func(t *testing.T, path string, jobs int, modified time.Time, files []file) outcome {
		c := config(archiveAt(t, path, modified, files...), path+".out.jar")
		c.FocusHooks, c.Jobs = true, jobs
		result := instrument(t, c)
		o := outcome{mappingText(t, result.Mapping), map[string]string{}}
		for _, f := range contents(t, c.Inputs[0].Output) {
			o.classes[f.name] = string(f.data)
		}
		checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass, contents(t, c.Inputs[0].Output))
		got := reasons(result)
		for _, name := range []string{"h/H.f", "h/Base.f", "h/Nine.f", "h/Eleven.f"} {
			if got[name] != "runtime" {
				t.Errorf("%s is reached by the runtime, its reason is %q", name, got[name])
			}
		}
		if _, ok := got["h/Other.f"]; ok {
			t.Error("h/Other is not reached by the runtime, and is listed")
		}
		return o
	}
	day := time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC)
	want := run(t, filepath.Join(t.TempDir(), "one.jar"), 1, day, files)
	if !strings.Contains(want.mapping, "# focus a.Main add\n") || strings.Contains(want.mapping, "a.Second add") {
		t.Errorf("focus decisions: %s", want.mapping)
	}
	for seed := range uint64(4) {
		shuffled := slices.Clone(files)
		rand.New(rand.NewPCG(seed, 7)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j],
				shuffled[i]
		})
		jobs := []int{2, 8, 100, math.MaxInt}[seed]
		path := filepath.Join(t.TempDir(), "deep", fmt.Sprint(seed), "another name.zip")
		zone := time.FixedZone("far", int(seed)*3600)
		got := run(t, path, jobs, day.Add(time.Duration(seed)*1000*time.Hour).In(zone), shuffled)
		if got.mapping != want.mapping {
			t.Errorf("seed %d: another mapping\n%s\nwant\n%s", seed, got.mapping, want.mapping)
		}
		if !maps.Equal(got.classes, want.classes) {
			t.Errorf("seed %d: other bytes", seed)
		}
	}
}

// TestTwiceIsOnce instruments what was instrumented before: by the same options to the same jar, by others as if
// they had been the first. Strip returns all original classes.
func TestTwiceIsOnce(t *testing.T) {
	dir := t.TempDir()
	in := sampleJar(t, filepath.Join(dir, "in.jar"))
	once, twice := config(in, filepath.Join(dir, "once.jar")), config(filepath.Join(dir, "once.jar"),
		filepath.Join(dir, "twice.jar"))
	first, second := instrument(t, once), instrument(t, twice)
	if a, b := mappingText(t, first.Mapping), mappingText(t, second.Mapping); a != b {
		t.Errorf("mappings differ:\n%s\n%s", a, b)
	}
	equalFiles(t, once.Inputs[0].Output, twice.Inputs[0].Output)

	exact, through := config(in, filepath.Join(dir, "exact.jar")), config(filepath.Join(dir, "once.jar"),
		filepath.Join(dir, "through.jar"))
	exact.Inject.Exits, through.Inject.Exits = inject.ExitsExact, inject.ExitsExact
	exact.Order, through.Order = mapping.OrderCompact, mapping.OrderCompact
	instrument(t, exact)
	instrument(t, through)
	equalFiles(t, exact.Inputs[0].Output, through.Inputs[0].Output)

	strip := pipeline.Config{Inputs: []pipeline.Input{{Path: through.Inputs[0].Output,
		Output: filepath.Join(dir, "stripped.jar")}}}
	result, err := pipeline.Strip(t.Context(), strip)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Inputs[0].Rewritten; got != first.Inputs[0].Rewritten {
		t.Errorf("strip changed %d classes, %d had been", got, first.Inputs[0].Rewritten)
	}
	got, want := contents(t, strip.Inputs[0].Output), contents(t, in)
	for i, f := range want {
		if !bytes.Equal(got[i].data, f.data) {
			t.Errorf("%s is not what it was", f.name)
		}
	}
}

func equalFiles(t *testing.T, a, b string) {
	t.Helper()
	x := fixture.Read(t, a)
	y := fixture.Read(t, b)
	if !bytes.Equal(x, y) {
		t.Errorf("%s and %s differ", filepath.Base(a), filepath.Base(b))
	}
}

// TestSkipped has a class for every reason that the pipeline or package inject finds: it comes out as it went in,
// and is listed.
//
// Invariant: Every method with code is traced or has exactly one reason why not.
func TestSkipped(t *testing.T) {
	method := func(m assembly.Method) assembly.Class {
		m.Access, m.Name, m.Descriptor = static, "f", "()V"
		return assembly.Class{Name: "T", Methods: []assembly.Method{m}}
	}
	plain := class("T", "f").data
	with := func(at int, b ...byte) []byte {
		return append(append(slices.Clone(plain[:at]), b...), plain[at+len(b):]...)
	}
	for _, row := range []struct {
		name    string
		data    []byte
		adjust  func(*pipeline.Config)
		key     string // of the line in the skip list
		reason  string
		warning string // a part of it, "" for none
	}{
		{name: "module-info", warning: "in.jar!x/E.class: on a module path, the module must read",
			data: assembly.Class{Name: "module-info", Super: "-", Major: 53, Access: classfile.AccModule}.Bytes()},
		{name: "module-info that has a method", key: "module-info.f", reason: "module-info", warning: "--set add-requires",
			data: assembly.Class{Name: "module-info", Major: 53, Access: classfile.AccModule,
				Methods: method(assembly.Method{Code: "return"}).Methods}.Bytes()},
		{name: "major version 73", data: with(6, 0, 73), key: "T.f", reason: "unsupported-version",
			warning: "in.jar!x/E.class is left as it is: "},
		{name: "major version 44", data: with(6, 0, 44), key: "x/E.class", reason: "unsupported-version",
			warning: "in.jar!x/E.class is left as it is: "},
		{name: "no class", data: []byte("class T {}"), key: "x/E.class", reason: "malformed"},
		{name: "nothing", key: "x/E.class", reason: "malformed"},
		{name: "cut short", data: plain[:len(plain)-1], key: "x/E.class", reason: "malformed"},
		{name: "more behind it", data: append(slices.Clone(plain), 0), key: "x/E.class", reason: "malformed"},
		{name: "malformed code", data: method(assembly.Method{Code: "byte 254"}).Bytes(), key: "T.f",
			reason: "malformed"},
		{name: "stack underflow", data: method(assembly.Method{Code: "pop | return"}).Bytes(), key: "T.f",
			reason: "malformed"},
		{name: "method without a name", key: "T", reason: "malformed",
			data: assembly.Class{Name: "T", Methods: []assembly.Method{{Access: static, Descriptor: "()V",
				Code: "return"}}}.Bytes()},
		{name: "method without a descriptor", key: "T.f", reason: "malformed",
			data: assembly.Class{Name: "T", Methods: []assembly.Method{{Access: static, Name: "f",
				Code: "return"}}}.Bytes()},
		{name: "class without a name", key: "x/E.class.f", reason: "malformed",
			data: bytes.Replace(method(assembly.Method{Code: "return"}).Bytes(), []byte{0, 1, 'T'}, []byte{0, 0}, 1)},
		{name: "calls by another tool", key: "T.f", reason: "already-instrumented",
			warning: "in.jar!x/E.class is left as it is: ",
			data: method(assembly.Method{Stack: 1, Code: "sipush 300 | invokestatic " + inject.DefaultRuntimeClass +
				".i(I)V | return"}).Bytes()},
		{name: "too large", data: method(assembly.Method{Code: "nops 65529 | return"}).Bytes(), key: "T.f",
			reason: "too-large"},
		{name: "pool full", key: "T.f", reason: "pool-full",
			data: assembly.Class{Name: "T", Constants: 65534,
				Methods: method(assembly.Method{Code: "return"}).Methods}.Bytes()},
		{name: "jit limit", data: method(assembly.Method{Code: "nops 7994 | return"}).Bytes(), key: "T.f",
			reason: "jit-limit",
			adjust: func(c *pipeline.Config) { c.Inject.KeepCompilable = true }},
		{name: "unknown attribute", key: "T.f", reason: "unknown-attribute",
			data: method(assembly.Method{Code: "return", Attributes: []assembly.Attribute{{Name: "a.B"}}}).Bytes()},
		{name: "constructor without super()", key: "T.<init>", reason: "no-entry",
			adjust: func(c *pipeline.Config) { c.Inject.Exits = inject.ExitsExact },
			data: assembly.Class{Name: "T", Methods: []assembly.Method{
				{Access: public, Name: "<init>", Descriptor: "()V", Locals: 1, Code: "start: goto start"}}}.Bytes()},
		{name: "trivial", data: plain, key: "T.f", reason: "trivial",
			adjust: func(c *pipeline.Config) { c.Filter = nil }},
		{name: "the runtime's package", data: class("dev/tracegen/runtime/deep/T", "f").data,
			key: "dev/tracegen/runtime/deep/T.f", reason: "runtime"},
		{name: "no methods", data: assembly.Class{Name: "T"}.Bytes()},
		{name: "abstract methods only", data: assembly.Class{Name: "T", Access: public | classfile.AccAbstract,
			Methods: []assembly.Method{
				{Access: public | classfile.AccAbstract, Name: "f", Descriptor: "()V"}}}.Bytes()},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			c := config(archive(t, filepath.Join(dir, "in.jar"), runtimeClass(inject.DefaultRuntimeClass),
				file{"x/E.class", row.data}, class("Good", "g")),
				filepath.Join(dir, "out.jar"))
			// Good is changed, that the rest is not must not be for want of a reason to write anything.
			if row.adjust != nil {
				row.adjust(&c)
			}
			result := instrument(t, c)
			out := contents(t, c.Inputs[0].Output)
			if !bytes.Equal(entryOf(t, out, "x/E.class"), row.data) {
				t.Error("the class has changed")
			}
			got := reasons(result)
			if got[row.key] != row.reason {
				t.Errorf("reason of %s is %q, want %q", row.key, got[row.key], row.reason)
			}
			delete(got, row.key)
			for _, known := range []string{".i", ".o", ".at", ".posted", ".continues", ".starts", ".resumes"} {
				delete(got, inject.DefaultRuntimeClass+known)
			}
			delete(got, "Good.g") // if it is trivial
			if len(got) > 0 {
				t.Errorf("also listed: %v", got)
			}
			if row.warning != "" && !warned(result, row.warning) {
				t.Errorf("warnings %q, want one with %q", result.Warnings, row.warning)
			}
			if row.warning == "" && len(result.Warnings) != 1 { // of MappingInfo
				t.Errorf("warnings %q", result.Warnings)
			}
			if row.adjust == nil {
				checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass,
					slices.DeleteFunc(out, func(f file) bool { return f.name == "x/E.class" }))
			}
		})
	}
}

func TestRuntimeClass(t *testing.T) {
	broken := func(access uint16) file {
		return classFile(assembly.Class{Name: "my/rt/Beat", Methods: []assembly.Method{
			{Access: access, Name: "i", Descriptor: "(I)V", Locals: 2, Code: "return"}, {Access: static, Name: "o",
				Descriptor: "(I)V", Locals: 1, Code: "return"}}})
	}
	run := func(t *testing.T, external, focus bool, files ...file) pipeline.Config {
		dir := t.TempDir()
		c := config(archive(t, filepath.Join(dir, "in.jar"), files...), filepath.Join(dir, "out.jar"))
		c.Inject.RuntimeClass, c.RuntimeExternal, c.FocusHooks = "my/rt/Beat", external, focus
		c.Filter = filter.New(filter.Options{Trivial: filter.None, RuntimeClass: "my/rt/Beat"})
		return c
	}
	app := class("app/A", "f")
	activity := classFile(assembly.Class{Name: "app/Main", Super: "android/app/Activity"})
	for _, row := range []struct {
		name            string
		external, focus bool
		files           []file
		want            []string // words of the error, nil for none
	}{
		{"absent", false, false, []file{app}, []string{"runtime class my.rt.Beat is in none of the inputs",
			"--runtime-external", "--runtime-class"}},
		{"absent, on purpose", true, false, []file{app}, nil},
		{"i is not static", false, false, []file{app, broken(public)},
			[]string{"in.jar!my/rt/Beat.class", "method i(I)V of runtime class my/rt/Beat is not public and static",
				"--runtime-class"}},
		{"i is not static, though it could be elsewhere", true, false, []file{app, broken(public)},
			[]string{"is not public and static"}},
		{"without at, which no class calls", false, true, []file{app, broken(static)}, nil},
		{"without at, which an Activity calls", false, true, []file{app, broken(static), activity},
			[]string{"in.jar!my/rt/Beat.class", "has no method at"}},
		{"without at, with focus hooks off", false, false, []file{app, broken(static), activity}, nil},
		{"a second one is not right", false, false, []file{broken(static), app,
			{"META-INF/versions/9/my/rt/Beat.class", broken(public).data}},
			[]string{"in.jar!META-INF/versions/9/my/rt/Beat.class", "not public and static"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := run(t, row.external, row.focus, row.files...)
			if row.want == nil {
				checkAgreement(t, instrument(t, c).Mapping, "my/rt/Beat", contents(t, c.Inputs[0].Output))
				return
			}
			fails(t, t.Context(), c, row.want...)
		})
	}
	t.Run("what it reaches is not instrumented", func(t *testing.T) {
		c := run(t, false, false, app, runtimeClass("my/rt/Beat", "app/Clock.now()V"), class("my/rt/deep/Helper", "f"),
			class("my/rtx/Other", "f"),
			classFile(assembly.Class{Name: "app/Clock", Methods: []assembly.Method{
				{Access: static, Name: "now", Descriptor: "()V", Code: "invokestatic app/Log.log()V | return"},
				{Access: static, Name: "unused", Descriptor: "()V", Code: "invokestatic app/A.f()V | return"}}}),
			class("app/Log", "log"))
		result := instrument(t, c)
		got := reasons(result)
		want := map[string]string{"my/rt/Beat.i": "runtime", "my/rt/Beat.o": "runtime", "my/rt/Beat.at": "runtime",
			"my/rt/Beat.posted": "runtime", "my/rt/Beat.continues": "runtime", "my/rt/Beat.starts": "runtime",
			"my/rt/Beat.resumes": "runtime", "my/rt/deep/Helper.f": "runtime",
			"app/Clock.now": "runtime", "app/Clock.unused": "runtime", "app/Log.log": "runtime"}
		if !maps.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
		for s := range result.Skipped {
			if s.Class == "app/Log" && s.Detail != "reached by Beat.i -> Clock.now -> Log.log" {
				t.Errorf("detail %q", s.Detail)
			}
		}
		before, after := contents(t, c.Inputs[0].Path), contents(t, c.Inputs[0].Output)
		for i, f := range before {
			traced := f.name == "app/A.class" || f.name == "my/rtx/Other.class"
			if bytes.Equal(f.data, after[i].data) == traced {
				t.Errorf("%s: traced %v, want %v", f.name, !traced, traced)
			}
		}
	})
}

// TestOddEntries has names and contents that other tools stumble over.
func TestOddEntries(t *testing.T) {
	dir := t.TempDir()
	files := []file{
		class("a", "f"), class("A", "f"), {"ä/Ö.class", class("pkg/Elsewhere", "f").data},
		class("Twice", "f"), {"Twice.class", class("Twice", "f", "g").data}, class("x/Same", "f"), {"y/Same.class",
			class("x/Same", "h").data},
		{"folder.class/", nil}, {"data.txt", []byte("1")}, {"data.txt", []byte("2")}, {"inner.jar",
			[]byte("PK no zip")},
	}
	c := config(archive(t, filepath.Join(dir, "in.jar"), files...), filepath.Join(dir, "out.jar"))
	c.RuntimeExternal = true
	result := instrument(t, c)
	out := contents(t, c.Inputs[0].Output)
	if len(out) != len(files) {
		t.Fatalf("%d entries, want %d", len(out), len(files))
	}
	for i, f := range files {
		isClass := strings.HasSuffix(f.name, ".class")
		if out[i].name != f.name || bytes.Equal(out[i].data, f.data) == isClass {
			t.Errorf("entry %d: %s is %s; a class is to change, others are not", i, f.name, out[i].name)
		}
	}
	checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass, out)
	if result.Mapping.Len() != 7 { // a.f A.f Elsewhere.f Twice.f Twice.g Same.f Same.h
		t.Errorf("%d methods: %s", result.Mapping.Len(), mappingText(t, result.Mapping))
	}
	if !warned(result, "in.jar: entry Twice.class is there more than once") ||
		!warned(result, "entry data.txt is there more than once") {
		t.Errorf("warnings %q", result.Warnings)
	}
}

func TestFocus(t *testing.T) {
	focus := func(m assembly.Method) assembly.Method {
		m.Access, m.Name, m.Descriptor, m.Locals = public, "onWindowFocusChanged", "(Z)V", 2
		return m
	}
	activity := func(name, super string, methods ...assembly.Method) assembly.Class {
		return assembly.Class{Name: name, Super: super, Methods: methods}
	}
	f := assembly.Method{Access: static, Name: "f", Descriptor: "()V", Code: "return"}
	full := activity("a/Full", "android/app/Activity", f)
	full.Constants = 65523 // room for calls, not for at and a method
	foreign := classFile(activity("a/Foreign", "android/app/Activity",
		assembly.Method{Access: static, Name: "f", Descriptor: "()V", Stack: 1,
			Code: "sipush 300 | invokestatic " + inject.DefaultRuntimeClass + ".i(I)V | return"}))
	dir := t.TempDir()
	c := config(archive(t, filepath.Join(dir, "in.jar"), runtimeClass(inject.DefaultRuntimeClass), foreign,
		classFile(activity("a/Base", "android/app/Activity", f)), classFile(activity("a/Sub", "a/Base", f)),
		classFile(activity("a/Has", "a/Base", focus(assembly.Method{Code: "return"}))),
		classFile(activity("a/Odd", "a/Base", f, focus(assembly.Method{Code: "return",
			Attributes: []assembly.Attribute{{Name: "x.Y"}}}))),
		classFile(activity("a/Long", "a/Base", f, focus(assembly.Method{Code: "nops 65522 | return"}))),
		classFile(full)), filepath.Join(dir, "out.jar"))
	c.FocusHooks = true
	result := instrument(t, c)
	if got, want := fmt.Sprint(result.Mapping.Focus()), "[{a/Base add} {a/Has hook}]"; got != want {
		t.Errorf("focus %s, want %s", got, want)
	}
	got := reasons(result)
	if got["a/Odd.onWindowFocusChanged"] != "unknown-attribute" || got["a/Foreign.f"] != "already-instrumented" ||
		len(got) != 9 { // and seven of the runtime
		t.Errorf("listed %v", got)
	}
	for _, name := range []string{"a/Odd", "a/Long", "a/Full"} {
		if !warned(result, "in.jar!"+name+".class: changes of focus are not reported") {
			t.Errorf("no warning of %s: %q", name, result.Warnings)
		}
	}
	out := contents(t, c.Inputs[0].Output)
	if out[1].name != foreign.name || !bytes.Equal(out[1].data, foreign.data) {
		t.Error("what another tool instrumented has changed")
	}
	checkAgreement(t, result.Mapping, inject.DefaultRuntimeClass, slices.Delete(slices.Clone(out), 1, 2))
	if n := len(mustParse(t, entryOf(t, out, "a/Base.class")).Methods()); n != 2 {
		t.Errorf("a/Base has %d methods, want 2", n)
	}
	c.FocusHooks = false
	c.Inputs[0].Output = filepath.Join(dir, "off.jar")
	if result := instrument(t, c); len(result.Mapping.Focus()) != 0 {
		t.Errorf("focus %v, though hooks are off", result.Mapping.Focus())
	}
}

// TestFocusOfCopies has an Activity that is something else for later releases: no method is added to that, which
// would call one that its superclass does not have.
func TestFocusOfCopies(t *testing.T) {
	other := assembly.Class{Name: "a/Main", Super: "a/Other"}
	dir := t.TempDir()
	c := config(archive(t, filepath.Join(dir, "in.jar"), file{"META-INF/versions/9/a/Main.class", other.Bytes()},
		classFile(assembly.Class{Name: "a/Main", Super: "android/app/Activity"})), filepath.Join(dir, "out.jar"))
	c.FocusHooks, c.RuntimeExternal = true, true
	result := instrument(t, c)
	if got := fmt.Sprint(result.Mapping.Focus()); got != "[{a/Main add}]" {
		t.Errorf("focus %s", got)
	}
	out := contents(t, c.Inputs[0].Output)
	if !bytes.Equal(out[0].data, other.Bytes()) || len(mustParse(t, out[1].data).Methods()) != 1 {
		t.Error("the method is not where it should be, or where it should not")
	}
}

// TestExternalRuntimeAndCoroutines has a suspend lambda, and a runtime that is provided elsewhere: it may be older, and
// lack what suspending code calls.
func TestExternalRuntimeAndCoroutines(t *testing.T) {
	lambda := assembly.Class{Name: "a/L", Super: "kotlin/coroutines/jvm/internal/SuspendLambda",
		Methods: []assembly.Method{{Access: public, Name: "invokeSuspend",
			Descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;",
			Stack:      1, Locals: 2, Code: "aload_1\nareturn"}}}
	dir := t.TempDir()
	in := archive(t, filepath.Join(dir, "in.jar"), classFile(lambda))
	for _, ifAny := range []bool{true, false} {
		c := config(in, filepath.Join(dir, fmt.Sprint(ifAny, ".jar")))
		c.RuntimeExternal, c.Inject.Coroutines, c.CoroutinesIfAny = true, true, ifAny
		result := instrument(t, c)
		calls := bytes.Contains(contents(t, c.Inputs[0].Output)[0].data, []byte("(Ljava/lang/Object;I)V"))
		warned := strings.Contains(strings.Join(result.Warnings, "\n"), "suspend functions do not report that they wait")
		if calls == ifAny || warned != ifAny {
			t.Errorf("if any %t: it calls the runtime %t, and a warning is %t", ifAny, calls, warned)
		}
	}
}

// TestCheckedByItself has a class that is wrong only because of what another input holds. The result of a check must
// not depend on that, or instrumenting the inputs one by one would write other outputs than instrumenting all at once.
//
// Invariant: The type checker looks up classes in the file of the checked class first, and instrument looks in no
// other input.
func TestCheckedByItself(t *testing.T) {
	dir := t.TempDir()
	final := classFile(assembly.Class{Name: "p/Base", Access: public | classfile.AccFinal})
	sub := classFile(assembly.Class{Name: "p/Sub", Super: "p/Base", Methods: []assembly.Method{{Access: static,
		Name: "f", Descriptor: "()V", Code: "return"}}})
	for name, row := range map[string]struct {
		inputs      [][]file
		preExisting int
	}{
		"another":  {[][]file{{sub}, {final}}, 0},
		"the same": {[][]file{{sub, final}}, 1},
		"another jar of the same": {[][]file{{file{"classes.jar", zipOf(t, sub)},
			file{"libs/base.jar", zipOf(t, final)}}}, 1},
	} {
		c := pipeline.Config{Filter: everything(), RuntimeExternal: true}
		for i, files := range row.inputs {
			in := archive(t, filepath.Join(dir, fmt.Sprint(name, i, ".aar")), files...)
			c.Inputs = append(c.Inputs, pipeline.Input{Path: in, Output: in + ".out.aar"})
		}
		if result := instrument(t, c); result.PreExisting != row.preExisting ||
			result.Mapping.Len() != 1-row.preExisting {
			t.Errorf("%s input: %d classes that were wrong before, %d methods", name, result.PreExisting,
				result.Mapping.Len())
		}
	}
}

func zipOf(t testing.TB, files ...file) []byte {
	t.Helper()
	data := fixture.Read(t, archive(t, filepath.Join(t.TempDir(), "x.zip"), files...))
	return data
}

func mustParse(t testing.TB, data []byte) *classfile.Class {
	t.Helper()
	c := assembly.Parse(t, data)
	return c
}

// TestProgress checks that what is reported only grows, and ends with all of it.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	in := sampleJar(t, filepath.Join(dir, "in.jar"))
	for name, adjust := range map[string]func(*pipeline.Config){
		"instrumented": func(*pipeline.Config) {},
		"trivial":      func(c *pipeline.Config) { c.Filter = nil },
		"merged": func(c *pipeline.Config) {
			c.Inputs, c.Merge = append(c.Inputs, c.Inputs[0]), filepath.Join(dir, "merged.jar")
		},
		"nothing to do": func(c *pipeline.Config) {
			c.Filter = filter.New(filter.Options{Rules: []filter.Rule{blockAll(t)}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(in, filepath.Join(dir, name+".jar"))
			adjust(&c)
			c.Jobs = 4
			var last, end int64
			c.Progress = func(done, total int64) {
				if done <= last || done > total {
					t.Errorf("%d of %d after %d", done, total, last)
				}
				last, end = done, total
			}
			instrument(t, c)
			if last != end || end == 0 {
				t.Errorf("ended at %d of %d", last, end)
			}
		})
	}
}

func blockAll(t *testing.T) filter.Rule {
	t.Helper()
	rules, err := filter.ParseBlockList("list", []byte("-keeppackage sample/\n"))
	if err != nil {
		t.Fatal(err)
	}
	return rules[0]
}
