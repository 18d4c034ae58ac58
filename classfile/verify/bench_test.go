package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle"
)

// rewritten is one class before and after.
type rewritten struct {
	original, result *classfile.Class
	request          inject.Request
}

// sample instruments every class of the committed sample jar, or of the jar that TRACEGEN_BENCH_JAR names.
func sample(b *testing.B, m mode) (all []rewritten, size int64) {
	path := os.Getenv("TRACEGEN_BENCH_JAR")
	if path == "" {
		path = filepath.Join("..", "..", "testdata", "sample", "sample.jar")
	}
	in := m.injector()
	err := jarClasses(path, func(name string, c *classfile.Class) {
		request := m.request(in, c)
		if len(request.Methods) == 0 {
			return
		}
		data, err := in.Rewrite(c, request)
		if err != nil {
			b.Fatal(err)
		}
		result, err := classfile.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, rewritten{c, result, request})
		size += int64(len(data))
	})
	if err != nil {
		b.Fatal(err)
	}
	return all, size
}

// BenchmarkEquivalent stands beside BenchmarkRewrite, the work that it checks.
func BenchmarkEquivalent(b *testing.B) {
	all, size := sample(b, modes[1])
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range all {
			if findings := verify.Equivalent(r.original, r.result, modes[1].wanted(r.original, r.request)); len(findings) > 0 {
				b.Fatal(findings[0])
			}
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	all, size := sample(b, modes[1])
	in := modes[1].injector()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range all {
			if _, err := in.Rewrite(r.original, r.request); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkStrip(b *testing.B) {
	all, size := sample(b, modes[1])
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range all {
			if _, _, err := verify.Strip(r.result, modes[1].runtime); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkParseAndRewrite is what BenchmarkCheck is to be compared with: it may take half as long again.
func BenchmarkParseAndRewrite(b *testing.B) {
	all, size := sample(b, modes[1])
	in := modes[1].injector()
	b.SetBytes(size)
	b.ReportAllocs()
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
}

// BenchmarkCheck judges the rewritten classes' types, with their jar and a JDK for a hierarchy, which is warm.
func BenchmarkCheck(b *testing.B) {
	all, size := sample(b, modes[1])
	paths := []string{os.Getenv("TRACEGEN_BENCH_JAR")}
	if paths[0] == "" {
		paths[0] = filepath.Join("..", "..", "testdata", "sample", "sample.jar")
	}
	jdk, err := oracle.FindJDK(17)
	oracle.Require(b, err)
	h, err := verify.NewHierarchy(append(paths, jdk.Home)...)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	k := verify.Checker{Hierarchy: h}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range all {
			if got := k.Check(r.result); len(got.Findings) > 0 {
				b.Fatal(got.Findings[0])
			}
		}
	}
}
