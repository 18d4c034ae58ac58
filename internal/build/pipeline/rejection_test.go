package pipeline

import (
	"archive/zip"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// expectingThrows expects exit calls before athrow, too, whatever was asked for.
func expectingThrows(o inject.Options, r inject.Request) equivalence.Instrumentation {
	o.Exits = inject.ExitsThrows
	return plan.Expected(o, r)
}

// TestRejection lets the equivalence check expect more than was inserted, an exit call at every athrow, so that it
// rejects classes with an athrow. These are written unchanged, and nothing else differs from a run without them.
//
// Invariant: A rejection affects the rejected class alone.
func TestRejection(t *testing.T) {
	expected = expectingThrows
	t.Cleanup(func() { expected = plan.Expected })

	const static = classfile.AccPublic | classfile.AccStatic
	good := func(name string) assembly.Class {
		return assembly.Class{Name: name, Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
			Code: "return"}}}
	}
	bad := func(name string) assembly.Class {
		c := good(name)
		c.Methods = append(c.Methods, assembly.Method{Access: static, Name: "g", Descriptor: "()V", Stack: 1,
			Code: "aconst_null | athrow"})
		return c
	}
	write := func(path string, classes ...assembly.Class) {
		writeClasses(t, path, []string{"META-INF/A.SF", "META-INF/A.RSA"}, classes)
	}
	dir := t.TempDir()
	run := func(name string, order mapping.Order) *Result {
		last := int64(0)
		result, err := Run(t.Context(), Config{
			Inputs: []Input{{Path: filepath.Join(dir, name+".jar"), Output: filepath.Join(dir, name+".out.jar")}},
			Filter: filter.New(filter.Options{Trivial: filter.None}), Inject: inject.Options{Exits: inject.ExitsNormal},
			RuntimeExternal: true, Order: order, Jobs: 3,
			Progress: func(done, total int64) {
				if done <= last || done > total {
					t.Errorf("progress: %d of %d after %d", done, total, last)
				}
				last = done
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	write(filepath.Join(dir, "good.jar"), good("a/A"), good("c/C"))
	write(filepath.Join(dir, "both.jar"), good("a/A"), bad("b/B"), good("c/C"), bad("b/B2"))
	for _, order := range []mapping.Order{mapping.OrderHash, mapping.OrderCompact} {
		alone, both := run("good", order), run("both", order)
		if a, b := alone.Mapping.Digest(), both.Mapping.Digest(); a != b || both.Mapping.Len() != 2 {
			t.Errorf("digest %s of %d methods, of the good ones alone %s", b, both.Mapping.Len(), a)
		}
		listed := map[string]filter.Reason{}
		for s := range both.Skipped {
			listed[s.Class+"."+s.Name] = s.Reason
			if !strings.Contains(s.Detail, "b/B") || !strings.Contains(s.Detail, "g()V") {
				t.Errorf("detail %q names no method", s.Detail)
			}
		}
		u := filter.ReasonUnverifiable
		if !maps.Equal(listed, map[string]filter.Reason{"b/B.f": u, "b/B.g": u, "b/B2.f": u, "b/B2.g": u}) {
			t.Errorf("listed %v", listed)
		}
		if in := both.Inputs[0]; in.Methods != 6 || in.Traced != 2 || in.Rewritten != 2 || in.Classes != 4 {
			t.Errorf("result %+v", in)
		}
		warnings := strings.Join(both.Warnings, "\n")
		for words, n := range map[string]int{"both.jar!b/B.class: the rewritten class failed a check": 1,
			"both.jar!b/B2.class: the rewritten class failed": 1, "signed": 1} {
			if got := strings.Count(warnings, words); got != n {
				t.Errorf("%d warnings with %q, want %d:\n%s", got, words, n, warnings)
			}
		}
		compareEntries(t, filepath.Join(dir, "both.out.jar"), filepath.Join(dir, "good.out.jar"),
			filepath.Join(dir, "both.jar"))
	}
	// A jar all of whose changes are rejected is copied, with its signature.
	write(filepath.Join(dir, "bad.jar"), bad("b/B"))
	if result := run("bad", mapping.OrderHash); result.Mapping.Len() != 0 || result.Inputs[0].Rewritten != 0 {
		t.Errorf("%d methods, %d classes rewritten", result.Mapping.Len(), result.Inputs[0].Rewritten)
	}
	before := fixture.Read(t, filepath.Join(dir, "bad.jar"))
	if after, err := os.ReadFile(filepath.Join(dir, "bad.out.jar")); err != nil || string(after) != string(before) {
		t.Errorf("a jar of which nothing changed is not what it was: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 6 {
		t.Errorf("%d files are left, want 3 inputs and 3 outputs: %v", len(entries), err)
	}
}

// writeClasses writes a jar of empty entries and classes.
func writeClasses(t *testing.T, path string, empty []string, classes []assembly.Class) {
	t.Helper()
	var pairs []string
	for _, name := range empty {
		pairs = append(pairs, name, "")
	}
	for _, c := range classes {
		pairs = append(pairs, c.Name+".class", string(c.Bytes()))
	}
	fixture.Write(t, path, fixture.Zip(t, pairs...))
}

// compareEntries checks that every class of got is that of good, or if good lacks it that of original.
func compareEntries(t *testing.T, got, good, original string) {
	t.Helper()
	a, b := classesOf(t, good), classesOf(t, original)
	for name, data := range classesOf(t, got) {
		want, ok := a[name]
		if !ok {
			want = b[name]
		}
		if data != want {
			t.Errorf("%s is not as it should be", name)
		}
	}
}

func classesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range fixture.Unpack(t, fixture.Read(t, path)) {
		if strings.HasSuffix(e.Name, ".class") {
			all[e.Name] = e.Data
		}
	}
	return all
}

// TestEncryptedEntry has a class entry that says of itself that it is encrypted (APPNOTE 4.4.4): it is copied and
// listed.
func TestEncryptedEntry(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.jar"), filepath.Join(dir, "out.jar")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	data := []byte("secret")
	raw, err := w.CreateRaw(&zip.FileHeader{Name: "a/A.class", Flags: 1, Method: zip.Store, CRC32: 7,
		CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data))})
	if err == nil {
		_, err = raw.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := w.Create("b/B.class")
	if err == nil {
		_, err = plain.Write(assembly.Class{Name: "b/B", Methods: []assembly.Method{
			{Access: classfile.AccStatic, Name: "f", Descriptor: "()V", Code: "return"}}}.Bytes())
	}
	if err != nil || w.Close() != nil || f.Close() != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), Config{Inputs: []Input{{Path: in, Output: out}}, RuntimeExternal: true,
		Filter: filter.New(filter.Options{Trivial: filter.None})})
	if err != nil {
		t.Fatal(err)
	}
	skipped := slices.Collect(result.Skipped)
	if len(skipped) != 1 || skipped[0].Entry != "a/A.class" || skipped[0].Reason != filter.ReasonMalformed ||
		!strings.Contains(skipped[0].Detail, "encrypted") || result.Mapping.Len() != 1 {
		t.Errorf("listed %+v", skipped)
	}
	a, err := zipfile.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if e := a.Entries()[0]; string(e.Raw()) != "secret" || e.Flags&1 == 0 {
		t.Errorf("the entry is not what it was: %+v", e)
	}
}
