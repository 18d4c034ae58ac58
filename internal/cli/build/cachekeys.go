package build

import (
	"os"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/cli"
)

// scanKey returns the configuration in the cache key of the class facts of an input: the values of all options that the
// table does not exempt, the rules, and the digests of --r8-mapping and --profile.
func (i *settings) scanKey() string {
	return ruleText(i.rules) + i.rows.Record(cli.InScanKey, i.values) + i.r8Digest + i.profileSums
}

// writeKey returns the configuration in the cache key of an output. Rules are not in it: package pipeline adds the
// decisions on each class to the key.
func (i *settings) writeKey() string { return i.rows.Record(cli.InWriteKey, i.values) }

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
		return pipeline.SumOf(kept, self)
	}
	return pipeline.SumOf(kept, name)
}
