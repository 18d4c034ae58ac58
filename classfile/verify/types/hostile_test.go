package types_test

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
	"github.com/tracegen/tracegen/internal/oracle/generated"
)

const hostileSize = 64 << 10

// hostile are class files of almost 64 KiB that make a naive verifier take quadratic time or memory.
func hostile() map[string]*crafted.Class {
	return map[string]*crafted.Class{
		"branches over many locals":       manyBranches(),
		"handlers and stores":             manyHandlers(52),
		"handlers and stores, inferred":   manyHandlers(48),
		"chop and append":                 chopAndAppend(),
		"stores into high locals":         highLocals(),
		"deep stack and branches":         deepStack(),
		"backward branches, inferred":     backwardBranches(),
		"constructor calls in handlers":   manyInits(),
		"subroutines in subroutines":      manySubroutines(),
		"long names":                      longNames(),
		"frames of many locals, repeated": repeatedFrames(),
	}
}

func repeat(part []byte, n int) []byte { return bytes.Repeat(part, n) }

// fullFrame has the given number of locals, all of them unusable, which every state fits.
func fullFrame(delta, locals int) []byte {
	b := append([]byte{255}, crafted.U2(uint16(delta), uint16(locals))...)
	return append(append(b, make([]byte, locals)...), 0, 0)
}

// manyBranches goes through many places, each with a frame of many locals, one of which always changes.
func manyBranches() *crafted.Class {
	const locals, n = 20000, 4500
	a := crafted.NewClass(52, "T", "java/lang/Object")
	b := crafted.Op(code.Nop)
	table := [][]byte{fullFrame(1, locals)}
	for i := range n {
		at := len(b)
		b = append(b, slices.Concat(crafted.Op(code.Iconst0), crafted.Op(code.Istore0), crafted.Op(code.Iconst0),
			crafted.Branch(code.Ifeq, at+3, 1+i/2*7), crafted.Op(code.Nop))...)
		table = append(table, []byte{6})
	}
	table = table[:n]
	b = append(b, byte(code.Return))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: locals, Code: b,
		Attributes: []crafted.Attribute{crafted.Frames(table...)}})
	return a
}

func repeatedFrames() *crafted.Class {
	const locals = 7000
	a := crafted.NewClass(52, "T", "java/lang/Object")
	b := crafted.Op(code.Nop)
	table := [][]byte{fullFrame(0, 0)}
	b = append(b, repeat(crafted.Op(code.Nop), 60)...)
	for i := range 8 {
		table = append(table, fullFrame(3+i%2, locals))
	}
	b = append(b, byte(code.Return))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: locals, Code: b,
		Attributes: []crafted.Attribute{crafted.Frames(table...)}})
	return a
}

// manyHandlers has stores, each of which every handler sees.
func manyHandlers(major uint16) *crafted.Class {
	const stores, n = 10000, 2500
	a := crafted.NewClass(major, "T", "java/lang/Object")
	b := repeat(crafted.Op(code.Iconst0, byte(code.Istore0), byte(code.Fconst0), byte(code.Fstore0)), stores/2)
	handlersAt := len(b) + 1
	b = append(b, byte(code.Return))
	var table [][]byte
	var handlers []crafted.Handler
	throwable := crafted.U2(a.ClassIndex("java/lang/Throwable"))
	for i := range n {
		b = append(b, byte(code.Athrow))
		handlers = append(handlers, crafted.Handler{Start: 0, End: uint16(handlersAt - 1),
			Handler: uint16(handlersAt + i), Catch: 0})
		switch i {
		case 0:
			table = append(table, append(append([]byte{247}, crafted.U2(uint16(handlersAt))...),
				append([]byte{7}, throwable...)...))
		default:
			table = append(table, append([]byte{64, 7}, throwable...))
		}
	}
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 60000, Code: b,
		Handlers: handlers, Attributes: []crafted.Attribute{crafted.Frames(table...)}})
	return a
}

// chopAndAppend has frames that stand for many thousand times their size.
func chopAndAppend() *crafted.Class {
	const locals, n = 20000, 5000
	a := crafted.NewClass(52, "T", "java/lang/Object")
	b := crafted.Op(code.Return)
	table := [][]byte{fullFrame(1, locals)}
	b = append(b, byte(code.Return))
	for range n {
		b = append(b, byte(code.Return), byte(code.Return))
		table = append(table, []byte{250, 0, 0}, []byte{252, 0, 0, 1})
	}
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: locals + 2,
		Code: b, Attributes: []crafted.Attribute{crafted.Frames(table...)}})
	return a
}

