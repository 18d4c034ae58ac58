package jar

import (
	"encoding/binary"
	"math/bits"
)

// The inflater here knows nothing but buffers that hold all of an entry. Classes are small: what a stream costs for
// its window, for being able to stop anywhere, and for taking its tables apart again, is more than half of what it
// takes to inflate one. It is for what is regular. Whatever is not, it does not judge: it gives up, and package
// flate, which reads the entry from the start then, says what is right or wrong with it. What it gives is vouched
// for by the entry's CRC.

// The look-up tables of RFC 1951 3.2.2 have so many index bits; longer codes go through a second table behind the
// first. The sizes are the most that codes of 15 bits of so many symbols can need (zlib's enough.c says how many).
const (
	literalBits   = 10
	literalTable  = 1334 // of 288 symbols
	distanceBits  = 8
	distanceTable = 402 // of 32 symbols
	orderBits     = 7
	orderTable    = 1 << orderBits // codes are not longer
	maxCodeLength = 15
)

// A symbol is an element of a table: from the lowest bit on, the number of bits that the code and what follows it
// take (5 bits), nothing (3), the number of bits of the code alone (4), three flags, nothing (1), and the value
// (15): a literal, the base of a length or distance, the place of a second table, whose index bits stand in the
// place of the code's.
type symbol uint32

const (
	symbolSecond  symbol = 1 << 12 // the value is the place of a second table
	symbolEnd     symbol = 1 << 13 // of the block
	symbolInvalid symbol = 1 << 14 // no code starts so
	symbolOdd            = symbolSecond | symbolEnd | symbolInvalid
	symbolLiteral symbol = 1 << 31
)

func (s symbol) width() uint     { return uint(s & 31) }
func (s symbol) codeWidth() uint { return uint(s >> 8 & 15) }
func (s symbol) value() int      { return int(s >> 16 & 0x7FFF) }

// slack is how much more a buffer should hold than is inflated: near its end, bytes are written one at a time.
const slack = 3 + 258 + 8

// decoder inflates. It is used by one goroutine at a time.
type decoder struct {
	literals  [literalTable]symbol
	distances [distanceTable]symbol
	order     [orderTable]symbol
	lengths   [288 + 32]uint8
	sorted    [288]uint16

	in   []byte
	at   int    // in in, of the next byte that is not in hold
	hold uint64 // bits to come
	held uint   // how many of them count
}

