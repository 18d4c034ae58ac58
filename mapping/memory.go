package mapping

import (
	"crypto/sha256"
	"encoding/binary"
)

// Memory keeps the results of assignments for later ones.
type Memory interface {
	// Assigned returns the data of a key as they were kept, or nil.
	Assigned(key [sha256.Size]byte) []byte
	// KeepAssigned keeps the data of a key, or does nothing.
	KeepAssigned(key [sha256.Size]byte, data []byte)
}

// recall returns the IDs that an earlier assignment of the same methods has made, nil if there are none, and the key of
// this one. The key is the hash of all that IDs depend on without a base mapping: the methods in their order, and
// the order of IDs.
func (t *methodTable) recall(o *Options) (known *assigned, key [sha256.Size]byte) {
	if !o.remembers() {
		return nil, key
	}
	key = t.hash(o.Order)
	return t.readAssigned(o.Memory.Assigned(key)), key
}

func (o *Options) remembers() bool { return o.Memory != nil && o.Base == nil }

// hash returns the hash of the methods in their order, and of an order of IDs.
func (t *methodTable) hash(order Order) (sum [sha256.Size]byte) {
	h := sha256.New()
	const full = 60 << 10
	b := make([]byte, 0, 64<<10)
	text := func(s string) {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendUvarint(b, uint64(order))
	for i := range t.classes {
		first, end := t.ofClass(uint32(i))
		text(t.classes[i].name)
		b = binary.AppendUvarint(b, uint64(end-first))
		for m := first; m < end; m++ {
			if m%prefetchCount == 0 {
				t.prefetch(int(m))
			}
			text(t.methods[m].name)
			text(t.methods[m].descriptor)
			b = binary.BigEndian.AppendUint16(b, t.methods[m].access)
			if len(b) > full {
				h.Write(b)
				b = b[:0]
			}
		}
	}
	h.Write(b)
	h.Sum(sum[:0])
	return sum
}

// pack returns an assignment as bytes: the hash of the lines, and for each method its ID, negative if another method
// has the same identity and the assignment.
func (a *assigned) pack(lines [sha256.Size]byte) []byte {
	chosen := make([]bool, len(a.ids))
	for _, s := range a.living {
		chosen[s.method] = true
	}
	b := append(make([]byte, 0, len(lines)+4*len(a.ids)), lines[:]...)
	for i, id := range a.ids {
		if !chosen[i] {
			id = -id
		}
		b = binary.BigEndian.AppendUint32(b, id)
	}
	return b
}

// readAssigned reads what pack has written, nil if it is no assignment of the table's methods.
func (t *methodTable) readAssigned(data []byte) *assigned {
	a := &assigned{}
	if len(data) != len(a.lines)+4*len(t.methods) {
		return nil
	}
	data = data[copy(a.lines[:], data):]
	a.ids, a.living = make([]uint32, len(t.methods)), make([]assignment, 0, len(t.methods))
	taken := make([]bool, Capacity+1)
	for i := range a.ids {
		id := binary.BigEndian.Uint32(data[4*i:])
		if int32(id) < 0 {
			a.ids[i] = -id
			continue
		}
		if id == 0 || id > Capacity || taken[id] {
			return nil
		}
		taken[id] = true
		a.ids[i] = id
		a.living = append(a.living, assignment{uint32(i), id})
	}
	for _, id := range a.ids {
		if id > Capacity || !taken[id] {
			return nil
		}
	}
	a.living = sortAssignments(a.living)
	return a
}
