package pipeline

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/jar"
)

// checkOutputs refuses outputs that would destroy an input or each other.
func (r *run) checkOutputs() error {
	inputs := r.inputPaths()
	outputs := []string{r.config.Merge}
	if r.config.Merge == "" {
		outputs = outputs[:0]
		for _, in := range r.config.Inputs {
			outputs = append(outputs, in.Output)
		}
	}
	among := newInputPlaces(inputs)
	seen := make(map[string]string)
	for _, output := range outputs {
		if among.mayMeet(output) {
			if err := checkOutput(output, inputs); err != nil {
				return err
			}
		}
		real, err := resolve(output)
		if err != nil {
			return fmt.Errorf("check output: %w", err)
		}
		if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue // a device takes any number of outputs
		}
		if other, ok := seen[real]; ok {
			return fmt.Errorf("outputs %s and %s are the same file; choose another for one of them", other, output)
		}
		seen[real] = output
	}
	return nil
}

func (r *run) inputPaths() []string {
	paths := make([]string, len(r.config.Inputs))
	for i, in := range r.config.Inputs {
		paths[i] = in.Path
	}
	return paths
}

// inputPlaces tells quickly that an output has nothing to do with any of many inputs.
type inputPlaces struct {
	files       map[fileID]bool
	directories bool // there are some among them
	vague       bool // some cannot be told apart
}

func newInputPlaces(inputs []string) *inputPlaces {
	p := &inputPlaces{files: make(map[fileID]bool, len(inputs))}
	for _, input := range inputs {
		info, err := os.Stat(input)
		if err != nil {
			p.vague = true
			continue
		}
		id := idOf(info)
		p.vague = p.vague || id == fileID{}
		p.directories = p.directories || info.IsDir()
		p.files[fileID{device: id.device, inode: id.inode}] = true
	}
	return p
}

// mayMeet says whether an output could be an input, or one of the two lie in the other.
func (p *inputPlaces) mayMeet(output string) bool {
	info, err := os.Stat(output)
	switch {
	case p.vague || p.directories:
		return true
	case err != nil:
		return !errors.Is(err, fs.ErrNotExist)
	}
	id := idOf(info)
	return info.IsDir() || p.files[fileID{device: id.device, inode: id.inode}]
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
	above, err := resolve(dir)
	if err != nil {
		return false
	}
	below, err := resolve(name)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(above, below)
	return err == nil && filepath.IsLocal(relative)
}

// resolve gives the absolute path that name leads to when all links are followed. What does not exist yet lies
// where its name, or the link that names it, says.
func resolve(name string) (string, error) {
	missing := ""
	for at := filepath.Clean(name); ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			real, err = filepath.Abs(real)
			return filepath.Join(real, missing), err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if to, err := os.Readlink(at); err == nil {
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = to
			continue
		}
		parent := filepath.Dir(at)
		if parent == at {
			return filepath.Abs(name)
		}
		at, missing = parent, filepath.Join(filepath.Base(at), missing)
	}
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

// abort removes whatever was not committed, and temporary directories.
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

// stagedDirectory is an output directory whose files are written elsewhere first. A target that is not there
// appears whole, by one renaming. One that is there may be another file system's: its stage lies in it, so that
// every file can be renamed.
type stagedDirectory struct {
	target string
	temp   string // "" for a dry run, and when nothing is left to remove
	stage  string // in temp
	names  []string

	kept      []string // files that are in the target as they should be
	departing []string // files of an earlier run that are going to be removed from it
	// keep hears of every file that is written, and says whether the target has it already; it may be nil.
	keep func(*entry, []byte) bool
}

func (o *outputs) stage(target string, dryRun bool) (*stagedDirectory, error) {
	d := &stagedDirectory{target: filepath.Clean(target)}
	beside := filepath.Dir(d.target)
	switch info, err := os.Stat(target); {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("output %s is to be a directory, but there is a file of that name; choose another name", target)
	case err == nil:
		beside = d.target
	}
	if dryRun {
		return d, nil
	}
	var err error
	if d.temp, err = os.MkdirTemp(beside, ".tracegen-*.tmp"); err != nil {
		return nil, fmt.Errorf("cannot write output directory %s: %w", target, err)
	}
	o.directories = append(o.directories, d)
	// MkdirTemp lets nobody else in, which is not for the output.
	d.stage = filepath.Join(d.temp, "output")
	if err := os.Mkdir(d.stage, 0o777); err != nil {
		return nil, fmt.Errorf("cannot write output directory %s: %w", target, err)
	}
	return d, nil
}

// write puts data in the place of the entry e, which keeps its permissions.
func (d *stagedDirectory) write(e *entry, data []byte) error {
	if d.keep != nil && d.keep(e, data) {
		d.kept = append(d.kept, e.name)
		return nil
	}
	if d.temp == "" {
		return nil
	}
	file := filepath.Join(d.stage, filepath.FromSlash(e.name))
	d.names = append(d.names, e.name)
	if strings.HasSuffix(e.name, "/") {
		return os.MkdirAll(file, 0o777)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		return err
	}
	return os.Chmod(file, e.mode.Perm())
}

// copy writes the entry as it is.
func (d *stagedDirectory) copy(e *entry) error {
	if strings.HasSuffix(e.name, "/") {
		return d.write(e, nil)
	}
	data, err := os.ReadFile(e.file)
	if err != nil {
		return err
	}
	return d.write(e, data)
}

// check finds what would keep commit from putting the files into the target that is there, and counts the files
// in it that are not of this run.
func (d *stagedDirectory) check() (others int, err error) {
	ours := make(map[string]bool, len(d.names))
	for _, name := range slices.Concat(d.names, d.kept, d.departing) {
		ours[name] = true
		to := filepath.Join(d.target, filepath.FromSlash(name))
		info, err := os.Stat(to)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return 0, fmt.Errorf("cannot write output directory %s: %w", d.target, err)
		case info.IsDir() != strings.HasSuffix(name, "/"):
			return 0, fmt.Errorf("cannot write %s: what is there is not of the same kind, a file or a directory; remove it", to)
		}
	}
	behindLink := d.target + string(filepath.Separator)
	err = filepath.WalkDir(behindLink, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the target appears with this run
		case err != nil:
			return err
		case file == d.temp:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(d.target, file)
		if !ours[filepath.ToSlash(name)] {
			others++
		}
		return err
	})
	return others, err
}

// commit makes the staged directory the target, or moves its files into the target that is there. What is left of
// the stage, abort removes.
func (d *stagedDirectory) commit() error {
	if _, err := os.Stat(d.target); errors.Is(err, fs.ErrNotExist) {
		if len(d.kept) > 0 {
			return fmt.Errorf("cannot write output directory %s: it was removed while tracegen was running; run it again", d.target)
		}
		if err := os.Rename(d.stage, d.target); err != nil {
			return err
		}
		d.names = nil
	}
	for _, name := range d.names {
		to := filepath.Join(d.target, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(to, 0o777); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(d.stage, filepath.FromSlash(name)), to); err != nil {
			return err
		}
	}
	return nil
}

// abort removes the stage.
func (d *stagedDirectory) abort() {
	if d.temp != "" {
		os.RemoveAll(d.temp)
		d.temp = ""
	}
}
