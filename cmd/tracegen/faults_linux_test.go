package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// fails runs a command that meets a fault, and returns what it said; false if it ended well.
func (s *outputSet) fails(t *testing.T, cmd *exec.Cmd) (said string, failed bool) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err != nil
}

// check checks what a command has left that failed or not: all of its outputs, or all that were there before.
func (s *outputSet) check(t *testing.T, what string, failed bool, before, after int, said string) {
	t.Helper()
	files := s.outputs(t)
	want := map[string]string{}
	switch {
	case !failed:
		want = s.want[after]
	case before >= 0:
		want = s.want[before]
	}
	if !cmp.Equal(want, files) {
		t.Errorf("%s: failed %v, said\n%s\n%s", what, failed, said, s.describe(files))
	}
}

// TestFullDisk writes outputs to a file system that becomes full at every write, one after the other.
//
// Invariant: A run that meets a full disk, a read error or a write error fails and leaves the outputs as they were.
func TestFullDisk(t *testing.T) {
	s := newOutputSet(t, instrumentStep)
	s.run(t, s.command(0, "out"))
	old, err := os.MkdirTemp(s.dir, "old")
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, exec.Command("cp", "-r", s.path("out")+"/.", old))
	disk := oracle.MountSmallDisk(t, s.path("out"), 8<<20)
	s.run(t, exec.Command("cp", "-r", old+"/.", s.path("out")))
	used, failures := disk.Used(), 0
	for free := uint64(0); ; free++ {
		if free > 200 {
			t.Fatal("the outputs do not fit")
		}
		disk.Leave(used, free)
		what := fmt.Sprint(free, " blocks are free")
		said, failed := s.fails(t, s.command(1, "out"))
		s.check(t, what, failed, 0, 1, said)
		if !failed {
			break
		}
		if failures++; !strings.Contains(said, "no space left on device") {
			t.Errorf("%s: said %s", what, said)
		}
	}
	if failures < 5 {
		t.Errorf("only %d runs failed", failures)
	}
	t.Logf("%d runs failed, the next one succeeded", failures)
}

