package types_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/mutate"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// quickRows are rows of the corpus without frames and with, made by different compilers.
var quickRows = []string{
	"hsqldb-1.8.0.10", "jython-2.2.1", "guava-18.0", "kotlin-stdlib-2.2.20", "netty-all-4.0.56.Final",
}

// TestCorpusQuickPath compares the findings of the quick path with those of the full path for real classes and for
// mutants of them. A correct class must not need the full path, which takes much longer.
//
// Invariant: The type checker's quick path reports what its full path reports, for classes and for mutants.
func TestCorpusQuickPath(t *testing.T) {
	nightly.Only(t, "classes")
	if testing.Short() {
		t.Skip("no corpus in short tests")
	}
	mutants := 5000
	if os.Getenv("TRACEGEN_CORPUS") == "full" {
		mutants = 200000
	}
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), quickRows...)
	oracle.Require(t, err)
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	for n, j := range jars {
		t.Run(quickRows[n], func(t *testing.T) {
			h, err := classpath.Open(append([]string{j.Classes}, append(slices.Clone(j.DepPaths), jdk.Home)...)...)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			p := &quickPaths{quick: &types.Checker{Hierarchy: h, Frames: true}}
			p.full = p.quick.OnFullPath()
			classes := classesOf(t, j.Classes)
			p.compareReal(t, classes)
			p.compareMutants(t, classes, mutants/len(jars), rand.New(rand.NewPCG(6, uint64(n))))
		})
	}
}

// giveUpCases are methods with faults that mutants seldom have.
var giveUpCases = []faultCase{
	{"a store changes what a handler may see", func(a *crafted.Class) crafted.Method {
		return handled(a, 1, []byte{255, 0, 7, 0, 1, 1, 0, 1}, 2, 6, crafted.Op(code.Iconst0, byte(code.Istore0),
			byte(code.Nop), byte(code.Fconst0), byte(code.Fstore0), byte(code.Nop), byte(code.Return)))
	}},
	{"a store of two words changes what a handler may see", func(a *crafted.Class) crafted.Method {
		return handled(a, 2, []byte{255, 0, 7, 0, 1, 4, 0, 1}, 2, 6, crafted.Op(code.Lconst0, byte(code.Lstore0),
			byte(code.Nop), byte(code.Dconst0), byte(code.Dstore0), byte(code.Nop), byte(code.Return)))
	}},
	{"a constructor changes what a handler may see", func(a *crafted.Class) crafted.Method {
		class := crafted.U2(a.ClassIndex("java/lang/Object"))
		return handled(a, 1, []byte{255, 0, 9, 0, 1, 8, 0, 0, 0, 1}, 5, 8, slices.Concat(
			crafted.Op(code.New, class...), crafted.Op(code.Dup, byte(code.Astore0)),
			crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...),
			crafted.Op(code.Return)))
	}},
	{"uninitialized refers to an operand", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Sipush, 0, byte(code.New), byte(code.Pop), byte(code.Return), byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 5, 0, 1, 8, 0, 2, 0, 0})}}
	}},
	{"a frame in an instruction", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Sipush, 0, 0, byte(code.Pop), byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{2})}}
	}},
	{"a frame behind the code", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{2})}}
	}},
	{"a frame of too many locals", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return, byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{254, 0, 1, 1, 1, 1})}}
	}},
	{"a frame of too many words on the stack", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code:       crafted.Op(code.Return, byte(code.Return)),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{255, 0, 1, 0, 0, 0, 2, 1, 1})}}
	}},
	{"a protected constructor of another package", func(a *crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.New, crafted.U2(a.ClassIndex("far/Base"))...),
				crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("far/Base", "<init>", "()V"))...),
				crafted.Op(code.Return))}
	}},
	{"a lookupswitch without cases at the end", func(*crafted.Class) crafted.Method {
		return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1,
			Code: slices.Concat(crafted.Op(code.Iconst0, byte(code.Goto), 0, 3), crafted.Op(code.Lookupswitch, 0, 0, 0),
				[]byte{0xFF, 0xFF, 0xFF, 0xFC}, []byte{0, 0, 0, 0}),
			Attributes: []crafted.Attribute{crafted.Frames([]byte{0}, []byte{64 + 3, 1})}}
	}},
}

// handled is a static method with a handler that catches everything from start to end and stands behind the code. The
// frame lacks only the class on its stack.
func handled(a *crafted.Class, words uint16, frame []byte, start, end uint16, bytecode []byte) crafted.Method {
	frame = slices.Concat(frame, []byte{7}, crafted.U2(a.ClassIndex("java/lang/Throwable")))
	return crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 2, MaxLocals: words,
		Code:       append(bytecode, byte(code.Athrow)),
		Handlers:   []crafted.Handler{{Start: start, End: end, Handler: uint16(len(bytecode))}},
		Attributes: []crafted.Attribute{crafted.Frames(frame)}}
}

// quickPaths are two checkers that must agree.
type quickPaths struct {
	quick, full       *types.Checker
	checked, rejected int
}

// compare checks a class on both paths and returns the number of findings.
func (p *quickPaths) compare(t *testing.T, c *classfile.Class) int {
	t.Helper()
	got, want := p.quick.Check(c), p.full.Check(c)
	if !slices.Equal(got.Findings, want.Findings) || !slices.Equal(got.Unknown, want.Unknown) ||
		got.Inferred != want.Inferred {
		t.Fatalf("%s: quick path %+v\nfull path %+v", c.Name(), got, want)
	}
	p.checked++
	if len(want.Findings) > 0 {
		p.rejected++
	}
	return len(want.Findings)
}

// compareReal compares the findings for real classes, nearly all of which must take the quick path.
func (p *quickPaths) compareReal(t *testing.T, classes []*classfile.Class) {
	for _, c := range classes {
		if p.compare(t, c) == 0 && !p.quick.PassesQuickly(c) {
			t.Errorf("%s: correct, but not on the quick path", c.Name())
		}
	}
	t.Logf("%d classes, %d of them rejected", p.checked, p.rejected)
}

// compareMutants compares the findings for mutants.
func (p *quickPaths) compareMutants(t *testing.T, classes []*classfile.Class, n int, rng *rand.Rand) {
	p.checked, p.rejected = 0, 0
	sorts := mutate.Sorts()
	for tries := 0; p.checked < n && tries < 20*n; tries++ {
		original, donor := classes[rng.IntN(len(classes))], classes[rng.IntN(len(classes))]
		m := mutate.New(original, rng)
		m.Cross(mutate.New(donor, rng))
		kinds := mutate.Weighted(sorts[tries%len(sorts)])
		data, ok := m.Mutate(kinds[rng.IntN(len(kinds))])
		if !ok {
			continue
		}
		if _, major := original.Version(); major > 48 && tries%5 == 0 && len(data) >= 8 { // no frames are looked at
			binary.BigEndian.PutUint16(data[6:], 48)
		}
		if c, err := classfile.Parse(data); err == nil {
			p.compare(t, c)
		}
	}
	t.Logf("%d mutants, %d of them rejected", p.checked, p.rejected)
	if p.checked < n || p.rejected < n/4 {
		t.Errorf("%d mutants, %d of them rejected, are too few", p.checked, p.rejected)
	}
}

// classesOf returns the classes of a jar.
func classesOf(t *testing.T, path string) (classes []*classfile.Class) {
	a, err := zipfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var codec zipfile.Codec
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if !strings.HasSuffix(e.Name, ".class") || strings.HasPrefix(e.Name, "META-INF/") {
			continue
		}
		data, err := codec.Read(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		classes = append(classes, c)
	}
	return classes
}
