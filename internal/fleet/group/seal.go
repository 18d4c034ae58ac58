package group

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Every value in a store has a checksum of its bucket, its key and itself before it, so that a damaged store is
// recognized: the database itself has checksums of its two header pages only.
const sealSize = 8

// keyCounts is the key in bucketFormat of the numbers of keys in the other buckets, in JSON.
var keyCounts = []byte("counts")

// kept has the buckets with what a store keeps.
var kept = [][]byte{bucketRecordings, bucketStalls, bucketReports, bucketReported, bucketSpans}

// seal puts the checksum before a value.
func seal(bucket, key, value []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d ", bucket, len(key))
	h.Write(key)
	h.Write(value)
	return append(h.Sum(nil)[:sealSize:sealSize], value...)
}

// unseal returns the value, and false if its checksum is wrong.
func unseal(bucket, key, sealed []byte) ([]byte, bool) {
	if len(sealed) < sealSize {
		return nil, false
	}
	value := sealed[sealSize:]
	return value, bytes.Equal(seal(bucket, key, value), sealed)
}

// transaction is a transaction of the database that seals what it writes.
type transaction struct {
	*bolt.Tx
	counts map[string]int64 // of keys by bucket; nil if it only reads
}

// table is a bucket whose values are sealed.
type table struct {
	*bolt.Bucket
	name []byte
	tx   *transaction
}

func (tx *transaction) table(name []byte) table { return table{tx.Bucket(name), name, tx} }

// get returns the value of a key, nil if it is not there.
func (t table) get(key []byte) ([]byte, error) {
	sealed := t.Get(key)
	if sealed == nil {
		return nil, nil
	}
	return t.open(key, sealed)
}

func (t table) open(key, sealed []byte) ([]byte, error) {
	value, ok := unseal(t.name, key, sealed)
	if !ok {
		return nil, fmt.Errorf("the store is damaged: the entry %q in %s has another checksum", key, t.name)
	}
	return value, nil
}

func (t table) has(key []byte) bool { return t.Get(key) != nil }

func (t table) put(key, value []byte) error {
	if !t.has(key) {
		t.tx.counts[string(t.name)]++
	}
	return t.Put(key, seal(t.name, key, value))
}

func (t table) remove(key []byte) error {
	if t.has(key) {
		t.tx.counts[string(t.name)]--
	}
	return t.Delete(key)
}

// each calls a function with all entries.
func (t table) each(do func(key, value []byte) error) error {
	return t.ForEach(func(key, sealed []byte) error {
		value, err := t.open(key, sealed)
		if err != nil {
			return err
		}
		return do(key, value)
	})
}

// update runs a function that changes the store.
func (s *Store) update(do func(*transaction) error) error {
	return s.guard(func() error {
		return s.db.Update(func(tx *bolt.Tx) error {
			t := &transaction{tx, map[string]int64{}}
			format := t.table(bucketFormat)
			text, err := format.get(keyCounts)
			if err != nil {
				return err
			}
			if text != nil {
				if err := json.Unmarshal(text, &t.counts); err != nil {
					return err
				}
			}
			if err := do(t); err != nil {
				return err
			}
			if text, err = json.Marshal(t.counts); err != nil {
				return err
			}
			return format.Put(keyCounts, seal(bucketFormat, keyCounts, text))
		})
	})
}

// view runs a function that reads the store.
func (s *Store) view(do func(*transaction) error) error {
	return s.guard(func() error {
		return s.db.View(func(tx *bolt.Tx) error { return do(&transaction{Tx: tx}) })
	})
}
