package zipfile

// The two bytes of a class file in front of its constants, their number, change with every constant that is added.
// They are the only bytes in front of the end of the constants that do.
const (
	changing    = 8
	changingEnd = 10
)

// A token is a match of a deflate stream, and how many literals are in front of it:
//
//	0-14   the match's distance, less 1
//	15-22  its length, less minMatch
//	23-31  the number of literals, or manyLiterals: that many, and no match
//
// The literals themselves are in the data that the tokens are of. Those behind the last match have no token.
type token uint32

const (
	minMatch     = 3
	maxMatch     = 258
	manyLiterals = 1<<9 - 1
	lastToken    = token(manyLiterals<<23 | 1) // all literals that are left
)

func newToken(literals, length, distance int) token {
	return token(literals<<23 | (length-minMatch)<<15 | (distance - 1))
}

func (t token) literals() int { return int(t >> 23) }

func (t token) hasMatch() bool { return t>>23 != manyLiterals }

func (t token) length() int { return int(t>>15&0xFF) + minMatch }

func (t token) distance() int { return int(t&0x7FFF) + 1 }

// roomForTokens returns how many tokens data can have.
func roomForTokens(size int) int { return size/minMatch + size/manyLiterals + 1 }

// note notes a match at n.
func (d *decoder) note(n, length, distance int) {
	for n-d.behind >= manyLiterals {
		d.tokens[d.noted] = manyLiterals << 23
		d.noted++
		d.behind += manyLiterals
	}
	d.tokens[d.noted] = newToken(n-d.behind, length, distance)
	d.noted++
	d.behind = n + length
}
