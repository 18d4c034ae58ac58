package generated

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestART runs at least 40 generated programs on ART.
//
// Invariant: On ART, a generated program returns, prints and throws the same with and without calls of the runtime, in
// each exit mode, with the same lines in stack traces; in the mode exact each entry has its exit.
func TestART(t *testing.T) {
	nightly.Only(t, "art-push")
	newDevice(t).runSeeds(t, 1, 80, 40)
}

// TestCorpusART does the same for at least 500 programs.
//
// Invariant: On ART, a generated program returns, prints and throws the same with and without calls of the runtime, in
// each exit mode, with the same lines in stack traces; in the mode exact each entry has its exit.
func TestCorpusART(t *testing.T) {
	nightly.Only(t, "art-programs")
	d := newDevice(t)
	for from := uint64(1001); from <= 1801; from += 200 {
		t.Run(fmt.Sprintf("from %d", from), func(t *testing.T) { d.runSeeds(t, from, 200, 100) })
	}
}

// planted is how many programs of each run have variants with planted faults.
const planted = 8

// runSeeds runs the programs of consecutive seeds, interpreted and compiled. It fails if fewer than atLeast can run.
func (d device) runSeeds(t *testing.T, from uint64, count, atLeast int) {
	t.Helper()
	var all []program
	endless := 0
	for seed := from; seed < from+uint64(count); seed++ {
		name, data := fmt.Sprintf("g.G%d", seed), Class(seed)
		if mayNotEnd(t, data) {
			endless++
			continue
		}
		p, err := instrument(name, "m0", "", []class{{name, data}})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < planted {
			p.variants = append(p.variants, plantFaults(t, p.variants[len(p.variants)-1])...)
		}
		all = append(all, p)
	}
	t.Logf("left out: %d programs, which might not end on ART", endless)
	file := filepath.Join(t.TempDir(), "programs")
	taken := d.toDEX(t, file, all)
	if taken < atLeast {
		t.Errorf("%d of %d programs can run, want %d", taken, count, atLeast)
	}
	interpreted := d.run(t, file, taken, false)
	checkFaults(t, interpreted.faulty)
	for _, f := range interpreted.differences {
		t.Errorf("interpreted: %s", f)
	}
	compiled := d.run(t, file, taken, true)
	byCompiler := 0
	for _, f := range compiled.differences {
		name, _, _ := strings.Cut(f, "\t")
		if changedByCompiler(interpreted.results[name], compiled.results[name]) {
			t.Logf("not a difference: ART's compiler changes what the original does: %s", f)
			byCompiler++
			continue
		}
		t.Errorf("compiled: %s", f)
	}
	t.Logf("measured: seeds %d to %d: %d programs in %d exit modes (programs, with an exception, entries): "+
		"interpreted %s, compiled %s; %d differences where ART's compiler changes the original",
		from, from+uint64(count)-1, taken, len(inject.ExitModes()), interpreted.summary, compiled.summary, byCompiler)
}

// changedByCompiler reports whether ART's compiler changes what the original of a program does, and each output does
// what the original does either interpreted or compiled. Its load-store elimination removes a store into an array that
// no instruction reads, with the ArrayStoreException; it leaves methods with handlers alone, which all are in the mode
// exact.
func changedByCompiler(interpreted, compiled map[string]string) bool {
	if interpreted["original"] == compiled["original"] {
		return false
	}
	for name, result := range compiled {
		if !strings.HasPrefix(name, faulty) && result != interpreted["original"] && result != compiled["original"] {
			return false
		}
	}
	return true
}

// mayNotEnd reports whether a method of a program leaves a monitor that it did not enter, and another has a handler as
// javac writes it for synchronized, which covers itself. HotSpot lets a method leave only what it entered itself. ART
// lets it leave what its caller entered. The caller then leaves it as well, and this throws, in the handler too, so
// that it is entered again and again.
func mayNotEnd(t *testing.T, data []byte) bool {
	t.Helper()
	c := assembly.Parse(t, data)
	var leaves, covers bool
	for k := range c.Methods() {
		body, ok, err := c.Code(&c.Methods()[k])
		if err != nil || !ok {
			t.Fatalf("%s: no code: %v", c.Name(), err)
		}
		locked := false // the instruction before pushes what is locked
		for in, err := range code.Instructions(body.Bytecode) {
			if err != nil {
				t.Fatal(err)
			}
			leaves = leaves || locked && in.Op == code.Monitorexit
			covers = covers || locked && in.Op == code.Dup
			locked = false
			if in.Op == code.Invokestatic {
				ref, err := c.ConstantPool().Ref(in.Constant())
				locked = err == nil && ref.Name == "lock"
			}
		}
	}
	return leaves && covers
}
