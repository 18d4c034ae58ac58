package mapping

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync"
)

// freeIDs is the set of free IDs. It has one bit for each ID and, above these, two levels of bits; a bit there says
// whether the word below it has any bit set. Finding the first free ID from any ID on takes at most six words,
// however full the set is; trying ID after ID would take hundreds of steps for each method when the IDs are nearly
// used up. All levels together are about 130 KB and fit into a processor's cache.
type freeIDs struct {
	levels [3][]uint64
}

func newFreeIDs() *freeIDs {
	f := &freeIDs{}
	for l, n := 0, Capacity+1; l < len(f.levels); l++ {
		words := make([]uint64, (n+63)/64)
		for i := range words {
			words[i] = 1<<64 - 1
		}
		words[len(words)-1] >>= (64 - n%64) % 64
		f.levels[l], n = words, len(words)
	}
	f.take(0)
	return f
}

// from returns the first free ID at or above id, continuing at 1 after Capacity. At least one ID must be free.
func (f *freeIDs) from(id uint32) uint32 {
	free, ok := f.search(0, int(id))
	if !ok {
		free, _ = f.search(0, 1)
	}
	return uint32(free)
}

// search returns the first bit of a level that is set and not below at.
func (f *freeIDs) search(level, at int) (int, bool) {
	words := f.levels[level]
	word := at / 64
	if word >= len(words) {
		return 0, false
	}
	if rest := words[word] >> (at % 64) << (at % 64); rest != 0 {
		return word*64 + bits.TrailingZeros64(rest), true
	}
	if level+1 < len(f.levels) {
		var ok bool
		if word, ok = f.search(level+1, word+1); !ok {
			return 0, false
		}
		return word*64 + bits.TrailingZeros64(words[word]), true
	}
	for word++; word < len(words); word++ {
		if words[word] != 0 {
			return word*64 + bits.TrailingZeros64(words[word]), true
		}
	}
	return 0, false
}

// take removes id from the set.
func (f *freeIDs) take(id uint32) {
	for _, words := range f.levels {
		words[id/64] &^= 1 << (id % 64)
		if id /= 64; words[id] != 0 {
			return
		}
	}
}

// placeByHash sets the IDs of the living methods with the indexes fresh, which must be in sorted order.
func placeByHash(t *methodTable, living []assignment, fresh []int32, free *freeIDs) {
	homes := make([]uint32, len(fresh))
	parallel(len(fresh), func(from, to int) {
		var buf []byte
		for i := from; i < to; i++ {
			buf = t.appendKey(buf[:0], int(living[fresh[i]].method))
			homes[i] = home(buf)
		}
	})
	for i, at := range fresh {
		id := free.from(homes[i])
		free.take(id)
		living[at].id = id
	}
}

// parallel calls do for parts of [0, n), on all processors if n is large enough. What do does for one number must not
// depend on other numbers, so that the number of parts makes no difference.
func parallel(n int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), 1+n/4096)
	var group sync.WaitGroup
	for w := range workers {
		from, to := n*w/workers, n*(w+1)/workers
		group.Go(func() { do(from, to) })
	}
	group.Wait()
}

// home returns the ID at which the search for a free ID begins: the hash of the key, reduced as the package comment
// says.
func home(key []byte) uint32 {
	sum := sha256.Sum256(key)
	mod := uint64(0) // the products are below 1<<52
	for i, weight := range digitWeights {
		mod += uint64(binary.BigEndian.Uint32(sum[4*i:])) * weight
	}
	return uint32(1 + mod%Capacity)
}

// digitWeights are the values of the 32-bit digits of a hash, the most significant first, modulo Capacity.
var digitWeights = [sha256.Size / 4]uint64{
	(1 << 224) % Capacity, (1 << 192) % Capacity, (1 << 160) % Capacity, (1 << 128) % Capacity,
	(1 << 96) % Capacity, (1 << 64) % Capacity, (1 << 32) % Capacity, 1,
}

// sortByID returns list sorted by the IDs of its elements. It is a radix sort with two passes of ten bits each, which
// cover all IDs.
func sortByID[T any](list []T, id func(*T) uint32) []T {
	from, to := list, make([]T, len(list))
	for _, shift := range []uint{0, 10} {
		var start [1024 + 1]int
		for i := range from {
			start[id(&from[i])>>shift&1023+1]++
		}
		for digit := range 1024 {
			start[digit+1] += start[digit]
		}
		for i := range from {
			digit := id(&from[i]) >> shift & 1023
			to[start[digit]] = from[i]
			start[digit]++
		}
		from, to = to, from
	}
	return from
}
