package mapping

import "hash/maphash"

// index finds records by key: an open-addressed table whose slots hold 32 bits
// of the key's hash above the record's index plus one. It is a third of a
// map[string]uint32, and the hash bits spare the reading of all keys but the
// right one. Nothing that leaves the package depends on the seed.
type index struct {
	seed  maphash.Seed
	slots []uint64
	shift uint // of a hash, to a slot
}

// newIndex makes the index of records. If two have one key it returns their
// positions, the lower first; else -1, -1.
func newIndex(records []record) (x index, first, second int) {
	bits := uint(1)
	for 1<<bits < 2*len(records) {
		bits++
	}
	x = index{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<bits), shift: 64 - bits}
	mask := uint64(len(x.slots) - 1)
	for i := range records {
		h := maphash.String(x.seed, records[i].key)
		at := h >> x.shift
		for ; x.slots[at] != 0; at = (at + 1) & mask {
			if s := x.slots[at]; uint32(s>>32) == uint32(h) {
				if j := int(uint32(s)) - 1; records[j].key == records[i].key {
					return x, j, i
				}
			}
		}
		x.slots[at] = h<<32 | uint64(i+1)
	}
	return x, -1, -1
}

// find gives the position of the record with the key, or -1.
func (x *index) find(records []record, key []byte) int {
	mask := uint64(len(x.slots) - 1)
	h := maphash.Bytes(x.seed, key)
	for at := h >> x.shift; x.slots[at] != 0; at = (at + 1) & mask {
		if s := x.slots[at]; uint32(s>>32) == uint32(h) {
			if i := int(uint32(s)) - 1; records[i].key == string(key) {
				return i
			}
		}
	}
	return -1
}
