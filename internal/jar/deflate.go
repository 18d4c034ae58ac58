package jar

import (
	"encoding/binary"
	"math/bits"
)

// This deflater makes one block of the end of some data, whose beginning is in the stream already. It is for classes,
// of which some 2 KB of code and tables are left then: package flate would spend half of its time on computing codes,
// and another part on finding matches in the beginning, where there are hardly any for what follows.

const (
	maxMatch   = 258
	windowSize = 1 << 15 // the greatest distance

	lengthSymbolsEnd   = 286 // of literals, the end of a block, and lengths
	distanceSymbolsEnd = 30
	endOfBlock         = 256

	// maxDeflated is the greatest number of bytes that the deflater takes: what occurs in them is counted in 16 bits.
	maxDeflated = 1<<16 - 1
)

// What the search for matches does. More of anything makes the output smaller, and takes longer.
const (
	matchBits  = 12      // of the table
	niceMatch  = 16      // a match of that length is taken without a look at the next position
	seenBefore = 1 << 11 // how many of the bytes in front are in the table
	seenStep   = 2       // of them
)

// sequence is some literals, and a match, which the last sequence does not have.
type sequence struct {
	literals uint16
	length   uint16
	distance uint16 // less 1
}

// deflater deflates, for one goroutine at a time. The zero value is ready for use.
type deflater struct {
	// seen has, by hash of four bytes, the last two positions with them: the last one in the lower half. base is
	// added to positions, so that those of earlier calls are below it.
	seen [1 << matchBits]uint64
	base uint32

	sequences []sequence
	literals  [lengthSymbolsEnd]uint16   // how often each symbol occurs
	distances [distanceSymbolsEnd]uint16 // likewise

	huffman
	codeLengths   [lengthSymbolsEnd + distanceSymbolsEnd]uint8
	literalWords  [lengthSymbolsEnd]codeWord
	distanceWords [32]codeWord
	runs          []lengthRun
	runCounts     [len(codeOrder)]uint16
	runLengths    [len(codeOrder)]uint8
	runWords      [len(codeOrder)]codeWord

	bitWriter
}

// search finds sequences for data[from:], and counts their symbols. data has at most maxLaidOut bytes, and at most
// maxDeflated behind from.
func (z *deflater) search(data []byte, from int) {
	if z.base < windowSize || z.base > 1<<31 {
		clear(z.seen[:])
		z.base = windowSize
	}
	clear(z.literals[:])
	clear(z.distances[:])
	z.literals[endOfBlock] = 1
	z.sequences = z.sequences[:0]
	for at := max(0, from-seenBefore); at < from-3; at += seenStep {
		z.see(data, at)
	}
	at, literals := from, from // where literals begin that are in no sequence
	last := len(data) - 4      // the last position with four bytes
	for at <= last {
		length, distance := z.match(data, at)
		if length == 0 {
			z.literals[data[at]]++
			at++
			continue
		}
		next := at + 1
		if length < niceMatch && at < last {
			next++
			if l, d := z.match(data, at+1); l > length {
				z.literals[data[at]]++
				at++
				length, distance = l, d
			}
		}
		z.sequences = append(z.sequences, sequence{uint16(at - literals), uint16(length), uint16(distance - 1)})
		z.literals[lengthCodes[length].symbol]++
		z.distances[distanceSymbol(distance-1)]++
		at += length
		literals = at
		for end := min(at, last+1); next < end; next++ {
			z.see(data, next)
		}
	}
	for ; at < len(data); at++ {
		z.literals[data[at]]++
	}
	z.sequences = append(z.sequences, sequence{literals: uint16(at - literals)})
	z.base += uint32(len(data))
}

func matchHash(four uint32) uint32 { return four * 0x9E3779B1 >> (32 - matchBits) }

// see puts a position with four bytes into the table.
func (z *deflater) see(data []byte, at int) {
	seen := &z.seen[matchHash(binary.LittleEndian.Uint32(data[at:]))]
	*seen = *seen<<32 | uint64(z.base+uint32(at))
}

// match puts a position with four bytes into the table, and returns the longer one of two matches for it, with length 0
// if there is none.
func (z *deflater) match(data []byte, at int) (length, distance int) {
	four := binary.LittleEndian.Uint32(data[at:])
	seen := &z.seen[matchHash(four)]
	two, here := *seen, z.base+uint32(at)
	*seen = two<<32 | uint64(here)
	oldest := max(z.base, here-windowSize)
	if x := uint32(two); x-oldest < here-oldest && binary.LittleEndian.Uint32(data[x-z.base:]) == four {
		length, distance = matchLength(data, int(x-z.base), at), int(here-x)
	}
	if x := uint32(two >> 32); x-oldest < here-oldest && binary.LittleEndian.Uint32(data[x-z.base:]) == four {
		if n := matchLength(data, int(x-z.base), at); n > length {
			length, distance = n, int(here-x)
		}
	}
	return length, distance
}

// matchLength returns how many bytes at two positions are the same. The first four are.
func matchLength(data []byte, before, at int) int {
	n := min(len(data)-at, maxMatch)
	a, b := data[before:before+n], data[at:at+n]
	return 4 + samePrefix(a[4:], b[4:])
}

// samePrefix returns how many bytes of two texts are the same, from the first one on.
func samePrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for ; i < n && a[i] == b[i]; i++ {
	}
	return i
}

