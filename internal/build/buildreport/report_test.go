package buildreport

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/mapping"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func inputResult(path, output string, classes, rewritten, methods, traced int, before, after int64,
	calls int) Input {
	return Input{Path: path, Output: output, Classes: classes, Rewritten: rewritten, Methods: methods,
		Traced:     traced,
		ClassBytes: before, OutputBytes: after, Calls: calls}
}

func packageResult(name string, calls int, bytes int64) Package {
	return Package{Package: name, Calls: calls, Bytes: bytes}
}

func skippedMethod(input, entry, class, name, descriptor string, reason filter.Reason, detail string) Skipped {
	return Skipped{Input: input, Entry: entry, Class: class, Name: name, Descriptor: descriptor,
		Reason: reason, Detail: detail}
}

// sampleRun returns a run with two inputs, a class that could not be read, and names with control characters.
func sampleRun(t *testing.T) *Run {
	t.Helper()
	method := func(class, name, descriptor string) mapping.Method {
		return mapping.Method{Identity: mapping.Identity{Class: class, Name: name, Descriptor: descriptor}, Access: 1}
	}
	base, err := mapping.Assign([]mapping.Method{method("com/example/Old", "gone", "()V")},
		mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Assign([]mapping.Method{
		method("com/example/Foo", "bar", "(ILjava/lang/String;)V"),
		method("com/example/Foo", "a b", "()V"),
		method("Main", "main", "()V"),
	}, mapping.Options{
		Base: base, Order: mapping.OrderCompact,
		Focus: []mapping.Focus{{Class: "com/example/Screen", Action: mapping.FocusAdd}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Run{
		Version:     "1.2.3",
		Options:     map[string]string{"exits": "throws", "trivial": "smart"},
		Rules:       []string{"tracegen.yml:3: block com.example.**#get*", "list.txt:1: block Foo#<init>"},
		MappingFile: "out/map.txt", BaseFile: "old.txt",
		Mapping: m, Base: base,
		Inputs: []Input{
			inputResult("a.jar", "out/a.jar", 3, 2, 5, 2, 1000, 1100, 7),
			inputResult("b.jar", "out/b.jar", 1, 1, 1, 1, 500, 520, 2),
		},
		Packages: []Package{packageResult("com/example", 7, 100), packageResult("", 2, 20)},
		Guards: []Guard{{Name: "growth", Expected: "at most 5 %", Actual: "by 8 %", Failed: true, Limit: 5.0,
			Value: 8.0, Unit: "percent"}},
		Skipped: slices.Values([]Skipped{
			skippedMethod("a.jar", "com/example/Foo.class", "com/example/Foo", "getBar", "()I", filter.ReasonTrivial,
				""),
			skippedMethod("a.jar", "com/example/Foo.class", "com/example/Foo", "a\tb", "()V", filter.ReasonBlocked,
				"tracegen.yml:3: block com.example.**#get*"),
			skippedMethod("a.jar", "com/example/Foo.class", "com/example/Foo", "<init>", "()V", filter.ReasonTrivial,
				""),
			skippedMethod("a.jar", "x/Broken.class", "", "", "", filter.ReasonMalformed,
				"a.jar!x/Broken.class: at 0x8: \x1b[31mbad\xff\n"),
		}),
		LeftOut:  []LeftOut{{Input: "b.jar", Entry: "META-INF/MANIFEST.MF", First: "a.jar"}},
		Warnings: []string{"a.jar: signed, \x07which the output is not"},
	}
}

func TestGolden(t *testing.T) {
	r := sampleRun(t)
	views := map[string]func(*bytes.Buffer) error{
		"report.json": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
		"summary.md":  func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
		"run.sarif":   func(b *bytes.Buffer) error { return r.WriteSARIF(b) },
		"skipped.tsv": func(b *bytes.Buffer) error { return r.WriteSkipped(b) },
		"summary.txt": func(b *bytes.Buffer) error { return r.WriteSummary(b, false) },
		"verbose.txt": func(b *bytes.Buffer) error { return r.WriteSummary(b, true) },
	}
	for name, write := range views {
		t.Run(name, func(t *testing.T) {
			for range 5 { // nothing may depend on the order of a map, nor on that of the skipped methods
				skipped := slices.Collect(r.Skipped)
				rand.Shuffle(len(skipped), func(i, j int) { skipped[i], skipped[j] = skipped[j], skipped[i] })
				r.Skipped = slices.Values(skipped)
				var got bytes.Buffer
				if err := write(&got); err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join("testdata", name)
				if *update {
					if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Fatalf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

func TestSummary(t *testing.T) {
	empty, err := mapping.Assign(nil, mapping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := Input{Path: "a.jar", Output: "b.jar", Classes: 1, Rewritten: 1, Methods: 1, Traced: 1,
		ClassBytes: 200, OutputBytes: 190}
	many := Run{Mapping: empty, MappingFile: "m"}
	for range manyInputs + 1 {
		many.Inputs = append(many.Inputs, one)
	}
	cases := []struct {
		name     string
		run      Run
		every    bool
		has      string
		hasNot   string
		wantRows int
	}{
		{"singular", Run{Mapping: empty, MappingFile: "m", Inputs: []Input{one}}, false,
			"1 class, 1 changed; 1 of 1 method traced\n", "total", 3},
		{"shrunk", Run{Mapping: empty, MappingFile: "m", Inputs: []Input{one}}, false,
			"200 -> 190 bytes (-5.0 %)", "skipped", 3},
		{"nothing read", Run{Mapping: empty, MappingFile: "m",
			Inputs: []Input{{Path: "d", Output: "e"}}}, false,
			"d -> e: 0 classes, 0 changed; 0 of 0 methods traced\n", "size", 2},
		{"many", many, false, "total of 11 inputs: 11 classes", "a.jar", 3},
		{"many, every", many, true, "a.jar -> b.jar", "skipped", 15},
		{"dry", Run{Mapping: empty, MappingFile: "m", Inputs: []Input{one}, DryRun: true}, false,
			"dry run: nothing was written\n", "total", 4},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := c.run.WriteSummary(&b, c.every); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) ||
				strings.Count(text, "\n") != c.wantRows {
				t.Errorf("want %d lines with %q and without %q, got\n%s", c.wantRows, c.has, c.hasNot, text)
			}
		})
	}
}

// fullDisk is a writer that fails after n bytes.
type fullDisk struct{ n int }

var errFull = errors.New("no space")

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.n -= len(p); d.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrorsAreReported(t *testing.T) {
	r := sampleRun(t)
	for name, write := range map[string]func(*fullDisk) error{
		"report":  func(d *fullDisk) error { return r.WriteJSON(d) },
		"skipped": func(d *fullDisk) error { return r.WriteSkipped(d) },
		"summary": func(d *fullDisk) error { return r.WriteSummary(d, true) },
	} {
		if err := write(&fullDisk{10}); !errors.Is(err, errFull) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
