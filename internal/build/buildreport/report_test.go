package buildreport

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/mapping"
)

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
		Base: base,
		Result: Result{
			Mapping: m,
			Inputs: []Input{
				inputResult("a.jar", "out/a.jar", 3, 2, 5, 2, 1000, 1100, 7),
				inputResult("b.jar", "out/b.jar", 1, 1, 1, 1, 500, 520, 2),
			},
			Packages: []Package{packageResult("com/example", 7, 100), packageResult("", 2, 20)},
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
		},
		Guards: []Guard{{Name: "growth", Expected: "at most 5 %", Actual: "by 8 %", Failed: true, Limit: 5.0,
			Value: 8.0, Unit: "percent"}},
	}
}

func TestGolden(t *testing.T) {
	r := sampleRun(t)
	views := map[string]func(*bytes.Buffer) error{
		"report.json": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
		"summary.md":  func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
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
				golden.Compare(t, filepath.Join("testdata", name), got.String())
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
