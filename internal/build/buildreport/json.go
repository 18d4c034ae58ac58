package buildreport

import (
	"io"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// schema is the version of the JSON forms. It is raised if a key changes its meaning.
const schema = 1

type document struct {
	Schema   int               `json:"schema"`
	Version  string            `json:"version"`
	Options  map[string]string `json:"options"`
	Rules    []string          `json:"rules"`
	Mapping  mappingPart       `json:"mapping"`
	Inputs   []inputPart       `json:"inputs"`
	Runtime  *Runtime          `json:"runtime,omitempty"`
	Totals   counts            `json:"totals"`
	Scope    *scopePart        `json:"scope,omitempty"` // nil if no class is of a library
	Verified verifiedPart      `json:"verification"`
	Guards   []Guard           `json:"guards"`
	Packages []packagePart     `json:"packages"`
	Focus    []focusPart       `json:"focus"`
	LeftOut  []LeftOut         `json:"leftOut"`
	Warnings []string          `json:"warnings"`
}

type scopePart struct {
	Own       Methods `json:"own"`
	Libraries Methods `json:"libraries"`
}

type mappingPart struct {
	File     string `json:"file"`
	Base     string `json:"base,omitempty"`
	Digest   string `json:"digest"`
	Methods  int    `json:"methods"`
	Retired  int    `json:"retired"`
	Freed    int    `json:"freed"`
	Headroom int    `json:"headroom"`
}

type inputPart struct {
	Input  string `json:"input"`
	Output string `json:"output"`
	counts
}

type counts struct {
	Classes          int                   `json:"classes"`
	Rewritten        int                   `json:"rewritten"`
	Methods          int                   `json:"methods"`
	Traced           int                   `json:"traced"`
	ClassBytes       int64                 `json:"classBytes"`
	OutputClassBytes *int64                `json:"outputClassBytes,omitempty"` // nil if not known yet
	Calls            *int                  `json:"calls,omitempty"`            // likewise
	Skipped          map[filter.Reason]int `json:"skipped"`
}

type packagePart struct {
	Package    string `json:"package"`
	Traced     int    `json:"traced"`
	Skipped    int    `json:"skipped"`
	Calls      *int   `json:"calls,omitempty"`      // nil if not known yet
	AddedBytes *int64 `json:"addedBytes,omitempty"` // likewise
}

type verifiedPart struct {
	Introduced  int `json:"introduced"`
	PreExisting int `json:"preExisting"`
	Unchecked   int `json:"unchecked"`
}

type focusPart struct {
	Class  string              `json:"class"`
	Action mapping.FocusAction `json:"action"`
}

func (r *Run) countsOf(in Input, skipped map[filter.Reason]int) counts {
	c := counts{
		Classes: in.Classes, Rewritten: in.Rewritten, Methods: in.Methods, Traced: in.Traced,
		ClassBytes: in.ClassBytes, Skipped: skipped,
	}
	if !r.Planned {
		c.OutputClassBytes, c.Calls = &in.OutputBytes, &in.Calls
	}
	return c
}

// packageParts returns the packages with the numbers that are known.
func (r *Run) packageParts() []packagePart {
	list := r.packages()
	parts := make([]packagePart, len(list))
	for i, p := range list {
		parts[i] = packagePart{Package: p.Package, Traced: p.Traced, Skipped: p.Skipped}
		if !r.Planned {
			parts[i].Calls, parts[i].AddedBytes = &list[i].Calls, &list[i].AddedBytes
		}
	}
	return parts
}

// WriteJSON writes the report; see the package comment for its keys.
func (r *Run) WriteJSON(w io.Writer) error {
	d := document{
		Schema: schema, Version: r.Version, Options: r.Options, Rules: printableAll(r.Rules),
		Mapping: mappingPart{
			File: r.MappingFile, Base: r.BaseFile, Digest: r.Mapping.Digest(),
			Methods: r.Mapping.Len(), Retired: retired(r.Mapping), Freed: r.freed(), Headroom: r.Mapping.Headroom(),
		},
		Inputs:   make([]inputPart, len(r.Inputs)),
		Runtime:  r.Runtime,
		Totals:   r.countsOf(r.total(), r.totalReasons()),
		Verified: verifiedPart{r.Introduced, r.PreExisting, r.Unchecked},
		Guards:   []Guard{}, // written as an empty list, not as null
		Packages: r.packageParts(),
		Focus:    []focusPart{},
		LeftOut:  []LeftOut{},
		Warnings: printableAll(r.Warnings),
	}
	if r.Libraries.WithCode > 0 {
		d.Scope = &scopePart{r.Own, r.Libraries}
	}
	reasons := r.reasons()
	for i, in := range r.Inputs {
		d.Inputs[i] = inputPart{in.Path, in.Output, r.countsOf(in, reasons[i])}
	}
	for _, g := range r.Guards {
		g.Actual = console.Printable(g.Actual)
		d.Guards = append(d.Guards, g)
	}
	for _, f := range r.Mapping.Focus() {
		d.Focus = append(d.Focus, focusPart{mapping.Text(f.Class), f.Action})
	}
	for _, e := range r.LeftOut {
		e.Entry = console.Printable(e.Entry)
		d.LeftOut = append(d.LeftOut, e)
	}
	return encode(w, d)
}

// printableAll returns the texts with [Printable] applied to each. The result is never nil.
func printableAll(texts []string) []string {
	printable := make([]string, len(texts))
	for i, text := range texts {
		printable[i] = console.Printable(text)
	}
	return printable
}

// totalReasons counts the skipped methods of all inputs by reason.
func (r *Run) totalReasons() map[filter.Reason]int {
	total := map[filter.Reason]int{}
	for s := range r.skipped() {
		total[s.Reason]++
	}
	return total
}
