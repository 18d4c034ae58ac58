package classfile_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// benchParsed returns the classes that the benchmarks use, parsed, their total size in bytes and their number of
// methods.
func benchParsed(b *testing.B) (classes []*classfile.Class, size int64, methods int) {
	b.Helper()
	for _, data := range corpus.BenchClasses(b) {
		c := parse(b, data)
		classes = append(classes, c)
		size += int64(len(data))
		methods += len(c.Methods())
	}
	b.SetBytes(size)
	b.ReportAllocs()
	return classes, size, methods
}

// perMethod reports the time for each method.
func perMethod(b *testing.B, methods int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*methods), "ns/method")
}

func BenchmarkParse(b *testing.B) {
	classes, _, methods := benchParsed(b)
	for b.Loop() {
		for _, c := range classes {
			if _, err := classfile.Parse(c.Bytes()); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, methods)
}

// BenchmarkCode decodes every Code attribute, which is done for every class that is instrumented.
func BenchmarkCode(b *testing.B) {
	classes, _, methods := benchParsed(b)
	var code classfile.Code
	for b.Loop() {
		for _, c := range classes {
			for i := range c.Methods() {
				if _, err := c.ReadCode(&c.Methods()[i], &code); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	perMethod(b, methods)
}

// BenchmarkWrite writes each class with every Code attribute replaced by itself. It measures writing alone, without
// the work on the code.
func BenchmarkWrite(b *testing.B) {
	classes, _, methods := benchParsed(b)
	edits := make([]classfile.Edit, len(classes))
	for i, c := range classes {
		for k := range c.Methods() {
			if a, ok := classfile.FindAttribute(c.Methods()[k].Attributes, "Code"); ok {
				edits[i].Codes = append(edits[i].Codes, classfile.CodeEdit{Method: k, Info: a.Info})
			}
		}
	}
	for b.Loop() {
		for i, c := range classes {
			if _, err := c.Rewrite(edits[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, methods)
}
