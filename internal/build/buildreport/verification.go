package buildreport

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// Verification is the result of the type checker for some files.
type Verification struct {
	// Version is the version of tracegen.
	Version string
	// Findings are in the order of the output.
	Findings []Finding
	// Baseline is true if there were originals to compare with, so that each finding is introduced or pre-existing.
	Baseline bool
	// Classes is the number of classes that were checked.
	Classes int
	// Unknown are the classes that were not found, in internal form.
	Unknown []string
	// Warnings are the warnings of the run.
	Warnings []string
}

// Finding is what is wrong with a class of some file.
type Finding struct {
	Path  string // as the user named it
	Entry string // in it; with several levels a ! stands between them, "" for a lone class file
	verify.Finding
	PreExisting bool // the baseline has it too
}

// Bad reports whether there are findings that are not pre-existing.
func (v *Verification) Bad() bool { return v.introduced() > 0 }

// introduced returns the number of findings that are not pre-existing.
func (v *Verification) introduced() int {
	n := 0
	for _, f := range v.Findings {
		if !f.PreExisting {
			n++
		}
	}
	return n
}

// Summary returns the numbers of classes and findings in one line.
func (v *Verification) Summary() string {
	text := count(v.Classes, "class", "classes") + " checked: " + count(len(v.Findings), "finding", "findings")
	if v.Baseline {
		text += fmt.Sprintf(" (%d introduced, %d pre-existing)", v.introduced(), len(v.Findings)-v.introduced())
	}
	if n := len(v.Unknown); n > 0 {
		text += "; " + count(n, "class", "classes") + " not found and assumed to fit"
	}
	return text
}

// where returns the place of the class file.
func where(f Finding) string {
	if f.Entry == "" {
		return f.Path
	}
	return f.Path + "!" + f.Entry
}

// state returns the state of a finding, "" without a baseline.
func (v *Verification) state(f Finding) string {
	switch {
	case !v.Baseline:
		return ""
	case f.PreExisting:
		return "pre-existing"
	}
	return "introduced"
}

// levelError is the level of every finding, in JSON as in SARIF.
const levelError = "error"

// WriteText writes one line per finding: PATH[!ENTRY]: CLASS#METHOD(DESC)@OFFSET: RULE: expected WHAT, found WHAT. The
// line ends with the state, and the types at the offset if they are known, each in brackets.
func (v *Verification) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, f := range v.Findings {
		line := where(f) + ": " + f.String()
		if state := v.state(f); state != "" {
			line += " [" + state + "]"
		}
		if f.Frame != "" {
			line += " [frame: " + f.Frame + "]"
		}
		b.WriteString(console.Printable(line))
		b.WriteByte('\n')
	}
	return b.Flush()
}

// Messages returns a message for each finding that is not pre-existing. Each names the file that the
// user named, and the rule as its title.
func (v *Verification) Messages() []console.Message {
	var messages []console.Message
	for _, f := range v.Findings {
		if f.PreExisting {
			continue
		}
		text := f.String()
		if f.Entry != "" {
			text = f.Entry + ": " + text
		}
		messages = append(messages, console.Message{Level: console.LevelError, Text: text, Title: f.Rule, File: f.Path})
	}
	return messages
}

type verificationDocument struct {
	Schema   int           `json:"schema"`
	Version  string        `json:"version"`
	Classes  int           `json:"classes"`
	Findings []findingPart `json:"findings"`
	Unknown  []string      `json:"unknown"`
	Warnings []string      `json:"warnings"`
}

type findingPart struct {
	Path       string `json:"path"`
	Entry      string `json:"entry,omitempty"`
	Class      string `json:"class"`
	Method     string `json:"method,omitempty"`
	Descriptor string `json:"descriptor,omitempty"`
	Offset     *int   `json:"offset,omitempty"`
	Rule       string `json:"rule"`
	Expected   string `json:"expected"`
	Found      string `json:"found"`
	Frame      string `json:"frame,omitempty"`
	Level      string `json:"level"`
	State      string `json:"state,omitempty"`
}

