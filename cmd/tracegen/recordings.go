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

	"github.com/tracegen/tracegen/trace"
)

// standardInput is the argument that stands for standard input.
const standardInput = "-"

// findRecordings returns the recordings that the arguments name, each once: files, standard input, and the recordings
// in directories. Of files that the runtime has renamed to FILE.1, FILE.2, ..., the oldest comes first, and FILE last.
func findRecordings(args []string) ([]string, error) {
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
	return inOrder(files), nil
}

// recordingsBelow returns the files in the directory and below it that begin as a recording.
func recordingsBelow(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		r, err := trace.OpenSource(path)
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

// inOrder moves the files of a set to the place of the first of them, and removes duplicates.
func inOrder(files []string) []string {
	type member struct {
		file       string
		set        int // the place of the set's first member
		generation int
	}
	sets := map[string]int{}
	seen := map[member]bool{}
	var members []member
	for i, file := range files {
		base, generation := splitGeneration(file)
		if _, known := sets[base]; !known {
			sets[base] = i
		}
		m := member{file, sets[base], generation}
		if !seen[m] {
			seen[m] = true
			members = append(members, m)
		}
	}
	slices.SortStableFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(b.generation, a.generation))
	})
	ordered := make([]string, len(members))
	for i, m := range members {
		ordered[i] = m.file
	}
	return ordered
}

// splitGeneration divides FILE.3 into FILE and 3. A file that was not renamed has generation 0.
func splitGeneration(file string) (base string, generation int) {
	extension := filepath.Ext(file)
	n, err := strconv.ParseUint(strings.TrimPrefix(extension, "."), 10, 16)
	if err != nil || n == 0 {
		return file, 0
	}
	return strings.TrimSuffix(file, extension), int(n)
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
