package jar

import "encoding/binary"

// bitWriter writes bits, the first one lowest, to memory that has room for all of them and 8 bytes more. Except between
// push and flush, it holds fewer than 8 bits.
type bitWriter struct {
	out  []byte
	n    int // bytes that are written
	hold uint64
	held uint
}

// push adds bits, at most 56 until flush.
func (w *bitWriter) push(value uint64, bits uint) {
	w.hold |= value << (w.held & 63)
	w.held += bits
}

// flush writes the whole bytes that are held.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.out[w.n:], w.hold)
	w.n += int(w.held >> 3)
	w.hold >>= w.held & 56
	w.held &= 7
}

func (w *bitWriter) add(value uint64, bits uint) {
	w.push(value, bits)
	w.flush()
}

// finish fills the last byte with zeros, and returns all.
func (w *bitWriter) finish() []byte {
	if w.held > 0 {
		w.out[w.n] = byte(w.hold)
		w.n++
	}
	return w.out[:w.n]
}

// copy adds the bits of in from one position up to another.
func (w *bitWriter) copy(in []byte, from, to int) {
	for ; from&7 != 0 && from < to; from++ {
		w.add(uint64(in[from>>3]>>(from&7)&1), 1)
	}
	bytes := in[from>>3 : max(from, to)>>3]
	from += 8 * len(bytes)
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		value := binary.LittleEndian.Uint64(bytes)
		binary.LittleEndian.PutUint64(w.out[w.n:], w.hold|value<<(w.held&7))
		w.hold = value >> 1 >> (63 - w.held&7)
		w.n += 8
	}
	for _, b := range bytes {
		w.add(uint64(b), 8)
	}
	for ; from < to; from++ {
		w.add(uint64(in[from>>3]>>(from&7)&1), 1)
	}
}
