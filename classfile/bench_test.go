package classfile_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// benchParsed gives the classes that benchmarks work on, their size, and how many methods they have.
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

// perMethod reports what a method took.
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

// BenchmarkCode reads every Code attribute, as each class that is worked on needs it.
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

// BenchmarkWrite writes each class with every Code attribute replaced by itself: what writing costs when the work on the
// code is done.
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
