package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

// origin is what the files of the tests say of themselves.
func origin() pipeline.Origin {
	return pipeline.Origin{Tool: "test", Options: map[string]string{"exits": "throws", "trivial": "none"}}
}

// phases runs scan, assign and instrument, with as many inputs in a part as groups says, parts given in an order
// that the seed makes. Outputs go where c says.
type phases struct {
	dir    string
	result *pipeline.Result // of assign
	slices map[string]string
}

func runPhases(t testing.TB, c pipeline.Config, seed uint64, groups ...int) *phases {
	t.Helper()
	p, err := tryPhases(t.Context(), t.TempDir(), c, seed, groups...)
	if err != nil {
		t.Fatal(err)
	}
	p.slices = tree(t, filepath.Join(p.dir, "slices"))
	return p
}

func tryPhases(ctx context.Context, dir string, c pipeline.Config, seed uint64, groups ...int) (*phases, error) {
	p := &phases{dir: dir}
	if err := os.MkdirAll(filepath.Join(dir, "slices"), 0o777); err != nil {
		return nil, err
	}
	var parts []*pipeline.Part
	grouped := make(map[string][]pipeline.Input)
	rest := c.Inputs
	for len(rest) > 0 {
		n := 1
		if len(groups) > 0 {
			n, groups = min(groups[0], len(rest)), groups[1:]
		}
		one := c
		one.Inputs, rest = rest[:n], rest[n:]
		name := fmt.Sprintf("part%d", len(parts))
		grouped[name] = one.Inputs
		file := filepath.Join(dir, name+".scan")
		if _, err := pipeline.Scan(ctx, one, origin(), file); err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		part, err := pipeline.LoadPart(file)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	var err error
	if p.result, err = pipeline.Assign(ctx, c, parts, pipeline.SlicesIn(filepath.Join(dir, "slices"))); err != nil {
		return nil, fmt.Errorf("assign: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(grouped)) {
		one := pipeline.Config{Inputs: grouped[name], Inject: c.Inject, AddRequires: c.AddRequires, Verify: c.Verify,
			ClassPath: c.ClassPath, Level: c.Level, Jobs: c.Jobs}
		slice, err := pipeline.LoadSlice(filepath.Join(dir, "slices", name+".slice"))
		if err != nil {
			return nil, err
		}
		if _, err := pipeline.Instrument(ctx, one, slice); err != nil {
			return nil, fmt.Errorf("instrument: %w", err)
		}
	}
	return p, nil
}

// decided is what a run decided, in a form that does not say in which order or where.
func decided(t testing.TB, r *pipeline.Result) string {
	t.Helper()
	var lines []string
	for s := range r.Skipped {
		lines = append(lines, fmt.Sprintf("%s.%s%s %s %s", s.Class, s.Name, s.Descriptor, s.Reason, s.Detail))
	}
	slices.Sort(lines)
	for _, l := range r.Lines {
		lines = append(lines, fmt.Sprint(l))
	}
	var total [4]int
	for _, in := range r.Inputs {
		total[0] += in.Classes
		total[1] += in.Rewritten
		total[2] += in.Methods
		total[3] += in.Traced
	}
	lines = append(lines, fmt.Sprint(total, r.Introduced, r.PreExisting))
	return mappingText(t, r.Mapping) + strings.Join(lines, "\n")
}

// suspendDescriptor is that of a suspend function.
const suspendDescriptor = "(Lkotlin/coroutines/Continuation;)Ljava/lang/Object;"

// app is an app in several inputs that depend on each other in all the ways that make a difference.
func app(t testing.TB, dir string) (inputs []string) {
	t.Helper()
	method := func(code string) assembly.Method {
		return assembly.Method{Access: static, Name: "f", Descriptor: "()V", Stack: 1, Code: code}
	}
	focus := assembly.Method{Access: public, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2,
		Code: "return"}
	of := func(name, super string, methods ...assembly.Method) file {
		return classFile(assembly.Class{Name: name, Super: super, Methods: methods})
	}
	at := func(place string, f file) file { return file{place + f.name, f.data} }
	moduleInfo, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module",
		"module-info.class"))
	if err != nil {
		t.Fatal(err)
	}
	const nine = "META-INF/versions/9/"
	jar := func(name string, files ...file) {
		inputs = append(inputs, archive(t, filepath.Join(dir, name), files...))
	}
	jar("runtime.jar", runtimeClass("my/Beat", "log/Log.write()V"), file{"META-INF/a.txt", []byte("text")},
		at(nine, runtimeClass("my/Beat", "log/Nine.write()V")))
	jar("log.jar", of("log/Log", "log/Base", method("return")), of("log/Nine", "",
		assembly.Method{Access: static, Name: "write", Descriptor: "()V", Stack: 1,
			Code: "getstatic deep/D.x:I | pop | invokestatic x/Foreign.f()V | " +
				"return"}), of("log/Free", "", method("return")))
	jar("base.jar", of("log/Base", "", assembly.Method{Access: static, Name: "write", Descriptor: "()V",
		Code: "invokestatic deep/D.f()V | return"}),
		of("a/Poster", "", assembly.Method{Access: static, Name: "f",
			Descriptor: "(Landroid/os/Handler;Ljava/lang/Runnable;)V", Stack: 2, Locals: 2,
			Code: "aload_0 | aload_1 | invokevirtual android/os/Handler.post(Ljava/lang/Runnable;)Z | pop | return"}),
		of("a/Base", "android/app/Activity", method("return")), of("a/View", "android/view/View", focus),
		of("a/Feed", "", assembly.Method{Access: static, Name: "load", Descriptor: suspendDescriptor, Stack: 1, Locals: 1,
			Code: "aload_0 | areturn"}))
	jar("deep.jar", of("deep/D", "", method("return"), assembly.Method{Access: static, Name: "<clinit>",
		Descriptor: "()V", Code: "return"}),
		mappingInfo(), of("broken/B", "", assembly.Method{Access: static, Name: "g", Descriptor: "()I", Stack: 1,
			Code: "aconst_null | ireturn"}))
	jar("screens.jar", of("a/Sub", "a/Base", focus, method("return")), of("a/Lacks", "a/Base", method("return")),
		at(nine, of("a/Sub", "java/lang/Object", method("nop | return"))), of("log/Free", "", method("return"), focus))
	jar("module.jar", file{"module-info.class", moduleInfo}, of("sample/A", "", method("return")))
	jar("still.jar", file{"module-info.class", moduleInfo}, of("deep/E", "",
		assembly.Method{Access: public | classfile.AccAbstract, Name: "f", Descriptor: "()V"}))
	jar("lib.aar", file{"classes.jar", zipOf(t, of("aar/A", "a/Base", focus),
		of("broken/C", "broken/Final", method("return")))},
		file{"libs/x.jar", zipOf(t, classFile(assembly.Class{Name: "broken/Final",
			Access: public | classfile.AccFinal}))})
	jar("odd.jar", file{"x/None.class", []byte("none")}, file{"x/Wrong.class", class("right/Place", "f").data},
		class("x/Twice", "f"), class("x/Twice", "f", "g"),
		file{"META-INF/A.SF", nil}, classFile(assembly.Class{Name: "x/Foreign",
			Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V", Stack: 1,
				Code: "iconst_1 | invokestatic my/Beat.i(I)V | return"}}}))
	fixture.Write(t, filepath.Join(dir, "Alone.class"), class("no/Where", "f").data)
	inputs = append(inputs, filepath.Join(dir, "Alone.class"))
	for _, f := range sampleClasses(t) {
		fixture.Write(t, filepath.Join(dir, "classes", filepath.FromSlash(f.name)), f.data)
	}
	inputs = append(inputs, filepath.Join(dir, "classes"))
	jar("state.jar", classFile(assembly.Class{Name: "a/Feed$load$1", Enclosing: "a/Feed.load" + suspendDescriptor,
		Super: "kotlin/coroutines/jvm/internal/ContinuationImpl", Methods: []assembly.Method{{Access: public,
			Name: "invokeSuspend", Descriptor: "(Ljava/lang/Object;)Ljava/lang/Object;", Stack: 1, Locals: 2,
			Code: "aload_1 | areturn"}}}))
	return inputs
}

