package group

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// build is a build of an app as it names itself. Two builds of one version, or with the same methods and so the same
// mapping, have IDs that differ.
type build struct{ version, code, id string }

// String returns "1.2", "1.2 build 4f3a" or "build 4f3a".
func (b build) String() string {
	if b.id == "" {
		return b.version
	}
	return strings.TrimSpace(b.version + " build " + b.id)
}

// buildOf returns what a recording says that it is of.
func buildOf(r *analysis.Recording) build {
	return build{cmp.Or(r.Meta["versionName"], r.Version()), r.Meta["versionCode"], r.Meta["buildId"]}
}

// compareBuilds orders builds from old to new: by version code where both have a number, else by the version's name.
// Builds of one version have the order of their IDs, as nothing says which is older.
func compareBuilds(a, b build) int {
	x, errX := strconv.ParseInt(a.code, 10, 64)
	y, errY := strconv.ParseInt(b.code, 10, 64)
	if errX == nil && errY == nil && x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Or(compareVersions(a.version, b.version), cmp.Compare(a.id, b.id))
}

// compareVersions orders names of versions as people do: numbers in them by their value, so that 1.9 comes before
// 1.10; and "1.2-beta" before "1.2", as in semver.
func compareVersions(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := leadingDigits(x), leadingDigits(y)
		if n > 0 && m > 0 {
			if c := compareNumbers(x[:n], y[:m]); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			// What ends a number stands for an end: a dash comes before it, all else behind.
			return cmp.Compare(versionRank(x[0]), versionRank(y[0]))
		}
		x, y = x[1:], y[1:]
	}
	switch {
	case strings.HasPrefix(x, "-"):
		return -1
	case strings.HasPrefix(y, "-"):
		return 1
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func versionRank(c byte) int {
	if c == '-' {
		return -1
	}
	return int(c)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// compareNumbers orders decimal numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
