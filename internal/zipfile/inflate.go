package zipfile

import (
	"encoding/binary"
	"math/bits"
)

// This inflater (RFC 1951) works on buffers that hold all of an entry, compressed and inflated. Classes are small:
// for one class, an inflater that reads a stream, like package flate, spends more than half of its time on its
// window, on being able to stop at every byte, and on clearing its tables.
//
// It only inflates what is regular. If anything in the data is wrong or unusual, it gives up, and package flate
// reads the entry from the start and returns the error or the data. So the inflater need not distinguish faults; it
// must only never accept what package flate does not inflate to the same bytes. Read also checks the entry's CRC.
//
// # Codes
//
// A code of deflate assigns to each symbol (a literal byte, a length, a distance) a sequence of up to 15 bits. To
// decode a symbol, the next bits of the input, 10 for literals and lengths and 8 for distances, are the index into
// a table, whose element has the symbol and the length of its code. The few longer codes take a second look-up: the
// element of their first bits names the place of a second table, which the bits behind are the index into. An
// element also has the number of extra bits that follow a length or distance, so that one shift and one mask yield
// its value.
//
// # Bits
//
// hold has the next bits of the input, the first one lowest. While 8 bytes of input are left, it is filled by one
// load and no loop: the bytes of the load are added above the bits that are held, the input advances by as many
// whole bytes as fit, and 56 to 63 bits are held afterwards. (The bits above those that count are the start of the
// next byte. The next load adds the same bits again, which changes nothing.) Between two fills, the fast loop takes
// two literals from the first table (20 bits at most) and then a length with its extra bits (15 + 5), or a distance
// with its extra bits (15 + 13), all of which is less than 56.
//
// # Ends
//
// The fast loop runs while 16 bytes of input and slack bytes of the output buffer are left, which is more than one
// round of it can use. So it checks neither, but only that a distance does not reach back behind the start. The
// rest is decoded by the slow loop, symbol by symbol, with all checks.

// The look-up tables are indexed by that many bits; longer codes go through a second table, which follows the first
// one in the same array. The size of the array is the greatest that any code of that many symbols with at most 15
// bits needs (the program enough.c of zlib computes it).
const (
	literalBits   = 10
	literalTable  = 1334 // of 288 symbols
	distanceBits  = 8
	distanceTable = 402 // of 32 symbols
	orderBits     = 7
	orderTable    = 1 << orderBits // the codes for code lengths have at most 7 bits
	maxCodeLength = 15
)

// A symbol is an element of a table. Its bits, from the lowest one on, are
//
//	0-4    the number of bits of the code and of the extra bits behind it
//	8-11   the number of bits of the code alone; with symbolSecond, the number of index bits of the second table.
//	       In a second table, the bits that were the index into the first one count in neither number.
//	12-14  flags
//	16-30  the value: a literal, the base of a length or distance, or with symbolSecond the place of the second table
//	31     symbolLiteral
type symbol uint32

const (
	symbolSecond  symbol = 1 << 12 // the value is the place of a second table
	symbolEnd     symbol = 1 << 13 // of the block
	symbolInvalid symbol = 1 << 14 // no code starts with these bits
	symbolSpecial        = symbolSecond | symbolEnd | symbolInvalid
	symbolLiteral symbol = 1 << 31
)

func (s symbol) width() uint     { return uint(s & 31) }
func (s symbol) codeWidth() uint { return uint(s >> 8 & 15) }
func (s symbol) value() int      { return int(s >> 16 & 0x7FFF) }

// slack is the greatest number of bytes that one round of the fast loop can write: three literals, the longest
// copy, and what repeat writes behind its end. A buffer should have that many bytes more than are inflated, or else
// the slow loop has to write the last ones.
const slack = 3 + 258 + 8

// decoder inflates data in memory, for one goroutine at a time. It keeps its tables to use their memory again.
type decoder struct {
	literals  [literalTable]symbol
	distances [distanceTable]symbol
	order     [orderTable]symbol
	lengths   [288 + 32]uint8
	sorted    [288]uint16

	// The tokens of the data are noted, if tokens is not nil. It has room for those of all data.
	tokens []token
	noted  int // how many they are
	behind int // the position behind the last one

	in   []byte
	at   int    // position in in of the next byte that is not in hold
	hold uint64 // the next bits, the first one lowest
	held uint   // how many bits of hold count
}

// inflate inflates in to out[:size]; the bytes of out behind that may be overwritten. It returns true if in starts
// with a deflate stream that inflates to exactly size bytes. If it returns false, the stream may nevertheless be
// valid. With tokens, inflate notes those of the data, in the memory of tokens.
func (d *decoder) inflate(out []byte, size int, in []byte, tokens *[]token) bool {
	d.in, d.at, d.hold, d.held = in, 0, 0, 0
	d.noted, d.behind = 0, 0
	if tokens != nil {
		*tokens = (*tokens)[:0]
		if size <= maxDeflated {
			out = out[:min(len(out), size+slack)] // what does not fit has no tokens
			d.tokens = sized(*tokens, roomForTokens(len(out)))
		}
	}
	ok := d.blocks(out, size)
	if d.tokens != nil {
		*tokens = d.tokens[:d.noted]
	}
	d.in, d.tokens = nil, nil
	return ok
}

