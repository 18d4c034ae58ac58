package zipfile

import (
	"encoding/binary"
	"math/bits"
)

// This deflater is for data whose beginning has tokens: those of a stream that it was inflated from. It finds more for
// the rest, and makes one block of all. It is for classes, which are small: package flate spends a third of its time on
// computing codes for them.

const (
	windowSize = 1 << 15 // the greatest distance

	lengthSymbolsEnd   = 286 // of literals, the end of a block, and lengths
	distanceSymbolsEnd = 30
	endOfBlock         = 256

	// maxDeflated is the greatest number of bytes that the deflater takes: there is one block for all.
	maxDeflated = 1 << 20
)

// matchBits is the number of bits that a position of the table of matches has: a small table stays in the cache.
const matchBits = 12

// deflater deflates, for one goroutine at a time. The zero value is ready for use.
type deflater struct {
	// seen has, by hash of four bytes, the last position with them. base is added to it, so that positions of earlier
	// calls are below base.
	seen [1 << matchBits]uint32
	base uint32

	tokens    []token
	begin     int                        // where literals begin that have no token
	literals  [lengthSymbolsEnd]uint32   // how often each symbol occurs
	distances [distanceSymbolsEnd]uint32 // likewise

	huffman
	codeLengths   [lengthSymbolsEnd + distanceSymbolsEnd]uint8
	literalWords  [lengthSymbolsEnd]codeWord
	distanceWords [32]codeWord
	runs          []lengthRun
	runCounts     [len(codeOrder)]uint32
	runLengths    [len(codeOrder)]uint8
	runWords      [len(codeOrder)]codeWord

	bitWriter
}

// start forgets what was deflated before.
func (z *deflater) start() {
	if z.base < windowSize || z.base > 1<<31 {
		clear(z.seen[:])
		z.base = windowSize
	}
	clear(z.literals[:])
	clear(z.distances[:])
	z.literals[endOfBlock] = 1
	z.tokens, z.begin = z.tokens[:0], 0
}

// take adds tokens of other data for data[:size], which are the same but for the changing bytes. A match that has to do
// with these becomes literals.
func (z *deflater) take(data []byte, size int, tokens []token) {
	at := 0
	for _, t := range tokens {
		at += t.literals()
		if at >= size {
			break
		}
		if !t.hasMatch() {
			continue
		}
		length, distance := min(t.length(), size-at), t.distance()
		if from := at - distance; length >= minMatch && at >= changingEnd &&
			(from >= changingEnd || from+length <= changing) {
			z.add(data, at, length, distance)
		}
		at += length
	}
}

// add adds a match, and the literals in front of it.
func (z *deflater) add(data []byte, at, length, distance int) {
	literals := data[z.begin:at]
	for _, b := range literals {
		z.literals[b]++
	}
	n := len(literals)
	for ; n >= manyLiterals; n -= manyLiterals {
		z.tokens = append(z.tokens, manyLiterals<<23)
	}
	z.tokens = append(z.tokens, newToken(n, length, distance))
	z.literals[lengthCodes[length].symbol]++
	z.distances[distanceSymbol(distance-1)]++
	z.begin = at + length
}

// search finds tokens for data[from:], which match what is behind from. That is not thorough, but what follows the
// constants of a class has little in common with them, and its matches are near.
func (z *deflater) search(data []byte, from int) {
	base, seen := z.base, &z.seen
	last := len(data) - 4 // the last position with four bytes
	for at := from; at <= last; {
		four := binary.LittleEndian.Uint32(data[at:])
		place, here := &seen[matchHash(four)], base+uint32(at)
		before := *place
		*place = here
		oldest := max(base, here-windowSize)
		if before-oldest >= here-oldest || binary.LittleEndian.Uint32(data[before-base:]) != four {
			at++
			continue
		}
		distance := int(here - before)
		length := matchLength(data, at-distance, at)
		z.add(data, at, length, distance)
		next := at + 1
		at += length
		for end := min(at, last+1); next < end; next++ {
			seen[matchHash(binary.LittleEndian.Uint32(data[next:]))] = base + uint32(next)
		}
	}
	for _, b := range data[z.begin:] {
		z.literals[b]++
	}
	z.base += uint32(len(data))
}

func matchHash(four uint32) uint32 { return four * 0x9E3779B1 >> (32 - matchBits) }

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

// block writes a block (RFC 1951 3.2.3) of data, whose tokens were found. It is the only one of the stream.
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
	z.write(1|2<<1, 3)
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
	z.write(uint64(literals-257)|uint64(distances-1)<<5|uint64(ordered-4)<<10, 14)
	for _, symbol := range codeOrder[:ordered] {
		z.write(uint64(z.runLengths[symbol]), 3)
	}
	for _, r := range z.runs {
		word := z.runWords[r.symbol]
		z.write(word.bits()|uint64(r.extra)<<word.length(), word.length()+orderSymbols[r.symbol].width())
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

// content writes the tokens of data, and the end of the block. It has the fields of the bitWriter in registers.
func (z *deflater) content(data []byte) {
	literals := &z.literalWords
	out, n, hold, held := z.out, z.n, z.hold, z.held
	for _, t := range append(z.tokens, lastToken) {
		run := data
		if t != lastToken {
			run = data[:t.literals()]
		}
		data = data[len(run):]
		for len(run) >= 3 {
			a, b, c := literals[run[0]], literals[run[1]], literals[run[2]]
			hold |= a.bits() << (held & 63)
			held += a.length()
			hold |= b.bits() << (held & 63)
			held += b.length()
			hold |= c.bits() << (held & 63)
			held += c.length()
			binary.LittleEndian.PutUint64(out[n:], hold)
			n, hold, held = n+int(held>>3), hold>>(held&56), held&7
			run = run[3:]
		}
		for _, b := range run {
			a := literals[b]
			hold |= a.bits() << (held & 63)
			held += a.length()
		}
		if t.hasMatch() {
			length := &lengthCodes[t.length()]
			a := literals[length.symbol]
			hold |= (a.bits() | uint64(t.length()-int(length.base))<<a.length()) << (held & 63)
			held += a.length() + uint(length.extra)
			binary.LittleEndian.PutUint64(out[n:], hold)
			n, hold, held = n+int(held>>3), hold>>(held&56), held&7
			symbol := distanceSymbol(t.distance() - 1)
			a = z.distanceWords[symbol]
			hold |= (a.bits() | uint64(t.distance()-1-int(distanceBases[symbol]))<<a.length()) << (held & 63)
			held += a.length() + distanceSymbols[symbol].width()
			data = data[t.length():]
		}
		binary.LittleEndian.PutUint64(out[n:], hold)
		n, hold, held = n+int(held>>3), hold>>(held&56), held&7
	}
	z.n, z.hold, z.held = n, hold, held
	z.word(literals[endOfBlock])
	z.flush()
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
