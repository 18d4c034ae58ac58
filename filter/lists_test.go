package filter

import (
	"strings"
	"testing"
)

// TestLists checks that every line of the lists is read, is there once, and can match: the lines of waits.tsv are
// found by the package of the class.
func TestLists(t *testing.T) {
	for name, text := range map[string]string{"families.tsv": familyList, "waits.tsv": waitList} {
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			pattern, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			pattern, not := strings.CutPrefix(pattern, "!")
			p, err := parsePattern(pattern)
			if not && (name != "waits.tsv" || p.method == nil) {
				t.Errorf("%s: %q: only single methods of waits.tsv do not wait", name, line)
			}
			if err != nil || !ok || strings.TrimSpace(reason) == "" || seen[pattern] {
				t.Errorf("%s: %q: no pattern, no reason, or there twice: %v", name, line, err)
			}
			seen[pattern] = true
			if of := packageName(p.class.glob); name == "waits.tsv" && strings.Contains(of, "*") {
				t.Errorf("%s: %q: the package has a wildcard", name, line)
			}
		}
		if len(seen) < 20 {
			t.Errorf("%s has %d lines", name, len(seen))
		}
	}
}
