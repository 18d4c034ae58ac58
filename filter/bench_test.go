package filter

import (
	"fmt"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// BenchmarkDecide measures the decisions on 100,000 methods of 10,000 classes in 500 packages: without rules, with
// 100 rules of each kind, and with 1,000 rules on classes. The cost of rules is the difference to the run without rules.
func BenchmarkDecide(b *testing.B) {
	kinds := map[string]func(i int) string{
		"package":     func(i int) string { return fmt.Sprintf("-com.vendor%d.**", i) },
		"class":       func(i int) string { return fmt.Sprintf("-com.example.p%d.Type%d", i%500, i%20+3) },
		"suffix":      func(i int) string { return fmt.Sprintf("-**.*Suffix%d", i) },
		"suffixes":    func(i int) string { return fmt.Sprintf("-**.*%dBinding", i) },
		"method":      func(i int) string { return fmt.Sprintf("-com.example.p%d.Type%d#method%d", i%500, i%20, i%10) },
		"everywhere":  func(i int) string { return fmt.Sprintf("-**#name%d", i) },
		"method-glob": func(i int) string { return fmt.Sprintf("-**#set%d*(**)", i) },
	}

	var classes []*classfile.Class
	for i := range 10_000 {
		var a assembler
		to := a.ref(classfile.TagMethodref, "com/example/Other", "run", "()V")
		call := []byte{byte(code.Invokestatic), byte(to >> 8), byte(to), ret}
		for m := range 10 {
			a.add(method{name: fmt.Sprintf("method%d", m), descriptor: "(I)V", code: call})
		}
		classes = append(classes, a.finish(b, fmt.Sprintf("com/example/p%d/Type%d", i%500, i/500), 0, 52, 0))
	}
	run := func(name string, rules []Rule) {
		b.Run(name, func(b *testing.B) {
			f := New(Options{Rules: rules})
			traced := 0
			for b.Loop() {
				traced = decideTraced(f, classes)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/method")
			b.ReportMetric(float64(traced), "traced")
		})
	}
	run("none", nil)
	for _, c := range []struct {
		kind  string
		count int
	}{{"package", 1000}, {"class", 1000}, {"method", 1000}, {"suffix", 100}, {"suffixes", 100}, {"everywhere", 100},
		{"method-glob", 100}} {
		var patterns []string
		for i := range c.count {
			patterns = append(patterns, kinds[c.kind](i))
		}
		run(c.kind, parseRules(b, patterns...))
	}
}

// decideTraced counts the traced methods. It makes the Code attributes, which real callers read anyway.
func decideTraced(f *Filter, classes []*classfile.Class) int {
	traced := 0
	for _, c := range classes {
		cf := f.ForClass(c)
		for i := range c.Methods() {
			m := &c.Methods()[i]
			if cf.Decide(m, classfile.Code{Bytecode: m.Attributes[0].Info[8:12]}).Traced() {
				traced++
			}
		}
	}
	return traced
}
