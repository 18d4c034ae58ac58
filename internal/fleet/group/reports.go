package group

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// A store with reports has two more buckets. bucketReports has each report by its ID, with the key of its stall, or
// [recorded] if the store has the stall from a recording. bucketReported has the digest that stands for a recording
// of which the store has reports, by the recording's ID: that of its content if the recording was added, or else
// [reportedDigest].
//
// A report's stall has a key that ends in the SHA-256 of the report's ID in place of a number.
var (
	bucketReports  = []byte("reports")
	bucketReported = []byte("reported")
	recorded       = []byte{1}
)

// reportedDigest stands for a recording that is not in the store itself.
func reportedDigest(id string) Digest { return sha256.Sum256([]byte("recording " + id)) }

// AddReports adds stalls that devices have reported, all or none, and returns how many are new. A report that is there
// already stays as it is, and so does the stall of a recording that the report is about. A stall that does not count is
// not added. Each stall must have a ReportID.
func (s *Store) AddReports(stalls []analysis.Row) (added int, err error) {
	err = s.update(func(tx *transaction) error {
		added = 0
		reports, reported := tx.table(bucketReports), tx.table(bucketReported)
		for i := range stalls {
			c := &stalls[i]
			if c.NotCounted != "" || reports.has([]byte(c.ReportID)) {
				continue
			}
			d := reportedDigest(c.Recording)
			known, err := reported.get([]byte(c.Recording))
			if err != nil {
				return err
			}
			if known != nil {
				copy(d[:], known)
			} else {
				info, err := json.Marshal(Info{Name: c.Recording, Version: c.Version, Code: c.Code, User: c.User,
					ID: c.Recording})
				if err != nil {
					return err
				}
				if err := tx.table(bucketRecordings).put(d[:], info); err != nil {
					return err
				}
				if err := reported.put([]byte(c.Recording), d[:]); err != nil {
					return err
				}
			}
			if err := putReport(tx, c, d); err != nil {
				return err
			}
			if err := putSpan(tx, c.Recording, c); err != nil {
				return err
			}
			added++
		}
		return nil
	})
	return added, err
}

// putReport stores the stall of a report, of a recording for which d stands.
func putReport(tx *transaction, c *analysis.Row, d Digest) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	number := sha256.Sum256([]byte(c.ReportID))
	key := append([]byte(c.Key), 0)
	key = append(append(key, d[:]...), number[:]...)
	if err := tx.table(bucketStalls).put(key, text); err != nil {
		return err
	}
	return tx.table(bucketReports).put([]byte(c.ReportID), key)
}

// takeOver makes the reports of a recording that is added belong to it. A report of a stall that the recording has is
// removed: the recording shows more of the stall, also whether it counts.
func takeOver(tx *transaction, e *Entry) error {
	if e.Info.ID == "" {
		return nil
	}
	reports, reported, stalls := tx.table(bucketReports), tx.table(bucketReported), tx.table(bucketStalls)
	of := map[string]bool{}
	for i := range e.Stalls {
		if id := e.Stalls[i].ReportID; id != "" {
			of[id] = true
		}
	}
	// A cursor must not be used while its bucket changes.
	type report struct{ id, key []byte }
	var known []report
	prefix := []byte(e.Info.ID + "-")
	c := reports.Cursor()
	for id, sealed := c.Seek(prefix); bytes.HasPrefix(id, prefix); id, sealed = c.Next() {
		key, err := reports.open(id, sealed)
		if err != nil {
			return err
		}
		known = append(known, report{bytes.Clone(id), bytes.Clone(key)})
	}
	for _, r := range known {
		if bytes.Equal(r.key, recorded) {
			continue
		}
		text, err := stalls.get(r.key)
		if err != nil {
			return err
		}
		text = bytes.Clone(text)
		if err := stalls.remove(r.key); err != nil {
			return err
		}
		var c analysis.Row
		if of[string(r.id)] || json.Unmarshal(text, &c) != nil {
			continue
		}
		if err := putReport(tx, &c, e.Recording); err != nil {
			return err
		}
	}
	for id := range of {
		if err := reports.put([]byte(id), recorded); err != nil {
			return err
		}
	}
	if d := reportedDigest(e.Info.ID); len(known) > 0 {
		if err := tx.table(bucketRecordings).remove(d[:]); err != nil {
			return err
		}
	}
	return reported.put([]byte(e.Info.ID), e.Recording[:])
}
