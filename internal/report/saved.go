package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Saved is a JSON report of a run that was read back. It is immutable.
type Saved struct{ document savedDocument }

// savedDocument is what is read of a document. What a file may lack although a report has it is a pointer.
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
}

type savedPackage struct {
	Package         *string
	Traced, Skipped int
	Calls           *int   // nil if it was not known yet
	AddedBytes      *int64 // likewise
}

// maxSaved is the size in bytes above which a file is no report: that of an app with a hundred thousand packages.
const maxSaved = 1 << 26

// ReadSaved reads a JSON report that [Run.WriteJSON] wrote. It fails on what is not one, or not whole.
func ReadSaved(from io.Reader) (*Saved, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxSaved+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxSaved {
		return nil, fmt.Errorf("more than %d MiB long: not a report", maxSaved>>20)
	}
	s := &Saved{}
	d := &s.document
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("not a report, or damaged: %w; give the file that --report wrote in an earlier build", err)
	}
	switch {
	case d.Schema == 0:
		return nil, errors.New(`not a report: no "schema"; give the file that --report wrote in an earlier build`)
	case d.Schema != schema:
		return nil, fmt.Errorf("report of schema %d, this tracegen reads schema %d; use the tracegen that wrote it, or a newer one", d.Schema, schema)
	case d.Totals == nil:
		return nil, errors.New(`not the report of a run: no "totals"; give the file that --report wrote in an earlier build`)
	}
	seen := make(map[string]bool, len(d.Packages))
	for _, p := range d.Packages {
		if p.Package == nil || p.Calls != nil && *p.Calls < 0 {
			return nil, errors.New("damaged: a package without a name, or with less than no calls; restore the report from the build that wrote it")
		}
		if seen[*p.Package] {
			return nil, fmt.Errorf("damaged: package %s is there twice; restore the report from the build that wrote it", Printable(*p.Package))
		}
		seen[*p.Package] = true
	}
	return s, nil
}

// Baseline is what a later run is compared with: the calls of each package in the report of an earlier one. It
// is immutable.
type Baseline struct {
	byPackage map[string]int
	calls     int
}

// ReadBaseline reads a JSON report that [Run.WriteJSON] wrote of a run that inserted calls. It fails on what is not
// one, or not whole.
func ReadBaseline(from io.Reader) (*Baseline, error) {
	s, err := ReadSaved(from)
	if err != nil {
		return nil, err
	}
	d := &s.document
	if d.Totals.Calls == nil {
		return nil, errors.New("the report does not count calls: it is not of tracegen instrument, or of a version that did not")
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
		return nil, fmt.Errorf("damaged: the packages have %d calls, the totals %d; restore the report from the build that wrote it", sum, base.calls)
	}
	return base, nil
}