// TestReadOnlyOutputs writes to directories that cannot be written.
//
// Invariant: A run that meets a full disk, a read error or a write error fails and leaves the outputs as they were.
func TestReadOnlyOutputs(t *testing.T) {
	s := newOutputSet(t, instrumentStep)
	s.run(t, s.command(0, "out"))
	for _, name := range []string{"out", "lists", "out/classes", "out/classes/g"} {
		if err := os.Chmod(s.path(name), 0o555); err != nil {
			t.Fatal(err)
		}
		cmd := s.command(1, "out")
		if os.Geteuid() == 0 {
			for _, dir := range []string{filepath.Dir(s.dir), s.dir, filepath.Dir(s.bin)} {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s.run(t, exec.Command("chown", "-R", "65534:65534", s.dir))
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		said, failed := s.fails(t, cmd)
		if !failed || !strings.Contains(said, "permission denied") {
			t.Errorf("%s cannot be written: said %s", name, said)
		}
		s.check(t, name, failed, 0, 1, said)
		if err := os.Chmod(s.path(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVanishingOutputs removes the directory of the outputs while they are written. If that is between two renames of
// the commit, the run says so, and the next run cleans up.
//
// Invariant: A run that meets a full disk, a read error or a write error fails and leaves the outputs as they were.
func TestVanishingOutputs(t *testing.T) {
	nightly.Only(t, "commands")
	s := newOutputSet(t, instrumentStep)
	failures := 0
	for range 12 {
		s.clear(t)
		cmd := s.command(0, "out")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(s.took))
		removed := os.RemoveAll(s.path("out"))
		failed := cmd.Wait() != nil
		if removed != nil {
			continue // a file appeared in it meanwhile
		}
		begun := failed && strings.Contains(said.String(), "of 8 outputs are in place: the next run")
		if files := s.outputs(t); countTemporary(files) > 0 && !begun {
			t.Errorf("failed %v, said %s\n%s", failed, &said, s.describe(files))
		}
		if failed {
			failures++
		}
		s.failing(t)
		if files := s.outputs(t); countTemporary(files) > 0 {
			t.Errorf("after the next run: failed %v, said %s\n%s", failed, &said, s.describe(files))
		}
		if strings.Contains(said.String(), "goroutine ") {
			t.Errorf("said %s", &said)
		}
	}
	t.Logf("%d of 12 runs failed", failures)
}

// TestChangingInput changes an input while it is read. The run fails, or the outputs are those of one of its states.
//
// Invariant: A run whose input changes meanwhile fails, or its outputs are of one state of the input.
func TestChangingInput(t *testing.T) {
	nightly.Only(t, "commands")
	s := newOutputSet(t, instrumentStep)
	input := s.path("in/a.jar")
	whole, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	s.run(t, s.command(0, "out"))
	failures := 0
	for n := range 24 {
		if err := os.WriteFile(input, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := s.command(1, "out")
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(s.took / 2))
		changed := bytes.Clone(whole)
		switch n % 3 {
		case 0:
			err = os.Truncate(input, rand.Int64N(int64(len(whole))))
		case 1:
			clear(changed[len(changed)/4 : len(changed)/2])
			err = os.WriteFile(input, changed, 0o666)
		default: // another file of that name
			if err = os.WriteFile(input+".new", changed[:100], 0o666); err == nil {
				err = os.Rename(input+".new", input)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		failed := cmd.Wait() != nil
		s.check(t, fmt.Sprint("change ", n), failed, 0, 1, said.String())
		if strings.Contains(said.String(), "goroutine ") {
			t.Errorf("said %s", &said)
		}
		if failed {
			failures++
			continue
		}
		if err := os.WriteFile(input, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		s.run(t, s.command(0, "out"))
	}
	t.Logf("%d of 24 runs failed", failures)
}

// TestCorpusInputOutputErrors lets the system calls of a run fail, one after the other, by strace. With
// TRACEGEN_CORPUS=full it is each of them, otherwise a share.
//
// Invariant: A run that meets a full disk, a read error or a write error fails and leaves the outputs as they were.
func TestCorpusInputOutputErrors(t *testing.T) {
	nightly.Only(t, "commands")
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("skipped: no strace here:", err)
	}
	s := newOutputSet(t, instrumentStep)
	s.run(t, s.command(0, "out"))
	trace := func(inject string) *exec.Cmd {
		cmd := s.command(1, "out", "--jobs", "1")
		args := append([]string{strace, "-f", "-qq", "-o", s.path("strace.txt")}, strings.Fields(inject)...)
		cmd.Path, cmd.Args = strace, append(args, cmd.Args...)
		return cmd
	}
	if said, failed := s.fails(t, trace("-e trace=write")); failed {
		t.Skip("skipped: strace does not work here: ", said)
	}
	s.run(t, s.command(0, "out"))
	most := 3
	if os.Getenv("TRACEGEN_CORPUS") == "full" {
		most = 1000
	}
	for _, call := range []string{"write:error=EIO", "write:error=ENOSPC", "fsync:error=EIO", "renameat:error=EIO",
		"openat:error=EMFILE", "flock:error=ENOLCK", "mkdirat:error=ENOSPC"} {
		name, _, _ := strings.Cut(call, ":")
		runs, failures, crashes := 0, 0, 0
		for n := 1; n <= most; n++ {
			cmd := trace("-e trace=" + name + " -e inject=" + call + ":when=" + fmt.Sprint(n))
			said, failed := s.fails(t, cmd)
			log, err := os.ReadFile(s.path("strace.txt"))
			if err != nil {
				t.Fatal(err)
			}
			runs++
			what := fmt.Sprintf("%s, number %d of a thread", call, n)
			crashed := strings.Contains(said, "fatal error: ") // of Go's runtime, whose own calls failed, too
			switch {
			case crashed:
				crashes++
				fallthrough
			case name == "renameat" && failed:
				s.failing(t)
				if kind, whole := s.which(s.outputs(t)); !whole || kind < 0 {
					t.Errorf("%s: said\n%s\n%s", what, said, s.describe(s.outputs(t)))
				}
			case name == "openat" && countTemporary(s.outputs(t)) > 0:
				s.failing(t) // a directory that cannot be opened cannot be removed: the next run does it
				fallthrough
			default:
				s.check(t, what, failed, 0, 1, said)
			}
			if failed {
				failures++
			}
			s.run(t, s.command(0, "out"))
			if !bytes.Contains(log, []byte("(INJECTED)")) {
				break
			}
		}
		t.Logf("%s: %d runs, %d failed, in %d Go's runtime gave up", call, runs, failures, crashes)
	}
}
