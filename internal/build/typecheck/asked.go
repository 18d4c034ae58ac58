package typecheck

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// NameSum is a number made of the name of a class, the same in every run. Few names share one.
type NameSum uint32

// SumOf returns the number of a name in internal form.
func SumOf(name string) NameSum { return NameSum(xxh3.HashString(name)) }

// nameSumSize is the size of a packed NameSum.
const nameSumSize = 4

// NameSums are packed NameSums, which can be kept and read without work.
type NameSums []byte

// sumsOf returns the sums of names, in ascending order, so that they do not depend on that of the names.
func sumsOf(names []string) NameSums {
	if len(names) == 0 {
		return nil
	}
	sums := make([]NameSum, len(names))
	for i, name := range names {
		sums[i] = SumOf(name)
	}
	slices.Sort(sums)
	sums = slices.Compact(sums)
	packed := make(NameSums, 0, len(sums)*nameSumSize)
	for _, s := range sums {
		packed = binary.LittleEndian.AppendUint32(packed, uint32(s))
	}
	return packed
}

// Any reports whether one of the sums is in a set.
func (s NameSums) Any(of map[NameSum]bool) bool {
	for ; len(of) > 0 && len(s) >= nameSumSize; s = s[nameSumSize:] {
		if of[NameSum(binary.LittleEndian.Uint32(s))] {
			return true
		}
	}
	return false
}

// Asked are the classes that the type checker looked for when it checked a class. What it says of that depends on
// nothing else than these, the class, and the class path.
type Asked struct {
	Unknown []string // those that were not found, in internal form
	All     NameSums // found or not; empty if this is not noted
}

// with returns the classes of both.
func (a Asked) with(b Asked) Asked {
	if a.Unknown == nil && a.All == nil {
		return b
	}
	for _, name := range b.Unknown {
		if !slices.Contains(a.Unknown, name) {
			a.Unknown = append(slices.Clip(a.Unknown), name)
		}
	}
	a.All = slices.Concat(a.All, b.All)
	return a
}

// Add adds the classes that were looked for when a class was checked, which is given by its number among those of the
// input.
func (n *Notes) Add(class int, a Asked) {
	if len(a.Unknown) == 0 && len(a.All) == 0 {
		return
	}
	if n.Asked == nil {
		n.Asked = make(map[int]Asked)
	}
	n.Asked[class] = n.Asked[class].with(a)
	for _, name := range a.Unknown {
		if n.Unknown == nil {
			n.Unknown = make(map[string]bool)
		}
		n.Unknown[name] = true
	}
}
