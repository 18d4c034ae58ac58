package build

import (
	"crypto/sha256"
	"fmt"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
)

// rulesOption is the name under which scan files record the digest of the rules and block lists.
const rulesOption = "rules"

// r8Option is the name under which they record the digest of --r8-mapping.
const r8Option = "r8-mapping"

// origin returns the version and the options that a scan file records.
func (i *settings) origin() pipeline.Origin {
	o := pipeline.Origin{Tool: cli.Version(), Options: i.valuesOf(i.originOptions())}
	o.Options[rulesOption], o.Options[r8Option] = rulesDigest(i.rules), i.r8Digest
	return o
}

// rulesDigest returns the number and a hash of the rules, as "3 rules (9f86d081884c7d65)"; "" if there are none.
func rulesDigest(rules []filter.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(ruleText(rules)))
	return fmt.Sprintf("%d rules (%x)", len(rules), sum[:8])
}

// madeHere returns an error if another version of the program wrote the file.
func madeHere(path string, by pipeline.Origin) error {
	if by.Tool != cli.Version() {
		return fmt.Errorf("%s was written by tracegen %s, this is %s; write it again with this version", path, by.Tool,
			cli.Version())
	}
	return nil
}