// block writes the last block of a stream (RFC 1951 3.2.3), of what was searched: data.
func (z *deflater) block(data []byte) {
	lengths := z.codeLengths[:]
	z.huffman.lengths(z.literals[:], lengths, maxCodeLength)
	literals := lengthSymbolsEnd
	for lengths[literals-1] == 0 { // ends at endOfBlock
		literals--
	}
	z.huffman.lengths(z.distances[:], lengths[literals:], maxCodeLength)
	distances := distanceSymbolsEnd
	for distances > 1 && lengths[literals+distances-1] == 0 {
		distances--
	}
	z.add(1|2<<1, 3)
	z.codes(literals, distances)
	assignCodes(lengths[:literals], z.literalWords[:])
	assignCodes(lengths[literals:literals+distances], z.distanceWords[:])
	z.content(data)
}

// lengthRun is a symbol of the code for code lengths, and the value of its extra bits.
type lengthRun struct{ symbol, extra uint8 }

func (z *deflater) run(symbol uint8, extra int) {
	z.runs = append(z.runs, lengthRun{symbol, uint8(extra)})
	z.runCounts[symbol]++
}

// codes writes the lengths of the two codes (RFC 1951 3.2.7).
func (z *deflater) codes(literals, distances int) {
	z.findRuns(z.codeLengths[:literals+distances])
	z.huffman.lengths(z.runCounts[:], z.runLengths[:], orderBits)
	assignCodes(z.runLengths[:], z.runWords[:])
	ordered := len(codeOrder)
	for ordered > 4 && z.runLengths[codeOrder[ordered-1]] == 0 {
		ordered--
	}
	z.add(uint64(literals-257)|uint64(distances-1)<<5|uint64(ordered-4)<<10, 14)
	for _, symbol := range codeOrder[:ordered] {
		z.add(uint64(z.runLengths[symbol]), 3)
	}
	for _, r := range z.runs {
		word := z.runWords[r.symbol]
		z.add(word.bits()|uint64(r.extra)<<word.length(), word.length()+orderSymbols[r.symbol].width())
	}
}

// findRuns splits code lengths into those that are written, and runs of the same.
func (z *deflater) findRuns(lengths []uint8) {
	z.runs = z.runs[:0]
	clear(z.runCounts[:])
	for len(lengths) > 0 {
		length, n := lengths[0], 1
		for n < len(lengths) && lengths[n] == length {
			n++
		}
		lengths = lengths[n:]
		if length > 0 { // 16 repeats the length before
			z.run(length, 0)
			n--
		}
		for ; length == 0 && n >= 11; n -= min(n, 138) {
			z.run(18, min(n, 138)-11)
		}
		for ; length > 0 && n >= 3; n -= min(n, 6) {
			z.run(16, min(n, 6)-3)
		}
		if length == 0 && n >= 3 {
			z.run(17, n-3)
			continue
		}
		for range n {
			z.run(length, 0)
		}
	}
}

// content writes the sequences, which stand for data, and the end of the block.
func (z *deflater) content(data []byte) {
	w := z.bitWriter // in registers
	for _, s := range z.sequences {
		literals := data[:s.literals]
		data = data[int(s.literals)+int(s.length):]
		for len(literals) >= 3 {
			w.word(z.literalWords[literals[0]])
			w.word(z.literalWords[literals[1]])
			w.word(z.literalWords[literals[2]])
			w.flush()
			literals = literals[3:]
		}
		for _, b := range literals {
			w.word(z.literalWords[b])
		}
		w.flush()
		if s.length == 0 {
			break
		}
		length := &lengthCodes[s.length]
		w.word(z.literalWords[length.symbol])
		w.push(uint64(s.length-length.base), uint(length.extra))
		symbol := distanceSymbol(int(s.distance))
		w.word(z.distanceWords[symbol])
		w.push(uint64(s.distance-distanceBases[symbol]), distanceSymbols[symbol].width())
		w.flush()
	}
	w.word(z.literalWords[endOfBlock])
	w.flush()
	z.bitWriter = w
}

func (w *bitWriter) word(word codeWord) { w.push(word.bits(), word.length()) }

// lengthOf is how a length is written.
type lengthOf struct {
	symbol, base uint16
	extra        uint8
}

// The symbols of lengths by length, of distances less 1, and the least distance less 1 of each symbol (RFC 1951 3.2.5).
// nearSymbols are by distance, farSymbols by its 128th part.
var lengthCodes, nearSymbols, farSymbols, distanceBases = func() (lengths [maxMatch + 1]lengthOf,
	near, far [256]uint8, bases [32]uint16) {
	for symbol := endOfBlock + 1; symbol < lengthSymbolsEnd; symbol++ {
		s := literalSymbols[symbol]
		for length := s.value(); length < min(s.value()+1<<s.width(), len(lengths)); length++ {
			lengths[length] = lengthOf{uint16(symbol), uint16(s.value()), uint8(s.width())}
		}
	}
	for symbol, s := range distanceSymbols[:distanceSymbolsEnd] {
		base := s.value() - 1
		bases[symbol] = uint16(base)
		for d := base; d < base+1<<s.width(); d++ {
			if d < len(near) {
				near[d] = uint8(symbol)
			}
			far[d>>7] = uint8(symbol)
		}
	}
	return lengths, near, far, bases
}()

// distanceSymbol returns the symbol of a distance less 1.
func distanceSymbol(distance int) uint8 {
	if distance < len(nearSymbols) {
		return nearSymbols[distance] & 31
	}
	return farSymbols[distance>>7&0xFF] & 31
}
