package mapping

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"sync"
)

// freeIDs knows which IDs are free. It is a union-find forest over the IDs and
// an end mark: next[id] is id itself while id is free, else an ID on the way to
// the next free one. Probing slot by slot would take hundreds of steps for each
// method when the IDs are nearly used up; this takes a few.
type freeIDs struct {
	next []uint32
}

func newFreeIDs() *freeIDs {
	f := &freeIDs{next: make([]uint32, Capacity+2)}
	for id := range f.next {
		f.next[id] = uint32(id)
	}
	return f
}

// from gives the first free ID going up from id, going on at 1 after Capacity.
// One must be free.
func (f *freeIDs) from(id uint32) uint32 {
	if id = f.find(id); id > Capacity {
		id = f.find(1)
	}
	return id
}

// find gives the first free ID that is not below id, or Capacity+1.
func (f *freeIDs) find(id uint32) uint32 {
	for f.next[id] != id {
		f.next[id] = f.next[f.next[id]] // halves the path for those to come
		id = f.next[id]
	}
	return id
}

// take makes id no longer free.
func (f *freeIDs) take(id uint32) { f.next[id] = id + 1 }

// placeByHash gives IDs to the fresh ones of the living, which must be sorted.
func placeByHash(living []record, fresh []int32, free *freeIDs) {
	homes := make([]uint32, len(fresh))
	// Half of the time of an assignment is this hashing. Each home depends on
	// one key alone, so that the number of workers does not show.
	workers := min(runtime.GOMAXPROCS(0), 1+len(fresh)/4096)
	var group sync.WaitGroup
	for w := range workers {
		from, to := len(fresh)*w/workers, len(fresh)*(w+1)/workers
		group.Go(func() {
			var buf []byte
			for i := from; i < to; i++ {
				buf = append(buf[:0], living[fresh[i]].key...)
				homes[i] = home(buf)
			}
		})
	}
	group.Wait()
	for i, at := range fresh {
		id := free.from(homes[i])
		free.take(id)
		living[at].id = id
	}
}

// home gives the ID at which the search for a free one begins.
func home(key []byte) uint32 {
	sum := sha256.Sum256(key)
	mod := uint64(0)
	for i := 0; i < len(sum); i += 4 {
		mod = (mod<<32 | uint64(binary.BigEndian.Uint32(sum[i:]))) % Capacity
	}
	return uint32(1 + mod)
}

// sortByID returns the records sorted by their IDs, which must be different.
func sortByID(records []record) []record {
	at := make([]int32, Capacity+1)
	for i := range records {
		at[records[i].id] = int32(i + 1)
	}
	sorted := make([]record, 0, len(records))
	for _, i := range at {
		if i > 0 {
			sorted = append(sorted, records[i-1])
		}
	}
	return sorted
}
