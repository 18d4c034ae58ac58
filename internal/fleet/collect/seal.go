package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/tracegen/tracegen/internal/fleet/lake"
)

const (
	// retry is how soon a segment is written again that could not be written.
	retry = 15 * time.Second
	// upkeep is how often files are merged, and what is too old is removed.
	upkeep = time.Hour
)

// write writes complete segments as Parquet files until the store is closed.
func (s *Store) write() {
	defer close(s.stopped)
	timer := time.NewTicker(retry)
	defer timer.Stop()
	s.finish()
	for {
		select {
		case <-s.seal:
			s.finish()
		case <-timer.C:
			s.finish()
		case <-s.stop:
			s.unfinished = !s.finish() // as far as there is time, see Close
			return
		}
	}
}

// errSegment is the error of a segment that cannot be read. It does not stop others.
var errSegment = errors.New("a segment cannot be read")

// finish writes the complete segments, and reports whether all of them are written.
func (s *Store) finish() bool {
	names, err := s.log.names()
	if err != nil {
		s.warn(err)
		return false
	}
	left := 0
	for _, name := range names {
		if err = s.finishSegment(name); err == nil {
			continue
		}
		left++
		if s.ctx.Err() != nil {
			return false // the next process does it
		}
		s.warn(fmt.Errorf("a segment cannot be written as Parquet; it stays, and is tried again in %s: %w", retry, err))
		if !errors.Is(err, errSegment) {
			return false
		}
	}
	return left == 0
}

// finishSegment writes a segment as Parquet files, one for each partition, and removes it. The files have its name: if
// the process is killed in between, the next one writes the same files again.
func (s *Store) finishSegment(name string) error {
	parts := map[lake.Partition][]record{}
	_, err := s.log.read(name, func(r *record) error {
		r.ids, r.lines = nil, nil
		parts[r.Partition] = append(parts[r.Partition], *r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errSegment, err)
	}
	f, err := os.Open(s.log.path(name))
	if err != nil {
		return err
	}
	defer f.Close()
	inOrder := slices.SortedFunc(maps.Keys(parts), lake.Partition.Compare)
	var written int64
	err = s.lake.UntilStable(s.ctx, func(forgotten *lake.Forgotten) error {
		written = 0
		for _, p := range inOrder {
			size, err := s.lake.Write(s.ctx, p.Dir()+name+".parquet", func(add func(*lake.Row) error) error {
				return s.rows(f, parts[p], s.lake.Naming(p.Mapping), func(r *lake.Row) error {
					if forgotten.Has(r) {
						return nil
					}
					return add(r)
				})
			})
			if err != nil {
				return err
			}
			written += size
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.used.Add(written)
	info, err := f.Stat()
	f.Close() // Windows removes no open file
	if err := errors.Join(err, s.log.remove(name)); err != nil {
		return err
	}
	s.waiting.Add(-recordBytes(info))
	return nil
}

// rows calls add with the row of each report of some records.
func (s *Store) rows(segment *os.File, records []record, naming *lake.Naming, add func(*lake.Row) error) error {
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer unpack.Close()
	for i := range records {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		body := make([]byte, records[i].length)
		if _, err := segment.ReadAt(body, records[i].offset); err != nil {
			return err
		}
		r, _ := decodeRecord(body)
		text, err := unpack.DecodeAll(r.lines, nil)
		if err != nil {
			return fmt.Errorf("%w: %w", errSegment, err)
		}
		for line := range bytes.Lines(text) {
			row, err := naming.Row(string(bytes.TrimSuffix(line, []byte{'\n'})), r.received)
			if err != nil {
				return fmt.Errorf("%w: %w", errSegment, err)
			}
			if err := add(&row); err != nil {
				return err
			}
		}
	}
	return nil
}

// maintain merges small files, with the names that are known now, and removes what is too old, at the start and from
// time to time, until the context is canceled.
func (s *Store) maintain(ctx context.Context) {
	timer := time.NewTicker(upkeep)
	defer timer.Stop()
	for {
		if err := s.maintainOnce(ctx); err != nil && !errors.Is(err, context.Canceled) {
			s.warn(fmt.Errorf("files cannot be merged, or what is too old cannot be removed: %w; it is tried again in %s", err,
				upkeep))
		}
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Store) maintainOnce(ctx context.Context) error {
	var err error
	if !s.NoMaintenance {
		if s.KeepDays > 0 {
			_, err = s.lake.Expire(ctx, s.KeepDays, false)
		}
		_, merged := s.lake.Compact(ctx, lake.ManyFiles)
		err = errors.Join(err, merged)
	}
	return errors.Join(err, s.measure())
}
