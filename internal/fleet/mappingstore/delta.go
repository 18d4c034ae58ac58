package mappingstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"math/bits"
)

// A difference describes a text by the lines that it shares with a base. Its form is
//
//	uvarint            the number of bytes of instructions
//	instructions       each three numbers: the length of the new text before a copy (uvarint), the offset of the copy in
//	                   the base, relative to the end of the previous copy (varint), and its length (uvarint)
//	new text           all of it, one after the other
//
// Instructions and new text are apart because that compresses better.

// differ makes a difference.
type differ struct {
	ops, fresh  []byte
	freshLength int // of the new text before the current copy
	from        int // the offset of the current copy
	length      int // of the current copy; 0 if there is none
	end         int // the end of the previous copy
}

// difference returns the difference that patch applies to base to get text.
func difference(base, text []byte) []byte {
	if len(base) > math.MaxInt32 {
		base = nil // the index has offsets of 32 bits; no file of a build is that large
	}
	index := newLineIndex(base)
	d := differ{fresh: make([]byte, 0, len(text)/16)}
	for at := 0; at < len(text); {
		line := text[at : at+lineLength(text[at:])]
		at += len(line)
		expected := d.from + d.length
		offset := expected
		if !bytes.HasPrefix(base[expected:], line) {
			offset = index.find(line, expected)
		}
		if d.length > 0 && offset == expected {
			d.length += len(line)
			continue
		}
		if d.length > 0 {
			d.flush()
		}
		if offset < 0 {
			d.fresh = append(d.fresh, line...)
			d.freshLength += len(line)
		} else {
			d.from, d.length = offset, len(line)
		}
	}
	d.flush()
	out := binary.AppendUvarint(make([]byte, 0, len(d.ops)+len(d.fresh)+binary.MaxVarintLen64), uint64(len(d.ops)))
	return append(append(out, d.ops...), d.fresh...)
}

// flush ends the current copy. At the end of the text there may be none.
func (d *differ) flush() {
	d.ops = binary.AppendUvarint(d.ops, uint64(d.freshLength))
	d.ops = binary.AppendVarint(d.ops, int64(d.from-d.end))
	d.ops = binary.AppendUvarint(d.ops, uint64(d.length))
	d.end = d.from + d.length
	d.freshLength, d.from, d.length = 0, d.end, 0
}

// lineLength returns the length of the first line of a text that is not empty, with its newline.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// lineIndex finds lines of a text.
type lineIndex struct {
	text   []byte
	seed   maphash.Seed
	shift  int
	heads  []int32 // by hash: the first line of a chain, counted from 1; 0 for none
	next   []int32 // by line: the next line of its chain
	starts []int32 // by line
}

func newLineIndex(text []byte) *lineIndex {
	count := bytes.Count(text, []byte{'\n'}) + 1
	size := bits.Len(uint(count))
	x := &lineIndex{text: text, seed: maphash.MakeSeed(), shift: 64 - size, heads: make([]int32, 1<<size),
		next: make([]int32, count), starts: make([]int32, 0, count)}
	for at := 0; at < len(text); {
		x.starts = append(x.starts, int32(at))
		at += lineLength(text[at:])
	}
	// From the last to the first, so that the lines of a chain are in the order of the text.
	for i := len(x.starts) - 1; i >= 0; i-- {
		head := x.head(x.line(i))
		x.next[i], *head = *head, int32(i+1)
	}
	return x
}

func (x *lineIndex) line(i int) []byte {
	from := x.starts[i]
	return x.text[from : int(from)+lineLength(x.text[from:])]
}

func (x *lineIndex) head(line []byte) *int32 {
	return &x.heads[maphash.Bytes(x.seed, line)>>x.shift]
}

// maxChecked is the number of lines of a chain that find looks at. Some files have one line a thousand times.
const maxChecked = 64

// find returns the offset of a line: of several, the first that is not before near, or else the last that it has looked
// at; -1 if there is none.
func (x *lineIndex) find(line []byte, near int) int {
	found := -1
	i := *x.head(line)
	for checked := 0; i != 0 && checked < maxChecked; checked++ {
		if bytes.Equal(x.line(int(i-1)), line) {
			found = int(x.starts[i-1])
			if found >= near {
				return found
			}
		}
		i = x.next[i-1]
	}
	return found
}

var errDifference = errors.New("the difference to the base is not valid")

// patch applies a difference. It fails if the result has another length than size.
func patch(base, diff []byte, size int64) ([]byte, error) {
	length, n := binary.Uvarint(diff)
	if n <= 0 || length > uint64(len(diff)-n) {
		return nil, errDifference
	}
	ops, fresh := diff[n:n+int(length)], diff[n+int(length):]
	// Each instruction copies at most the base, so that a short difference cannot make this large beyond size.
	text := make([]byte, 0, min(size, int64(len(base)+len(fresh))))
	end := int64(0)
	for len(ops) > 0 {
		freshLength, n1 := binary.Uvarint(ops)
		skip, n2 := binary.Varint(ops[max(n1, 0):])
		count, n3 := binary.Uvarint(ops[max(n1, 0)+max(n2, 0):])
		if n1 <= 0 || n2 <= 0 || n3 <= 0 || freshLength > uint64(len(fresh)) {
			return nil, errDifference
		}
		ops = ops[n1+n2+n3:]
		from := end + skip
		if from < 0 || from > int64(len(base)) || count > uint64(int64(len(base))-from) {
			return nil, errDifference
		}
		if int64(len(text))+int64(freshLength)+int64(count) > size {
			return nil, errDifference
		}
		end = from + int64(count)
		text = append(append(text, fresh[:freshLength]...), base[from:end]...)
		fresh = fresh[freshLength:]
	}
	if int64(len(text)) != size || len(fresh) > 0 {
		return nil, errDifference
	}
	return text, nil
}
