package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// work describes what a contestant did, read from its outputs, as evidence that all did the same.
type work struct {
	classes, changed int   // class entries of the inputs, and those that differ in the outputs
	lost             int   // class entries that the outputs lack
	packed           int   // stored class entries of the inputs that have another method in the outputs
	methods          int   // lines of the mapping
	calls            int   // of the runtime's i and o, in the classes that changed
	before, after    int64 // bytes of all classes, inflated
	size             int64 // of the outputs
}

func (w *work) add(other work) {
	w.classes += other.classes
	w.changed += other.changed
	w.lost += other.lost
	w.packed += other.packed
	w.methods += other.methods
	w.calls += other.calls
	w.before += other.before
	w.after += other.after
	w.size += other.size
}

// inspect reads the outputs of the last run, and removes them. If the row failed, or its outputs cannot be read, the
// row's note says so.
func (s *series) inspect() {
	defer os.RemoveAll(s.job.out)
	if s.failed != nil {
		first, _, _ := strings.Cut(s.said, "\n")
		s.note = "failed: " + first
		return
	}
	if s.failed = s.readOutputs(); s.failed != nil {
		s.note = "unreadable: " + s.failed.Error()
		return
	}
	s.note = s.remarks()
}

func (s *series) readOutputs() error {
	jars, err := readList(s.job.list)
	if err != nil {
		return err
	}
	for _, in := range jars {
		w, err := compare(in, filepath.Join(s.job.out, filepath.Base(in)), s.contestant.traces)
		if err != nil {
			return err
		}
		s.work.add(w)
	}
	if s.contestant.traces {
		s.work.methods, err = mappedMethods(s.job.mapping)
	}
	return err
}

// remarks returns what a contestant did not do, according to its outputs, and what its own messages say about that and
// about the libraries that it uses.
func (s *series) remarks() string {
	var notes []string
	if s.work.lost > 0 {
		notes = append(notes, fmt.Sprintf("leaves out %d classes", s.work.lost))
	}
	if s.work.packed > 0 {
		notes = append(notes, fmt.Sprintf("%d stored classes have the method deflated now", s.work.packed))
	}
	if s.contestant.traces && s.work.changed == 0 {
		notes = append(notes, "fails and copies its input")
	}
	for line := range strings.Lines(s.said) {
		if slices.ContainsFunc([]string{"fails the build", "leaves ", "uses "}, func(start string) bool {
			return strings.HasPrefix(line, start)
		}) {
			if line = strings.TrimSpace(line); !slices.Contains(notes, line) {
				notes = append(notes, line)
			}
		}
	}
	return strings.Join(notes, "; ")
}

// compare returns what was done to one jar. An entry whose CRC and size are unchanged has the same bytes. Of entries
// with one name the first is compared with the first, the second with the second.
func compare(in, out string, countCalls bool) (work, error) {
	var w work
	a, err := zipfile.Open(in)
	if err != nil {
		return w, err
	}
	defer a.Close()
	b, err := zipfile.Open(out)
	if err != nil {
		return w, err
	}
	defer b.Close()
	w.size = b.Size()
	written := map[string][]*zipfile.Entry{}
	for i := range b.Entries() {
		e := &b.Entries()[i]
		written[e.Name] = append(written[e.Name], e)
	}
	var changed []*zipfile.Entry
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if !strings.HasSuffix(e.Name, ".class") {
			continue
		}
		w.classes++
		w.before += int64(e.Size)
		same := written[e.Name]
		if len(same) == 0 {
			w.lost++
			continue
		}
		written[e.Name] = same[1:]
		w.after += int64(same[0].Size)
		if e.Method == zipfile.Stored && same[0].Method != zipfile.Stored {
			w.packed++
		}
		if e.CRC32 != same[0].CRC32 || e.Size != same[0].Size {
			w.changed++
			changed = append(changed, same[0])
		}
	}
	if countCalls {
		w.calls, err = callsIn(changed)
	}
	return w, err
}

// callsIn counts the calls of the runtime in classes, on all cores.
func callsIn(classes []*zipfile.Entry) (int, error) {
	var codec zipfile.Codec
	workers := runtime.GOMAXPROCS(0)
	counts, errs := make([]int, workers), make([]error, workers)
	var wait sync.WaitGroup
	for k := range workers {
		wait.Go(func() {
			var buf []byte
			for i := k; i < len(classes) && errs[k] == nil; i += workers {
				if buf, errs[k] = codec.Read(classes[i], buf); errs[k] == nil {
					counts[k] += callsOf(buf)
				}
			}
		})
	}
	wait.Wait()
	n := 0
	for _, count := range counts {
		n += count
	}
	return n, errors.Join(errs...)
}

// callsOf counts calls of i and o of a class called AppMethodBeat, in any package, because contestants use different
// packages.
func callsOf(data []byte) int {
	c, err := classfile.Parse(data)
	if err != nil {
		return 0
	}
	n := 0
	for i := range c.Methods() {
		body, ok, err := c.Code(&c.Methods()[i])
		if err != nil || !ok {
			continue
		}
		for in := range code.Instructions(body.Bytecode) {
			if in.Op == code.Invokestatic && isCall(c, in.Constant()) {
				n++
			}
		}
	}
	return n
}

func isCall(c *classfile.Class, index uint16) bool {
	r, err := c.ConstantPool().Ref(index)
	return err == nil && (r.Name == "i" || r.Name == "o") && r.Descriptor == "(I)V" &&
		strings.HasSuffix(r.Class, "/AppMethodBeat")
}

// dispatchID is the ID of the message dispatch, not of a method. Every mapping of tracegen contains it.
const dispatchID = "1048574,"

func mappedMethods(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "#") && !strings.HasPrefix(lines.Text(), dispatchID) {
			n++
		}
	}
	return n, lines.Err()
}
