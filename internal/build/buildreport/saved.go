package buildreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/console"
)

// Saved is a JSON report of a run, read from a file. It is immutable.
type Saved struct{ document savedDocument }

// savedDocument is the part of a document that is read. Keys whose absence must be noticed are pointers.
type savedDocument struct {
	Schema   int
	Version  string
	Options  map[string]string
	Rules    []string
	Mapping  mappingPart
	Inputs   []inputPart
	Totals   *counts
	Packages []savedPackage
	Focus    []focusPart
	Runtime  *Runtime
}

type savedPackage struct {
	Package         *string
	Traced, Skipped int
	Calls           *int   // nil in a report of assign
	AddedBytes      *int64 // likewise
}

// maxSaved is the highest size of a report in bytes, enough for an app with a hundred thousand packages.
const maxSaved = 1 << 26

// ReadSaved reads a JSON report that [Run.WriteJSON] wrote. It fails if the file is another one or incomplete.
func ReadSaved(from io.Reader) (*Saved, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxSaved+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSaved {
		return nil, fmt.Errorf("not a report: longer than %d MiB", maxSaved>>20)
	}
	s := &Saved{}
	d := &s.document
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("not a report, or damaged: %w; give a file that --report wrote", err)
	}
	switch {
	case d.Schema == 0:
		return nil, errors.New(`not a report: key "schema" is missing; give a file that --report wrote`)
	case d.Schema != schema:
		return nil, fmt.Errorf("report has schema %d, but this tracegen reads schema %d; use the version that "+
			"wrote it, or a newer one", d.Schema, schema)
	case d.Totals == nil:
		return nil, errors.New(`not the report of a run: key "totals" is missing; give a file that --report wrote`)
	}
	seen := make(map[string]bool, len(d.Packages))
	for _, p := range d.Packages {
		if p.Package == nil || p.Calls != nil && *p.Calls < 0 {
			return nil, errors.New("damaged: a package has no name, or a negative number of calls; write the report " +
				"again")
		}
		if seen[*p.Package] {
			return nil, fmt.Errorf("damaged: package %s occurs twice; write the report again", console.Printable(*p.Package))
		}
		seen[*p.Package] = true
	}
	return s, nil
}

// Baseline holds the number of calls in each package of an earlier run, for [Run.GuardCalls]. It is immutable.
type Baseline struct {
	byPackage map[string]int
	calls     int
}

// ReadBaseline reads a JSON report that [Run.WriteJSON] wrote for instrument. It fails if the file is another one or
// incomplete.
func ReadBaseline(from io.Reader) (*Baseline, error) {
	s, err := ReadSaved(from)
	if err != nil {
		return nil, err
	}
	d := &s.document
	if d.Totals.Calls == nil {
		return nil, errors.New("the report has no number of calls: give a report of tracegen instrument")
	}
	base := &Baseline{byPackage: make(map[string]int, len(d.Packages)), calls: *d.Totals.Calls}
	sum := 0
	for _, p := range d.Packages {
		if p.Calls != nil {
			base.byPackage[*p.Package] = *p.Calls
			sum += *p.Calls
		}
	}
	if sum != base.calls {
		return nil, fmt.Errorf("damaged: the packages have %d calls, but the totals %d; write the report again", sum,
			base.calls)
	}
	return base, nil
}
