package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/pattern"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// standardInput is the argument that stands for standard input.
const standardInput = "-"

// recording is one recording: a file, standard input, or the files of the parts of a recording.
type recording struct {
	// name is the file, of parts the last one.
	name string
	// files are in the order of parts.
	files []string
	// parts says which parts the files are, nil for one that does not say.
	parts []trace.PartInfo
}

// filesOf returns the files of all recordings.
func filesOf(recordings []recording) (files []string) {
	for _, r := range recordings {
		files = append(files, r.files...)
	}
	return files
}

// onDisk returns the files without standard input.
func onDisk(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == standardInput })
}

// spool copies standard input, which is read several times, to a temporary file. remove closes and removes the file.
func spool(ctx context.Context, in io.Reader) (f *os.File, remove func(), err error) {
	f, err = os.CreateTemp("", "tracegen-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { f.Close(); os.Remove(f.Name()) }
	if _, err := io.Copy(f, watched{in, ctx, func(int) {}}); err != nil {
		remove()
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	return f, remove, nil
}

// open opens the recording. in is standard input; watch gets each file that is opened.
func (r *recording) open(in io.Reader, watch func(io.Reader) io.Reader) (*source.Source, error) {
	if r.name == standardInput {
		s, err := source.New(watch(in))
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		return s, err
	}
	openFile := func(file string) (*source.Source, error) {
		return source.OpenWith(file, watch)
	}
	if len(r.parts) == 0 {
		return openFile(r.name)
	}
	var parts []source.Part
	for i, file := range r.files {
		parts = append(parts, source.Part{PartInfo: r.parts[i],
			Open: func() (*source.Source, error) { return openFile(file) }})
	}
	return source.NewParts(parts), nil
}

// findRecordings returns the recordings that the arguments name, each once: files, standard input, and the recordings
// in directories. For a file that is a part of a recording, it also finds the other parts in the same directory. Of
// files of earlier runs, which have the names FILE.1, FILE.2, ..., the oldest comes first, and FILE last.
func findRecordings(args []string) ([]recording, error) {
	var files []string
	inputs := 0
	for _, arg := range args {
		switch {
		case arg == standardInput:
			if inputs++; inputs > 1 {
				return nil, misuse("standard input can be read only once")
			}
			files = append(files, arg)
		case isDirectory(arg):
			found, err := recordingsBelow(arg)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("%s: the directory has no recording", arg)
			}
			files = append(files, found...)
		default:
			if _, err := os.Stat(arg); err != nil {
				return nil, fmt.Errorf("recording: %w", err)
			}
			files = append(files, filepath.Clean(arg))
		}
	}
	return inOrder(joinParts(files)), nil
}

// recordingsBelow returns the files in the directory and below it that begin as a recording.
func recordingsBelow(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		r, err := source.Open(path)
		if errors.Is(err, trace.ErrFormat) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, path)
		return r.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	return found, nil
}

// inOrder moves the recordings of a set to the place of the first of them, and removes duplicates.
func inOrder(recordings []recording) []recording {
	type member struct {
		recording
		set        int // the place of the set's first member
		generation int
	}
	sets := map[string]int{}
	seen := map[string]bool{}
	var members []member
	for i, r := range recordings {
		base, generation := splitGeneration(r.name)
		if _, known := sets[base]; !known {
			sets[base] = i
		}
		if !seen[r.name] {
			seen[r.name] = true
			members = append(members, member{r, sets[base], generation})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(b.generation, a.generation))
	})
	ordered := make([]recording, len(members))
	for i, m := range members {
		ordered[i] = m.recording
	}
	return ordered
}

// partName is what the runtime puts into the name of a part, before its extension.
var partName = pattern.Of(`\.part[1-9][0-9]*(\.[^./\\]*)?$`)

// splitGeneration divides FILE.3 into FILE and 3. A file that was not renamed has generation 0. FILE does not have the
// number of a part, so that a recording whose last part is missing has its place, too.
func splitGeneration(file string) (base string, generation int) {
	extension := filepath.Ext(file)
	n, err := strconv.ParseUint(strings.TrimPrefix(extension, "."), 10, 16)
	if err == nil && n > 0 {
		file = strings.TrimSuffix(file, extension)
	} else {
		n = 0
	}
	return partName().ReplaceAllString(file, "$1"), int(n)
}

// recordingSize returns the total size of the files that exist.
func recordingSize(files []string) (total int64) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			total += info.Size()
		}
	}
	return total
}

// watched is a reader of a recording. It reports progress, and fails when the context is canceled.
type watched struct {
	io.Reader
	ctx     context.Context
	advance func(n int)
}

func (w watched) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Reader.Read(p)
	w.advance(n)
	return n, err
}
