package code_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// verifiablePatch inserts nops into a method so that it still verifies: a long row of them where a conditional
// branch has to jump over it, as far as most can, short rows elsewhere, and sometimes a handler for the whole method.
func verifiablePatch(random *rand.Rand, m sample, pool *classfile.PoolBuilder) code.Patch {
	patch := code.Patch{MaxStack: max(1, m.code.MaxStack)}
	var behindBranches []int
	reached := true // from the instruction before
	for in := range code.Instructions(m.code.Bytecode) {
		n := 0
		if random.IntN(6) == 0 {
			n = 1 + random.IntN(3)
		}
		if n > 0 {
			patch.Insertions = append(patch.Insertions,
				code.Insertion{PC: in.PC, Bytecode: make([]byte, n), Entry: reached && random.IntN(2) == 0})
		}
		reached = in.FallsThrough() && !in.Op.IsConditional() // entries stand at the start and behind calls
		if in.Op.IsConditional() {
			behindBranches = append(behindBranches, in.PC+in.Size)
		}
	}
	if n := len(behindBranches); n > 0 {
		at := behindBranches[random.IntN(n)]
		i, found := slices.BinarySearchFunc(patch.Insertions, at,
			func(i code.Insertion, pc int) int { return i.PC - pc })
		long := code.Insertion{PC: at, Bytecode: make([]byte, 32000)}
		if found {
			patch.Insertions[i] = long
		} else {
			patch.Insertions = slices.Insert(patch.Insertions, i, long)
		}
	}
	if m.method.Name != "<init>" && random.IntN(2) == 0 {
		patch.Handler = &code.Handler{
			Bytecode: []byte{0xBF}, Throwable: pool.Class("java/lang/Throwable"),
			Ranges: [][2]int{{0, len(m.code.Bytecode)}},
		}
	}
	return patch
}

// stretched returns the class with a patch in each method where that is possible, and how many have a long row.
func stretched(t *testing.T, random *rand.Rand, name string, data []byte) (out []byte, long int) {
	t.Helper()
	methods := methodsOf(t, name, data)
	if len(methods) == 0 {
		return data, 0
	}
	class := methods[0].class
	pool := classfile.NewPoolBuilder(class.ConstantPool())
	var edits []classfile.CodeEdit
	for _, m := range methods {
		info, _, err := relocated(m, verifiablePatch(random, m, pool), pool)
		if errors.Is(err, code.ErrTooLarge) || errors.Is(err, code.ErrUnknownAttribute) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		index := slices.IndexFunc(class.Methods(), func(x classfile.Member) bool { return x.Offset == m.method.Offset })
		edits = append(edits, classfile.CodeEdit{Method: index, Info: info})
		if u2(info, 6) > len(m.code.Bytecode)+32000 {
			long++
		}
	}
	out, err := class.Rewrite(classfile.Edit{Constants: pool, Codes: edits})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out, long
}

// testJar writes a jar.
type testJar struct {
	t    *testing.T
	path string
	file *os.File
	zip  *zip.Writer
}

func newTestJar(t *testing.T, path string) *testJar {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return &testJar{t, path, f, zip.NewWriter(f)}
}

func (j *testJar) add(name string, data []byte) {
	j.t.Helper()
	w, err := j.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		j.t.Fatal(err)
	}
}

func (j *testJar) close() string {
	j.t.Helper()
	if err := errors.Join(j.zip.Close(), j.file.Close()); err != nil {
		j.t.Fatal(err)
	}
	return j.path
}

// linkedAlike links two sets of jobs with the newest JDK and reports the classes that link before and not after.
func linkedAlike(t *testing.T, before, after []oracle.LinkJob) (worse int) {
	t.Helper()
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	jdk := jdks[len(jdks)-1]
	linkedBefore := oracle.Link(t, jdk, before)
	linkedAfter := oracle.Link(t, jdk, after)
	regressions := oracle.Regressions(linkedBefore, linkedAfter)
	for i, r := range regressions {
		if i < 10 {
			t.Errorf("%s: %s: %.300s", r.Job, r.Class, r.Message)
		}
	}
	return len(regressions)
}

// TestStretchedLinks checks classes of testdata, with branches that reach as far as they can, with HotSpot's verifier,
// which finds any frame that is wrong or missing.
func TestStretchedLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: runs a JVM for some seconds")
	}
	random := rand.New(rand.NewPCG(23, 24))
	dir := t.TempDir()
	var before, after []oracle.LinkJob
	long := 0
	for round := range 8 {
		id := fmt.Sprint("round ", round)
		original := newTestJar(t, filepath.Join(dir, fmt.Sprint(round, "-before.jar")))
		moved := newTestJar(t, filepath.Join(dir, fmt.Sprint(round, "-after.jar")))
		for _, path := range sampleFiles(t) {
			if parent := filepath.Base(filepath.Dir(path)); parent != "g" && parent != "modern" {
				continue // the other versions have the same class names
			}
			data := fixture.Read(t, path)
			out, n := stretched(t, random, path, data)
			long += n
			original.add(filepath.Base(path), data)
			moved.add(filepath.Base(path), out)
		}
		before = append(before, oracle.LinkJob{ID: id, Jar: original.close()})
		after = append(after, oracle.LinkJob{ID: id, Jar: moved.close()})
	}
	linkedAlike(t, before, after)
	if long < 100 {
		t.Errorf("only %d methods were stretched", long)
	}
}

// TestCorpusStretchedLinks does the same with released classes.
//
// Invariant: Code that is moved by any distance still links.
func TestCorpusStretchedLinks(t *testing.T) {
	nightly.Only(t, "classes")
	const share = 8 // one class in 8: HotSpot takes long for so many nops
	random := rand.New(rand.NewPCG(21, 22))
	dir := t.TempDir()
	var before, after []oracle.LinkJob
	classes, long := 0, 0
	for _, jar := range corpus.NeedAll(t) {
		out := newTestJar(t, filepath.Join(dir, jar.Name+".jar"))
		oracle.EachClass(t, jar.Classes, func(name string, data []byte) {
			if random.IntN(share) == 0 {
				moved, n := stretched(t, random, name, data)
				classes, long, data = classes+1, long+n, moved
			}
			out.add(name, data)
		})
		before = append(before, oracle.LinkJob{ID: jar.Name, Jar: jar.Classes, Deps: jar.DepPaths})
		after = append(after, oracle.LinkJob{ID: jar.Name, Jar: out.close(), Deps: jar.DepPaths})
	}
	worse := linkedAlike(t, before, after)
	t.Logf("measured: %d classes with %d methods stretched, %d no longer link", classes, long, worse)
	if long < 1000 {
		t.Errorf("only %d methods were stretched", long)
	}
}
