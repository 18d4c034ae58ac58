package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/trace"
)

// StandardInput is the argument that stands for standard input.
const StandardInput = "-"

// Recording is one recording: a file, standard input, or the files of the parts of a recording.
type Recording struct {
	// Name is the file, of parts the last one. Shown is what stands for it in what is printed, empty for Name.
	Name, Shown string
	// Files are in the order of parts.
	Files []string
	// parts says which parts the files are, nil for one that does not say.
	parts []trace.PartInfo
}

// FilesOf returns the files of all recordings.
func FilesOf(recordings []Recording) (files []string) {
	for _, r := range recordings {
		files = append(files, r.Files...)
	}
	return files
}

// OnDisk returns the files without standard input.
func OnDisk(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == StandardInput })
}

// open opens the recording. in is standard input; watch gets each file that is opened.
func (r *Recording) open(in io.Reader, watch func(io.Reader) io.Reader) (*source.Source, error) {
	if r.Name == StandardInput {
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
		return openFile(r.Name)
	}
	var parts []source.Part
	for i, file := range r.Files {
		parts = append(parts, source.Part{PartInfo: r.parts[i],
			Open: func() (*source.Source, error) { return openFile(file) }})
	}
	return source.NewParts(parts), nil
}

// FindRecordings returns the recordings that the arguments name, each once: files, standard input, and the recordings
// in directories. For a file that is a part of a recording, it also finds the other parts in the same directory.
func FindRecordings(args []string) ([]Recording, error) {
	var files []string
	opened := map[string]saidPart{}
	inputs := 0
	for _, arg := range args {
		switch {
		case arg == StandardInput:
			if inputs++; inputs > 1 {
				return nil, Misuse("standard input can be read only once")
			}
			files = append(files, arg)
		case IsDirectory(arg):
			found, err := recordingsBelow(arg, opened)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("%s: the directory has no recording", arg)
			}
			files = append(files, found...)
		default:
			if _, err := os.Stat(arg); err != nil && userfile.IsPattern(arg) {
				matching, err := recordingsOf(arg)
				if err != nil {
					return nil, err
				}
				files = append(files, matching...)
				continue
			} else if err != nil {
				return nil, fmt.Errorf("recording: %w", err)
			}
			files = append(files, filepath.Clean(arg))
		}
	}
	return joinParts(unique(files), opened), nil
}

// unique returns the files, each once.
func unique(files []string) (list []string) {
	seen := map[string]bool{}
	for _, file := range files {
		if !seen[file] {
			seen[file] = true
			list = append(list, file)
		}
	}
	return list
}

// recordingsOf returns the recordings that match a pattern, and those in the directories that match it.
func recordingsOf(pattern string) (files []string, err error) {
	paths, err := userfile.Expand(pattern)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	for _, path := range paths {
		if !IsDirectory(path) {
			files = append(files, path)
			continue
		}
		found, err := RecordingsBelow(path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// RecordingsBelow returns the files in the directory and below it that begin as a recording.
func RecordingsBelow(dir string) ([]string, error) {
	return recordingsBelow(dir, map[string]saidPart{})
}

// recordingsBelow adds what the files say to opened: each is opened once, because there may be many.
func recordingsBelow(dir string, opened map[string]saidPart) ([]string, error) {
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
		said := saidPart{}
		said.part, said.ok = partIn(r)
		opened[path] = said
		found = append(found, path)
		return r.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("recordings: %w", err)
	}
	return found, nil
}

// RecordingSize returns the total size of the files that exist.
func RecordingSize(files []string) (total int64) {
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			total += info.Size()
		}
	}
	return total
}

// Watched is a reader of a recording. It reports progress to Advance, and fails when Ctx is canceled.
type Watched struct {
	io.Reader
	Ctx     context.Context
	Advance func(n int)
}

// Read implements io.Reader.
func (w Watched) Read(p []byte) (int, error) {
	if err := w.Ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.Reader.Read(p)
	w.Advance(n)
	return n, err
}

// The formats of analyze that record knows.
const (
	FormatReport = "report"
	FormatTable  = "table"
)

// Answer is what record wants of analyze.
type Answer struct {
	Recordings     []string // files
	Mapping        string   // its file
	Format, Output string
	// End is called for each recording when it has been read.
	End func(*analysis.Recording)
	// Profile returns, when all has been read, the file to which methods are added that the next recording need not
	// trace, "" for none. Learned is called with how many there are. In the format report only.
	Profile func() string
	Learned func(methods int)
}
