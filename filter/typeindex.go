package filter

import "strings"

// typeIndex finds the patterns of type names that match a name. Each pattern has a number; numbers are added in
// ascending order. A pattern does not match the nested classes of a type. Names without wildcards are found in a map,
// so that a look-up costs the same for any number of them; the others are found as in [globRules].
type typeIndex struct {
	literal  map[string][]int32
	globs    globRules
	patterns map[int32]*classPattern // the patterns in globs, by number
	last     int32                   // the greatest number, -1 if there is none
}

func (x *typeIndex) add(number int32, p *classPattern) {
	x.last = number
	name := strings.Join(p.segments, "/")
	if isLiteral(name) {
		if x.literal == nil {
			x.literal = map[string][]int32{}
		}
		x.literal[name] = append(x.literal[name], number)
		return
	}
	if x.patterns == nil {
		x.patterns = map[int32]*classPattern{}
	}
	x.patterns[number] = p
	x.globs.add(number, p.segments[len(p.segments)-1])
}

// appendMatches appends the numbers of the patterns that match an internal name, in no particular order.
func (x *typeIndex) appendMatches(to []int32, name string) []int32 {
	to = append(to, x.literal[name]...)
	if len(x.patterns) == 0 {
		return to
	}
	simple := name[strings.LastIndexByte(name, '/')+1:]
	x.globs.each(simple, false, func(list []int32) {
		for _, number := range list {
			if x.patterns[number].match(name) {
				to = append(to, number)
			}
		}
	})
	return to
}
