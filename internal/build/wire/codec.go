// Package wire packs values into bytes, and puts such content into files. A [Codec] packs or unpacks: one function for
// each kind of value names its parts in their order, and so serves both ways. A [Sealed] file says which tool wrote it
// with which options, and ends in a checksum.
package wire

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// Codec packs the values that its functions are given pointers to, or sets them to what was packed. A text is packed as
// its number in a table of texts, with which the content begins: so each text is there once. After the first fault in
// what it unpacks, a Codec sets numbers to zero, and Failed returns true. It never panics, and allocates no more than
// the size of the content allows.
type Codec struct {
	reads  bool
	data   []byte         // packed so far, without the table; or still to be unpacked
	texts  []string       // the table
	known  map[string]int // its numbers, when it packs
	failed bool
}

// NewPacker returns a Codec that packs. [Codec.Bytes] returns the content.
func NewPacker() *Codec { return &Codec{texts: []string{""}, known: map[string]int{"": 0}} }

// NewUnpacker returns a Codec that unpacks, and has read the table of texts. The texts share memory with the data,
// which must never change.
func NewUnpacker(data []byte) *Codec {
	k := &Codec{reads: true, data: data}
	n, total := k.count(1), 0
	lengths := *k // to be read again, when their sum is known to be all right
	for range n {
		if total += int(k.number(math.MaxInt32)); total > len(k.data) {
			k.Fail()
			return k
		}
	}
	all := unsafe.String(unsafe.SliceData(k.data), total)
	k.data = k.data[total:]
	k.texts = make([]string, n)
	for i := range k.texts {
		length := lengths.number(math.MaxInt32)
		k.texts[i], all = all[:length], all[length:]
	}
	return k
}

// Bytes returns the table, and behind it what was packed. The lengths of all texts stand before the texts, because each
// kind of data compresses best among its own.
func (k *Codec) Bytes() []byte {
	table := binary.AppendUvarint(nil, uint64(len(k.texts)))
	for _, s := range k.texts {
		table = binary.AppendUvarint(table, uint64(len(s)))
	}
	for _, s := range k.texts {
		table = append(table, s...)
	}
	return append(table, k.data...)
}

// Reads reports whether the Codec unpacks.
func (k *Codec) Reads() bool { return k.reads }

// Failed reports whether a fault was found.
func (k *Codec) Failed() bool { return k.failed }

// Fail notes a fault that the caller found in the content.
func (k *Codec) Fail() { k.failed, k.data = true, nil }

// End reports whether all was unpacked, without a fault.
func (k *Codec) End() bool { return !k.failed && len(k.data) == 0 }

// number unpacks a number, which is a fault above most.
func (k *Codec) number(most uint64) uint64 {
	if len(k.data) > 0 && k.data[0] < 0x80 && uint64(k.data[0]) <= most { // as nearly all are
		v := k.data[0]
		k.data = k.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(k.data)
	if n <= 0 || v > most {
		k.Fail()
		return 0
	}
	k.data = k.data[n:]
	return v
}

// count unpacks the number of things that follow, of at least so many bytes each.
func (k *Codec) count(size int) int {
	n := k.number(math.MaxInt32)
	if n > uint64(len(k.data)/size) {
		k.Fail()
		return 0
	}
	return int(n)
}

// Integer is the types of numbers.
type Integer interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Number packs or unpacks a number that is at most most. One below 0 is greater than all others.
func Number[T Integer](k *Codec, v *T, most uint64) {
	if k.reads {
		*v = T(k.number(most))
	} else {
		k.data = binary.AppendUvarint(k.data, uint64(*v))
	}
}

// Ascending packs or unpacks one of several numbers, each of which is greater than the one before, and below end. next
// is 0 before the first.
func Ascending[T Integer](k *Codec, v *T, next *int, end int) {
	ahead := int(*v) - *next
	if Number(k, &ahead, math.MaxInt32); k.reads {
		if ahead += *next; ahead >= end {
			k.Fail()
			ahead = 0
		}
		*v = T(ahead)
	}
	*next = int(*v) + 1
}

// Fixed packs or unpacks bytes of a known number.
func (k *Codec) Fixed(b []byte) {
	switch {
	case !k.reads:
		k.data = append(k.data, b...)
	case len(b) > len(k.data):
		k.Fail()
	default:
		k.data = k.data[copy(b, k.data):]
	}
}

// Hash packs or unpacks a number of 64 bits of which any is as likely as another.
func (k *Codec) Hash(v *uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], *v)
	k.Fixed(b[:])
	*v = binary.BigEndian.Uint64(b[:])
}

// Text packs or unpacks a text.
func (k *Codec) Text(s *string) {
	if k.reads {
		*s = ""
		if i := k.number(math.MaxInt32); i < uint64(len(k.texts)) {
			*s = k.texts[i]
		} else {
			k.Fail()
		}
		return
	}
	i, known := k.known[*s]
	if !known {
		i = len(k.texts)
		k.known[*s] = i
		k.texts = append(k.texts, *s)
	}
	Number(k, &i, math.MaxInt32)
}

// Texts packs or unpacks a list of texts.
func (k *Codec) Texts(list *[]string) { List(k, list, 1, k.Text) }

// Flags packs or unpacks up to eight booleans as the bits of one byte; bits that have no meaning are a fault.
func (k *Codec) Flags(flags ...*bool) {
	var b [1]byte
	for i, f := range flags {
		if *f {
			b[0] |= 1 << i
		}
	}
	k.Fixed(b[:])
	for i, f := range flags {
		*f = b[0]&(1<<i) != 0
	}
	if len(flags) < 8 && b[0]>>len(flags) != 0 {
		k.Fail()
	}
}

// List packs or unpacks a list, and each of its values by a function. The least of them takes size bytes.
func List[T any](k *Codec, list *[]T, size int, each func(*T)) {
	if k.reads {
		*list = nil
		if n := k.count(size); n > 0 {
			*list = make([]T, n)
		}
	} else {
		n := len(*list)
		Number(k, &n, math.MaxInt32)
	}
	for i := range *list {
		each(&(*list)[i])
	}
}

// Optional packs or unpacks a value that need not be there, by a function.
func Optional[T any](k *Codec, value **T, each func(*T)) {
	there := *value != nil
	if k.Flags(&there); !there {
		return
	}
	if k.reads {
		*value = new(T)
	}
	each(*value)
}
