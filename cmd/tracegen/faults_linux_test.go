package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
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
			log := fixture.Read(t, s.path("strace.txt"))
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
