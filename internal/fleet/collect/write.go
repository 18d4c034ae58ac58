package collect

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
)

const (
	// maxSegments is how many files of segments a directory of the current day may have before they are merged.
	maxSegments = 60
	// upkeep is how often files of past days are merged, and what is too old is removed.
	upkeep = time.Minute
	// deleted is how many IDs one transaction removes.
	deleted = 10_000
)

// write writes files until the store is closed.
func (s *Store) write() {
	defer close(s.stopped)
	timer := time.NewTicker(upkeep)
	defer timer.Stop()
	s.maintain()
	for {
		select {
		case <-s.seal:
			s.finish()
		case <-timer.C:
			s.maintain()
		case <-s.stop:
			s.finish() // as far as there is time, see Close
			return
		}
	}
}

// finish writes the complete segments as Parquet files, and reports whether all of them are written.
func (s *Store) finish() bool {
	for {
		segment := uint64(0)
		err := s.db.View(func(tx *bolt.Tx) error {
			if key, _ := tx.Bucket(bucketSegments).Cursor().First(); len(key) == 8 {
				segment = binary.BigEndian.Uint64(key)
			}
			return nil
		})
		if err == nil && (segment == 0 || segment > s.sealed.Load()) {
			return true
		}
		if s.late.Load() {
			return false // the next process does it
		}
		if err == nil {
			err = s.finishSegment(segment)
		}
		if err != nil {
			s.warn(fmt.Errorf("segment %d cannot be written as Parquet; it stays in %s: %w", segment, database, err))
			return false
		}
	}
}

// finishSegment writes a segment as Parquet files, and removes it from the database.
func (s *Store) finishSegment(segment uint64) error {
	var last []byte
	for {
		next, err := s.finishPartition(segment, last)
		if err != nil {
			return err
		}
		if next == nil {
			break
		}
		if last = next; s.late.Load() {
			return nil
		}
	}
	return s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketSegments).DeleteBucket(number(segment)) })
}

// finishPartition writes the partition of a segment that follows the one with the given prefix; nil for the first. It
// returns its prefix, nil if there is none.
func (s *Store) finishPartition(segment uint64, last []byte) (prefix []byte, err error) {
	var out *rows
	var p partition
	// A transaction that reads keeps removed pages from being used again; it lasts for one file.
	err = s.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketSegments).Bucket(number(segment)).Cursor()
		key, value := c.First()
		if last != nil {
			// The last byte of a prefix is 0.
			key, value = c.Seek(append(bytes.Clone(last[:len(last)-1]), 1))
		}
		if key == nil {
			return nil
		}
		var err error
		if p, prefix, err = partitionOf(bytes.Clone(key)); err != nil {
			return err
		}
		dir := filepath.Join(s.dir, filepath.FromSlash(p.dir()))
		if err := makeDirs(s.dir, dir); err != nil {
			return err
		}
		if out, err = createRows(dir); err != nil {
			return err
		}
		names, found := s.names(p.mapping)
		unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		defer unpack.Close()
		for ; bytes.HasPrefix(key, prefix); key, value = c.Next() {
			if len(value) < 8 {
				return fmt.Errorf("the database is damaged: value of key %q", key)
			}
			text, err := unpack.DecodeAll(value[8:], nil)
			if err != nil {
				return fmt.Errorf("the database is damaged: %w", err)
			}
			received := int64(binary.BigEndian.Uint64(value))
			for line := range strings.Lines(string(text)) {
				if err := s.addRow(out, strings.TrimSuffix(line, "\n"), received, names, found); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if out == nil || err != nil {
		if out != nil {
			out.abort()
		}
		return nil, err
	}
	return prefix, s.publish(out, fmt.Sprintf("segment-%012d.parquet", segment))
}

// names returns the names of a build. found is false if its mapping is not there or damaged, but may come later; the
// names are those of no mapping then.
func (s *Store) names(mapping string) (names *resolve.Names, found bool) {
	if mapping == none || mapping == others {
		return resolve.NewNames(nil, nil), mapping == none
	}
	if s.Names != nil {
		var err error
		if names, err = s.Names(mapping); err != nil {
			s.warn(fmt.Errorf("mapping %s cannot be read, and reports of its build get no names: %w", mapping, err))
			names = nil
		}
	}
	if names == nil {
		return resolve.NewNames(nil, nil), false
	}
	return names, true
}

// addRow writes the row of a report. It has IDs of methods if the mapping of its build was not found.
func (s *Store) addRow(out *rows, line string, received int64, names *resolve.Names, found bool) error {
	r, err := devicereport.Parse(line)
	if err != nil {
		return fmt.Errorf("a stored report is damaged: %w", err)
	}
	stall := analysis.RowOfReport(r, names, s.R8)
	return out.add(newRow(r, line, received, &stall, found || len(r.HotPath) == 0))
}

// publish makes a file of a partition appear under its name.
func (s *Store) publish(out *rows, name string) error {
	temp, err := out.close()
	if err != nil {
		os.Remove(temp)
		return err
	}
	target := filepath.Join(filepath.Dir(temp), name)
	var before int64
	if info, err := os.Stat(target); err == nil {
		before = info.Size()
	}
	if info, err := os.Stat(temp); err == nil {
		s.used.Add(info.Size() - before)
	}
	if err := os.Rename(temp, target); err != nil {
		return err
	}
	atomicfile.SyncDirectory(filepath.Dir(target))
	return nil
}

// maintain removes what is too old, and merges small files, with the names that are known now.
//
// All complete segments must be written before. Some files of a segment may be there while the segment is still in the
// database, because the process was killed or a file could not be written. The segment is written once more then, with
// the same names: a merge before that would leave its reports in two files.
func (s *Store) maintain() {
	if !s.finish() {
		return
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{{"what is too old cannot be removed", s.expire}, {"files cannot be merged", s.merge}} {
		if err := step.do(); err != nil {
			s.warn(fmt.Errorf("%s: %w; it is tried again in %s", step.what, err, upkeep))
		}
	}
}

// dated is a directory of one partition.
type dated struct {
	partition
	path string
}

// partitions returns the directories of reports.
func (s *Store) partitions() (found []dated, err error) {
	apps, err := subdirectories(filepath.Join(s.dir, reportsDir), "package=")
	for _, app := range apps {
		mappings, err := subdirectories(app.path, "mapping=")
		if err != nil {
			return nil, err
		}
		for _, m := range mappings {
			days, err := subdirectories(m.path, "date=")
			if err != nil {
				return nil, err
			}
			for _, day := range days {
				found = append(found, dated{partition{app.value, m.value, day.value}, day.path})
			}
		}
	}
	return found, err
}

// subdirectory is a directory KEY=VALUE.
type subdirectory struct{ value, path string }

func subdirectories(dir, prefix string) (found []subdirectory, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if value, ok := strings.CutPrefix(e.Name(), prefix); ok && e.IsDir() {
			found = append(found, subdirectory{value, filepath.Join(dir, e.Name())})
		}
	}
	return found, err
}

// parquetFiles returns the Parquet files of a directory that are complete, in the order of their names.
func parquetFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".parquet") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// merging is a merge that is in progress: a temporary file gets the name of the target, and the sources are removed.
type merging struct {
	Temporary string   `json:"temporary"`
	Target    string   `json:"target"`
	Sources   []string `json:"sources"`
}

