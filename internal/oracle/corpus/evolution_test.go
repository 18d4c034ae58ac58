package corpus_test

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// evolving is an app that changes from build to build as apps do. Its classes are real ones, edited.
type evolving struct {
	random  *rand.Rand
	classes map[string][]byte // by the name of their entry
	absent  map[string][]byte // classes that a later build may add or bring back
	jars    int
	done    map[string]int // edits by kind
}

// newEvolving returns an app of four in five classes of a library. All that happens to it depends on the seed.
func newEvolving(t *testing.T, seed uint64, library corpus.Jar) *evolving {
	e := &evolving{random: rand.New(rand.NewPCG(seed, 9)), classes: map[string][]byte{}, absent: map[string][]byte{},
		done: map[string]int{}, jars: 1}
	for _, f := range classFiles(t, library.Classes) {
		to := e.classes
		if e.random.IntN(5) == 0 {
			to = e.absent
		}
		to[f.name] = f.data
	}
	return e
}

// anyClass returns the name of a random class of the app.
func (e *evolving) anyClass() string {
	names := slices.Sorted(maps.Keys(e.classes))
	return names[e.random.IntN(len(names))]
}

// fresh returns a name of n letters that no class or method has.
func (e *evolving) fresh(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + e.random.IntN(26))
	}
	return string(b)
}

// edits are the changes of a class between two builds. Each returns the changed class, or nil if it cannot be applied
// to this class.
var edits = map[string]func(e *evolving, c *classfile.Class) ([]byte, error){
	"method renamed": func(e *evolving, c *classfile.Class) ([]byte, error) {
		m := &c.Methods()[e.random.IntN(len(c.Methods()))]
		index, ok := c.ConstantPool().FindUtf8(m.Name)
		if len(m.Name) < 4 || m.Name[0] < 'a' || !ok { // <init>, and what may name an attribute too
			return nil, nil
		}
		return c.Rewrite(classfile.Edit{Utf8: map[uint16]string{index: e.fresh(len(m.Name))}})
	},
	"class renamed": func(e *evolving, c *classfile.Class) ([]byte, error) {
		index, ok := c.ConstantPool().FindUtf8(c.Name())
		if n := len(c.Name()); ok && n-strings.LastIndexByte(c.Name(), '/') > 5 {
			return c.Rewrite(classfile.Edit{Utf8: map[uint16]string{index: c.Name()[:n-4] + e.fresh(4)}})
		}
		return nil, nil
	},
	"method added": func(e *evolving, c *classfile.Class) ([]byte, error) {
		pool := classfile.NewPoolBuilder(c.ConstantPool())
		var m []byte
		for _, v := range []uint16{classfile.AccPublic | classfile.AccStatic, pool.AddUtf8("added" + e.fresh(6)),
			pool.Utf8("()V"), 1, pool.Utf8("Code")} {
			m = binary.BigEndian.AppendUint16(m, v)
		}
		m = binary.BigEndian.AppendUint32(m, 13)
		m = append(m, 0, 0, 0, 0, 0, 0, 0, 1, byte(code.Return), 0, 0, 0, 0)
		return c.Rewrite(classfile.Edit{Constants: pool, AddMethods: [][]byte{m}})
	},
	"method removed": func(_ *evolving, c *classfile.Class) ([]byte, error) {
		if keep := len(c.Methods()) - 1; keep > 0 {
			return c.Rewrite(classfile.Edit{KeepMethods: &keep})
		}
		return nil, nil
	},
	"body changed": func(e *evolving, c *classfile.Class) ([]byte, error) {
		i := e.random.IntN(len(c.Methods()))
		body, ok, err := c.Code(&c.Methods()[i])
		if !ok || err != nil || c.Methods()[i].Name == "<init>" {
			return nil, err
		}
		info := binary.BigEndian.AppendUint16([]byte{0, 1}, body.MaxLocals)
		info = append(info, 0, 0, 0, 2, byte(code.AconstNull), byte(code.Athrow), 0, 0, 0, 0)
		return c.Rewrite(classfile.Edit{Codes: []classfile.CodeEdit{{Method: i, Info: info}}})
	},
}

