package types

// The characters of names and strings are tested eight at a time, as the bytes of one number. Adding 127 to each of
// eight bytes below 128 sets the sign bit of those that are not zero, and carries nothing to the next byte.
const (
	eachByte = 0x0101010101010101
	signs    = 0x80 * eachByte
	maxASCII = 0x7F * eachByte
)

// differs sets the sign bit of each byte that is not c. Eight bytes below 128 are given.
func differs(eight, c uint64) uint64 { return eight ^ c*eachByte + maxASCII }

// eightOf returns eight bytes of a text.
func eightOf(text string, at int) uint64 {
	s := text[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// fewOf returns the bytes of a text of fewer than eight, and zeros.
func fewOf(text string) uint64 {
	switch n := len(text); {
	case n >= 4: // the first four and the last four, of which some may be the same
		a, b := text[:4], text[n-4:n]
		return uint64(a[0]) | uint64(a[1])<<8 | uint64(a[2])<<16 | uint64(a[3])<<24 |
			uint64(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)<<(8*uint(n-4)&63)
	case n > 0:
		return uint64(text[0]) | uint64(text[n/2])<<(8*uint(n/2)&63) | uint64(text[n-1])<<(8*uint(n-1)&63)
	}
	return 0
}

// edgesOf returns a number made of the first and the last eight bytes of a text, of its size, and of another number.
// The highest bits depend on all of these.
func edgesOf(text string, with uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio: spreads the bits
	n := len(text)
	with += uint64(n)
	if n < 8 {
		return (fewOf(text) ^ with) * odd
	}
	return ((eightOf(text, 0)^with)*odd ^ eightOf(text, n-8)) * odd
}

// zeroOrNonASCII sets sign bits if one of eight bytes is zero, or of a character that is not ASCII: that of the first
// such byte, and maybe of others after it. Subtracting 1 from each byte sets the sign bit of a zero.
func zeroOrNonASCII(eight uint64) uint64 { return eight | (eight - eachByte) }

// isPlainName is a quick test before validUnqualified, for the name of a field or method: it returns false for every
// name with a character that is not allowed in both, and for some others.
func isPlainName(name string) bool {
	if len(name) < 8 {
		return name != "" && plainIn(fewOf(name))&signs == signs
	}
	plain := plainIn(eightOf(name, len(name)-8)) // some of them are tested again
	for ; len(name) > 8; name = name[8:] {
		plain &= plainIn(eightOf(name, 0))
	}
	return plain&signs == signs
}

// plainIn sets the sign bit of each of eight bytes that is not . / ; < > [ or one of a few others.
func plainIn(eight uint64) uint64 {
	eight &= maxASCII // other characters may look like one of those
	// Characters that differ in one or two bits are tested at once.
	return differs(eight|eachByte, '/') & differs(eight|2*eachByte, '>') & differs(eight&(0x1F*eachByte), ';'&0x1F)
}

// isPlainClassName is a quick test before validUnqualified, for the name of a class that is not an array: it returns
// false for every name that is not valid, and for some others.
func isPlainClassName(name string) bool {
	if name == "" || name[0] == '/' || name[len(name)-1] == '/' {
		return false
	}
	if len(name) < 8 {
		return plainInClass(fewOf(name))&signs == signs
	}
	plain := plainInClass(eightOf(name, len(name)-8))
	for ; len(name) > 8; name = name[7:] { // so that each byte is tested together with the next
		plain &= plainInClass(eightOf(name, 0))
	}
	return plain&signs == signs
}

// plainInClass sets the sign bit of each of eight bytes that is not . ; [ or one of a few others, nor a slash before
// another.
func plainInClass(eight uint64) uint64 {
	eight &= maxASCII
	noSlash := differs(eight, '/')
	return differs(eight, '.') & differs(eight&(0x1F*eachByte), ';'&0x1F) & (noSlash | noSlash>>8 | 1<<63)
}
