package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// filesIn are the files that runs have written into a directory: into Incremental.Directory, or into an output that is
// a directory. The cache has a list of them, so that a run can remove those that no input has any more. Their names
// are below the directory.
type filesIn struct {
	directory string
	key       cache.Key // of the list
	old       []byte    // the list as the cache has it
	now       []output.File
	gone      []string // names of files that are going to be removed
}

// vanish finds the files that earlier runs have written, that were not changed since, and that this run does not write.
// It notes them in staged directories.
func (r *results) vanish(outputs []*writtenOutput, stage *output.Stage) {
	if !r.tryStoring() {
		return
	}
	for _, in := range r.directories(outputs) {
		real, err := output.Resolve(in.directory)
		if err != nil {
			continue
		}
		in.key = filesKey(real)
		in.old = r.lookup(in.key)
		r.compare(in, outputs)
		for _, d := range stage.Directories() {
			d.Depart(below(d.Target, in))
		}
		r.filesIn = append(r.filesIn, in)
	}
}

// directories returns the directories with outputs, and the files that this run writes into them. Each output has an
// entry, also if its files are not known.
func (r *results) directories(outputs []*writtenOutput) []*filesIn {
	if r.Directory == "" {
		var list []*filesIn
		for _, o := range outputs {
			if o.Kind == input.Directory {
				list = append(list, &filesIn{directory: o.Path, now: o.record.Files})
			}
		}
		return list
	}
	all := &filesIn{directory: r.Directory}
	for _, o := range outputs {
		name, err := filepath.Rel(r.Directory, o.Path)
		if err != nil || !filepath.IsLocal(name) {
			continue
		}
		name = filepath.ToSlash(name)
		if o.Kind != input.Directory {
			f := output.File{Name: name}
			if len(o.record.Files) == 1 {
				f.Size, f.Sum = o.record.Files[0].Size, o.record.Files[0].Sum
			}
			all.now = append(all.now, f)
			continue
		}
		all.now = append(all.now, output.File{Name: name + "/"})
		for _, f := range o.record.Files {
			f.Name = name + "/" + f.Name
			all.now = append(all.now, f)
		}
	}
	return []*filesIn{all}
}

// compare finds the files that are gone. Those that the run needs under another name stay in the list.
func (r *results) compare(in *filesIn, outputs []*writtenOutput) {
	ours := make(map[string]bool, len(in.now))
	for _, f := range in.now {
		ours[f.Name] = true
	}
	u := wire.NewUnpacker(in.old)
	files := readFiles(u)
	if !u.End() {
		return
	}
	needed := make(map[string]bool) // by the first part of the name, and false for outputs
	for _, o := range outputs {
		needed[filepath.Base(o.Path)] = false
	}
	for _, f := range files {
		if ours[f.Name] || !filepath.IsLocal(f.Name) {
			continue
		}
		first, _, _ := strings.Cut(f.Name, "/")
		need, known := needed[first]
		if !known && r.Directory != "" {
			need = r.needs(filepath.Join(in.directory, first), outputs)
			needed[first] = need
		}
		if need {
			in.now = append(in.now, f)
		} else if isUnchanged(filepath.Join(in.directory, filepath.FromSlash(f.Name)), f) {
			in.gone = append(in.gone, f.Name)
		}
	}
}

// needs reports whether the run uses a file under another name, or what is in it if it is a directory.
func (r *results) needs(path string, outputs []*writtenOutput) bool {
	stay := slices.Concat(r.Spare, r.run.inputs)
	for _, o := range outputs {
		stay = append(stay, o.Path)
	}
	stay = slices.DeleteFunc(stay, func(path string) bool { _, err := os.Stat(path); return err != nil })
	linked, err := atomicfile.Linked(path, stay...)
	if err != nil {
		return true
	}
	return linked != "" || slices.ContainsFunc(stay, func(s string) bool {
		return output.Contains(path, s) || output.Contains(s, path) && !output.Contains(s, r.Directory)
	})
}

// isUnchanged reports whether a file is as a run left it. A link never is: no run writes one.
func isUnchanged(path string, f output.File) bool {
	info, err := os.Lstat(path)
	if err != nil || strings.HasSuffix(f.Name, "/") {
		return err == nil && info.IsDir()
	}
	if !info.Mode().IsRegular() || info.Size() != f.Size {
		return false
	}
	sum, err := checksumOf(path)
	return err == nil && sum == f.Sum
}

// below returns the names below a target of the files that are gone.
func below(target string, in *filesIn) []string {
	var names []string
	for _, name := range in.gone {
		path, err := filepath.Rel(target, filepath.Join(in.directory, filepath.FromSlash(name)))
		if err == nil && filepath.IsLocal(path) && path != "." {
			names = append(names, filepath.ToSlash(path)+name[len(strings.TrimSuffix(name, "/")):])
		}
	}
	return names
}

// removeVanished removes the files that are gone, and directories that are empty then, and stores the lists of those
// that are there.
func (r *results) removeVanished() {
	for _, in := range r.filesIn {
		for _, name := range slices.Backward(in.gone) { // files before the directory that they are in
			path := filepath.Join(in.directory, filepath.FromSlash(name))
			if err := os.Remove(path); strings.HasSuffix(name, "/") {
				continue // there may be something else in it
			} else if err != nil {
				r.detail("%v", err)
				continue
			}
			r.detail("removed %s, an output of an earlier run", path)
			for up := filepath.Dir(path); up != in.directory && len(up) > len(in.directory); up = filepath.Dir(up) {
				if os.Remove(up) != nil {
					break // there is something else in it
				}
			}
		}
		k := wire.NewPacker()
		packFiles(k, in.now)
		if list := k.Bytes(); !bytes.Equal(list, in.old) {
			r.store(in.key, list)
		}
	}
}
