package verify_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// rewritten is one class before and after.
type rewritten struct {
	original, result *classfile.Class
	request          inject.Request
	wanted           equivalence.Instrumentation
}

// benchRewritten instruments the classes that benchmarks work on, and counts the methods that were changed.
func benchRewritten(b *testing.B, m crafted.Mode) (all []rewritten, methods int) {
	b.Helper()
	in := m.Injector()
	size := int64(0)
	for _, data := range corpus.BenchClasses(b) {
		c, err := classfile.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		request := m.Request(in, c)
		if len(request.Methods) == 0 {
			continue
		}
		out, err := in.Rewrite(c, request)
		if err != nil {
			b.Fatal(err)
		}
		result, err := classfile.Parse(out)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, rewritten{c, result, request, m.Expected(request)})
		methods += len(request.Methods)
		size += int64(len(out))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	return all, methods
}

// perMethod reports what a method took.
func perMethod(b *testing.B, methods int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*methods), "ns/method")
}

func BenchmarkEquivalent(b *testing.B) {
	for _, m := range []crafted.Mode{crafted.Modes[1], crafted.Modes[2]} {
		b.Run(m.Name, func(b *testing.B) {
			all, methods := benchRewritten(b, m)
			var checker equivalence.Checker
			for b.Loop() {
				for i := range all {
					if findings := checker.Check(all[i].original, all[i].result, all[i].wanted); len(findings) > 0 {
						b.Fatal(findings[0])
					}
				}
			}
			perMethod(b, methods)
		})
	}
}

func BenchmarkStrip(b *testing.B) {
	all, methods := benchRewritten(b, crafted.Modes[1])
	for b.Loop() {
		for _, r := range all {
			if _, _, err := equivalence.Strip(r.result, crafted.Modes[1].Options.RuntimeClass); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, methods)
}

// BenchmarkParseAndRewrite measures the injector on the same classes, to compare BenchmarkCheck with.
func BenchmarkParseAndRewrite(b *testing.B) {
	all, methods := benchRewritten(b, crafted.Modes[1])
	in := crafted.Modes[1].Injector()
	for b.Loop() {
		for _, r := range all {
			c, err := classfile.Parse(r.original.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := in.Rewrite(c, r.request); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, methods)
}

// BenchmarkCheck checks the types of rewritten classes, with their jar and a JDK as a hierarchy that has been read.
func BenchmarkCheck(b *testing.B) {
	all, methods := benchRewritten(b, crafted.Modes[1])
	jdk, err := oracle.FindJDK(17)
	oracle.Require(b, err)
	path, _ := corpus.BenchJar(b)
	h, err := classpath.Open(path, jdk.Home)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	k := types.Checker{Hierarchy: h}
	for b.Loop() {
		for _, r := range all {
			k.Check(r.result) // some of the originals have findings, too
		}
	}
	perMethod(b, methods)
}
