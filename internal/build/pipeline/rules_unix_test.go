//go:build unix

package pipeline_test

import (
	"archive/zip"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// BenchmarkRules instruments a compiler of more than 100,000 methods without rules and with a thousand of mixed
// kinds, in turn, and compares the CPU time of all threads. The rules decide nothing else than what is decided without
// them, so that the rest of the work is the same: they allow what is there, and block what is not. The part called
// decisions does nothing but ask the filter, for where the difference of two runs is lost in what else a machine does.
// What disturbs only adds to a time, so the least of each is taken.
func BenchmarkRules(b *testing.B) {
	list, err := corpus.Load()
	if err != nil {
		b.Fatal(err)
	}
	jars, err := list.Fetch(b.Context(), "kotlin-compiler-1.3.31")
	oracle.Require(b, err)
	input := jars[0].Classes
	classes := classesOf(b, input)
	config, err := filter.ParseConfig("bench.yml", []byte(mixedRules(classes, 1000)), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	filters := [2]*filter.Filter{filter.New(filter.Options{}), filter.New(filter.Options{Rules: config.Rules})}
	run := func(name string, once func(b *testing.B, f *filter.Filter) (outcome any)) {
		b.Run(name, func(b *testing.B) {
			var least [2]time.Duration
			var outcomes [2]any
			for b.Loop() {
				for i, f := range filters {
					runtime.GC()
					before := cpuTime(b)
					outcomes[i] = once(b, f)
					if spent := cpuTime(b) - before; least[i] == 0 || spent < least[i] {
						least[i] = spent
					}
				}
			}
			if outcomes[0] != outcomes[1] {
				b.Fatalf("the rules decide something else: %v and %v", outcomes[0], outcomes[1])
			}
			b.ReportMetric(least[0].Seconds()*1000, "ms-cpu/0-rules")
			b.ReportMetric(least[1].Seconds()*1000, "ms-cpu/1000-rules")
			b.ReportMetric((least[1]-least[0]).Seconds()*1000, "ms-more")
		})
	}
	run("decisions", func(b *testing.B, f *filter.Filter) any { return decideAll(classes, f) })
	instrument := func(level pipeline.VerifyLevel) func(*testing.B, *filter.Filter) any {
		return func(b *testing.B, f *filter.Filter) any {
			result, err := pipeline.Run(b.Context(), pipeline.Config{
				Inputs: []pipeline.Input{{Path: input, Output: filepath.Join(b.TempDir(),
					"out.jar")}}, RuntimeExternal: true,
				Filter: f, Verify: level,
			})
			if err != nil {
				b.Fatal(err)
			}
			return result.Mapping.Digest()
		}
	}
	run("instrument", instrument(pipeline.VerifyFull))
	run("equivalence", instrument(pipeline.VerifyEquivalence))
}

// decideAll returns the number of methods that a filter traces, or may trace.
func decideAll(classes []*classfile.Class, f *filter.Filter) (traced int) {
	for _, c := range classes {
		cf := f.ForClass(c)
		for i := range c.Methods() {
			m := &c.Methods()[i]
			if code, ok, err := c.Code(m); ok && err == nil && cf.Decide(m, code).Traced() {
				traced++
			}
		}
	}
	return traced
}

// cpuTime returns the CPU time that all threads of the process have used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func classesOf(b *testing.B, jar string) (classes []*classfile.Class) {
	z, err := zip.OpenReader(jar)
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".class") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			b.Fatal(err)
		}
		if c, err := classfile.Parse(data); err == nil {
			classes = append(classes, c)
		}
	}
	return classes
}

// mixedRules returns the text of n rules, ten kinds in turn.
func mixedRules(classes []*classfile.Class, n int) string {
	text := "rules:\n"
	for i := range n {
		c := classes[i/10*97%len(classes)]
		name, method := c.Name(), "<init>"
		if methods := c.Methods(); len(methods) > 0 {
			method = methods[len(methods)-1].Name
		}
		text += [...]string{
			fmt.Sprintf("- block: com.vendor%d.**\n", i),
			fmt.Sprintf("- allow: '%s'\n", name),
			fmt.Sprintf("- block: '**.*Suffix%d'\n", i),
			fmt.Sprintf("- allow: '%s#%s'\n", name, method),
			fmt.Sprintf("- block: '**#name%d'\n", i),
			fmt.Sprintf("- block: { annotation: com.vendor.Generated%d }\n", i),
			fmt.Sprintf("- block: { extends: com.vendor.Base%d }\n", i),
			fmt.Sprintf("- allow: { extends: '%s' }\n", c.SuperName()),
			fmt.Sprintf("- allow: { class: '%s', synchronized: true, instructions: '>%d' }\n",
				name[:strings.LastIndexByte(name, '/')+1]+"**", i),
			fmt.Sprintf("- allow: { instructions: '>%d', loop: true }\n", i),
		}[i%10]
	}
	return text
}
