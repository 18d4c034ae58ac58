package meaning

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// endlessProgram runs until it is killed.
const endlessProgram = `public class Endless {
    static int calls;
    static void work() throws Exception { if (++calls % 100 == 0) Thread.sleep(1); }
    public static void main(String[] args) throws Exception {
        for (;;) { work(); if (calls == 300000) System.out.println("ready"); }
    }
}`

// TestRecordingSurvives ends a program by signals. After a signal that the program can handle the recording is closed.
// After one that it cannot, all chunks up to the end are whole.
func TestRecordingSurvives(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the runtime with Maven")
	}
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	jars, err := oracle.BuildRuntime(t.Context())
	oracle.Require(t, err)
	dir := t.TempDir()
	source := filepath.Join(dir, "Endless.java")
	if err := os.WriteFile(source, []byte(endlessProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	javac(t, j, filepath.Join(dir, "classes"), source)
	program, runtime := filepath.Join(dir, "program.jar"), filepath.Join(dir, "runtime.jar")
	_, err = pipeline.Run(t.Context(), pipeline.Config{Inputs: []pipeline.Input{
		{Path: filepath.Join(dir, "classes"), Output: program}, {Path: jars.JVM, Output: runtime},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		signal os.Signal
		closed bool
	}{{syscall.SIGTERM, true}, {syscall.SIGINT, true}, {os.Kill, false}} {
		t.Run(row.signal.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "r.tgd")
			cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-Dtracegen.output="+file, "-cp",
				pathList(program, runtime), "Endless")
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
				t.Fatalf("the program printed %q, %v", line, err)
			}
			if err := cmd.Process.Signal(row.signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			r := readRecording(t, file)
			if r.damage.Closed != row.closed || r.damage.LostChunks+r.damage.Malformed != 0 || row.closed &&
				r.damage.SkippedBytes != 0 {
				t.Errorf("%+v", r.damage)
			}
			// If there was time, everything that was written before the signal is there.
			if r.records == 0 || row.closed && r.records+r.overwritten < 600_000 {
				t.Errorf("%d records and %d lost of more than 600,000", r.records, r.overwritten)
			}
			t.Logf("measured: %s: %d records, %d lost, closed: %t, %d bytes of a chunk that was cut", row.signal, r.records,
				r.overwritten, r.damage.Closed, r.damage.SkippedBytes)
		})
	}
}
