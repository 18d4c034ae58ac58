package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/incremental"
	"github.com/tracegen/tracegen/internal/cache"
)

// scanKey returns the configuration in the cache key of the class facts of an input: the values of all options that the
// table does not exempt, the rules, and the digest of --r8-mapping.
func (i *instrument) scanKey() string {
	return ruleText(i.rules) + i.rows.record(inScanKey, i.values) + i.r8Digest
}

// writeKey returns the configuration in the cache key of an output. Rules are not in it: package pipeline adds the
// decisions on each class to the key.
func (i *instrument) writeKey() string { return i.rows.record(inWriteKey, i.values) }

// ruleText returns a text that differs for different lists of rules.
func ruleText(rules []filter.Rule) string {
	var text strings.Builder
	for _, r := range rules {
		text.WriteString(strconv.Quote(r.String()) + "\n")
	}
	return text.String()
}

// executableSum returns the hash of the running program. The version is not enough for a cache key: it stays the same
// while the program is developed. A cache keeps the hash for later runs; nil does not.
func executableSum(kept *cache.Cache) (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	// On Linux, this is the running file, even if another one has taken its name.
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return incremental.SumOf(kept, name, self)
	}
	return incremental.SumOf(kept, name, name)
}
