package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// kept is a cache and the builds that use it.
type kept struct {
	dir   string // for the cache, and outputs
	tool  string
	slice *pipeline.Slice // that is carried out, instead of deciding
	said  []string        // by the last build
}

func newKept(t testing.TB) *kept { return &kept{dir: t.TempDir(), tool: "one"} }

func (k *kept) path(name string) string { return filepath.Join(k.dir, name) }

// incremental opens the cache for one build.
func (k *kept) incremental(t testing.TB, c pipeline.Config, rules string) *pipeline.Incremental {
	t.Helper()
	store, err := cache.Open(k.path("cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	k.said = nil
	calls := c.Inject
	calls.RuntimeClass = ""
	return &pipeline.Incremental{Cache: store, Tool: k.tool,
		ScanKey:  fmt.Sprintf("%q %+v", rules, []any{c.Inject, c.FocusHooks, c.R8 != nil}),
		WriteKey: fmt.Sprintf("%+v", []any{calls, c.AddRequires, c.Level, c.Verify}),
		Detail:   func(s string) { k.said = append(k.said, s) }, Warn: func(s string) { t.Error("warning:", s) }}
}

// into returns the configuration with outputs in a directory, which is taken out of texts again.
func into(c pipeline.Config, dir string) pipeline.Config {
	c.Inputs = slices.Clone(c.Inputs)
	for i := range c.Inputs {
		c.Inputs[i].Output = filepath.Join(dir, c.Inputs[i].Output)
	}
	if c.Merge != "" {
		c.Merge = filepath.Join(dir, c.Merge)
	}
	return c
}

// resultText returns all that a result contains as text, without the directory of outputs.
func resultText(t testing.TB, r *pipeline.Result, dir string) string {
	t.Helper()
	text := fmt.Sprintf("%+v\n%+v\n%d %d\n%q\n", r.Inputs, r.Packages, r.Introduced, r.PreExisting, r.Unknown)
	for _, list := range []any{slices.Collect(r.Skipped), r.Lines, r.Warnings} {
		v := reflect.ValueOf(list)
		for i := range v.Len() {
			text += fmt.Sprintf("%+v\n", v.Index(i))
		}
	}
	if r.Mapping != nil {
		text += mappingText(t, r.Mapping)
	}
	return strings.ReplaceAll(text, dir, "DIR")
}

// same builds with the cache, and without one into an empty directory, and wants no difference: of outputs, permissions
// and texts. The inputs' outputs are names in a directory. It returns what the run reported about the cache.
func (k *kept) same(t testing.TB, what string, c pipeline.Config, rules string) string {
	t.Helper()
	cold, warm := filepath.Join(t.TempDir(), "out"), k.path("out")
	if c.DryRun {
		warm = filepath.Join(t.TempDir(), "out")
	}
	for _, dir := range []string{cold, warm} {
		fixture.Directory(t, dir)
	}
	without, with := into(c, cold), into(c, warm)
	with.Incremental = k.incremental(t, c, rules)
	run := pipeline.Run
	if k.slice != nil {
		run = func(ctx context.Context, c pipeline.Config) (*pipeline.Result, error) {
			return pipeline.Instrument(ctx, c, k.slice)
		}
	}
	wanted, err := run(t.Context(), without)
	if err != nil {
		t.Fatalf("%s, without a cache: %v", what, err)
	}
	got, err := run(t.Context(), with)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(resultText(t, wanted, cold), resultText(t, got, warm)); diff != "" {
		t.Errorf("%s: the cache makes a difference to what is said (-without +with):\n%s", what, diff)
	}
	want, is := tree(t, cold), tree(t, warm)
	for name := range want {
		if is[name] != want[name] {
			t.Errorf("%s: %s is not as without a cache", what, name)
		}
	}
	for name := range is {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there, and is not without a cache", what, name)
		}
	}
	return strings.Join(k.said, "\n")
}

// says fails unless a build has reported this about the cache: pattern is a regular expression.
func says(t testing.TB, what, said, pattern string) {
	t.Helper()
	if !regexp.MustCompile(pattern).MatchString(said) {
		t.Errorf("%s: the cache says …%q, want %q", what, said[max(0, len(said)-300):], pattern)
	}
}

// named returns the configuration of the inputs with their own names as outputs.
func named(inputs []string) pipeline.Config { return appConfig(inputs, "") }

// TestIncremental builds an app of all kinds of inputs again and again, each time with something else changed.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestIncremental(t *testing.T) {
	dir := t.TempDir()
	inputs := app(t, dir)
	n := len(inputs)
	k := newKept(t)
	c := named(inputs)
	all := func(known, left, copied, written int) string {
		return fmt.Sprintf(`cache: %d inputs known, %d outputs left alone, %d copied, %d written`, known, left, copied, written)
	}
	says(t, "first", k.same(t, "first", c, "r"), all(0, 0, 0, n))
	before := times(t, k.path("out"))
	says(t, "again", k.same(t, "again", c, "r"), all(n, n, 0, 0))
	if diff := cmp.Diff(before, times(t, k.path("out"))); diff != "" {
		t.Errorf("outputs that were left alone look new:\n%s", diff)
	}

	if err := os.RemoveAll(k.path("out")); err != nil {
		t.Fatal(err)
	}
	says(t, "outputs gone", k.same(t, "outputs gone", c, "r"), all(n, 0, n-1, 1))

	// A method more: IDs are given anew, and it depends on the hash who moves.
	name := filepath.Join(dir, "base.jar")
	archive(t, name, append(contents(t, name), class("base/New", "f", "g"))...)
	says(t, "class added", k.same(t, "class added", c, "r"), fmt.Sprintf(`cache: %d inputs known, \d+ outputs left alone, 0 copied, [1-9]\d* written`, n-1))
	name = filepath.Join(dir, "classes", "Added.class")
	fixture.Write(t, name, class("Added", "f").data)
	says(t, "file added", k.same(t, "file added", c, "r"), fmt.Sprintf(`cache: %d inputs known`, n-1))
	if err := errors.Join(os.Remove(name), os.RemoveAll(k.path("out"))); err != nil {
		t.Fatal(err)
	}
	k.same(t, "file removed", c, "r")
	says(t, "as before", k.same(t, "as before", c, "r"), all(n, n, 0, 0))

	// Content counts, not names and order.
	renamed := filepath.Join(dir, "other", "renamed.jar")
	fixture.Write(t, renamed, []byte(fixture.Text(t, inputs[4])))
	c.Inputs[4] = pipeline.Input{Path: renamed, Output: filepath.Base(inputs[4])}
	says(t, "renamed", k.same(t, "renamed", c, "r"), all(n, n, 0, 0))
	slices.Reverse(c.Inputs)
	says(t, "reversed", k.same(t, "reversed", c, "r"), all(n, n, 0, 0))

	// What else decides is a part of the key.
	blocked := c
	blocked.Filter = filter.New(filter.Options{Trivial: filter.None, RuntimeClass: "my/Beat",
		Rules: []filter.Rule{blockAll(t)}})
	says(t, "rules", k.same(t, "rules", blocked, "other rules"), `cache: 0 inputs known`)
	blocked.Filter = byActivities(t)
	says(t, "rules on supertypes", k.same(t, "rules on supertypes", blocked, "activities"), `cache: 0 inputs known`)
	says(t, "the same again", k.same(t, "the same again", blocked, "activities"), all(n, n, 0, 0))
	base, err := mapping.Assign([]mapping.Method{{Identity: mapping.Identity{Class: "sample/A", Name: "f",
		Descriptor: "()V"}}}, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(c *pipeline.Config){
		"exits":           func(c *pipeline.Config) { c.Inject.Exits = inject.ExitsExact },
		"no focus hooks":  func(c *pipeline.Config) { c.FocusHooks = false },
		"no requires":     func(c *pipeline.Config) { c.AddRequires = "" },
		"equivalence":     func(c *pipeline.Config) { c.Verify = pipeline.VerifyEquivalence },
		"stored":          func(c *pipeline.Config) { c.Level = zipfile.LevelStore },
		"best":            func(c *pipeline.Config) { c.Level = zipfile.LevelBest },
		"compact":         func(c *pipeline.Config) { c.Order = mapping.OrderCompact },
		"base":            func(c *pipeline.Config) { c.Base = base },
		"no lines":        func(c *pipeline.Config) { c.Lines = false },
		"class path":      func(c *pipeline.Config) { c.ClassPath.Paths = []string{dir} },
		"small JIT limit": func(c *pipeline.Config) { c.Inject.KeepCompilable = true },
		"disabled":        func(c *pipeline.Config) { c.Disabled = true },
		"one job":         func(c *pipeline.Config) { c.Jobs = 1 },
		"dry run":         func(c *pipeline.Config) { c.DryRun = true },
	} {
		other := c
		change(&other)
		k.same(t, what, other, "r")
		if other.DryRun {
			continue
		}
		if err := os.RemoveAll(k.path("out")); err != nil {
			t.Fatal(err)
		}
		says(t, what, k.same(t, what+", copied", other, "r"), fmt.Sprintf(`0 outputs left alone, %d copied, 1 written`, n-1))
		says(t, what, k.same(t, what+", left", other, "r"), fmt.Sprintf(`%d outputs left alone, 0 copied, 0 written`, n))
	}
	k.tool = "two"
	says(t, "another version", k.same(t, "another version", c, "r"), `cache: 0 inputs known`)
}

// times returns the times of all files below a directory.
func times(t testing.TB, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for name := range tree(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() {
			all[name] = info.ModTime()
		}
	}
	return all
}

// TestTamperedOutput changes outputs between runs in ways that are hard to find.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestTamperedOutput(t *testing.T) {
	dir := t.TempDir()
	inputs := app(t, dir)
	k := newKept(t)
	c := named(inputs)
	k.same(t, "first", c, "r")
	old := time.Now().Add(-time.Hour)
	for name := range times(t, k.path("out")) {
		if err := os.Chtimes(filepath.Join(k.path("out"), name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	k.same(t, "all of them old", c, "r")
	jarFile, classFile := k.path("out/base.jar"), k.path("out/classes/sample/Main.class")
	if _, err := os.Stat(classFile); err != nil {
		files := times(t, k.path("out/classes"))
		for name := range files {
			classFile = k.path("out/classes/" + name)
		}
	}
	for what, change := range map[string]func(path string) error{
		"a byte, the time set back": func(path string) error {
			data := []byte(fixture.Text(t, path))
			data[len(data)/2] ^= 1
			return errors.Join(os.WriteFile(path, data, 0o666), os.Chtimes(path, old, old))
		},
		"longer":  func(path string) error { return os.WriteFile(path, append([]byte(fixture.Text(t, path)), 0), 0o666) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
		"removed": os.Remove,
	} {
		for _, path := range []string{jarFile, classFile} {
			if err := change(path); err != nil {
				t.Fatal(err)
			}
		}
		says(t, what, k.same(t, what, c, "r"), fmt.Sprintf(`%d outputs left alone, 1 copied, 1 written`, len(inputs)-2))
	}
	if err := os.Chmod(classFile, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, "permissions", k.same(t, "permissions", c, "r"), `0 copied, 1 written`)
	// Written anew with what it held, it is as it should be.
	data := fixture.Text(t, jarFile)
	if err := errors.Join(os.Remove(jarFile), os.WriteFile(jarFile, []byte(data), 0o666)); err != nil {
		t.Fatal(err)
	}
	says(t, "another file of that content", k.same(t, "another file", c, "r"), fmt.Sprintf(`%d outputs left alone, 0 copied, 0 written`, len(inputs)))
}

// TestForeignRecords puts entries under the keys of others, all of them whole: what cannot be read for what it should
// be is made again.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestForeignRecords(t *testing.T) {
	inputs := app(t, t.TempDir())
	k := newKept(t)
	c := named(inputs)
	k.same(t, "first", c, "r")
	entries, err := filepath.Glob(k.path("cache/??/*.entry"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := cache.Open(k.path("cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range entries {
		var key cache.Key
		if _, err := fmt.Sscanf(filepath.Base(path), "%x", &key); err != nil {
			var raw []byte
			if _, err := fmt.Sscanf(strings.TrimSuffix(filepath.Base(path), ".entry"), "%x", &raw); err != nil {
				t.Fatal(err)
			}
			key = cache.Key(raw)
		}
		if err := store.Store(key, bytes.Repeat([]byte{byte(i)}, i%40)); err != nil {
			t.Fatal(err)
		}
	}
	says(t, "nonsense", k.same(t, "nonsense", c, "r"), `0 inputs known`)
	says(t, "repaired", k.same(t, "repaired", c, "r"), fmt.Sprintf(`%d inputs known`, len(inputs)))
}

// TestEveryOptionCounts has a word for each field of the configuration: it is a part of the keys, or decided about anew
// in every run, or makes no difference. A new field has to be thought about.
//
// Invariant: Every option is part of a cache key, or is evaluated anew in every run.
func TestEveryOptionCounts(t *testing.T) {
	const key, anew, none = "key", "anew", "none"
	counts := map[string]string{
		"Inputs": key, "Flat": key,
		"BuiltIn": key, "Merge": key, "Filter": key, "Inject": key, "FocusHooks": key, "RuntimeExternal": anew,
		"CoroutinesIfAny": anew, // what follows from it is a part of each class's task
		"Messages":        anew, "Android": anew,
		"AddRequires": key, "R8": key,
		"Base": anew, "Prune": anew, "Order": anew, "Verify": key, "ClassPath": key, "Level": key, "Jobs": none,
		"DryRun": anew, "Disabled": key, "Lines": key, "Files": anew, "Progress": none, "Incremental": none,
	}
	config := reflect.TypeFor[pipeline.Config]()
	for i := range config.NumField() {
		if name := config.Field(i).Name; counts[name] == "" {
			t.Errorf("does %s have a part in the keys of the cache?", name)
		}
	}
	// What is printed into keys must not be an address.
	options := reflect.TypeFor[inject.Options]()
	for i := range options.NumField() {
		if kind := options.Field(i).Type.Kind(); kind == reflect.Pointer || kind == reflect.Func ||
			kind == reflect.Map || kind == reflect.Interface {
			t.Errorf("inject.Options.%s is a %v, which does not print as what it is", options.Field(i).Name, kind)
		}
	}
}

// TestChangedWhileKept changes an input while it is worked on. The run fails, and what it found out is kept for neither
// content.
//
// Invariant: An input that changes while it is read gets no cache entry, and the run fails.
func TestChangedWhileKept(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "in.jar")
	archive(t, name, class("a/A", "f"), class("a/B", "f"))
	before := fixture.Text(t, name)
	archive(t, filepath.Join(dir, "new.jar"), class("a/A", "f", "g"), class("a/B", "f"))
	after := fixture.Text(t, filepath.Join(dir, "new.jar"))
	k := newKept(t)
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Inputs: named([]string{name}).Inputs}
	for _, at := range []int64{0, 30, 60, 90} { // per cent of the work
		changed := false
		fixture.Directory(t, k.path("out"))
		failing := into(c, k.path("out"))
		failing.Incremental = k.incremental(t, c, "r")
		failing.Progress = func(done, total int64) {
			if !changed && done*100 >= at*total {
				changed = true
				fixture.Write(t, name+".tmp", []byte(after))
				if err := os.Rename(name+".tmp", name); err != nil {
					t.Error(err)
				}
			}
		}
		fails(t, t.Context(), failing, name, "changed while tracegen was running")
		for _, data := range []string{before, after, before} {
			fixture.Write(t, name, []byte(data))
			k.same(t, fmt.Sprintf("after a change at %d %%", at), c, "r")
		}
		if err := errors.Join(os.RemoveAll(k.path("cache")), os.RemoveAll(k.path("out"))); err != nil {
			t.Fatal(err)
		}
	}
}

// TestIncrementalRefusals has methods that turn out to take no calls when they are written.
func TestIncrementalRefusals(t *testing.T) {
	dir := t.TempDir()
	method := func(name, code string) assembly.Method {
		return assembly.Method{Access: static, Name: name, Descriptor: "()V", Code: code}
	}
	late := classFile(assembly.Class{Name: "a/Late", Methods: []assembly.Method{method("f", "return"),
		method("g", "pop | return")}})
	inputs := []string{archive(t, filepath.Join(dir, "late.jar"), late),
		archive(t, filepath.Join(dir, "other.jar"), class("b/B", "f"))}
	c := pipeline.Config{RuntimeExternal: true, Filter: everything(), Verify: pipeline.VerifyEquivalence,
		Inputs: named(inputs).Inputs}
	k := newKept(t)
	for _, what := range []string{"first", "second"} {
		k.same(t, what, c, "")
	}
	says(t, "second", k.said[len(k.said)-1], `2 inputs known, 2 outputs left alone, 0 copied, 0 written`)
}
