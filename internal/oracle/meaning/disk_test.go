package meaning

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/trace"
)

// coreTests is where the tests of the runtime are.
const coreTests = "../../../runtime-java/core/src/test/java/dev/tracegen/runtime"

// diskFile is what a file of a recording on a failing disk has.
type diskFile struct {
	part    trace.PartInfo
	damage  trace.Damage
	records []*trace.Records
	dropped uint64
	chunks  int
}

func readDiskFile(t *testing.T, file string) diskFile {
	t.Helper()
	var f diskFile
	threads := map[uint32]bool{}
	known := func(index uint32) {
		if !threads[index] {
			t.Errorf("%s: thread %d is not there before the first chunk about it", file, index)
		}
	}
	f.damage = eachChunk(t, file, func(c trace.Chunk) {
		f.chunks++
		switch c := c.(type) {
		case *trace.Meta:
			f.part, _ = c.Part()
		case *trace.Threads:
			for _, thread := range c.List {
				threads[thread.Index] = true
			}
		case *trace.Records:
			known(c.Thread)
			f.records = append(f.records, c)
		case *trace.Messages:
			known(c.Thread)
			for _, m := range c.List {
				if !strings.HasPrefix(m.Description, "Handler (com.example.") && !strings.HasPrefix(m.Description, "method ") {
					t.Errorf("%s: a message has the text %q", file, m.Description)
				}
			}
		case *trace.Dropped:
			for _, d := range c.List {
				if d.Kind == trace.DroppedChunks {
					f.dropped += d.Count
				}
			}
		}
	})
	return f
}

// TestFailingDisk lets every k-th write of the runtime fail, for all k: in the middle of the bytes, as on a full disk;
// in the same way where the half chunk cannot be cut off; and when a file is created. What is there afterwards is read.
//
// Invariant: Whatever write of a recording fails, its files are readable, chunks refer to nothing that is not there,
// and the recording says how many records and chunks are missing.
func TestFailingDisk(t *testing.T) {
	nightly.Only(t, "programs")
	classes, core := compileDiskScenario(t)
	dir := t.TempDir()
	fixture.Run(t, exec.CommandContext(t.Context(), jdk(t, 17).Tool("java"), "-cp", pathList(core, classes),
		"dev.tracegen.runtime.DiskScenario", dir))
	checkFailingDisk(t, dir)
}

// TestFailingDiskOnART does so on ART.
//
// Invariant: On ART, too, the files of a recording are readable whatever write fails, and say what is missing.
func TestFailingDiskOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	b := art.NeedCompiler(t)
	classes, core := compileDiskScenario(t)
	dir, dex := t.TempDir(), filepath.Join(t.TempDir(), "disk.jar")
	b.D8(t, dex, classFiles(t, classes, core)...)
	r := b.Run(t, art.Program{ClassPath: []string{dex}, Main: "dev.tracegen.runtime.DiskScenario", Args: []string{dir},
		JIT: true})
	if r.Exit != 0 {
		t.Fatalf("exit code %d: %s", r.Exit, tail(r.Stderr))
	}
	checkFailingDisk(t, dir)
}

// compileDiskScenario returns the classes of the scenario, and the jar of the runtime that it needs.
func compileDiskScenario(t *testing.T) (classes, core string) {
	t.Helper()
	classes, core = t.TempDir(), oracle.NeedRuntime(t).Core
	javac(t, oracle.NeedJDK(t, 17), classes, "--release", "8", "-cp", core,
		filepath.Join(coreTests, "DiskScenario.java"))
	return classes, core
}

// checkFailingDisk reads the recordings of the scenario.
func checkFailingDisk(t *testing.T, dir string) {
	t.Helper()
	recordings, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(recordings) < 100 {
		t.Fatalf("only %d recordings", len(recordings))
	}
	failed, torn := 0, 0
	for _, e := range recordings {
		files, err := filepath.Glob(filepath.Join(dir, e.Name(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		var parts []diskFile
		for _, file := range files {
			parts = append(parts, readDiskFile(t, file))
		}
		slices.SortFunc(parts, func(a, b diskFile) int { return cmp.Compare(a.part.Number, b.part.Number) })
		dropped := uint64(0)
		next := map[uint32]uint64{}
		for _, p := range parts {
			dropped += p.dropped
			d := p.damage
			if d.Malformed != 0 || d.LostChunks != 0 || d.Header || d.Unknown != 0 {
				t.Errorf("%s part %d: %+v", e.Name(), p.part.Number, d)
			}
			if strings.HasPrefix(e.Name(), "WRITE_AND_CUT-") {
				if d.SkippedBytes > 0 {
					torn++
				}
			} else if d.SkippedBytes != 0 {
				t.Errorf("%s part %d: %d bytes of half chunks remain", e.Name(), p.part.Number, d.SkippedBytes)
			}
			for _, r := range p.records {
				if r.First != next[r.Thread]+r.Overwritten {
					t.Errorf("%s part %d: records of thread %d go on at %d and %d are lost, the last ones ended at %d",
						e.Name(), p.part.Number, r.Thread, r.First, r.Overwritten, next[r.Thread])
				}
				next[r.Thread] = r.First + uint64(len(r.List))
			}
		}
		if dropped > 0 {
			failed++
		}
		if strings.HasSuffix(e.Name(), "-1") && len(parts) != 0 {
			t.Errorf("%s: there are %d files although nothing could be written", e.Name(), len(parts))
		}
		if !strings.HasSuffix(e.Name(), "-1") && len(parts) == 0 {
			t.Errorf("%s: there is no file", e.Name())
		}
	}
	if failed < 50 || torn < 10 {
		t.Errorf("only %d recordings say that chunks are missing, and %d files have half chunks", failed, torn)
	}
	t.Logf("measured: %d recordings, of which %d lack chunks; %d files have half chunks", len(recordings), failed, torn)
}
