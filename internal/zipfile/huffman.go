package zipfile

import "math/bits"

// codeWord is a code of a symbol, its first bit lowest, above 8 bits for its length.
type codeWord uint32

func (w codeWord) bits() uint64 { return uint64(w >> 8) }

func (w codeWord) length() uint { return uint(w & 0xFF) }

// huffman computes codes. It keeps its working memory.
type huffman struct {
	symbols, sorted, nodes [lengthSymbolsEnd]uint32
}

// lengths computes the lengths of the best code for symbols that occur so often, with at most limit bits for one. A
// symbol that does not occur has length 0, and one that is alone has length 1. With more than limit bits, a code is
// shortened to limit, which is good and not always best.
func (h *huffman) lengths(counts []uint32, lengths []uint8, limit int) {
	n := 0
	for symbol, count := range counts {
		lengths[symbol] = 0
		if count > 0 {
			h.symbols[n] = count<<9 | uint32(symbol)
			n++
		}
	}
	if n == 1 {
		lengths[h.symbols[0]&0x1FF] = 1
	}
	if n < 2 {
		return
	}
	symbols := h.sort(n)
	leaves := h.depths(symbols, limit)
	for length := limit; length > 0; length-- {
		for _, s := range symbols[:leaves[length]] {
			lengths[s&0x1FF] = uint8(length)
		}
		symbols = symbols[leaves[length]:]
	}
}

// sort sorts the first n symbols by their counts, which are nearly always below 255, and then by number.
func (h *huffman) sort(n int) []uint32 {
	symbols := h.symbols[:n]
	if n <= 24 {
		insertionSort(symbols)
		return symbols
	}
	var next [257]uint16
	for _, s := range symbols {
		next[min(s>>9, 255)+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	frequent := next[255]
	sorted := h.sorted[:n]
	for _, s := range symbols {
		i := min(s>>9, 255)
		sorted[next[i]] = s
		next[i]++
	}
	insertionSort(sorted[frequent:])
	return sorted
}

func insertionSort(list []uint32) {
	for i, v := range list {
		for ; i > 0 && list[i-1] > v; i-- {
			list[i] = list[i-1]
		}
		list[i] = v
	}
}

// depths returns how many leaves of the tree of a code for symbols are at each depth. (Moffat and Katajainen, In-Place
// Calculation of Minimum-Redundancy Codes: nodes first has the counts of symbols and trees, then the numbers of
// parents, then depths.)
func (h *huffman) depths(symbols []uint32, limit int) (leaves [maxCodeLength + 1]int) {
	n := len(symbols)
	nodes := h.nodes[:n]
	for i, s := range symbols {
		nodes[i] = s >> 9
	}
	leaf, root := 0, 0
	for next := range n - 1 {
		count := uint32(0)
		for range 2 {
			if leaf >= n || root < next && nodes[root] < nodes[leaf] {
				count += nodes[root]
				nodes[root] = uint32(next)
				root++
			} else {
				count += nodes[leaf]
				leaf++
			}
		}
		nodes[next] = count
	}
	nodes[n-2] = 0
	for i := n - 3; i >= 0; i-- {
		nodes[i] = nodes[nodes[i]] + 1
	}
	places, i := 1, n-2
	for depth := 0; places > 0; depth++ {
		inner := 0
		for ; i >= 0 && int(nodes[i]) == depth; i-- {
			inner++
		}
		leaves[min(depth, limit)] += places - inner
		places = 2 * inner
	}
	shorten(&leaves, limit)
	return leaves
}

// shorten makes a tree of leaves some of which were raised to depth limit: others go down until there is room for all.
func shorten(leaves *[maxCodeLength + 1]int, limit int) {
	used := 0
	for depth := 1; depth <= limit; depth++ {
		used += leaves[depth] << (limit - depth)
	}
	for ; used > 1<<limit; used-- {
		depth := limit - 1
		for leaves[depth] == 0 {
			depth--
		}
		leaves[depth]--
		leaves[depth+1] += 2
		leaves[limit]--
	}
}

// assignCodes numbers the codes of these lengths (RFC 1951 3.2.2). The words of symbols without a code are not written.
func assignCodes(lengths []uint8, words []codeWord) {
	var counts, next [maxCodeLength + 1]uint16
	for _, n := range lengths {
		counts[n&maxCodeLength]++
	}
	counts[0] = 0
	for n := 1; n <= maxCodeLength; n++ {
		next[n] = (next[n-1] + counts[n-1]) << 1
	}
	words = words[:len(lengths)]
	for symbol, n := range lengths {
		if n &= maxCodeLength; n > 0 {
			words[symbol] = codeWord(bits.Reverse16(next[n])>>(16-n))<<8 | codeWord(n)
			next[n]++
		}
	}
}