// merge writes the files of each directory of a past day into one, also if it is a single segment, whose mapping may
// have come meanwhile; and merges those of the current day if there are many.
func (s *Store) merge() error {
	all, err := s.partitions()
	if err != nil {
		return err
	}
	today := s.Now().UTC().Format(time.DateOnly)
	for _, d := range all {
		names, err := parquetFiles(d.path)
		if err != nil {
			return err
		}
		var segments []string
		for _, name := range names {
			if strings.HasPrefix(name, "segment-") {
				segments = append(segments, name)
			}
		}
		sources := names
		switch {
		case d.date >= today && len(segments) < maxSegments:
			continue
		case d.date >= today:
			sources = segments // the merged files of this day grow large; they are merged once when it has passed
		}
		if len(sources) < 2 && len(segments) == 0 {
			continue
		}
		if err := s.mergeFiles(d, sources); err != nil {
			return err
		}
	}
	return nil
}

// mergeFiles replaces files of a directory by one.
func (s *Store) mergeFiles(d dated, sources []string) error {
	out, err := s.rewrite(d, sources)
	if err != nil {
		return err
	}
	temp, err := out.close()
	if err != nil {
		os.Remove(temp)
		return err
	}
	last := slices.Max(sources)
	m := merging{filepath.Base(temp), "merged-" + last[strings.LastIndexByte(last, '-')+1:], sources}
	m.Sources = slices.DeleteFunc(slices.Clone(sources), func(name string) bool { return name == m.Target })
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if info, err := os.Stat(temp); err == nil {
		s.used.Add(info.Size())
	}
	key, err := filepath.Rel(s.dir, d.path)
	if err != nil {
		return err
	}
	err = s.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMerges).Put([]byte(filepath.ToSlash(key)), text)
	})
	if err != nil {
		os.Remove(temp)
		return err
	}
	return s.completeMerges()
}

// rewrite writes the rows of files of a directory into a new one, with the names that are known now.
func (s *Store) rewrite(d dated, sources []string) (*rows, error) {
	names, found := s.names(d.mapping)
	out, err := createRows(d.path)
	if err != nil {
		return nil, err
	}
	for _, name := range sources {
		err := readRows(filepath.Join(d.path, name), func(r *row) error {
			if r.Named {
				return out.add(*r)
			}
			return s.addRow(out, r.Report, r.Received, names, found)
		})
		if err != nil {
			out.abort()
			return nil, err
		}
	}
	return out, nil
}

// completeMerges does what is left of the merges that the database has.
func (s *Store) completeMerges() error {
	found := map[string]merging{}
	err := s.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketMerges).ForEach(func(key, value []byte) error {
			var m merging
			if err := json.Unmarshal(value, &m); err != nil {
				return fmt.Errorf("the database is damaged: merge of %s: %w", key, err)
			}
			found[string(key)] = m
			return nil
		})
	})
	if err != nil {
		return err
	}
	for key, m := range found {
		if err := s.completeMerge(filepath.Join(s.dir, filepath.FromSlash(key)), m); err != nil {
			return err
		}
		err = s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMerges).Delete([]byte(key)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// completeMerge does what is left of one merge in a directory. The sources are removed only if the target is there.
func (s *Store) completeMerge(dir string, m merging) error {
	target := filepath.Join(dir, m.Target)
	if err := os.Rename(filepath.Join(dir, m.Temporary), target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	atomicfile.SyncDirectory(dir)
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		return nil // the directory, or the file, was removed
	} else if err != nil {
		return err
	}
	for _, name := range m.Sources {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil {
			s.used.Add(-info.Size())
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	atomicfile.SyncDirectory(dir)
	return nil
}
