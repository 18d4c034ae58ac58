package mapping

import "hash/maphash"

// index finds methods by key. It is an open-addressed hash table with linear probing, at most half full. A slot holds
// 32 bits of the key's hash above the index of the method plus one; 0 is an empty slot. It takes a third of the
// memory of a map[string]uint32. Comparing the hash bits first avoids reading the keys of other methods. The seed is
// random, but no result depends on it.
type index struct {
	seed  maphash.Seed
	slots []uint64
	shift uint // a hash shifted right by it is the slot where a search begins
}

// newIndex makes the index of m's methods. If two methods have the same key it returns their indexes, the lower one
// first; else -1, -1.
func newIndex(m *Mapping) (x index, first, second int) {
	bits := uint(1)
	for 1<<bits < 2*m.size() {
		bits++
	}
	x = index{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<bits), shift: 64 - bits}
	mask := uint64(len(x.slots) - 1)
	var buf []byte
	for i := range m.size() {
		key := m.key(i, &buf)
		h := maphash.String(x.seed, key)
		at := h >> x.shift
		for ; x.slots[at] != 0; at = (at + 1) & mask {
			if s := x.slots[at]; uint32(s>>32) == uint32(h) {
				if j := int(uint32(s)) - 1; m.has(j, key) {
					return x, j, i
				}
			}
		}
		x.slots[at] = h<<32 | uint64(i+1)
	}
	return x, -1, -1
}

// find returns the index of m's method with the key, or -1.
func (x *index) find(m *Mapping, key string) int {
	mask := uint64(len(x.slots) - 1)
	h := maphash.String(x.seed, key)
	for at := h >> x.shift; x.slots[at] != 0; at = (at + 1) & mask {
		if s := x.slots[at]; uint32(s>>32) == uint32(h) {
			if i := int(uint32(s)) - 1; m.has(i, key) {
				return i
			}
		}
	}
	return -1
}
