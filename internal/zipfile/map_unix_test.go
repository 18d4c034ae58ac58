//go:build unix

package zipfile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestReleasedEntry reads and releases some entries of a big archive out of order, often enough that their pages are
// released, and then checks which pages the system has in memory.
func TestReleasedEntry(t *testing.T) {
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	var in container
	for i := range 8 {
		in.parts = append(in.parts, part{name: string(rune('a' + i)), data: "here"},
			part{name: string(rune('A' + i)), data: string(noise)})
	}
	path := filepath.Join(t.TempDir(), "a.jar")
	fixture.Write(t, path, in.build())
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	resident := func() int {
		status, err := os.ReadFile("/proc/self/smaps")
		if err != nil {
			t.Skipf("skipped: the system does not report what is in memory: %v", err)
		}
		_, of, found := strings.Cut(string(status), path)
		if !found {
			t.Skip("skipped: the archive is not mapped")
		}
		_, of, _ = strings.Cut(of, "Rss:")
		var kilobytes int
		if _, err := fmt.Sscan(of, &kilobytes); err != nil {
			t.Fatal(err)
		}
		return kilobytes
	}
	if n := resident(); n > 128 {
		t.Errorf("%d KB are in memory of an archive that has only been opened", n)
	}
	most := 0
	for i := range 4 * readsPerRelease {
		e := &a.Entries()[i%8*2] // one of those that are small
		if got, err := new(Codec).Read(e, nil); err != nil || string(got) != "here" {
			t.Fatalf("%q, error %v", got, err)
		}
		if i < 8 {
			most = max(most, resident())
		}
		e.Release()
	}
	if most == 0 {
		t.Error("pages that were just read are not in memory: the test shows nothing")
	}
	if n := resident(); n > 128 {
		t.Errorf("%d KB are in memory after entries were read and released", n)
	}
}

// TestOpenPipe reads an archive from a pipe, which cannot be mapped. A shell makes one for <(…).
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	in := container{parts: []part{{name: "a", data: classText}}}.build()
	done := make(chan error)
	go func() { done <- os.WriteFile(path, in, 0) }()
	a, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, err := new(Codec).Read(&a.Entries()[0], nil); err != nil || string(got) != classText {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
