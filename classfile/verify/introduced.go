package verify

import "strings"

// Introduced gives those findings about a changed class that the original has not: what is wrong with both was wrong
// before. Findings are the same if they are about the same member, of the same rule and in the same words but for
// numbers, because positions in code move.
func Introduced(original, changed []Finding) []Finding {
	before := map[Finding]int{}
	for _, f := range original {
		before[f.withoutNumbers()]++
	}
	var introduced []Finding
	for _, f := range changed {
		key := f.withoutNumbers()
		if before[key] > 0 {
			before[key]--
			continue
		}
		introduced = append(introduced, f)
	}
	return introduced
}

// withoutNumbers gives what stays of a finding when code moves.
func (f Finding) withoutNumbers() Finding {
	strip := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	return Finding{Class: f.Class, Method: f.Method, Descriptor: f.Descriptor, Rule: f.Rule, Want: strip(f.Want), Got: strip(f.Got), Note: f.Note}
}
