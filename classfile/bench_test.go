package classfile_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
)

// benchClasses are those of testdata and of the corpus.
func benchClasses(b *testing.B) (classes [][]byte, size int64) {
	b.Helper()
	for _, data := range sampleClasses(b) {
		classes = append(classes, data)
	}
	if !testing.Short() {
		for _, jar := range corpusJars(b) {
			eachClass(b, jar.Classes, func(_ string, data []byte) { classes = append(classes, data) })
		}
	}
	for _, data := range classes {
		size += int64(len(data))
	}
	return classes, size
}

func BenchmarkParse(b *testing.B) {
	classes, size := benchClasses(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, data := range classes {
			if _, err := classfile.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	}
	perClass := float64(b.N * len(classes))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/perClass, "ns/class")
}

// BenchmarkCode reads every Code attribute, as each class that is worked on needs it.
func BenchmarkCode(b *testing.B) {
	data, size := benchClasses(b)
	classes := make([]*classfile.Class, len(data))
	for i := range data {
		classes[i] = parse(b, data[i])
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range classes {
			for i := range c.Methods() {
				if _, _, err := c.Code(&c.Methods()[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	data, size := benchClasses(b)
	classes := make([]*classfile.Class, len(data))
	for i := range data {
		classes[i] = parse(b, data[i])
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range classes {
			if _, err := c.Rewrite(classfile.Edit{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
