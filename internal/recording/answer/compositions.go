package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/composition"
	"github.com/tracegen/tracegen/internal/recording/units"
)

// Compositions says which composables of Compose a recording executed.
type Compositions struct {
	// Composables has the one with the most own time first.
	Composables []Composable `json:"composables"`
	// Lost is how many executions the recorder has lost.
	Lost uint64 `json:"lost,omitempty"`
}

// Composable is a composable with all its executions.
type Composable struct {
	// Name is its name in the source, File and Line are where it begins; a lambda's name ends with "<anonymous>".
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Composed is how often it was executed, Recomposed how many of these were certainly not the first in their place, and
	// Restarted how many began with it, because a state that it reads had changed.
	Composed   uint64 `json:"composed"`
	Recomposed uint64 `json:"recomposed"`
	Restarted  uint64 `json:"restarted"`
	// Skipped is how often it was called and not executed; nil if that is not known.
	Skipped *uint64 `json:"skipped,omitempty"`
	// Total is how long it was executed, Own how long of that no other composable was, Longest the longest execution.
	Total   time.Duration `json:"totalNanos"`
	Own     time.Duration `json:"ownNanos"`
	Longest time.Duration `json:"longestNanos"`
	// Changed are its parameters that had changed when it was recomposed, the one that did so most often first.
	Changed []ChangedParameter `json:"changed"`
}

// ChangedParameter is a parameter of a composable.
type ChangedParameter struct {
	// Number is its number, from 1, a receiver counted; Times is how often it had changed.
	Number int    `json:"number"`
	Times  uint64 `json:"times"`
}

// compositionsOf returns what a recording executed; nil if nothing.
func compositionsOf(r *analysis.Recording) *Compositions {
	from := r.Compositions
	if from == nil {
		return nil
	}
	out := &Compositions{Composables: []Composable{}, Lost: from.Lost}
	for i := range from.List {
		out.Composables = append(out.Composables, composableOf(&from.List[i], from))
	}
	return out
}

func composableOf(c *composition.Composable, of *composition.Compositions) Composable {
	out := Composable{Name: c.Name, File: c.File, Line: c.Line, Composed: c.Executed, Recomposed: c.Again,
		Restarted: c.Itself, Total: c.Total, Own: c.Own, Longest: c.Longest, Changed: []ChangedParameter{}}
	if n, known := of.Skipped(c); known {
		out.Skipped = &n
	}
	for i, n := range c.Changed {
		if n > 0 {
			out.Changed = append(out.Changed, ChangedParameter{i + 1, n})
		}
	}
	slices.SortStableFunc(out.Changed, func(a, b ChangedParameter) int { return cmp.Compare(b.Times, a.Times) })
	return out
}

// lines returns a title, and up to two lines about each of the first composables; most is how many.
func (c *Compositions) lines(recording string, most int) []string {
	if c == nil || len(c.Composables) == 0 {
		return nil
	}
	n := uint64(0)
	for i := range c.Composables {
		n += c.Composables[i].Composed
	}
	title := fmt.Sprintf("%sCompose: %s of %s", recording, units.Count(n, "execution"),
		units.Count(len(c.Composables), "composable"))
	if c.Lost > 0 {
		title += fmt.Sprintf("; %s more lost", units.Thousands(c.Lost))
	}
	lines := []string{title, fmt.Sprintf("%12s %12s %9s %11s %9s  %s", "own", "total", "composed", "recomposed", "skipped",
		"composables")}
	for i := range c.Composables[:min(most, len(c.Composables))] {
		lines = append(lines, c.Composables[i].lines()...)
	}
	return lines
}

func (c *Composable) lines() []string {
	recomposed, skipped := units.Thousands(c.Recomposed), "?"
	if c.Recomposed < c.Composed {
		recomposed = "≥ " + recomposed
	}
	if c.Skipped != nil {
		skipped = units.Thousands(*c.Skipped)
	}
	line := fmt.Sprintf("%12s %12s %9s %11s %9s  ", units.Short(c.Own), units.Short(c.Total), units.Thousands(c.Composed),
		recomposed, skipped)
	name := c.Name
	if c.File != "" {
		name = fmt.Sprintf("%s (%s:%d)", name, c.File, c.Line)
	}
	lines := []string{line + shortened(name, screenWidth-len([]rune(line)))}
	if text := c.details(); text != "" {
		lines = append(lines, "              "+fitting(text, screenWidth-14))
	}
	return lines
}

// details says why it was recomposed.
func (c *Composable) details() string {
	var parts []string
	if c.Restarted > 0 {
		parts = append(parts, "a state that it reads changed: "+units.Count(c.Restarted, "time"))
	}
	for i, p := range c.Changed[:min(mostNamed, len(c.Changed))] {
		text := fmt.Sprintf("parameter %d changed: ", p.Number)
		if i > 0 {
			text = fmt.Sprintf("parameter %d: ", p.Number)
		}
		parts = append(parts, text+units.Count(p.Times, "time"))
	}
	return strings.Join(parts, "; ")
}