// highLocals stores into the highest local again and again, with types that differ from path to path.
func highLocals() *crafted.Class {
	a := crafted.NewClass(48, "T", "java/lang/Object")
	var b []byte
	for len(b) < 32000 {
		b = append(b, slices.Concat(crafted.Op(code.Iconst0), crafted.Op(code.Wide, byte(code.Istore), 0xFF, 0xFE),
			crafted.Op(code.Iconst0), crafted.Branch(code.Ifeq, len(b)+6, 0))...)
	}
	b = append(b, byte(code.Return))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 0xFFFF, Code: b})
	return a
}

func deepStack() *crafted.Class {
	const depth = 20000
	a := crafted.NewClass(48, "T", "java/lang/Object")
	b := repeat(crafted.Op(code.AconstNull), depth)
	for len(b) < 63000 {
		b = append(b, slices.Concat(crafted.Op(code.Iconst0), crafted.Branch(code.Ifeq, len(b)+1, len(b)+4))...)
	}
	b = append(b, byte(code.Return))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: depth + 1, MaxLocals: 0,
		Code: b})
	return a
}

// backwardBranches is found out from the end to the start, one step in every pass.
func backwardBranches() *crafted.Class {
	a := crafted.NewClass(48, "T", "java/lang/Object")
	b := crafted.Branch(code.GotoW, 0, 0)
	last := 0
	for len(b) < 60000 {
		at := len(b)
		b = append(b, crafted.Branch(code.GotoW, at, last)...)
		last = at
	}
	copy(b, crafted.Branch(code.GotoW, 0, last))
	b = append(b, byte(code.Return))
	copy(b[5:], crafted.Branch(code.GotoW, 5, len(b)-1))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 60000, Code: b})
	return a
}

func manyInits() *crafted.Class {
	a := crafted.NewClass(52, "T", "java/lang/Object")
	call := slices.Concat(crafted.Op(code.New, crafted.U2(a.ClassIndex("java/lang/Object"))...),
		crafted.Op(code.Invokespecial, crafted.U2(a.Methodref("java/lang/Object", "<init>", "()V"))...))
	b := repeat(call, 4000)
	end := len(b)
	b = append(b, byte(code.Return), byte(code.Athrow))
	frame := slices.Concat([]byte{247}, crafted.U2(uint16(end+1)), []byte{7},
		crafted.U2(a.ClassIndex("java/lang/Throwable")))
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 1, Code: b,
		Handlers: slices.Repeat([]crafted.Handler{{Start: 0, End: uint16(end), Handler: uint16(end + 1), Catch: 0}},
			4500), Attributes: []crafted.Attribute{crafted.Frames(frame)}})
	return a
}

// manySubroutines calls a subroutine from within a subroutine and so on.
func manySubroutines() *crafted.Class {
	a := crafted.NewClass(48, "T", "java/lang/Object")
	var b []byte
	for len(b) < 32000 {
		at := len(b)
		b = append(b, slices.Concat(crafted.Op(code.Wide, byte(code.Astore), byte(at>>8), byte(at)),
			crafted.Branch(code.Jsr, at+4, at+11),
			crafted.Op(code.Wide, byte(code.Ret), byte(at>>8), byte(at)))...)
	}
	b = append(b, byte(code.Pop), byte(code.Return))
	b = append(crafted.Branch(code.Jsr, 0, 4), append([]byte{byte(code.Return)}, b...)...)
	a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "()V", MaxStack: 1, MaxLocals: 0xFFFF, Code: b})
	return a
}

// longNames has one long name and descriptor, and many constants that use them.
func longNames() *crafted.Class {
	a := crafted.NewClass(52, "T", "java/lang/Object")
	name, descriptor := a.Utf8(strings.Repeat("x", 16000)), a.Utf8("("+strings.Repeat("I", 15000)+")V")
	for range 3000 {
		a.Constant(classfile.TagClass, crafted.U2(name)...)
		a.Pool = append(a.Pool, slices.Concat([]byte{byte(classfile.TagClass)}, crafted.U2(name),
			[]byte{byte(classfile.TagNameAndType)}, crafted.U2(name, descriptor))...)
		a.Count += 2
	}
	return a
}

// TestCheckHostile: the work for a class file is bounded, whatever is in it.
//
// Invariant: The time and memory of the type checker are bounded, whatever a class contains.
func TestCheckHostile(t *testing.T) {
	w := smallWorld(t)
	cases := hostile()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		a := cases[name]
		t.Run(name, func(t *testing.T) {
			if size := len(a.Bytes()); size > hostileSize+1024 || size < hostileSize/3 {
				t.Errorf("the class file has %d bytes, which is not what is wanted here", size)
			}
			c := a.Parse(t)
			start := time.Now()
			findings := types.Check(c, w)
			first := "no finding"
			if len(findings) > 0 {
				first = findings[0].String()
			}
			t.Logf("%v: %s", time.Since(start), first)
		})
	}
}

