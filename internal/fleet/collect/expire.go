package collect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// nearDays is how many days may lie between two days with data, and between the last one and today, so that the later
	// one is believed at once.
	nearDays = 7
	// believedDays is how many days near each other a later group of days must have.
	believedDays = 3
)

// expire removes what has been kept for as long as the options say, once a day.
//
// The clock of the machine alone does not decide: one start with a clock that is months ahead would remove all. Days
// with data are believed if they follow each other, see [today].
func (s *Store) expire() error {
	clock := dayOf(s.Now())
	if s.KeepDays <= 0 || s.expired == clock {
		return nil
	}
	all, err := s.partitions()
	if err != nil {
		return err
	}
	days, err := s.recordingDays()
	if err != nil {
		return err
	}
	for _, d := range all {
		if t, err := time.Parse(time.DateOnly, d.date); err == nil {
			days = append(days, dayOf(t))
		}
	}
	day := today(clock, days)
	if day != clock {
		s.warn(fmt.Errorf("the clock says %s, and the last days with reports are about %s: what is too old is removed by "+
			"these", textOf(clock), textOf(day)))
	}
	oldest := day - uint16(min(int(day), s.KeepDays))
	removed := false
	for _, d := range all {
		if d.date >= textOf(oldest) {
			continue
		}
		if err := os.RemoveAll(d.path); err != nil {
			return err
		}
		os.Remove(filepath.Dir(d.path)) // if it is empty
		removed = true
	}
	gone, err := s.expireRecordings(time.Unix(int64(oldest)*secondsOfDay, 0))
	if err == nil && (removed || gone) {
		err = s.measure(false)
	}
	if err != nil {
		return err
	}
	if err := s.expireIDs(oldest); err != nil {
		return err
	}
	s.expired = clock
	return nil
}

// today returns the day by which is decided what is too old: that of the clock if the last days with data are near it,
// else the last of these. A group of days with data that is far behind the group before counts when it has several
// days: until then a wrong clock may have made it.
func today(clock uint16, days []uint16) uint16 {
	slices.Sort(days)
	days = slices.Compact(days)
	last, size := 0, 0 // the believed day, and how many days its group or a later one has
	for k, d := range days {
		near := k > 0 && d-days[k-1] <= nearDays
		if size++; !near {
			size = 1
		}
		if last == 0 || near && int(days[k-1]) == last || size >= believedDays {
			last = int(d)
		}
	}
	if last > 0 && (int(clock) > last+nearDays || int(clock) < last-nearDays) {
		return uint16(last)
	}
	return clock
}

// textOf returns a day as the directories have it.
func textOf(day uint16) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
}

// eachRecording calls each with the recordings of the store.
func (s *Store) eachRecording(each func(path string, e fs.DirEntry) error) error {
	return filepath.WalkDir(filepath.Join(s.dir, recordingsDir), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && (e.IsDir() || strings.HasPrefix(e.Name(), temporary)) {
			return nil
		}
		if err != nil {
			return err
		}
		return each(path, e)
	})
}

// recordingDays returns the days on which recordings came.
func (s *Store) recordingDays() (days []uint16, err error) {
	return days, s.eachRecording(func(_ string, e fs.DirEntry) error {
		if info, err := e.Info(); err == nil {
			if day := dayOf(info.ModTime()); len(days) == 0 || days[len(days)-1] != day {
				days = append(days, day)
			}
		}
		return nil
	})
}

// expireRecordings removes recordings that came before a time; gone reports whether there were some.
func (s *Store) expireRecordings(oldest time.Time) (gone bool, err error) {
	s.recording.Lock()
	defer s.recording.Unlock()
	return gone, s.eachRecording(func(path string, e fs.DirEntry) error {
		if info, err := e.Info(); err != nil || !info.ModTime().Before(oldest) {
			return err
		}
		gone = true
		err := os.Remove(path)
		os.Remove(filepath.Dir(path)) // if it is empty
		return err
	})
}

// expireIDs removes the IDs of reports that came before a day, some at a time, so that requests are stored in between.
func (s *Store) expireIDs(oldest uint16) error {
	var from []byte
	for {
		var old [][]byte
		more := false
		err := s.db.View(func(tx *bolt.Tx) error {
			c := tx.Bucket(bucketIDs).Cursor()
			read := 0
			for key, value := c.Seek(from); key != nil; key, value = c.Next() {
				if read++; read > 10*deleted || len(old) == deleted {
					from, more = bytes.Clone(key), true
					return nil
				}
				if len(value) == 2 && binary.BigEndian.Uint16(value) < oldest {
					old = append(old, bytes.Clone(key))
				}
			}
			return nil
		})
		if err == nil && len(old) > 0 {
			err = s.db.Update(func(tx *bolt.Tx) error {
				for _, key := range old {
					if err := tx.Bucket(bucketIDs).Delete(key); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil || !more {
			return err
		}
	}
}
