package export_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
)

// pooledProgram has three threads of one name: two wait for a lock of the third, which sleeps. The program ends at a
// line of its input, while the main thread sleeps.
const pooledProgram = `import java.util.concurrent.CountDownLatch;
public class Pooled {
    static final Object lock = new Object();
    static final CountDownLatch done = new CountDownLatch(3);
    static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
    static long sum(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
    static void hold() throws Exception { synchronized (lock) { start(false); start(false); Thread.sleep(2000); } }
    static void want() { synchronized (lock) { sum(1000); sum(1000L); } }
    static void start(boolean holds) {
        Thread t = new Thread(() -> {
            try { if (holds) hold(); else want(); } catch (Exception e) { e.printStackTrace(); }
            done.countDown();
        }, "pool-worker");
        t.start();
    }
    static void end() throws Exception {
        do Thread.sleep(500); while (System.in.available() == 0);
        Runtime.getRuntime().halt(0);
    }
    public static void main(String[] args) throws Exception {
        start(true);
        done.await();
        end();
    }
}
`

// TestFormatsAgreeOnJVM records a program and compares what the formats show.
//
// Invariant: All formats show the same stalls with the same times and verdicts, the same names of threads and methods,
// and the same time for each method.
func TestFormatsAgreeOnJVM(t *testing.T) {
	nightly.Only(t, "commands")
	if testing.Short() {
		t.Skip("skipped: builds the runtime with Maven and runs a JVM")
	}
	data, mappings := recordPooled(t)
	want := truthOf(t, data, nil, mappings)
	locks, labels := 0, map[string]bool{}
	for _, s := range want.stalls {
		labels[s.Thread] = true
		if strings.Contains(s.Verdict, "waiting for a lock") {
			locks++
		}
		if strings.Contains(s.Verdict, "while "+s.Thread+" holds") || strings.Contains(s.Verdict, "while pool-worker holds") {
			t.Errorf("on %s: %s", s.Thread, s.Verdict)
		}
	}
	t.Logf("%d stalls, %d of them wait for a lock", len(want.stalls), locks)
	if len(want.stalls) < 4 || len(labels) != 4 {
		t.Errorf("%d stalls on %d threads, want all 4 threads: %+v", len(want.stalls), len(labels), want.stalls)
	}
	for _, f := range truthFormats() {
		out, err := render(t, f.name, data, nil, mappings)
		if err != nil {
			t.Fatal(f.name, err)
		}
		compareTruth(t, f, want, f.read(t, out))
	}
}

func recordPooled(t *testing.T) ([]byte, *resolve.Mappings) {
	t.Helper()
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	jars, err := oracle.BuildRuntime(t.Context())
	oracle.Require(t, err)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := func(tool string, args ...string) {
		if out, err := exec.CommandContext(ctx, j.Tool(tool), args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, out)
		}
	}
	if err := os.WriteFile(path("Pooled.java"), []byte(pooledProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	run("javac", "-d", path("classes"), path("Pooled.java"))
	result, err := pipeline.Run(ctx, pipeline.Config{Filter: filter.New(filter.Options{Trivial: filter.None}),
		Inputs: []pipeline.Input{{Path: path("classes"), Output: path("program.jar")},
			{Path: jars.JVM, Output: path("runtime.jar")}}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path("map.txt"))
	if err == nil {
		_, err = result.Mapping.WriteTo(file)
		file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := resolve.OpenMappings(path("map.txt"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, j.Tool("java"), "-Dtracegen.output="+path("app.tgd"), "-Dtracegen.threads=all",
		"-Dtracegen.slow=200", "-cp", path("program.jar")+string(os.PathListSeparator)+path("runtime.jar"), "Pooled")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	// How soon the recording says that all threads stall, and that the main thread hangs, depends on the machine.
	for stalledThreads(path("app.tgd"), mappings) < 4 && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("java: %v: %s", err, &said)
	}
	data, err := os.ReadFile(path("app.tgd"))
	if err != nil {
		t.Fatal(err)
	}
	return data, mappings
}

// stalledThreads returns on how many threads a recording that is being written has stalls.
func stalledThreads(file string, mappings *resolve.Mappings) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0 // it has not begun yet
	}
	source, err := source.New(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	labels := map[string]bool{}
	_ = analysis.Analyze("app.tgd", source, analysis.Options{Mappings: mappings, Stall: func(s *analysis.Stall) error {
		labels[s.Thread.Label] = true
		return nil
	}})
	return len(labels)
}