// TestManyRanges checks a method of 60 KB with 3,400 returns and as many ranges of one handler, as instrumented code
// has it. With each instruction compared with each range it reached the limit, which was taken for a fault of the
// class.
func TestManyRanges(t *testing.T) {
	const n = 3400
	for _, major := range []uint16{48, 52} {
		a := crafted.NewClass(major, "T", "java/lang/Object")
		var b []byte
		var table [][]byte
		var handlers []crafted.Handler
		part := slices.Concat(crafted.Op(code.Iload0), crafted.Branch(code.Ifeq, 1, 19),
			repeat(crafted.Op(code.Iconst0, byte(code.Pop)), 7), crafted.Op(code.Return))
		for i := range n {
			at := uint16(len(b))
			b = append(b, part...)
			table = append(table, []byte{byte(len(part) - 1)})
			handlers = append(handlers, crafted.Handler{Start: at, End: at + uint16(len(part)) - 1,
				Handler: uint16((n)*len(part) + 1)})
			if i == 0 {
				table[0][0]++ // the first frame counts from 0, the others from behind the one before
			}
		}
		b = append(b, byte(code.Return), byte(code.Athrow))
		table = append(table, append([]byte{64, 7}, crafted.U2(a.ClassIndex("java/lang/Throwable"))...))
		a.Add(crafted.Method{Access: crafted.Static, Name: "f", Descriptor: "(Z)V", MaxStack: 1, MaxLocals: 1, Code: b,
			Handlers: handlers, Attributes: []crafted.Attribute{crafted.Frames(table...)}})
		if findings := types.Check(a.Parse(t), smallWorld(t)); len(findings) > 0 {
			t.Errorf("version %d: %v", major, findings)
		}
	}
}

// fuzzSeeds adds the small classes, and a class of each body in several versions, each with its number in its list.
func fuzzSeeds(f *testing.F, add func(data []byte, n byte)) {
	f.Helper()
	for n, c := range crafted.All(f) {
		if len(c.Bytes()) <= 8192 {
			add(c.Bytes(), byte(n))
		}
	}
	for _, cases := range [][]bodyCase{bodyCases, objectCases, inferenceCases} {
		for n, c := range cases {
			for _, major := range []uint16{48, 50, 52, 61} {
				a := crafted.NewClass(major, "T", "java/lang/Object")
				a.Add(c.make(a))
				add(a.Bytes(), byte(n))
			}
		}
	}
}

// FuzzCheck: no bytes make the verifier panic or run away.
//
// Invariant: The time and memory of the type checker are bounded, whatever a class contains.
func FuzzCheck(f *testing.F) {
	fuzzSeeds(f, func(data []byte, _ byte) { f.Add(data) })
	w := smallWorld(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := classfile.Parse(data)
		if err != nil || len(data) > hostileSize {
			return
		}
		k := types.Checker{Hierarchy: w, Frames: true}
		// Ten times what is promised, and the quickest of several times: the machine may have other work to do.
		var r types.Result
		took := time.Duration(math.MaxInt64)
		for try := 0; try < 8 && took > 10*time.Second; try++ {
			start := time.Now()
			r = k.Check(c)
			took = min(took, time.Since(start))
		}
		if took > 10*time.Second {
			t.Errorf("took %v", took)
		}
		for _, finding := range r.Findings {
			if finding.Class != c.Name() || finding.Rule == "" || finding.Want == "" || finding.String() == "" {
				t.Errorf("a finding that says nothing: %+v", finding)
			}
		}
	})
}

// FuzzInjected: what the injector makes of a class without findings has none.
//
// Invariant: Instrumenting introduces no finding of the type check: inject then verify finds nothing new.
func FuzzInjected(f *testing.F) {
	fuzzSeeds(f, func(data []byte, n byte) { f.Add(data, n) })
	for seed := range uint64(40) {
		f.Add(generated.Class(seed), byte(seed))
	}
	w := smallWorld(f)
	f.Fuzz(func(t *testing.T, data []byte, number byte) {
		c, err := classfile.Parse(data)
		if err != nil || len(data) > hostileSize {
			return
		}
		m := crafted.Modes[int(number)%len(crafted.Modes)]
		in := m.Injector()
		request := m.Request(in, c)
		if len(request.Methods) == 0 || len(types.Check(c, w)) > 0 {
			return
		}
		out, err := in.Rewrite(c, request)
		if err != nil {
			return
		}
		rewritten := assembly.Parse(t, out)
		for _, finding := range types.Check(rewritten, w) {
			if finding.Rule != verify.RuleLimit {
				t.Errorf("%s: %v", m.Name, finding)
			}
		}
	})
}