func appConfig(inputs []string, out string) pipeline.Config {
	c := pipeline.Config{Filter: filter.New(filter.Options{Trivial: filter.None, RuntimeClass: "my/Beat"}),
		Inject:     inject.Options{RuntimeClass: "my/Beat"},
		FocusHooks: true, AddRequires: "dev.tracegen.runtime", Jobs: 3, Lines: true}
	for _, in := range inputs {
		c.Inputs = append(c.Inputs, pipeline.Input{Path: in, Output: filepath.Join(out, filepath.Base(in))})
	}
	return c
}

// TestPhases holds scan, assign and instrument against the run that does all three, however inputs are spread over
// parts.
//
// Invariant: Three steps, with parts in any order and grouping, write the outputs, mapping and lists of one run.
func TestPhases(t *testing.T) {
	inputs := app(t, t.TempDir())
	base, err := mapping.Assign([]mapping.Method{
		{Identity: mapping.Identity{Class: "sample/A", Name: "f",
			Descriptor: "()V"}}, {Identity: mapping.Identity{Class: "gone/G", Name: "f", Descriptor: "()V"}},
	}, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	// An android.app.Activity to which no focus hook can be added.
	barred := t.TempDir()
	final := assembly.Method{Access: public | classfile.AccFinal, Name: "onWindowFocusChanged", Descriptor: "(Z)V",
		Locals: 2, Code: "return"}
	fixture.Write(t, filepath.Join(barred, "android", "app", "Activity.class"),
		assembly.Class{Name: "android/app/Activity", Methods: []assembly.Method{final}}.Bytes())
	fixture.Write(t, filepath.Join(barred, "android", "view", "View.class"),
		assembly.Class{Name: "android/view/View"}.Bytes())
	for _, row := range []struct {
		name   string
		adjust func(*pipeline.Config)
	}{
		{"barred", func(c *pipeline.Config) { c.ClassPath.Paths = []string{barred} }},
		{"throws", func(c *pipeline.Config) {}},
		{"normal", func(c *pipeline.Config) { c.Inject.Exits = inject.ExitsNormal }},
		{"exact", func(c *pipeline.Config) { c.Inject.Exits = inject.ExitsExact }},
		{"posts", func(c *pipeline.Config) { c.Inject.Posts = true }},
		{"coroutines", func(c *pipeline.Config) { c.Inject.Coroutines = true }},
		{"base", func(c *pipeline.Config) { c.Base = base }},
		{"compact", func(c *pipeline.Config) { c.Order = mapping.OrderCompact }},
		{"no module", func(c *pipeline.Config) { c.AddRequires = "" }},
		{"no focus", func(c *pipeline.Config) { c.FocusHooks = false }},
		{"equivalence", func(c *pipeline.Config) { c.Verify = pipeline.VerifyEquivalence }},
		{"strict", func(c *pipeline.Config) { c.ClassPath.Strict = true }},
		{"rules", func(c *pipeline.Config) {
			c.Filter = byActivities(t)
		}},
		{"few", func(c *pipeline.Config) {
			c.Filter = filter.New(filter.Options{RuntimeClass: "my/Beat"})
			c.Inject.KeepCompilable = true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := t.TempDir()
			one := appConfig(inputs, filepath.Join(out, "one"))
			row.adjust(&one)
			fixture.Directory(t, filepath.Join(out, "one"))
			oneStep := instrument(t, one)
			want, wantFiles := decided(t, oneStep), tree(t, filepath.Join(out, "one"))
			for i, groups := range [][]int{{}, {len(inputs)}, {1, 3, 2, 4}} {
				dir := filepath.Join(out, fmt.Sprint("two", i))
				fixture.Directory(t, dir)
				c := appConfig(inputs, dir)
				row.adjust(&c)
				p := runPhases(t, c, uint64(i), groups...)
				if got := decided(t, p.result); got != want {
					t.Errorf("groups %v: decided\n%s\nwant\n%s", groups, got, want)
				}
				compareTrees(t, tree(t, dir), wantFiles)
			}
			if oneStep.Introduced == 0 && row.name == "barred" {
				t.Error("no class came out wrong")
			}
			reports := "a/Feed$load$1.invokeSuspend(Ljava/lang/Object;)Ljava/lang/Object; continuation"
			if strings.Contains(want, reports) != one.Inject.Coroutines {
				t.Errorf("with coroutines %v, decided\n%s", one.Inject.Coroutines, want)
			}
			before := fixture.Read(t, stateOf(inputs))
			if one.Inject.Coroutines && wantFiles[filepath.Base(stateOf(inputs))] == string(before) {
				t.Error("the class with the state of a function in another part is unchanged")
			}
			if oneStep.Mapping.Len() < 20 && row.name != "strict" {
				t.Errorf("only %d methods in the mapping", oneStep.Mapping.Len())
			}
		})
	}
}

// stateOf returns the input with the state of a suspend function.
func stateOf(inputs []string) string {
	return inputs[slices.IndexFunc(inputs, func(path string) bool { return filepath.Base(path) == "state.jar" })]
}

// byActivities blocks by a supertype that another part has.
func byActivities(t testing.TB) *filter.Filter {
	t.Helper()
	config, err := filter.ParseConfig("tracegen.yml",
		[]byte("rules:\n  - block: { extends: \"android.app.*\" }\n  - allow: a.Lacks\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return filter.New(filter.Options{Trivial: filter.None, RuntimeClass: "my/Beat", Rules: config.Rules})
}

func compareTrees(t testing.TB, got, want map[string]string) {
	t.Helper()
	if a, b := sortedKeys(got), sortedKeys(want); a != b {
		t.Errorf("files %s, want %s", a, b)
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s differs", name)
		}
	}
}

// TestPhasesDecideAcrossParts makes sure that TestPhases compares what it is meant to.
//
// Invariant: Three steps, with parts in any order and grouping, write the outputs, mapping and lists of one run.
func TestPhasesDecideAcrossParts(t *testing.T) {
	dir := t.TempDir()
	c := appConfig(app(t, dir), filepath.Join(dir, "out"))
	fixture.Directory(t, filepath.Join(dir, "out"))
	p := runPhases(t, c, 5)
	if got, want := fmt.Sprint(p.result.Mapping.Focus()), "[{a/Base add} {a/Sub hook} {aar/A hook}]"; got != want {
		t.Errorf("focus %s, want %s", got, want)
	}
	got := reasons(p.result)
	for name, want := range map[string]string{"deep/D.f": "runtime", "log/Nine.write": "runtime",
		"log/Base.write": "runtime", "broken/B.g": "unverifiable",
		"broken/C.f": "unverifiable", "x/None.class": "malformed", "x/Foreign.f": "already-instrumented",
		"a/View.onWindowFocusChanged": ""} {
		if got[name] != want {
			t.Errorf("%s: reason %q, want %q", name, got[name], want)
		}
	}
	for s := range p.result.Skipped {
		if s.Class == "deep/D" && s.Name == "f" && s.Detail != "reached by Beat.i -> Log.write -> D.f" &&
			s.Detail != "reached by Beat.i -> Nine.write -> D.<clinit>" {
			t.Errorf("detail %q", s.Detail)
		}
	}
	if p.result.PreExisting != 2 || p.result.Introduced != 0 {
		t.Errorf("%d and %d classes objected to: %v", p.result.PreExisting, p.result.Introduced, got)
	}
	digest := []byte(p.result.Mapping.Digest())
	info := entryOf(t, contents(t, filepath.Join(dir, "out", "deep.jar")), "dev/tracegen/runtime/MappingInfo.class")
	if !bytes.Contains(info, digest) {
		t.Error("the digest is not in MappingInfo")
	}
	if !warned(p.result, "part8!odd.jar!x/Foreign.class is left as it is") || !warned(p.result, "no JVM links") {
		t.Errorf("warnings %q", p.result.Warnings)
	}
	ruled := c
	ruled.Filter = byActivities(t)
	got = reasons(runPhases(t, ruled, 6).result)
	if got["aar/A.onWindowFocusChanged"] != "blocked" || got["a/Base.f"] != "blocked" || got["a/Lacks.f"] != "" ||
		got["a/View.onWindowFocusChanged"] != "" {
		t.Errorf("with rules, listed %v", got)
	}
}

// TestScanSaysNothingElse: a scan file depends neither on the order of entries nor on times, workers and places.
//
// Invariant: A scan file does not depend on the order of entries, times, workers or directories.
func TestScanSaysNothingElse(t *testing.T) {
	files := append(sampleClasses(t), runtimeClass(inject.DefaultRuntimeClass), mappingInfo())
	var first string
	for i, jobs := range []int{1, 8} {
		slices.Reverse(files)
		dir := filepath.Join(t.TempDir(), "deep"[:i*4])
		c := config(archive(t, filepath.Join(dir, "in.jar"), files...), "")
		c.Jobs, c.FocusHooks = jobs, true
		if _, err := pipeline.Scan(t.Context(), c, origin(), filepath.Join(dir, "p.scan")); err != nil {
			t.Fatal(err)
		}
		got := tree(t, dir)["p.scan"]
		if first != "" && got != first {
			t.Error("two scans of one content differ")
		}
		first = got
	}
}

// TestScanMisledByNames has a class that lies where another should, as in a jar in a jar's directory: the class that
// extends it, wrongly as it is final, is checked with the class, whatever comes first.
func TestScanMisledByNames(t *testing.T) {
	sub := classFile(assembly.Class{Name: "a/Sub", Super: "a/Base", Methods: []assembly.Method{{Access: static,
		Name: "f", Descriptor: "()V", Code: "return"}}})
	base := file{"BOOT-INF/classes/a/Base.class", assembly.Class{Name: "a/Base",
		Access: public | classfile.AccFinal}.Bytes()}
	fine := file{"a/Base.class", assembly.Class{Name: "a/Other"}.Bytes()}
	for name, files := range map[string][]file{"before": {base, sub}, "behind": {sub, base},
		"in its place": {fine, sub, base}} {
		dir := t.TempDir()
		c := config(archive(t, filepath.Join(dir, "in.jar"), files...), filepath.Join(dir, "out.jar"))
		c.RuntimeExternal = true
		once := instrument(t, c)
		if once.PreExisting != 1 {
			t.Fatalf("%s: %d classes are found to be wrong, want 1: %q", name, once.PreExisting, once.Warnings)
		}
		c.Inputs[0].Output = filepath.Join(dir, "steps.jar")
		if steps := runPhases(t, c, 1); steps.result.PreExisting != 1 {
			t.Errorf("%s: in steps, %d classes are found to be wrong, want 1", name, steps.result.PreExisting)
		}
		equalFiles(t, filepath.Join(dir, "out.jar"), c.Inputs[0].Output)
	}
}
