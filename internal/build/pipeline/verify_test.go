package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// zipped returns an archive of these entries, names and contents in turns.
func zipped(t testing.TB, entries ...any) []byte {
	t.Helper()
	var pairs []string
	for e := range slices.Values(entries) {
		pairs = append(pairs, fmt.Sprintf("%s", e))
	}
	return fixture.Zip(t, pairs...)
}

// TestVerifySees: a class has those of its own file before it, for its own Java release, whatever other files
// hold by these names. Sub is wrong where Base is final.
//
// Invariant: The type checker looks up classes in the file of the checked class first, and instrument looks in no
// other input.
func TestVerifySees(t *testing.T) {
	dir := t.TempDir()
	base := func(access uint16) []byte {
		return assembly.Class{Name: "p/Base", Access: classfile.AccPublic | access}.Bytes()
	}
	sub := assembly.Class{Name: "p/Sub", Super: "p/Base"}.Bytes()
	open, final := base(0), base(classfile.AccFinal)
	for name, data := range map[string][]byte{
		"final.jar": zipped(t, "p/Base.class", final, "p/Sub.class", sub),
		"open.jar":  zipped(t, "p/Sub.class", sub, "p/Base.class", open),
		"releases.jar": zipped(t, "p/Base.class", open, "p/Sub.class", sub, "META-INF/versions/9/p/Base.class", final,
			"META-INF/versions/11/p/Sub.class", sub),
		"lib.aar": zipped(t, "classes.jar", zipped(t, "odd/place/Sub.class", sub), "libs/x.jar",
			zipped(t, "p/Base.class", final)),
		"sub.jar":    zipped(t, "p/Sub.class", sub),
		"Base.class": final,
	} {
		fixture.Write(t, filepath.Join(dir, name), data)
	}
	for _, c := range []struct {
		name             string
		paths, classPath []string
		baseline         []string
		want             []string
	}{
		{"its own file", []string{"final.jar", "open.jar"}, nil, nil, []string{"final.jar!p/Sub.class"}},
		{"its own file, which is the second", []string{"open.jar", "final.jar"}, nil, nil,
			[]string{"final.jar!p/Sub.class"}},
		{"releases", []string{"releases.jar"}, nil, nil, []string{"releases.jar!META-INF/versions/11/p/Sub.class"}},
		{"jars of one .aar, and names that are not where they should be", []string{"lib.aar"}, nil, nil,
			[]string{"lib.aar!classes.jar!odd/place/Sub.class"}},
		{"another file", []string{"sub.jar", "Base.class"}, nil, nil, []string{"sub.jar!p/Sub.class"}},
		{"the class path before all", []string{"final.jar", "open.jar"}, []string{"open.jar"}, nil, nil},
		{"nothing", []string{"sub.jar"}, nil, nil, nil},
		{"the original's own file", []string{"final.jar"}, nil, []string{"open.jar"},
			[]string{"final.jar!p/Sub.class"}},
		{"of two originals the first for the first", []string{"final.jar"}, nil, []string{"open.jar", "final.jar"},
			[]string{"final.jar!p/Sub.class"}},
		{"and the second for the second", []string{"sub.jar", "final.jar"}, nil, []string{"open.jar", "final.jar"},
			[]string{"sub.jar!p/Sub.class", "final.jar!p/Sub.class pre-existing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			within := func(names []string) []string {
				var paths []string
				for _, name := range names {
					paths = append(paths, filepath.Join(dir, name))
				}
				return paths
			}
			for jobs := 1; jobs <= 3; jobs++ {
				result, err := Verify(t.Context(), VerifyConfig{
					Paths: within(c.paths), Baseline: within(c.baseline),
					ClassPath: ClassPath{Paths: within(c.classPath)}, Jobs: jobs,
				})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range result.Findings {
					text := filepath.Base(f.Path) + "!" + f.Entry
					if f.PreExisting {
						text += " pre-existing"
					}
					got = append(got, text)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%d workers: got %q, want %q", jobs, got, c.want)
				}
			}
		})
	}
}

// TestVerifyDoesNotDependOnWorkers compares all that is said of many classes, among them broken ones.
//
// Invariant: Findings do not depend on the number of workers.
func TestVerifyDoesNotDependOnWorkers(t *testing.T) {
	var entries []any
	for i := range 200 {
		name := "p/C" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		m := assembly.Method{Access: classfile.AccStatic, Name: "f", Descriptor: "()Ljava/lang/Object;", Stack: 1,
			Code: "new lost/" + name[2:] + " | pop | aconst_null | areturn"}
		if i%3 == 0 {
			m.Code = "iconst_0 | areturn"
		}
		entries = append(entries, name+".class", assembly.Class{Name: name, Super: "lost/Super" + name[2:],
			Methods: []assembly.Method{m}}.Bytes())
	}
	path := filepath.Join(t.TempDir(), "many.jar")
	fixture.Write(t, path, zipped(t, entries...))
	var first *buildreport.Verification
	for _, jobs := range []int{1, 2, 8} {
		result, err := Verify(t.Context(), VerifyConfig{Paths: []string{path}, Jobs: jobs, Frames: true})
		if err != nil {
			t.Fatal(err)
		}
		if result.Classes != 200 || len(result.Findings) != 67 || len(result.Unknown) < 200 {
			t.Fatalf("%d classes, %d findings, %d unknown", result.Classes, len(result.Findings), len(result.Unknown))
		}
		if first == nil {
			first = result
		}
		if diff := cmp.Diff(first, result, cmp.Comparer(func(a, b buildreport.Finding) bool { return a == b })); diff != "" {
			t.Errorf("with %d workers: %s", jobs, diff)
		}
	}
}
