package cli

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/trace"
)

// PartOf returns which part of which recording a file is. ok is false if it does not say, or cannot be read: the error
// is reported when the recording is read.
func PartOf(file string) (part trace.PartInfo, ok bool) {
	if !BeginsLikeRecording(file) {
		return part, false
	}
	s, err := source.Open(file)
	if err != nil {
		return part, false
	}
	defer s.Close()
	return partIn(s)
}

// partIn is [PartOf] of a file that was opened and not read.
func partIn(s *source.Source) (part trace.PartInfo, ok bool) {
	if s.Reader() == nil {
		return part, false
	}
	c, err := s.Reader().Next()
	meta, isMeta := c.(*trace.Meta)
	if err != nil || !isMeta {
		return part, false
	}
	return meta.Part()
}

// BeginsLikeRecording reports whether a regular file begins as a recording or as a compressed file. It reads four
// bytes, because a directory may have many other files.
func BeginsLikeRecording(file string) bool {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && (string(head[:]) == "TGD1" || head[0] == 0x1F && head[1] == 0x8B)
}

// partKey identifies a recording in a directory. A copy in another directory is another recording.
type partKey struct{ directory, recording string }

// saidPart is what [PartOf] returns.
type saidPart struct {
	part trace.PartInfo
	ok   bool
}

// joinParts makes recordings of files. Files that are parts of one recording become one, at the place of the first of
// them, with the parts that are beside them. Files of other recordings are not added. opened has what is known of some
// files.
func joinParts(files []string, opened map[string]saidPart) []Recording {
	type numbered struct {
		file string
		part trace.PartInfo
	}
	parts := map[partKey][]numbered{}
	known := map[string]bool{}
	var keys []partKey // by file, zero for one that is no part
	for _, file := range files {
		said, ok := opened[file]
		if !ok && file != StandardInput {
			said.part, said.ok = PartOf(file)
		}
		key := partKey{}
		if said.ok {
			key = partKey{filepath.Dir(file), said.part.Recording}
			if !known[file] {
				parts[key] = append(parts[key], numbered{file, said.part})
			}
		}
		known[file] = true
		keys = append(keys, key)
	}
	looked := map[string]bool{"": true}
	for _, key := range keys {
		if looked[key.directory] {
			continue
		}
		looked[key.directory] = true
		entries, _ := os.ReadDir(key.directory)
		for _, e := range entries {
			file := filepath.Join(key.directory, e.Name())
			if known[file] {
				continue
			}
			if part, ok := PartOf(file); ok {
				if sibling := (partKey{key.directory, part.Recording}); parts[sibling] != nil {
					parts[sibling] = append(parts[sibling], numbered{file, part})
				}
			}
		}
	}
	var list []Recording
	done := map[partKey]bool{}
	for i, file := range files {
		key := keys[i]
		if key == (partKey{}) {
			list = append(list, Recording{Name: file, Files: []string{file}})
			continue
		}
		if done[key] {
			continue
		}
		done[key] = true
		of := parts[key]
		slices.SortStableFunc(of, func(a, b numbered) int { return cmp.Compare(a.part.Number, b.part.Number) })
		// Of two copies of a part, one is enough.
		of = slices.CompactFunc(of, func(a, b numbered) bool { return a.part.Number == b.part.Number })
		r := Recording{Name: of[len(of)-1].file}
		for _, n := range of {
			r.Files, r.parts = append(r.Files, n.file), append(r.parts, n.part)
		}
		list = append(list, r)
	}
	return list
}
