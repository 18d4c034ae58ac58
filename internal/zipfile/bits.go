package zipfile

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

func (w *bitWriter) write(value uint64, bits uint) {
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