// blocks inflates all blocks.
func (d *decoder) blocks(out []byte, size int) bool {
	n := 0
	for last := false; !last; {
		header, ok := d.readBits(3)
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

// fill adds bits to hold until it has at least 56, or all that are left of in.
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

// readBits returns the next n bits, 32 at most; ok is false if in ends before.
func (d *decoder) readBits(n uint) (value uint, ok bool) {
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

// stored copies a block that is not compressed (RFC 1951 3.2.4) to out[n:] and returns the new length.
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

// fixed makes the tables of the fixed codes (RFC 1951 3.2.6).
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
	// Both codes are complete, so that build does not fail.
	d.build(d.literals[:], literalBits, d.lengths[:288], &literalSymbols)
	d.build(d.distances[:], distanceBits, d.lengths[288:320], &distanceSymbols)
}

// codeOrder is the order of the symbols whose code lengths start a dynamic block (RFC 1951 3.2.7).
var codeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block with dynamic codes (RFC 1951 3.2.7) and makes their tables.
func (d *decoder) dynamic() bool {
	counts, ok := d.readBits(14)
	literals, distances, ordered := int(counts&31)+257, int(counts>>5&31)+1, int(counts>>10)+4
	if !ok || literals > 286 || distances > 30 {
		return false
	}
	lengths := d.lengths[:19]
	clear(lengths)
	for _, i := range codeOrder[:ordered] {
		length, ok := d.readBits(3)
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
		if s&symbolSpecial != 0 || s.width() > d.held {
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

// build makes the table of the code with these code lengths (RFC 1951 3.2.2), indexed by width bits. meanings has
// the symbols without their codes. build returns false for a code that is not valid: one with too many short codes,
// and an incomplete one, which leaves bit sequences unused, unless it has a single code of one bit or none at all.
//
// The codes are assigned in the order of their lengths, and for one length in the order of the symbols: so the
// symbols are sorted by counting. A code of n bits fills each element of the table whose lowest n index bits it is.
// For a complete code this takes one write for each symbol and some copying: the table of n bits is the table of
// n-1 bits twice, one after the other, in which the codes of n bits are then written over elements that no shorter
// code has filled.
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
	// In the order of codes, their first bit is the highest one. In the tables it is the lowest one, as in hold.
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
			code = nextCode(code, n)
		}
	}
	if len(sorted) == 0 {
		return true
	}
	return d.buildSecond(table, width, sorted, &counts, code, meanings)
}

// nextCode returns the code of n bits that follows code. Both have their first bit lowest, so this is adding 1 with
// the bits in reverse order: the last zero bit becomes one, and the one bits behind it become zero.
func nextCode(code, n uint) uint {
	ones := code ^ (1<<n - 1)
	if ones == 0 {
		return 0 // it was the last
	}
	bit := uint(1) << (bits.Len(ones) - 1)
	return code&(bit-1) | bit
}

// buildSecond makes the second tables, for codes that are longer than width bits. The codes with the same first
// width bits follow each other, and share one table. sorted has their symbols, and code is the first of them.
func (d *decoder) buildSecond(table []symbol, width uint, sorted []uint16, counts *[maxCodeLength + 1]int, code uint,
	meanings *[288]symbol) bool {
	start, size := 1<<width, 0
	prefix := -1
	for n := width + 1; n <= maxCodeLength; n++ {
		for k := range counts[n] {
			if p := int(code & (1<<width - 1)); p != prefix {
				// Add index bits until the codes of that many bits and fewer are enough to complete the table.
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
			code = nextCode(code, n)
		}
	}
	return true
}

// block decodes a compressed block (RFC 1951 3.2.3) to out[n:] and returns the new length. It returns false if the
// data is malformed, or if it would be longer than size.
func (d *decoder) block(out []byte, n, size int) (int, bool) {
	n, ended, ok := d.fast(out, n)
	for ok && !ended && n <= size {
		n, ended, ok = d.slow(out[:size], n)
	}
	return n, ok && n <= size
}

// fast decodes symbols while neither in nor out is near its end. ended reports that the block ended.
func (d *decoder) fast(out []byte, n int) (_ int, ended, ok bool) {
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
		if s&symbolSpecial != 0 {
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
			case s&symbolSpecial != 0:
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
		if s&symbolSpecial != 0 {
			if s&symbolSecond != 0 {
				hold, held = hold>>distanceBits, held-distanceBits
				s = d.distances[uint64(s>>16&0x7FFF)+hold&(1<<(s>>8&15)-1)]
			}
			if s&symbolSpecial != 0 {
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
		if d.tokens != nil {
			d.note(n, length, distance)
		}
		n = repeat(out, n, distance, length)
	}
	d.at, d.hold, d.held = at, hold, held
	return n, ended, ok
}

// repeat copies length bytes from out[n-distance:] to out[n:] and returns the new length. Where the two overlap,
// the copied bytes repeat. It may overwrite up to 7 bytes behind.
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

// slow decodes one literal, or one length and distance, and checks every step. ended reports that the block ended.
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
	if d.tokens != nil {
		d.note(n, length, distance)
	}
	for range length {
		out[n] = out[n-distance]
		n++
	}
	return n, false, true
}

// next decodes one symbol. value is that of the symbol, with its extra bits added.
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

// The symbols of literals and lengths, of distances (RFC 1951 3.2.5) and of code lengths (3.2.7), without their
// codes: the lowest bits have the number of extra bits only.
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
