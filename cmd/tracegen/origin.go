package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// rulesOption stands for the rules and block lists among the options of a scan file.
const rulesOption = "rules"

// r8Option stands for the content of --r8-mapping among them.
const r8Option = "r8-mapping"

// origin tells by what a part is scanned.
func (i *instrument) origin() pipeline.Origin {
	o := pipeline.Origin{Tool: version(), Options: i.valuesOf(i.originOptions())}
	o.Options[rulesOption], o.Options[r8Option] = rulesDigest(i.rules), i.r8Digest
	return o
}

// rulesDigest tells lists of rules apart: "3 rules (9f86d081884c7d65)".
func rulesDigest(rules []filter.Rule) string {
	if len(rules) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(ruleText(rules)))
	return fmt.Sprintf("%d rules (%x)", len(rules), sum[:8])
}

// madeHere refuses a file that another version of the program made.
func madeHere(path string, by pipeline.Origin) error {
	if by.Tool != version() {
		return fmt.Errorf("%s was made by tracegen %s, this is %s; make it again with this one", path, by.Tool, version())
	}
	return nil
}
