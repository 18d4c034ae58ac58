package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// zeros is deflate data of so many MiB of zeros, and their CRC-32.
func zeros(t testing.TB, mebibytes int) (deflated []byte, crc uint32) {
	t.Helper()
	block := make([]byte, 1<<20)
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(block)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	for range mebibytes {
		deflated = append(deflated, b.Bytes()...) // no block refers to one before it
		crc = crc32.Update(crc, crc32.IEEETable, block)
	}
	return append(deflated, 3, 0), crc // an empty block, the last
}

// addZeros adds an entry of zeros to an archive.
func addZeros(t testing.TB, w *zip.Writer, name string, mebibytes int) {
	t.Helper()
	data, crc := zeros(t, mebibytes)
	e, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CRC32: crc,
		CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(mebibytes) << 20})
	if err == nil {
		_, err = e.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// archiveOf writes an archive: what fill adds, and the classes of the repository's sample.
func archiveOf(t testing.TB, path string, fill func(*zip.Writer)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	fill(w)
	sample, err := zip.OpenReader(filepath.Join("..", "..", "testdata", "sample", "sample.jar"))
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	for _, e := range sample.File {
		if err := w.Copy(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// peakOf runs the tool, and returns what it printed and the peak of its memory in MiB. The system's own figure for a
// process that has ended begins with the memory of the process that started it, so it is asked while it runs.
func peakOf(t testing.TB, bin, dir string, args ...string) (output string, mebibytes int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Dir = dir
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &text)
			}
			return text.String(), mebibytes
		case <-time.After(2 * time.Millisecond):
		}
		data, _ := os.ReadFile(status) // empty when it has just ended
		_, after, _ := strings.Cut(string(data), "VmHWM:")
		var kibibytes int
		if _, err := fmt.Sscan(after, &kibibytes); err == nil {
			mebibytes = max(mebibytes, kibibytes>>10)
		}
	}
}

// TestHostileSizes works on archives that are small on disk and large inside.
//
// Invariant: Memory does not depend on the sizes of entries that are no classes, nor on those above the limits.
func TestHostileSizes(t *testing.T) {
	nightly.Only(t, "commands")
	bin := builtTool(t)
	const most = 200 // MiB; each of them took more than 700 before there were limits
	for _, row := range []struct {
		name string
		fill func(*zip.Writer)
		says string
	}{
		{"a class of 1 GiB", func(w *zip.Writer) { addZeros(t, w, "Z.class", 1024) }, "7 classes, 5 changed"},
		{"40 of them", func(w *zip.Writer) {
			for i := range 40 {
				addZeros(t, w, fmt.Sprintf("a/Z%d.class", i), 1024)
			}
		}, "46 classes, 5 changed"},
		{"a resource of 1 GiB", func(w *zip.Writer) { addZeros(t, w, "z.txt", 1024) }, "6 classes, 5 changed"},
		{"a nested archive of 1 GiB", func(w *zip.Writer) { addZeros(t, w, "BOOT-INF/lib/z.jar", 1024) },
			"6 classes, 5 changed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			archiveOf(t, filepath.Join(dir, "in.jar"), row.fill)
			for _, args := range [][]string{
				{"instrument", "in.jar", "-o", "out.jar"}, {"scan", "in.jar", "-o", "in.scan"},
				{"strip", "out.jar", "-o", "back.jar"}, {"verify", "in.jar"},
				{"explain", "in.jar", "--method", "sample.Main#main"},
			} {
				text, peak := peakOf(t, bin, dir, args...)
				t.Logf("%s: %d MiB", args[0], peak)
				if peak > most {
					t.Errorf("%s took %d MiB, want at most %d", args[0], peak, most)
				}
				if args[0] == "instrument" && !strings.Contains(text, row.says) {
					t.Errorf("it says %s", text)
				}
			}
		})
	}
}

// TestManyEntries instruments an archive of 100,000 entries.
func TestManyEntries(t *testing.T) {
	nightly.Only(t, "commands")
	const entries, most = 100_000, 200
	dir := t.TempDir()
	archiveOf(t, filepath.Join(dir, "in.jar"), func(w *zip.Writer) {
		for i := range entries {
			e, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("assets/%d/%d.txt", i%100, i)})
			if err == nil {
				_, err = io.WriteString(e, "text")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	_, peak := peakOf(t, builtTool(t), dir, "instrument", "in.jar", "-o", "out.jar")
	t.Logf("%d MiB", peak)
	if peak > most {
		t.Errorf("%d MiB, want at most %d", peak, most)
	}
	out, err := zip.OpenReader(filepath.Join(dir, "out.jar"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if len(out.File) < entries {
		t.Errorf("%d entries", len(out.File))
	}
}
