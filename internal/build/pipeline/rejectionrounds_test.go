package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestRejectionRewritesOneOutput has a class that no JVM links among others. The others in its output are rewritten
// twice, and those in other outputs once. Everything is written as if the class were not there: into the cache, too,
// with the classes that were not found.
func TestRejectionRewritesOneOutput(t *testing.T) {
	var rewritten atomic.Int64
	expected = func(o inject.Options, r inject.Request) equivalence.Instrumentation {
		rewritten.Add(1)
		return plan.Expected(o, r)
	}
	t.Cleanup(func() { expected = plan.Expected })
	const static, others = classfile.AccPublic | classfile.AccStatic, 40
	var classes []assembly.Class
	for i := range others {
		// Whether one class can be assigned to another that is not found is assumed, and noted.
		classes = append(classes, assembly.Class{Name: fmt.Sprint("a/C", i), Methods: []assembly.Method{
			{Access: static, Name: "f", Descriptor: fmt.Sprintf("(Llib/Unknown;)Llib/Other%d;", i), Locals: 1, Stack: 1,
				Code: "aload_0 | areturn"}}})
	}
	const info = "dev/tracegen/runtime/MappingInfo"
	classes = append(classes, assembly.Class{Name: info, Methods: []assembly.Method{{Access: static, Name: "digest",
		Descriptor: "()Ljava/lang/String;", Stack: 1, Code: `ldc "0000000000000000" | areturn`}}})
	// HotSpot refuses to return an int as a reference.
	bad := assembly.Class{Name: "b/Bad", Methods: []assembly.Method{{Access: static, Name: "f",
		Descriptor: "()Ljava/lang/Object;", Stack: 1, Code: "iconst_0 | areturn"}}}
	dir := t.TempDir()
	archive := func(name string, all ...assembly.Class) string {
		path := filepath.Join(dir, name)
		writeClasses(t, path, nil, all)
		return path
	}
	store, err := cache.Open(filepath.Join(dir, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	run := func(in, out string, known *Incremental) *Result {
		result, err := Run(t.Context(), Config{
			Inputs: []Input{{Path: in, Output: filepath.Join(dir, out)}}, Incremental: known, Jobs: 3, RuntimeExternal: true,
			Filter: filter.New(filter.Options{Trivial: filter.None})})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	good, both := archive("good.jar", classes...), archive("both.jar", append(classes, bad)...)
	want := run(good, "good.out.jar", nil)
	rewritten.Store(0)
	got := run(both, "both.out.jar", nil)
	if n := rewritten.Load(); n < 2*others+2 || n > 2*others+4 {
		t.Errorf("%d classes were rewritten, want %d, and the rejected one once", n, 2*others+2)
	}
	if len(want.Unknown) < others || !slices.Equal(got.Unknown, want.Unknown) {
		t.Errorf("%d classes were not found, %d without the bad class", len(got.Unknown), len(want.Unknown))
	}
	if g, w := got.Mapping.Digest(), want.Mapping.Digest(); g != w {
		t.Errorf("digest %s, %s without the bad class", g, w)
	}
	if g, w := got.Inputs[0].Calls, want.Inputs[0].Calls; g != w {
		t.Errorf("%d calls, %d without the bad class", g, w)
	}
	compareEntries(t, filepath.Join(dir, "both.out.jar"), filepath.Join(dir, "good.out.jar"), both)
	for i := range 2 {
		known := &Incremental{Cache: store, Tool: "t", Warn: func(s string) { t.Error(s) }}
		rewritten.Store(0)
		kept := run(both, "kept.out.jar", known)
		if n := rewritten.Load(); i == 1 && n > 0 {
			t.Errorf("%d classes were rewritten, although nothing has changed", n)
		}
		if diff := cmp.Diff(got.Unknown, kept.Unknown); diff != "" || kept.Inputs[0].Calls != got.Inputs[0].Calls {
			t.Errorf("run %d with a cache: %d calls, want %d; not found:\n%s", i, kept.Inputs[0].Calls,
				got.Inputs[0].Calls, diff)
		}
		compareEntries(t, filepath.Join(dir, "kept.out.jar"), filepath.Join(dir, "both.out.jar"), both)
	}
	// The same with the rejected class in an output of its own.
	rewritten.Store(0)
	apart, err := Run(t.Context(), Config{Jobs: 3, RuntimeExternal: true,
		Inputs: []Input{{Path: archive("good.jar", classes[:others]...), Output: filepath.Join(dir, "1.jar")},
			{Path: archive("bad.jar", classes[others], bad), Output: filepath.Join(dir, "2.jar")}},
		Filter: filter.New(filter.Options{Trivial: filter.None})})
	if err != nil {
		t.Fatal(err)
	}
	if n := rewritten.Load(); n < others+2 || n > others+4 {
		t.Errorf("%d classes were rewritten in two outputs, want %d, and the rejected one once", n, others+2)
	}
	if !slices.Equal(apart.Unknown, want.Unknown) || apart.Inputs[0].Calls != want.Inputs[0].Calls {
		t.Errorf("%d calls, want %d; not found are %v", apart.Inputs[0].Calls, want.Inputs[0].Calls, apart.Unknown)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".tracegen-") {
			t.Errorf("%s is left", f.Name())
		}
	}
}
