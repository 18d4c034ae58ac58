package classfile

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFindEntries compares findEntries with checkEntries on random pools, some of them cut off, or with a byte changed.
func TestFindEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var known []Tag
	for tag := range infoSizes {
		if infoSizes[tag] != 0 {
			known = append(known, Tag(tag))
		}
	}
	sound, malformed := 0, 0
	for range 100_000 {
		count := 1 + r.IntN(12)
		data := make([]byte, r.IntN(3))
		start := len(data)
		for i := 1; i < count; i++ {
			tag := known[r.IntN(len(known))]
			info := make([]byte, infoSizes[tag])
			switch tag {
			case TagUtf8:
				n := r.IntN(5)
				if r.IntN(20) == 0 {
					n = 200 + r.IntN(400)
				}
				binary.BigEndian.PutUint16(info, uint16(n))
				info = append(info, make([]byte, n)...)
			case TagLong, TagDouble:
				i++
			}
			data = append(append(data, byte(tag)), info...)
		}
		if len(data) > start && r.IntN(3) == 0 {
			data[start+r.IntN(len(data)-start)] = byte(r.IntN(24))
		}
		if r.IntN(3) == 0 {
			data = data[:start+r.IntN(len(data)-start+1)]
		}
		offsets, tags := make([]uint32, count), make([]Tag, count)
		wantOffsets, wantTags := make([]uint32, count), make([]Tag, count)
		end, ok := findEntries(data, start, offsets, tags)
		wantEnd, err := checkEntries(data, start, wantOffsets, wantTags)
		if ok != (err == nil) {
			t.Fatalf("% x, count %d: %v, want %v", data[start:], count, ok, err)
		}
		if !ok {
			malformed++
			continue
		}
		sound++
		if end != wantEnd || !slices.Equal(offsets, wantOffsets) || !slices.Equal(tags, wantTags) {
			t.Fatalf("% x, count %d: %d %v %v, want %d %v %v", data[start:], count, end, offsets, tags, wantEnd,
				wantOffsets, wantTags)
		}
	}
	if sound < 10_000 || malformed < 10_000 {
		t.Errorf("%d are sound, %d malformed", sound, malformed)
	}
}
