package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/code"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// Commands that prepare the jars before anything is measured, each in a process of its own, because memory that this
// process has used is counted for every process that it starts afterwards.
const (
	changesCommand = "changes" // which entries tracegen changes
	legibleCommand = "legible" // copies of the jars that Matrix can read
	storedCommand  = "stored"  // copies of the jars in which no entry is deflated
)

// job is the task of a contestant.
type job struct {
	list    string // a file that names the jars, one a line; their last names differ
	out     string // the directory for the outputs, each under its input's last name
	mapping string // the method mapping to write
	changes string // the file with a byte for each entry of all jars: 1 if tracegen changes it
}

// prepared is what all jobs with one input share.
type prepared struct {
	list, legible, changes string // as in job; legible is another list of jars
}

// prepare makes the lists in dir; tool is tracegen.
func prepare(in input, dir, tool string) (prepared, error) {
	p := prepared{list: filepath.Join(dir, "jars"), legible: filepath.Join(dir, "legible"),
		changes: filepath.Join(dir, "changes")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return p, err
	}
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	if in.jars, err = storeInputs(self, in, dir); err != nil {
		return p, err
	}
	if err := writeList(p.list, in.jars); err != nil {
		return p, err
	}
	out := filepath.Join(dir, "reference")
	cmd := tracegen(tool, job{list: p.list, out: out, mapping: filepath.Join(dir, "reference.txt")})
	if said, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
	}
	defer os.RemoveAll(out)
	for _, args := range [][]string{{changesCommand, p.list, out, p.changes},
		{legibleCommand, p.list, filepath.Join(dir, "copies"), p.legible}} {
		if said, err := exec.Command(self, args...).CombinedOutput(); err != nil {
			return p, fmt.Errorf("%s: %w\n%s", args[0], err, said)
		}
	}
	for _, path := range in.jars {
		// The jars are read once, so that the first run finds them in memory as the others do.
		if err := warm(path); err != nil {
			return p, err
		}
	}
	return p, nil
}

// storeInputs returns the jars to measure: those of the input, or stored copies of them in dir.
func storeInputs(self string, in input, dir string) ([]string, error) {
	if !in.stored {
		return in.jars, nil
	}
	originals, copies := filepath.Join(dir, "originals"), filepath.Join(dir, "stored")
	if err := writeList(originals, in.jars); err != nil {
		return nil, err
	}
	if said, err := exec.Command(self, storedCommand, originals, copies).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", storedCommand, err, said)
	}
	jars := make([]string, len(in.jars))
	for i, path := range in.jars {
		jars[i] = filepath.Join(copies, filepath.Base(path))
	}
	return jars, nil
}

// storedMain takes a list of jars and a directory for their stored copies, each under its input's last name.
func storedMain(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: stored LIST COPIES")
	}
	paths, err := readList(args[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	for _, path := range paths {
		if err := storeJar(path, filepath.Join(args[1], filepath.Base(path))); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// storeJar writes a copy of a jar with the same entries in the same order, in which none is deflated.
func storeJar(path, to string) error {
	a, err := zipfile.Open(path)
	if err != nil {
		return err
	}
	defer a.Close()
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer f.Close()
	var codec zipfile.Codec
	var buf []byte
	w := zipfile.NewWriter(f, a)
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if e.Method == zipfile.Stored {
			err = w.Copy(e)
		} else if buf, err = codec.Read(e, buf); err == nil {
			err = w.Replace(e, zipfile.Packed{Data: buf, Size: e.Size, CRC32: e.CRC32, Method: zipfile.Stored})
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), f.Close())
}

// warm reads a file.
func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func writeList(path string, jars []string) error {
	return os.WriteFile(path, []byte(strings.Join(jars, "\n")+"\n"), 0o644)
}

func readList(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// changesMain takes a list of jars, the directory of tracegen's outputs for them, and the file to write.
func changesMain(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: changes LIST OUTDIR FILE")
	}
	paths, err := readList(args[0])
	if err != nil {
		return err
	}
	var changes []byte
	for _, path := range paths {
		if changes, err = appendChanges(changes, path, filepath.Join(args[1], filepath.Base(path))); err != nil {
			return err
		}
	}
	return os.WriteFile(args[2], changes, 0o644)
}

// appendChanges appends a byte for each entry of one jar. Entries of one name count as one: all or none has changed.
func appendChanges(changes []byte, in, out string) ([]byte, error) {
	a, err := zipfile.Open(in)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := zipfile.Open(out)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	same := map[string]*zipfile.Entry{}
	for i := range b.Entries() {
		same[b.Entries()[i].Name] = &b.Entries()[i]
	}
	for i := range a.Entries() {
		e := &a.Entries()[i]
		o, found := same[e.Name]
		mark := byte('0')
		if strings.HasSuffix(e.Name, ".class") && (!found || o.CRC32 != e.CRC32 || o.Size != e.Size) {
			mark = '1'
		}
		changes = append(changes, mark)
	}
	return changes, nil
}

// legibleMain takes a list of jars, a directory for copies, and the list to write. A jar with a class that contains jsr
// is copied without such classes: at the first of them Matrix fails for the whole jar, and its time until then does not
// show how long the work takes.
func legibleMain(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: legible LIST COPIES FILE")
	}
	paths, err := readList(args[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(args[1], 0o755); err != nil {
		return err
	}
	for i, path := range paths {
		if paths[i], err = legible(path, filepath.Join(args[1], filepath.Base(path))); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return writeList(args[2], paths)
}

// legible returns the path of the jar without classes that contain jsr: a copy, or the jar itself if it has none.
func legible(path, to string) (string, error) {
	a, err := zipfile.Open(path)
	if err != nil {
		return "", err
	}
	defer a.Close()
	var codec zipfile.Codec
	var buf []byte
	var kept []*zipfile.Entry
	for i := range a.Entries() {
		e := &a.Entries()[i]
		if strings.HasSuffix(e.Name, ".class") {
			if buf, err = codec.Read(e, buf); err != nil {
				return "", err
			}
			if jumpsToSubroutines(buf) {
				continue
			}
		}
		kept = append(kept, e)
	}
	if len(kept) == len(a.Entries()) {
		return path, nil
	}
	f, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w := zipfile.NewWriter(f, a)
	for _, e := range kept {
		if err := w.Copy(e); err != nil {
			return "", err
		}
	}
	return to, errors.Join(w.Close(), f.Close())
}

// jumpsToSubroutines reports whether a class contains jsr; for one that cannot be read it returns false.
func jumpsToSubroutines(data []byte) bool {
	c, err := classfile.Parse(data)
	if err != nil {
		return false
	}
	for i := range c.Methods() {
		body, ok, err := c.Code(&c.Methods()[i])
		if err != nil || !ok {
			continue
		}
		for in := range code.Instructions(body.Bytecode) {
			if in.Op == code.Jsr || in.Op == code.JsrW {
				return true
			}
		}
	}
	return false
}