// step changes the app into that of the next build.
func (e *evolving) step(t *testing.T) {
	t.Helper()
	e.jars = 1 + e.random.IntN(4)
	for _, kind := range slices.Sorted(maps.Keys(edits)) {
		for range e.random.IntN(12) {
			name := e.anyClass()
			c, err := classfile.Parse(e.classes[name])
			if err != nil || len(c.Methods()) == 0 {
				continue
			}
			data, err := edits[kind](e, c)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, kind, err)
			}
			if data == nil {
				continue
			}
			if c, err = classfile.Parse(data); err != nil {
				t.Fatalf("%s: %s: %v", name, kind, err)
			}
			delete(e.classes, name)
			e.classes[c.Name()+".class"] = data
			e.done[kind]++
		}
	}
	move := func(from, to map[string][]byte, kind string) {
		names := slices.Sorted(maps.Keys(from))
		for range min(e.random.IntN(8), len(names)) {
			name := names[e.random.IntN(len(names))]
			if data, ok := from[name]; ok {
				to[name] = data
				delete(from, name)
				e.done[kind]++
			}
		}
	}
	move(e.classes, e.absent, "class removed")
	move(e.absent, e.classes, "class added")
}

// write writes the app as jars, with the classes in random order.
func (e *evolving) write(t *testing.T, dir string) (inputs []pipeline.Input) {
	t.Helper()
	names := slices.Sorted(maps.Keys(e.classes))
	e.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for k := range e.jars {
		path := filepath.Join(dir, fmt.Sprintf("part%d.jar", k))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for _, name := range names[len(names)*k/e.jars : len(names)*(k+1)/e.jars] {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = w.Write(e.classes[name])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, pipeline.Input{Path: path, Output: filepath.Join(dir, fmt.Sprintf("out%d.jar", k))})
	}
	return inputs
}

// build runs tracegen on the app, from files to files, with the mapping of the previous build as the base.
func (e *evolving) build(t *testing.T, dir, base, file string) []pipeline.Input {
	t.Helper()
	c := pipeline.Config{
		Inputs: e.write(t, dir), Filter: filter.New(filter.Options{Trivial: filter.None}), RuntimeExternal: true,
		Verify: pipeline.VerifyEquivalence, Level: zipfile.LevelStore,
		Files: func(r *pipeline.Result) ([]pipeline.File, error) {
			return []pipeline.File{{Path: file, Content: r.Mapping}}, nil
		},
	}
	if base != "" {
		var err error
		if c.Base, err = mapping.Load(base); err != nil {
			t.Fatal(err)
		}
	}
	result, err := pipeline.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if result.Introduced+result.PreExisting > 0 {
		t.Fatalf("classes were rejected: %v", result.Warnings)
	}
	return c.Inputs
}

// calledIDs decodes, without the equivalence checker, the IDs that every method of the outputs passes to the runtime.
// It is an error if those at entries and exits differ.
func calledIDs(t *testing.T, outputs []pipeline.Input) map[string]int {
	t.Helper()
	ids := map[string]int{}
	for _, in := range outputs {
		for _, f := range classFiles(t, in.Output) {
			c, err := classfile.Parse(f.data)
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Methods() {
				m := &c.Methods()[i]
				body, ok, err := c.Code(m)
				if err != nil || !ok {
					continue
				}
				key := strings.ReplaceAll(c.Name()+" "+m.Name+" "+m.Descriptor, "/", ".")
				last := code.Instruction{}
				for in, err := range code.Instructions(body.Bytecode) {
					if err != nil {
						t.Fatal(err)
					}
					if in.Op == code.Invokestatic {
						if ref, err := c.ConstantPool().Ref(in.Constant()); err == nil && ref.Class == inject.DefaultRuntimeClass {
							id := pushedID(t, c, last)
							if before, met := ids[key]; met && before != id {
								t.Fatalf("%s reports %d and %d", key, before, id)
							}
							ids[key] = id
						}
					}
					last = in
				}
			}
		}
	}
	return ids
}

func pushedID(t *testing.T, c *classfile.Class, in code.Instruction) int {
	t.Helper()
	switch in.Op {
	case code.Bipush:
		return int(in.U1(0))
	case code.Sipush:
		return int(in.U2(0))
	case code.Ldc, code.LdcW:
		return int(binary.BigEndian.Uint32(c.ConstantPool().Raw(in.Constant())))
	}
	if in.Op < code.Iconst1 || in.Op > code.Iconst5 {
		t.Fatalf("%s: the runtime call after %v has no constant ID", c.Name(), in.Op)
	}
	return int(in.Op - code.Iconst0)
}