// inflate inflates in to out, up to its size; what is behind in out may be overwritten. It says whether in is a
// deflate stream of that many bytes; false may mean that this is for others to say.
func (d *decoder) inflate(out []byte, size int, in []byte) bool {
	d.in, d.at, d.hold, d.held = in, 0, 0, 0
	defer func() { d.in = nil }()
	n := 0
	for last := false; !last; {
		header, ok := d.take(3)
		if !ok {
			return false
		}
		last = header&1 != 0
		switch header >> 1 {
		case 0:
			n, ok = d.stored(out[:size], n)
		case 1:
			d.fixed()
			n, ok = d.block(out, n, size)
		case 2:
			if ok = d.dynamic(); ok {
				n, ok = d.block(out, n, size)
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return n == size
}

// fill makes hold as full as can be, at least 56 bits unless in ends before.
func (d *decoder) fill() {
	if d.at+8 <= len(d.in) {
		d.hold |= binary.LittleEndian.Uint64(d.in[d.at:]) << (d.held & 63)
		d.at += int(63-d.held) >> 3
		d.held |= 56
		return
	}
	d.hold &= 1<<d.held - 1
	for d.held < 56 && d.at < len(d.in) {
		d.hold |= uint64(d.in[d.at]) << d.held
		d.at++
		d.held += 8
	}
}

// take reads up to 32 bits.
func (d *decoder) take(n uint) (value uint, ok bool) {
	if d.held < n {
		d.fill()
		if d.held < n {
			return 0, false
		}
	}
	value = uint(d.hold & (1<<n - 1))
	d.hold >>= n
	d.held -= n
	return value, true
}

// stored copies a block that is not compressed (RFC 1951 3.2.4) behind the first n bytes.
func (d *decoder) stored(out []byte, n int) (int, bool) {
	from := d.at - int(d.held>>3)
	d.hold, d.held = 0, 0
	if from+4 > len(d.in) {
		return n, false
	}
	length := int(binary.LittleEndian.Uint16(d.in[from:]))
	if length^0xFFFF != int(binary.LittleEndian.Uint16(d.in[from+2:])) {
		return n, false
	}
	from += 4
	if length > len(d.in)-from || length > len(out)-n {
		return n, false
	}
	copy(out[n:], d.in[from:from+length])
	d.at = from + length
	return n + length, true
}

// fixed sets up the codes of RFC 1951 3.2.6.
func (d *decoder) fixed() {
	for i := range 288 {
		length := uint8(8)
		switch {
		case i >= 144 && i < 256:
			length = 9
		case i >= 256 && i < 280:
			length = 7
		}
		d.lengths[i] = length
	}
	for i := range 32 {
		d.lengths[288+i] = 5
	}
	// Both are complete.
	d.build(d.literals[:], literalBits, d.lengths[:288], &literalSymbols)
	d.build(d.distances[:], distanceBits, d.lengths[288:320], &distanceSymbols)
}

// codeOrder is the order in which the lengths of the codes for lengths stand (RFC 1951 3.2.7).
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block (RFC 1951 3.2.7).
func (d *decoder) dynamic() bool {
	counts, ok := d.take(14)
	literals, distances, ordered := int(counts&31)+257, int(counts>>5&31)+1, int(counts>>10)+4
	if !ok || literals > 286 || distances > 30 {
		return false
	}
	lengths := d.lengths[:19]
	clear(lengths)
	for _, i := range codeOrder[:ordered] {
		length, ok := d.take(3)
		if !ok {
			return false
		}
		lengths[i] = uint8(length)
	}
	if !d.build(d.order[:], orderBits, lengths, &orderSymbols) {
		return false
	}
	lengths = d.lengths[:literals+distances]
	for i := 0; i < len(lengths); {
		if d.held < orderBits+7 {
			d.fill()
		}
		s := d.order[d.hold&(1<<orderBits-1)]
		if s&symbolOdd != 0 || s.width() > d.held {
			return false
		}
		times := int(d.hold & (1<<s.width() - 1) >> s.codeWidth())
		d.hold, d.held = d.hold>>s.width(), d.held-s.width()
		value := s.value()
		if value < 16 {
			lengths[i] = uint8(value)
			i++
			continue
		}
		length := uint8(0)
		switch value {
		case 16:
			if i == 0 {
				return false
			}
			length, times = lengths[i-1], times+3
		case 17:
			times += 3
		default:
			times += 11
		}
		if times > len(lengths)-i {
			return false
		}
		for range times {
			lengths[i] = length
			i++
		}
	}
	return lengths[256] != 0 && d.build(d.literals[:], literalBits, lengths[:literals], &literalSymbols) &&
		d.build(d.distances[:], distanceBits, lengths[literals:], &distanceSymbols)
}

// build makes the table of the code with these lengths (RFC 1951 3.2.2), of the symbols that meanings tells. A code
// that leaves room for others is good only if it has but one symbol, of one bit, or none.
func (d *decoder) build(table []symbol, width uint, lengths []uint8, meanings *[288]symbol) bool {
	var counts, next [maxCodeLength + 1]int
	for _, n := range lengths {
		counts[n]++
	}
	total, room := 0, 1
	for n := 1; n <= maxCodeLength; n++ {
		next[n] = total
		total += counts[n]
		if room = room<<1 - counts[n]; room < 0 {
			return false
		}
	}
	if room > 0 {
		if total > 1 || total == 1 && counts[1] == 0 {
			return false
		}
		for i := range table[:1<<width] {
			table[i] = symbolInvalid
		}
	}
	for i, n := range lengths {
		if n > 0 {
			d.sorted[next[n]] = uint16(i)
			next[n]++
		}
	}
	sorted := d.sorted[:total]
	// Codes come in their order, from the highest bit on; the tables are indexed from the lowest.
	code := uint(0)
	for n := uint(1); n <= width; n++ {
		if room == 0 {
			copy(table[1<<(n-1):1<<n], table[:1<<(n-1)])
		}
		for range counts[n] {
			s := meanings[sorted[0]] + symbol(n<<8+n)
			if sorted = sorted[1:]; room > 0 {
				for i := code; i < 1<<width; i += 1 << n {
					table[i] = s
				}
			} else {
				table[code] = s
			}
			code = following(code, n)
		}
	}
	if len(sorted) == 0 {
		return true
	}
	return d.buildSecond(table, width, sorted, &counts, code, meanings)
}

// following returns the code of n bits after code, both with their lowest bit first.
func following(code, n uint) uint {
	ones := code ^ (1<<n - 1)
	if ones == 0 {
		return 0 // it was the last
	}
	bit := uint(1) << (bits.Len(ones) - 1)
	return code&(bit-1) | bit
}

// buildSecond makes the tables of codes that are longer than width.
func (d *decoder) buildSecond(table []symbol, width uint, sorted []uint16, counts *[maxCodeLength + 1]int, code uint, meanings *[288]symbol) bool {
	start, size := 1<<width, 0
	prefix := -1
	for n := width + 1; n <= maxCodeLength; n++ {
		for k := range counts[n] {
			if p := int(code & (1<<width - 1)); p != prefix {
				// As many index bits as it takes for all codes with this prefix.
				prefix, start = p, start+size
				more := n - width
				for have := counts[n] - k; have < 1<<more && width+more < maxCodeLength; {
					more++
					have = have<<1 + counts[width+more]
				}
				size = 1 << more
				if start+size > len(table) {
					return false
				}
				table[prefix] = symbol(start<<16) | symbol(more<<8) | symbolSecond
			}
			s := meanings[sorted[0]] + symbol((n-width)<<8+(n-width))
			sorted = sorted[1:]
			for i := int(code >> width); i < size; i += 1 << (n - width) {
				table[start+i] = s
			}
			code = following(code, n)
		}
	}
	return true
}

// block decodes a compressed block (RFC 1951 3.2.3) behind the first n bytes of out.
func (d *decoder) block(out []byte, n, size int) (int, bool) {
	n, ended, ok := d.quick(out, n)
	for ok && !ended && n <= size {
		n, ended, ok = d.slow(out[:size], n)
	}
	return n, ok && n <= size
}

// quick decodes as long as neither in nor out is near its end.
func (d *decoder) quick(out []byte, n int) (_ int, ended, ok bool) {
	in, at, hold, held := d.in, d.at, d.hold, d.held
	lastIn, lastOut := len(in)-16, len(out)-slack
	ok = true
loop:
	for at <= lastIn && n <= lastOut {
		hold |= binary.LittleEndian.Uint64(in[at:]) << (held & 63)
		at += int(63-held) >> 3
		held |= 56
		s := d.literals[hold&(1<<literalBits-1)]
		if s&symbolLiteral != 0 {
			hold, held = hold>>(s&31), held-uint(s&31)
			out[n] = byte(s >> 16)
			n++
			if s = d.literals[hold&(1<<literalBits-1)]; s&symbolLiteral != 0 {
				hold, held = hold>>(s&31), held-uint(s&31)
				out[n] = byte(s >> 16)
				n++
				if s = d.literals[hold&(1<<literalBits-1)]; s&symbolLiteral != 0 {
					hold, held = hold>>(s&31), held-uint(s&31)
					out[n] = byte(s >> 16)
					n++
					continue
				}
			}
		}
		if s&symbolOdd != 0 {
			if s&symbolSecond != 0 {
				hold, held = hold>>literalBits, held-literalBits
				s = d.literals[uint64(s>>16&0x7FFF)+hold&(1<<(s>>8&15)-1)]
			}
			switch {
			case s&symbolLiteral != 0:
				hold, held = hold>>(s&31), held-uint(s&31)
				out[n] = byte(s >> 16)
				n++
				continue
			case s&symbolEnd != 0:
				hold, held = hold>>(s&31), held-uint(s&31)
				ended = true
				break loop
			case s&symbolOdd != 0:
				ok = false
				break loop
			}
		}
		length := int(s>>16&0x7FFF) + int(hold&(1<<(s&31)-1)>>(s>>8&15))
		hold, held = hold>>(s&31), held-uint(s&31)
		hold |= binary.LittleEndian.Uint64(in[at:]) << (held & 63)
		at += int(63-held) >> 3
		held |= 56
		s = d.distances[hold&(1<<distanceBits-1)]
		if s&symbolOdd != 0 {
			if s&symbolSecond != 0 {
				hold, held = hold>>distanceBits, held-distanceBits
				s = d.distances[uint64(s>>16&0x7FFF)+hold&(1<<(s>>8&15)-1)]
			}
			if s&symbolOdd != 0 {
				ok = false
				break loop
			}
		}
		distance := int(s>>16&0x7FFF) + int(hold&(1<<(s&31)-1)>>(s>>8&15))
		hold, held = hold>>(s&31), held-uint(s&31)
		if distance > n {
			ok = false
			break loop
		}
		n = repeat(out, n, distance, length)
	}
	d.at, d.hold, d.held = at, hold, held
	return n, ended, ok
}

// repeat copies length bytes from distance before n. It may overwrite 7 bytes more.
func repeat(out []byte, n, distance, length int) int {
	end := n + length
	if distance >= 8 {
		for from := n - distance; n < end; n, from = n+8, from+8 {
			binary.LittleEndian.PutUint64(out[n:], binary.LittleEndian.Uint64(out[from:]))
		}
		return end
	}
	for ; n < end; n++ {
		out[n] = out[n-distance]
	}
	return end
}

// slow decodes one literal, or one length and distance, and checks every step.
func (d *decoder) slow(out []byte, n int) (_ int, ended, ok bool) {
	s, length, ok := d.next(d.literals[:], literalBits)
	switch {
	case !ok:
		return n, false, false
	case s&symbolEnd != 0:
		return n, true, true
	case s&symbolLiteral != 0:
		if n == len(out) {
			return n, false, false
		}
		out[n] = byte(length)
		return n + 1, false, true
	}
	_, distance, ok := d.next(d.distances[:], distanceBits)
	if !ok || distance > n || length > len(out)-n {
		return n, false, false
	}
	for range length {
		out[n] = out[n-distance]
		n++
	}
	return n, false, true
}

// next reads one symbol, and its value with what follows its code.
func (d *decoder) next(table []symbol, width uint) (s symbol, value int, ok bool) {
	if d.held < maxCodeLength+13 {
		d.fill()
	}
	s = table[d.hold&(1<<width-1)]
	if s&symbolSecond != 0 {
		if d.held < width {
			return s, 0, false
		}
		d.hold, d.held = d.hold>>width, d.held-width
		s = table[uint64(s.value())+d.hold&(1<<s.codeWidth()-1)]
	}
	if s&(symbolInvalid|symbolSecond) != 0 || s.width() > d.held {
		return s, 0, false
	}
	value = s.value() + int(d.hold&(1<<s.width()-1)>>s.codeWidth())
	d.hold, d.held = d.hold>>s.width(), d.held-s.width()
	return s, value, true
}

// What the symbols mean (RFC 1951 3.2.5 and 3.2.7), but for their codes.
var literalSymbols, distanceSymbols, orderSymbols = func() (literals, distances, order [288]symbol) {
	for i := range 256 {
		literals[i] = symbolLiteral | symbol(i)<<16
	}
	literals[256] = symbolEnd
	base := symbol(3)
	for i := range symbol(28) {
		more := symbol(0)
		if i >= 8 {
			more = i/4 - 1
		}
		literals[257+i] = base<<16 | more
		base += 1 << more
	}
	literals[285] = 258 << 16
	literals[286], literals[287] = symbolInvalid, symbolInvalid
	base = 1
	for i := range symbol(30) {
		more := symbol(0)
		if i >= 4 {
			more = i/2 - 1
		}
		distances[i] = base<<16 | more
		base += 1 << more
	}
	distances[30], distances[31] = symbolInvalid, symbolInvalid
	for i := range symbol(19) {
		order[i] = i << 16
	}
	order[16] |= 2
	order[17] |= 3
	order[18] |= 7
	return literals, distances, order
}()
