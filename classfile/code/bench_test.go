package code_test

import (
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// benchMethods returns the methods that the benchmarks use, and the size of their code in bytes.
func benchMethods(b *testing.B) (methods []sample, size int64) {
	b.Helper()
	for _, data := range corpus.BenchClasses(b) {
		methods = append(methods, methodsOf(b, "", data)...)
	}
	for _, m := range methods {
		size += int64(len(m.code.Bytecode))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	return methods, size
}

// perMethod reports the time for each method.
func perMethod(b *testing.B, methods int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*methods), "ns/method")
}

func BenchmarkInstructions(b *testing.B) {
	methods, _ := benchMethods(b)
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
	perMethod(b, len(methods))
}

func BenchmarkStackDepths(b *testing.B) {
	methods, _ := benchMethods(b)
	var depths code.Depths
	for b.Loop() {
		for i := range methods {
			if err := depths.Follow(methods[i].class.ConstantPool(), &methods[i].code); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, len(methods))
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
	for b.Loop() {
		for i := range constructors {
			if _, err := code.Initialisation(constructors[i].class.ConstantPool(), &constructors[i].code); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, len(constructors))
}

// BenchmarkRelocate puts a call's worth of nops at each method's start and before each return.
func BenchmarkRelocate(b *testing.B) {
	methods, _ := benchMethods(b)
	patches := make([]code.Patch, len(methods))
	var outline code.Outline
	for i, m := range methods {
		patches[i].MaxStack, patches[i].Outline = m.code.MaxStack+1, &outline
		patches[i].Insertions = []code.Insertion{{PC: 0, Bytecode: nops(6), Entry: true}}
		for in := range code.Instructions(m.code.Bytecode) {
			if in.Op.IsReturn() {
				patches[i].Insertions = append(patches[i].Insertions, code.Insertion{PC: in.PC, Bytecode: nops(6)})
			}
		}
	}
	var r code.Relocator
	var pool classfile.PoolBuilder
	var out []byte
	for b.Loop() {
		for i, m := range methods {
			pool.Reset(m.class.ConstantPool())
			if err := outline.Read(methods[i].code.Bytecode, &code.OpSet{}); err != nil {
				b.Fatal(err)
			}
			var err error
			if out, _, err = r.Relocate(out[:0], m.class, m.method, &methods[i].code, patches[i], &pool); err != nil {
				b.Fatal(err)
			}
		}
	}
	perMethod(b, len(methods))
}
