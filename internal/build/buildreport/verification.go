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

// object is an object of SARIF 2.1.0. The numbers behind objects are the sections of the standard.
type object map[string]any

// sarifProperties are values without a property of SARIF (3.8).
type sarifProperties struct {
	Entry  string `json:"entry,omitempty"`
	Offset *int   `json:"offset,omitempty"`
	Frame  string `json:"frame,omitempty"`
}

// WriteSARIF writes the findings in the Static Analysis Results Interchange Format, version 2.1.0. The location of a
// finding is the file that the user named, as an entry of a jar has no URI. The message and the properties name the
// entry.
func (v *Verification) WriteSARIF(w io.Writer) error {
	var ids []string
	for _, f := range v.Findings {
		ids = append(ids, f.Rule)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rules, results := []object{}, []object{} // empty lists, not null: nothing would have been checked
	for _, id := range ids {
		rules = append(rules, object{"id": id, "shortDescription": object{"text": ruleText(id)}}) // 3.49
	}
	for _, f := range v.Findings {
		name, kind := mapping.Text(f.Class), "type"
		if f.Method != "" {
			name, kind = name+"."+mapping.Text(f.Method)+mapping.Text(f.Descriptor), "function"
		}
		message := f.String()
		if f.Entry != "" {
			message = f.Entry + ": " + message
		}
		index, _ := slices.BinarySearch(ids, f.Rule)
		result := object{ // 3.27
			"ruleId": f.Rule, "ruleIndex": index, "level": levelError,
			"message": object{"text": console.Printable(message)},
			"locations": []object{{ // 3.28
				"physicalLocation": object{"artifactLocation": object{"uri": fileURI(f.Path)}},
				"logicalLocations": []object{{"fullyQualifiedName": name, "kind": kind}},
			}},
			"properties": sarifProperties{console.Printable(f.Entry), offset(f), console.Printable(f.Frame)},
		}
		switch {
		case f.PreExisting:
			result["baselineState"] = "unchanged"
		case v.Baseline:
			result["baselineState"] = "new"
		}
		results = append(results, result)
	}
	driver := object{"name": "tracegen", "version": v.Version, "rules": rules} // 3.19
	return encode(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs":    []object{{"tool": object{"driver": driver}, "results": results}}, // 3.14
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
