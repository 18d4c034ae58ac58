package inject_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// benchInjection is one class and the request to instrument every method of it that can be instrumented.
type benchInjection struct {
	class      *classfile.Class
	candidates []int
	request    inject.Request
}

func benchInjections(b *testing.B, in *inject.Injector) (all []benchInjection, methods int) {
	b.Helper()
	size := int64(0)
	for _, data := range corpus.BenchClasses(b) {
		c, err := classfile.Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		one := benchInjection{class: c}
		for i := range c.Methods() {
			if _, ok := classfile.FindAttribute(c.Methods()[i].Attributes, "Code"); ok {
				one.candidates = append(one.candidates, i)
			}
		}
		refused := map[int]bool{}
		for _, r := range in.Try(c, one.candidates, inject.FocusNone) {
			refused[r.Method] = true
		}
		for _, i := range one.candidates {
			if !refused[i] {
				one.request.Methods = append(one.request.Methods,
					inject.Traced{Method: i, ID: uint32(1 + (len(all)*31+i)*2003%(1<<20-3))})
			}
		}
		all = append(all, one)
		methods += len(one.candidates)
		size += int64(len(data))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	return all, methods
}

// benchModes are the two exit modes whose code paths differ most.
var benchModes = []struct {
	name  string
	exits inject.ExitMode
}{{"throws", inject.ExitsThrows}, {"exact", inject.ExitsExact}}

func BenchmarkTry(b *testing.B) {
	for _, mode := range benchModes {
		b.Run(mode.name, func(b *testing.B) {
			in := inject.New(inject.Options{Exits: mode.exits})
			all, methods := benchInjections(b, in)
			for b.Loop() {
				for _, one := range all {
					in.Try(one.class, one.candidates, inject.FocusNone)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*methods), "ns/method")
		})
	}
}

func BenchmarkRewrite(b *testing.B) {
	for _, mode := range benchModes {
		b.Run(mode.name, func(b *testing.B) {
			in := inject.New(inject.Options{Exits: mode.exits})
			all, methods := benchInjections(b, in)
			for b.Loop() {
				for _, one := range all {
					if _, err := in.Rewrite(one.class, one.request); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*methods), "ns/method")
		})
	}
}
