//go:build unix

package pipeline_test

import (
	"archive/zip"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// BenchmarkRules instruments a compiler of more than 100,000 methods without rules and with a thousand of mixed
// kinds, in turn, and compares the CPU time of all threads. The rules decide nothing else than what is decided without
// them, so that the rest of the work is the same: they allow what is there, and block what is not.
func BenchmarkRules(b *testing.B) {
	list, err := corpus.Load()
	if err != nil {
		b.Fatal(err)
	}
	jars, err := list.Fetch(b.Context(), "kotlin-compiler-1.3.31")
	oracle.Require(b, err)
	input := jars[0].Classes
	config, err := filter.ParseConfig("bench.yml", []byte(mixedRules(b, input, 1000)), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	filters := [2]*filter.Filter{filter.New(filter.Options{}), filter.New(filter.Options{Rules: config.Rules})}
	for _, level := range []struct {
		name  string
		level pipeline.VerifyLevel
	}{{"full", pipeline.VerifyFull}, {"equivalence", pipeline.VerifyEquivalence}} {
		b.Run(level.name, func(b *testing.B) {
			var spent [2][]time.Duration
			var digests [2]string
			methods := 0
			for b.Loop() {
				for i, f := range filters {
					runtime.GC()
					before := cpuTime(b)
					result, err := pipeline.Run(b.Context(), pipeline.Config{
						Inputs: []pipeline.Input{{Path: input, Output: filepath.Join(b.TempDir(), "out.jar")}}, RuntimeExternal: true,
						Filter: f, Verify: level.level,
					})
					if err != nil {
						b.Fatal(err)
					}
					spent[i] = append(spent[i], cpuTime(b)-before)
					digests[i], methods = result.Mapping.Digest(), result.Inputs[0].Methods
				}
			}
			if digests[0] != digests[1] {
				b.Fatal("the rules decide something else")
			}
			none, many := median(spent[0]), median(spent[1])
			b.ReportMetric(none.Seconds()*1000, "ms-cpu/0-rules")
			b.ReportMetric(many.Seconds()*1000, "ms-cpu/1000-rules")
			b.ReportMetric(100*(many-none).Seconds()/none.Seconds(), "%-more")
			b.ReportMetric(float64(methods), "methods")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// cpuTime gives what all threads of the process have used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mixedRules gives the text of n rules, ten kinds in turn.
func mixedRules(b *testing.B, jar string, n int) string {
	z, err := zip.OpenReader(jar)
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	var names, supers, methods []string
	for i, f := range z.File {
		if i%97 != 0 || !strings.HasSuffix(f.Name, ".class") {
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
		c, err := classfile.Parse(data)
		if err != nil || len(c.Methods()) == 0 {
			continue
		}
		names, supers = append(names, c.Name()), append(supers, c.SuperName())
		methods = append(methods, c.Methods()[len(c.Methods())-1].Name)
	}
	text := "rules:\n"
	for i := range n {
		k := i / 10 % len(names)
		text += [...]string{
			fmt.Sprintf("- block: com.vendor%d.**\n", i),
			fmt.Sprintf("- allow: '%s'\n", names[k]),
			fmt.Sprintf("- block: '**.*Suffix%d'\n", i),
			fmt.Sprintf("- allow: '%s#%s'\n", names[k], methods[k]),
			fmt.Sprintf("- block: '**#name%d'\n", i),
			fmt.Sprintf("- block: { annotation: com.vendor.Generated%d }\n", i),
			fmt.Sprintf("- block: { extends: com.vendor.Base%d }\n", i),
			fmt.Sprintf("- allow: { extends: '%s' }\n", supers[k]),
			fmt.Sprintf("- allow: { class: '%s', synchronized: true, instructions: '>%d' }\n", names[k][:strings.LastIndexByte(names[k], '/')+1]+"**", i),
			fmt.Sprintf("- allow: { instructions: '>%d', loop: true }\n", i),
		}[i%10]
	}
	return text
}
