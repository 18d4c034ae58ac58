package buildreport

import (
	"io"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// guardRule begins the rule of the result of a failed guard.
const guardRule = "guard/"

// WriteSARIF writes the guards that failed, and the methods and classes that could not be instrumented, as SARIF 2.1.0.
// What a filter skips is no result. The location of a method is the input that the user named, and that of a guard the
// mapping. The message and the properties name the entry.
func (r *Run) WriteSARIF(w io.Writer) error {
	var results []sarifResult
	for _, g := range r.Guards {
		if g.Failed {
			results = append(results, sarifResult{
				RuleID: guardRule + g.Name, Level: "error", Message: sarifText{console.Printable(g.String())},
				Locations: []sarifLocation{{PhysicalLocation: sarifPhysical{sarifArtifact{fileURI(r.MappingFile)}}}},
			})
		}
	}
	for _, s := range r.skippedLines() {
		if !notInstrumented(s.Reason) {
			continue
		}
		logical := sarifLogical{s.class, "type"}
		if s.Name != "" {
			logical = sarifLogical{s.class + "." + mapping.Text(s.Name) + mapping.Text(s.Descriptor), "function"}
		}
		text := s.Entry + ": " + logical.FullyQualifiedName + " is not traced: " + string(s.Reason)
		if s.Detail != "" {
			text += ": " + s.Detail
		}
		results = append(results, sarifResult{
			RuleID: string(s.Reason), Level: "warning", Message: sarifText{console.Printable(text)},
			Locations: []sarifLocation{{
				PhysicalLocation: sarifPhysical{sarifArtifact{fileURI(s.Input)}},
				LogicalLocations: []sarifLogical{logical},
			}},
			Properties: sarifProperties{Entry: console.Printable(s.Entry)},
		})
	}
	return writeSARIF(w, r.Version, results, func(rule string) string {
		if guard, ok := strings.CutPrefix(rule, guardRule); ok {
			return "The guard " + guard + " of tracegen instrument"
		}
		return "A class or method that tracegen instrument leaves as it is: " + rule
	})
}

// notInstrumented reports whether the reason says that a method cannot be instrumented, and not that a rule, or its
// size, makes it of no interest.
func notInstrumented(reason filter.Reason) bool {
	switch reason {
	case filter.ReasonTooLarge, filter.ReasonPoolFull, filter.ReasonUnknownAttribute, filter.ReasonUnverifiable,
		filter.ReasonMalformed, filter.ReasonUnsupportedVersion:
		return true
	}
	return false
}

// writeSARIF writes a document with the results. It sets their rule indices; describe returns the description of a
// rule.
func writeSARIF(w io.Writer, version string, results []sarifResult, describe func(rule string) string) error {
	driver := sarifDriver{Name: "tracegen", Version: version, Rules: []sarifRule{}}
	var ids []string
	for _, r := range results {
		ids = append(ids, r.RuleID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		driver.Rules = append(driver.Rules, sarifRule{id, sarifText{describe(id)}})
	}
	for i := range results {
		results[i].RuleIndex, _ = slices.BinarySearch(ids, results[i].RuleID)
	}
	if results == nil {
		results = []sarifResult{} // an empty list, not null, which would mean that nothing was checked
	}
	return encode(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, results}},
	})
}