// TestCorpusEvolutions changes a library of real classes from build to build, 25 times in an ordinary run and 1,000
// times over the full corpus, each build with the mapping of the one before as its base. A method that stays keeps its
// ID, one that comes back gets its ID again, no ID is given to another method, and the outputs use the IDs of the
// mapping. The test also counts what happens without a base.
//
// Invariant: Over a thousand builds of real classes a method keeps its ID, no ID stands for two methods, and the
// outputs report the IDs of the mapping.
func TestCorpusEvolutions(t *testing.T) {
	nightly.Only(t, "corpora")
	e := newEvolving(t, 1, fetch(t, "guava-18.0")[0])
	steps := 25
	if isFull() {
		steps = 1000
	}
	dir := t.TempDir()
	owner, ids, now := map[int]string{}, map[string]int{}, map[string]int{}
	free := map[mapping.Order]*placed{mapping.OrderHash: {}, mapping.OrderCompact: {}}
	base, stayed, back, most := "", 0, 0, 0
	for step := range steps + 1 {
		if step > 0 {
			e.step(t)
		}
		file := filepath.Join(dir, fmt.Sprintf("mapping%d.txt", step%2))
		outputs := e.build(t, dir, base, file)
		before := now
		now = readMapping(t, file)
		if called := calledIDs(t, outputs); !maps.Equal(called, now) {
			t.Fatalf("step %d: the mapping has %d methods, the output %d; they differ", step, len(now), len(called))
		}
		for name, id := range now {
			if old, known := ids[name]; known && old != id {
				t.Fatalf("step %d: %s had ID %d, has %d", step, name, old, id)
			} else if _, was := before[name]; was {
				stayed++
			} else if known {
				back++
			}
			if old, taken := owner[id]; taken && old != name {
				t.Fatalf("step %d: ID %d of %s is given to %s", step, id, old, name)
			}
			owner[id], ids[name] = name, id
		}
		for order, p := range free {
			p.place(t, order, file)
		}
		if step%(steps/2) == 0 {
			compareWithASM(t, outputs, now)
		}
		base, most = file, max(most, len(now))
	}
	if most < 5000 || len(ids) <= len(now) || back == 0 {
		t.Errorf("%d methods at most, %d in all, %d came back: the app changes too little", most, len(ids), back)
	}
	t.Logf("measured: %d builds of up to %d methods, edits %v: %d times a method stayed and kept its ID; %d came back "+
		"and got theirs again; %d IDs in all, none used twice",
		steps+1, most, e.done, stayed, back, len(owner))
	for _, order := range []mapping.Order{mapping.OrderHash, mapping.OrderCompact} {
		p := free[order]
		t.Logf("measured: without a base, %s: %d methods were added, %d removed, %d of %d others got another ID: %.4f for "+
			"each added one", map[mapping.Order]string{mapping.OrderHash: "by hash", mapping.OrderCompact: "compact"}[order],
			p.came, p.went, p.moved, p.stayed, float64(p.moved)/float64(p.came))
	}
}

// placed follows the IDs of builds without a base.
type placed struct {
	last                      map[mapping.Identity]uint32
	came, went, stayed, moved int
}

func (p *placed) place(t *testing.T, order mapping.Order, file string) {
	t.Helper()
	like, err := mapping.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var methods []mapping.Method
	for e := range like.All() {
		methods = append(methods, e.Method)
	}
	m, err := mapping.Assign(methods, mapping.Options{Order: order})
	if err != nil {
		t.Fatal(err)
	}
	next := make(map[mapping.Identity]uint32, m.Len())
	for e := range m.All() {
		next[e.Identity] = e.ID
	}
	if p.last != nil {
		for method, id := range next {
			switch old, was := p.last[method]; {
			case !was:
				p.came++
			case old != id:
				p.stayed++
				p.moved++
			default:
				p.stayed++
			}
		}
		for method := range p.last {
			if _, is := next[method]; !is {
				p.went++
			}
		}
	}
	p.last = next
}

// compareWithASM compares the IDs that ASM finds in the outputs with those of the mapping; [calledIDs] decodes them in
// another way.
func compareWithASM(t *testing.T, outputs []pipeline.Input, want map[string]int) {
	t.Helper()
	var list []oracle.LinkJob
	for k, in := range outputs {
		list = append(list, oracle.LinkJob{ID: fmt.Sprint(k), Jar: in.Output})
	}
	_, methods, err := oracle.Disassemble(t.Context(), list, oracle.AsmOptions{})
	oracle.Require(t, err)
	got := map[string]int{}
	for _, m := range methods {
		for _, id := range slices.Concat(m.EntryIDs, m.ExitIDs) {
			name := strings.ReplaceAll(m.Class+" "+m.Name+" "+m.Desc, "/", ".")
			if before, met := got[name]; met && before != id {
				t.Fatalf("%s reports %d and %d", name, before, id)
			}
			got[name] = id
		}
	}
	if !maps.Equal(got, want) {
		t.Fatalf("ASM finds %d methods with calls, but the mapping has %d, or other IDs", len(got), len(want))
	}
}