// WriteJSON writes the findings as one object; see the package comment for its keys.
func (v *Verification) WriteJSON(w io.Writer) error {
	d := verificationDocument{
		Schema: schema, Version: v.Version, Classes: v.Classes,
		Findings: make([]findingPart, len(v.Findings)), Unknown: make([]string,
			len(v.Unknown)), Warnings: printableAll(v.Warnings),
	}
	for i, f := range v.Findings {
		d.Findings[i] = findingPart{
			Path: console.Printable(f.Path), Entry: console.Printable(f.Entry),
			Class: mapping.Text(f.Class), Method: mapping.Text(f.Method), Descriptor: mapping.Text(f.Descriptor),
			Offset: offset(f), Rule: f.Rule, Expected: console.Printable(f.Want), Found: console.Printable(f.Got),
			Frame: console.Printable(f.Frame),
			Level: levelError, State: v.state(f),
		}
	}
	for i, name := range v.Unknown {
		d.Unknown[i] = mapping.Text(name)
	}
	return encode(w, d)
}

func offset(f Finding) *int {
	if f.Offset < 0 {
		return nil
	}
	return &f.Offset
}

func encode(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// The parts of SARIF 2.1.0 that are written. The numbers are the sections of the standard.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct { // 3.49
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct { // 3.11, 3.12
		Text string `json:"text"`
	}
	sarifResult struct { // 3.27
		RuleID        string          `json:"ruleId"`
		RuleIndex     int             `json:"ruleIndex"`
		Level         string          `json:"level"`
		Message       sarifText       `json:"message"`
		BaselineState string          `json:"baselineState,omitempty"`
		Locations     []sarifLocation `json:"locations"`
		Properties    sarifProperties `json:"properties"`
	}
	sarifLocation struct { // 3.28
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct { // 3.29
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
	}
	sarifArtifact struct { // 3.4
		URI string `json:"uri"`
	}
	sarifLogical struct { // 3.33
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
	sarifProperties struct { // 3.8; values without a property of SARIF
		Entry  string `json:"entry,omitempty"`
		Offset *int   `json:"offset,omitempty"`
		Frame  string `json:"frame,omitempty"`
	}
)

// WriteSARIF writes the findings in the Static Analysis Results Interchange Format, version 2.1.0. The location of a
// finding is the file that the user named, as an entry of a jar has no URI. The message and the properties name the
// entry.
func (v *Verification) WriteSARIF(w io.Writer) error {
	results := make([]sarifResult, len(v.Findings)) // an empty list, not null: nothing would have been checked
	for i, f := range v.Findings {
		logical := sarifLogical{mapping.Text(f.Class), "type"}
		if f.Method != "" {
			logical = sarifLogical{mapping.Text(f.Class) + "." + mapping.Text(f.Method) + mapping.Text(f.Descriptor),
				"function"}
		}
		state := map[string]string{"pre-existing": "unchanged", "introduced": "new"}[v.state(f)]
		message := f.String()
		if f.Entry != "" {
			message = f.Entry + ": " + message
		}
		results[i] = sarifResult{
			RuleID: f.Rule, Level: levelError, BaselineState: state,
			Message: sarifText{console.Printable(message)},
			Locations: []sarifLocation{{
				PhysicalLocation: sarifPhysical{sarifArtifact{fileURI(f.Path)}},
				LogicalLocations: []sarifLogical{logical},
			}},
			Properties: sarifProperties{console.Printable(f.Entry), offset(f), console.Printable(f.Frame)},
		}
	}
	return writeSARIF(w, v.Version, results)
}

// writeSARIF writes a document with the results. It sets their rule indices.
func writeSARIF(w io.Writer, version string, results []sarifResult) error {
	driver := sarifDriver{Name: "tracegen", Version: version, Rules: []sarifRule{}}
	var ids []string
	for _, r := range results {
		ids = append(ids, r.RuleID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ids {
		driver.Rules = append(driver.Rules, sarifRule{id, sarifText{ruleText(id)}})
	}
	for i := range results {
		results[i].RuleIndex, _ = slices.BinarySearch(ids, results[i].RuleID)
	}
	return encode(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, results}},
	})
}

// ruleText returns the description of a rule.
func ruleText(rule string) string {
	if section, ok := strings.CutPrefix(rule, "JVMS "); ok {
		return "The Java Virtual Machine Specification, section " + section
	}
	return "A limit on the work for one class"
}

// fileURI returns the URI of a path (SARIF 3.4.3). It is relative if the path is.
func fileURI(path string) string {
	slashes := filepath.ToSlash(path)
	if !filepath.IsAbs(path) {
		return (&url.URL{Path: slashes}).String()
	}
	if !strings.HasPrefix(slashes, "/") {
		slashes = "/" + slashes // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: slashes}).String()
}
