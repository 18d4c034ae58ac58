package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/filter"
)

// scanKey returns the part of the cache key of a scan that options and files beside the inputs make up: all values that
// the table does not exempt, the rules, and the digest of the R8 mapping.
func (i *instrument) scanKey() string {
	return ruleText(i.rules) + i.rows.record(inScanKey, i.values) + i.r8Digest
}

// writeKey returns that of the cache key of a written output. Rules are not in it: what followed from them is in the
// decisions on each class, which package pipeline adds.
func (i *instrument) writeKey() string { return i.rows.record(inWriteKey, i.values) }

// ruleText returns the rules in a form that no two lists share.
func ruleText(rules []filter.Rule) string {
	var text strings.Builder
	for _, r := range rules {
		text.WriteString(strconv.Quote(r.String()) + "\n")
	}
	return text.String()
}

// executableSum tells this build of the program from every other one: a version does not, while somebody works on it.
func executableSum() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	// Where the system shows the file that runs, and not the one that has taken its name since.
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		if f, err = os.Open(name); err != nil {
			return "", err
		}
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
