package pipeline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/jar"
)

// checkOutputs refuses outputs that would destroy an input or each other.
func (r *run) checkOutputs() error {
	inputs := make([]string, len(r.config.Inputs))
	for i, in := range r.config.Inputs {
		inputs[i] = in.Path
	}
	outputs := []string{r.config.Merge}
	if r.config.Merge == "" {
		outputs = outputs[:0]
		for _, in := range r.config.Inputs {
			outputs = append(outputs, in.Output)
		}
	}
	seen := make(map[string]bool)
	for _, output := range outputs {
		if err := checkOutput(output, inputs); err != nil {
			return err
		}
		absolute, err := filepath.Abs(output)
		if err != nil {
			return err
		}
		if seen[absolute] {
			return fmt.Errorf("output %s is named twice", output)
		}
		seen[absolute] = true
	}
	return nil
}

func checkOutput(output string, inputs []string) error {
	linked, err := jar.Linked(output, inputs...)
	if err != nil {
		return err
	}
	if linked != "" {
		return fmt.Errorf("output %s is the input %s, or a link to it; choose another output", output, linked)
	}
	for _, input := range inputs {
		if contains(input, output) || contains(output, input) {
			return fmt.Errorf("output %s and input %s lie in each other; choose another output", output, input)
		}
	}
	return nil
}

// contains says whether dir is a directory and name lies in it, links followed as far as there are files.
func contains(dir, name string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	above, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	below := filepath.Clean(name)
	for {
		resolved, err := filepath.EvalSymlinks(below)
		if err == nil {
			below = resolved
			break
		}
		parent := filepath.Dir(below)
		if parent == below {
			return false
		}
		below = parent
	}
	if above, err = filepath.Abs(above); err != nil {
		return false
	}
	if below, err = filepath.Abs(below); err != nil {
		return false
	}
	relative, err := filepath.Rel(above, below)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// outputs are the files and directories that are being written. None is visible before commit.
type outputs struct {
	files       []*jar.File
	directories []*stagedDirectory
}

// create starts a file; for a dry run it takes what is written and keeps nothing.
func (o *outputs) create(name string, dryRun bool) (io.Writer, error) {
	if dryRun {
		return io.Discard, nil
	}
	f, err := jar.CreateFile(name)
	if err != nil {
		return nil, err
	}
	o.files = append(o.files, f)
	return f, nil
}

// abort removes whatever was not committed.
func (o *outputs) abort() {
	for _, f := range o.files {
		f.Abort()
	}
	for _, d := range o.directories {
		d.abort()
	}
	o.files, o.directories = nil, nil
}

// commit puts everything in its place: first all is brought onto the disk, so that what can fail has failed
// before the first name changes.
func (o *outputs) commit() error {
	for _, f := range o.files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	for _, d := range o.directories {
		if err := d.commit(); err != nil {
			return err
		}
	}
	for _, f := range o.files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// stagedDirectory is an output directory whose files are written elsewhere first, in a directory beside it.
type stagedDirectory struct {
	target, stage string // stage is "" for a dry run
	files         []string
}

func (o *outputs) stage(target string, dryRun bool) (*stagedDirectory, error) {
	d := &stagedDirectory{target: filepath.Clean(target)}
	if dryRun {
		return d, nil
	}
	if info, err := os.Stat(target); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("output %s is to be a directory, but there is a file of that name", target)
	}
	var err error
	if d.stage, err = os.MkdirTemp(filepath.Dir(d.target), "."+filepath.Base(d.target)+".tracegen-*"); err != nil {
		return nil, fmt.Errorf("cannot write output directory: %w", err)
	}
	o.directories = append(o.directories, d)
	return d, nil
}

// write puts data into the file name, which has slashes.
func (d *stagedDirectory) write(name string, data []byte) error {
	if d.stage == "" {
		return nil
	}
	if err := jar.CheckName(name); err != nil {
		return err
	}
	file := filepath.Join(d.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	d.files = append(d.files, name)
	return os.WriteFile(file, data, 0o666)
}

// copy puts a copy of the file from under name, with the permissions that it has.
func (d *stagedDirectory) copy(name, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := d.write(name, data); err != nil || d.stage == "" {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.Chmod(filepath.Join(d.stage, filepath.FromSlash(name)), info.Mode().Perm())
}

// commit makes the staged directory the target, or moves its files into the target that is there.
func (d *stagedDirectory) commit() error {
	if _, err := os.Lstat(d.target); errors.Is(err, fs.ErrNotExist) {
		if err := os.Chmod(d.stage, 0o755); err != nil {
			return err
		}
		return os.Rename(d.stage, d.target)
	}
	for _, name := range d.files {
		to := filepath.Join(d.target, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(d.stage, filepath.FromSlash(name)), to); err != nil {
			return err
		}
	}
	return os.RemoveAll(d.stage)
}

func (d *stagedDirectory) abort() {
	if d.stage != "" {
		os.RemoveAll(d.stage)
	}
}
