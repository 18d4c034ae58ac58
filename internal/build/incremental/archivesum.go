package incremental

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// An archive is hashed once, for two purposes: each entry has a hash, by which its class is known again in another
// state of the archive, and the hash of the whole is made of those and of the bytes between the data of entries. In the
// order in which they lie in the file, entries are taken together in parts, which workers share. Each byte of the file
// is hashed: the data of an entry with it, and all else (local headers, data descriptors, bytes that no entry has)
// with the part of the next entry, or behind all parts (the central directory, comments).

// classID is the hash of a class's entry: of its data as they are compressed, and of all that says what they mean.
type classID [sha256.Size]byte

// entriesPerPart is the number of entries of all parts but the last. It is part of what an archive's hash means.
const entriesPerPart = 256

// sumArchive returns the hash of an archive, and those of its entries in the order of [jar.Archive.Entries]. The error
// is the context's, or says that the file has become shorter.
func sumArchive(ctx context.Context, a *zipfile.Archive, workers int) (cache.Key, []classID, error) {
	entries := a.Entries()
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(entries[x].Offset(), entries[y].Offset()) })
	ids := make([]classID, len(entries))
	parts := (len(entries) + entriesPerPart - 1) / entriesPerPart
	sums := make([]cache.Key, parts+1) // the last is of what lies behind all data
	var next atomic.Int64
	var group errgroup.Group
	for range min(max(workers, 1), len(sums)) {
		group.Go(func() error {
			s := newPartSum(a, ids)
			for {
				n := int(next.Add(1)) - 1
				if n >= len(sums) || ctx.Err() != nil {
					return ctx.Err()
				}
				from := min(n*entriesPerPart, len(order))
				at := int64(0)
				if from > 0 {
					at = entries[order[from-1]].DataEnd()
				}
				part := order[from:min(from+entriesPerPart, len(order))]
				if err := a.Guard(func() { sums[n] = s.sum(at, part) }); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return cache.Key{}, nil, err
	}
	a.Release(0, a.Size())
	h := sha256.New()
	for i := range sums {
		h.Write(sums[i][:])
	}
	return cache.KeyOf("archive 1", string(h.Sum(nil))), ids, nil
}

// partSum hashes parts of an archive. It is for one goroutine.
type partSum struct {
	archive  *zipfile.Archive
	ids      []classID
	of, each hash.Hash // of the part, and of one entry
}

func newPartSum(a *zipfile.Archive, ids []classID) *partSum {
	return &partSum{a, ids, sha256.New(), sha256.New()}
}

// sum hashes the entries with these numbers, which lie one behind the other, with the bytes in front of their data from
// the offset on; without entries, all bytes from there on. It sets the hashes of the entries.
func (s *partSum) sum(from int64, entries []int) (sum cache.Key) {
	s.of.Reset()
	for _, n := range entries {
		e := &s.archive.Entries()[n]
		s.between(from, e.DataStart())
		s.ids[n] = idOf(s.each, e)
		s.of.Write(s.ids[n][:])
		from = e.DataEnd()
	}
	if len(entries) == 0 {
		s.between(from, s.archive.Size())
	}
	s.of.Sum(sum[:0])
	return sum
}

// between hashes bytes that are not data of an entry, and how many they are: otherwise they could be taken for the hash
// of an entry.
func (s *partSum) between(from, to int64) {
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(to-from))
	s.of.Write(length[:])
	s.of.Write(s.archive.Bytes(from, to))
}

// idOf returns the hash of an entry.
func idOf(h hash.Hash, e *zipfile.Entry) (id classID) {
	h.Reset()
	var head [8 + 4 + 2 + 2]byte
	binary.BigEndian.PutUint64(head[:], e.Size)
	binary.BigEndian.PutUint32(head[8:], e.CRC32)
	binary.BigEndian.PutUint16(head[12:], e.Method)
	binary.BigEndian.PutUint16(head[14:], e.Flags)
	h.Write(head[:])
	h.Write(e.Raw())
	h.Sum(id[:0])
	return id
}
