package verify

import "strings"

// Introduced returns the findings about a changed class that the original does not have: a fault of both is
// pre-existing.
//
// Two findings count as the same if they are about the same member and rule and have the same words. Numbers in the
// words are ignored, because they are mostly positions in code, and positions move when code is inserted. If the
// changed class has a finding more often than the original, the surplus is introduced.
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

// withoutNumbers returns the part of a finding that stays the same when code moves.
func (f Finding) withoutNumbers() Finding {
	strip := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	return Finding{Class: f.Class, Method: f.Method, Descriptor: f.Descriptor, Rule: f.Rule,
		Want: strip(f.Want), Got: strip(f.Got)}
}
