package meaning

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// fullDiskProgram makes some calls for each line of its standard input.
const fullDiskProgram = `public class Driver {
    static int sum;
    static void leaf(int k) { sum += k * sum; }
    static void work(String line) { for (int k = 0; k < 300; k++) leaf(k); }
    public static void main(String[] args) throws Exception {
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) work(line);
    }
}
`

// TestFullDisk fills a real file system while a program is recorded on it, and frees the space again.
//
// Invariant: When a disk that was full has space again, the recording goes on, and says what is missing.
func TestFullDisk(t *testing.T) {
	nightly.Only(t, "programs")
	j, _, path, _ := instrumentedDriver(t, fullDiskProgram)
	disk := t.TempDir()
	small := oracle.MountSmallDisk(t, disk, 256<<10)
	file := filepath.Join(disk, "app.tgd")
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), append(commonFlags[:len(commonFlags):len(commonFlags)],
		"-Dtracegen.output="+file, "-cp", path, "Driver")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(log); s.Scan(); {
			lines <- s.Text()
		}
	}()
	// work makes calls until the condition holds.
	work := func(what string, condition func() bool) {
		t.Helper()
		for deadline := time.Now().Add(3 * time.Minute); !condition(); {
			if time.Now().After(deadline) {
				t.Fatalf("waited in vain until %s", what)
			}
			if _, err := io.WriteString(in, "work\n"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	said := func(text string) func() bool {
		return func() bool {
			select {
			case line, ok := <-lines:
				if !ok {
					t.Fatalf("the program has ended before it said %q", text)
				}
				return strings.Contains(line, text)
			default:
				return false
			}
		}
	}
	work("the recording has begun", func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() > 1000
	})
	ballast := small.Fill()
	work("the disk is full", said("the recording cannot be written"))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	work("the recording goes on", said("the recording goes on; chunks that could not be written: "))
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range lines {
		t.Errorf("the log says more: %s", line)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	f := readDiskFile(t, file)
	if d := f.damage; d.Malformed != 0 || d.LostChunks != 0 || d.SkippedBytes != 0 || !d.Closed {
		t.Errorf("%+v", d)
	}
	if f.dropped == 0 {
		t.Error("the recording does not say that chunks are missing")
	}
	next, lost := uint64(0), uint64(0)
	for _, r := range f.records {
		if r.First != next+r.Overwritten {
			t.Errorf("records go on at %d and %d are lost, the last ones ended at %d", r.First, r.Overwritten, next)
		}
		next, lost = r.First+uint64(len(r.List)), lost+r.Overwritten
	}
	if lost == 0 {
		t.Error("no record is lost")
	}
	t.Logf("measured: %d chunks, %d chunks and %d records not written", f.chunks, f.dropped, lost)
}
