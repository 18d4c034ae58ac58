package code_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
)

// benchMethods are those of testdata and of some released classes.
func benchMethods(b *testing.B) (methods []sample, size int64) {
	b.Helper()
	methods = sampleMethods(b)
	if !testing.Short() {
		eachCorpusMethod(b, 4, func(m sample) { methods = append(methods, m) })
	}
	for _, m := range methods {
		size += int64(len(m.code.Bytecode))
	}
	return methods, size
}

func BenchmarkInstructions(b *testing.B) {
	methods, size := benchMethods(b)
	b.SetBytes(size)
	b.ReportAllocs()
	returns := 0
	for b.Loop() {
		for _, m := range methods {
			for in := range code.Instructions(m.code.Bytecode) {
				if in.Op.IsReturn() {
					returns++
				}
			}
		}
	}
	if returns == 0 {
		b.Error("no method returns")
	}
}

func BenchmarkStackDepths(b *testing.B) {
	methods, size := benchMethods(b)
	b.SetBytes(size)
	b.ReportAllocs()
	var depths code.Depths
	for b.Loop() {
		for i := range methods {
			if err := depths.Follow(methods[i].class.ConstantPool(), &methods[i].code); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkInitialisation(b *testing.B) {
	methods, _ := benchMethods(b)
	size := int64(0)
	constructors := methods[:0]
	for _, m := range methods {
		if m.method.Name == "<init>" {
			constructors = append(constructors, m)
			size += int64(len(m.code.Bytecode))
		}
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i := range constructors {
			if _, err := code.Initialisation(constructors[i].class.ConstantPool(), &constructors[i].code); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkRelocate puts a call's worth of nops at each method's start and before each return.
func BenchmarkRelocate(b *testing.B) {
	methods, size := benchMethods(b)
	patches := make([]code.Patch, len(methods))
	for i, m := range methods {
		patches[i].MaxStack = m.code.MaxStack + 1
		patches[i].Insertions = []code.Insertion{{PC: 0, Bytecode: nops(6), Entry: true}}
		for in := range code.Instructions(m.code.Bytecode) {
			if in.Op.IsReturn() {
				patches[i].Insertions = append(patches[i].Insertions, code.Insertion{PC: in.PC, Bytecode: nops(6)})
			}
		}
	}
	var r code.Relocator
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for i, m := range methods {
			pool := classfile.NewPoolBuilder(m.class.ConstantPool())
			if _, _, err := r.Relocate(nil, m.class, m.method, &methods[i].code, patches[i], pool); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(methods)), "ns/method")
}
