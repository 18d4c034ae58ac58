package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestRejectionIsKept has classes rejected, as [TestRejection] does, in builds with a cache. All builds report what the
// first one reports, with or without a rejection in another input in the same round.
//
// Invariant: A run with a cache writes the files, results and warnings of a run without one, whatever was changed or
// damaged before.
func TestRejectionIsKept(t *testing.T) {
	expected = expectingThrows
	t.Cleanup(func() { expected = plan.Expected })
	dir := t.TempDir()
	write := func(name, code string) string {
		c := assembly.Class{Name: name, Methods: []assembly.Method{
			{Access: classfile.AccPublic | classfile.AccStatic, Name: "f", Descriptor: "()V", Stack: 1, Code: code}}}
		path := filepath.Join(dir, name+".class")
		if err := os.WriteFile(path, c.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad, alsoBad := write("Good", "return"), write("Bad", "aconst_null | athrow"), write("AlsoBad",
		"nop | aconst_null | athrow")
	store, err := cache.Open(filepath.Join(dir, "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	var said string
	run := func(known *Incremental, out string, inputs ...string) string {
		c := Config{Filter: filter.New(filter.Options{Trivial: filter.None}),
			Inject: inject.Options{Exits: inject.ExitsNormal}, RuntimeExternal: true, Incremental: known}
		for _, in := range inputs {
			c.Inputs = append(c.Inputs, Input{Path: in, Output: filepath.Join(out, filepath.Base(in))})
		}
		if err := os.MkdirAll(out, 0o777); err != nil {
			t.Fatal(err)
		}
		result, err := Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if _, err := result.Mapping.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		result.Mapping = nil
		fmt.Fprintf(&text, "%+v\n", result)
		for _, in := range c.Inputs {
			data, err := os.ReadFile(in.Output)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%x\n", data)
		}
		return strings.ReplaceAll(text.String(), out, "OUT")
	}
	for n, inputs := range [][]string{{bad, good}, {bad, good}, {good}, {good, alsoBad, bad}, {alsoBad},
		{alsoBad, bad}} {
		want := run(nil, filepath.Join(dir, fmt.Sprint("cold", n)), inputs...)
		known := &Incremental{Cache: store, Tool: "t", Detail: func(s string) { said = s },
			Warn: func(s string) { t.Error(s) }}
		if got := run(known, filepath.Join(dir, "warm"), inputs...); got != want {
			t.Errorf("run %d: %s", n, cmp.Diff(want, got))
		}
		if n == 1 && !strings.Contains(said, "2 inputs known, 2 outputs left alone, 0 copied, 0 written") {
			t.Errorf("in the second run: %s", said)
		}
	}
}
