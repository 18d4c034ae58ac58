package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// VerifyConfig says what [Verify] checks. Paths are needed.
type VerifyConfig struct {
	Paths     []string // jars, zips, .aar and .class files, directories
	Baseline  []string // the originals of these, to compare with; may be empty
	ClassPath ClassPath
	Frames    bool // report the types at the place of each finding
	Jobs      int  // workers; 0 is one per CPU
	// Progress is as in [Config].
	Progress func(done, total int64)
}

// Verify checks every class by itself, as HotSpot does when it links it. An error is one of reading: what is
// wrong with a class that can be read is a finding.
func Verify(ctx context.Context, c VerifyConfig) (*buildreport.Verification, error) {
	w, err := open(slices.Concat(c.Paths, c.Baseline), nil, c.Jobs, false, c.Progress, 2)
	if err != nil {
		return nil, err
	}
	defer w.set.Close()
	path := c.ClassPath.Lazy()
	defer path.Close()
	if err := path.Open(); err != nil {
		return nil, err
	}
	names, err := w.names(ctx)
	if err != nil {
		return nil, err
	}
	// A class of Paths sees all of Paths and none of Baseline; one of Baseline sees Baseline first, then Paths.
	all, split := len(w.set.Classes), len(w.set.Classes)
	if len(c.Baseline) > 0 {
		split = w.set.Inputs[len(c.Paths)].First
	}
	r := &infoReader{set: w.set}
	checked, originals, none := namedClassesOf(r, names, 0, split), namedClassesOf(r, names, split, all),
		namedClassesOf(r, nil, 0, 0)
	v := verification{
		work: w, names: names, paths: c.Paths, originals: originals, reports: make([]classReport, split),
		views:         newTypeViews(path, w.set, 0, split, checked, none, c.Frames),
		originalViews: newTypeViews(path, w.set, split, all, originals, checked, c.Frames),
	}
	if err := cmp.Or(w.each(ctx, split, v.start), w.set.CheckUnchanged()); err != nil {
		return nil, err
	}
	return v.result(), nil
}

// names finds out what all classes are called, for others to refer to them.
func (w *work) names(ctx context.Context) ([]string, error) {
	names := make([]string, len(w.set.Classes))
	err := w.each(ctx, len(names), func() func(int) error {
		var buffer []byte
		var parser classfile.Parser
		return func(n int) error {
			data, err := w.set.Read(n, &buffer)
			w.progress.add(w.set.Classes[n].Size)
			if errors.Is(err, zipfile.ErrUnsupported) {
				return nil
			}
			if err != nil {
				return err
			}
			if c, err := parser.Parse(data); err == nil {
				names[n] = strings.Clone(c.Name())
			}
			return nil
		}
	})
	return names, err
}

// verification is one call of Verify.
type verification struct {
	*work
	names         []string // by number of class
	paths         []string
	views         *typeViews // of Paths
	originalViews *typeViews // of Baseline
	originals     *namedClasses

	reports []classReport // by number of class, each written by one worker
}

// classReport is what was found out about one class.
type classReport struct {
	checked  bool
	findings []buildreport.Finding
	unknown  []string
	warning  string
}

// start returns what checks one class after another.
func (v *verification) start() func(int) error {
	var buffer []byte
	var parser classfile.Parser
	return func(n int) (err error) {
		v.reports[n], err = v.check(n, &buffer, &parser)
		return err
	}
}

// check checks one class, and finds which findings its original had.
func (v *verification) check(class int, buffer *[]byte, parser *classfile.Parser) (classReport, error) {
	at := v.set.Classes[class]
	data, err := v.set.Read(class, buffer)
	v.progress.add(at.Size)
	if errors.Is(err, zipfile.ErrUnsupported) {
		return classReport{warning: fmt.Sprintf("%s is not checked: %v", at.Where(), err)}, nil
	}
	if err != nil {
		return classReport{}, err
	}
	findings, unknown, err := findingsOf(v.views, at, class, parser, data)
	if err != nil {
		return classReport{warning: fmt.Sprintf("%s is not checked: %v", at.Where(), err)}, nil
	}
	report := classReport{checked: true, unknown: unknown}
	introduced, err := v.introduced(class, findings)
	if err != nil {
		return classReport{}, err
	}
	for _, f := range findings {
		// Both lists are in one order.
		isNew := len(introduced) > 0 && f == introduced[0]
		if isNew {
			introduced = introduced[1:]
		}
		report.findings = append(report.findings, buildreport.Finding{Path: v.paths[at.Container.Input], Entry: entryName(at),
			Finding: f, PreExisting: !isNew})
	}
	return report, nil
}

// findingsOf checks a class file. The error is about one of a version that is not supported.
func findingsOf(by *typeViews, at *input.Class, class int, parser *classfile.Parser,
	data []byte) ([]verify.Finding, []string, error) {
	c, err := parser.Parse(data)
	if errors.Is(err, classfile.ErrVersion) {
		return nil, nil, err
	}
	if err == nil && c.IsFuture() {
		minor, major := c.Version()
		return nil, nil, fmt.Errorf("%w %d.%d (supported: %d to %d)", classfile.ErrVersion, major, minor,
			classfile.MinMajor, classfile.MaxMajor)
	}
	if err != nil {
		return []verify.Finding{{
			Class: strings.TrimSuffix(at.Name, ".class"), Offset: -1,
			Rule: "JVMS 4.8", Want: "a class file", Got: err.Error(),
		}}, nil, nil
	}
	result := by.Check(class, c)
	// Names are cut from the class file, whose memory serves the next one.
	for i := range result.Findings {
		f := &result.Findings[i]
		for _, text := range []*string{&f.Class, &f.Method, &f.Descriptor, &f.Want, &f.Got, &f.Frame} {
			*text = strings.Clone(*text)
		}
	}
	for i, name := range result.Unknown {
		result.Unknown[i] = strings.Clone(name)
	}
	return result.Findings, result.Unknown, nil
}

// introduced returns those of the findings that the original of a class has not.
func (v *verification) introduced(class int, findings []verify.Finding) ([]verify.Finding, error) {
	original := v.originalOf(class)
	if len(findings) == 0 || original < 0 {
		return findings, nil
	}
	var buffer []byte
	data, err := v.set.Read(original, &buffer)
	if err != nil { // it was read for its name a moment ago
		return nil, err
	}
	before, _, err := findingsOf(v.originalViews, v.set.Classes[original], original, new(classfile.Parser), data)
	if err != nil {
		return findings, nil // the original is of a version that cannot be checked
	}
	return verify.Introduced(before, findings), nil
}

// originalOf finds the class of the baseline that a class was before: of its name, in the same place if there is one.
// It returns -1 if there is none.
func (v *verification) originalOf(class int) int {
	best, bestScore := -1, -1
	at := v.set.Classes[class]
	for _, n := range v.originals.Named(v.names[class]) {
		o := v.set.Classes[n]
		score := 0
		if entryName(o) == entryName(at) {
			score += 2
		}
		if o.Container.Input-len(v.paths) == at.Container.Input {
			score++
		}
		if score > bestScore {
			best, bestScore = n, score
		}
	}
	return best
}

// entryName names the entry of a class below its input, "" for a lone class file.
func entryName(at *input.Class) string {
	if at.Container.Kind == input.ClassFile {
		return ""
	}
	return at.Path()
}

func (v *verification) result() *buildreport.Verification {
	result := &buildreport.Verification{Baseline: len(v.set.Inputs) > len(v.paths)}
	unknown := make(map[string]bool)
	for _, r := range v.reports {
		if r.checked {
			result.Classes++
		}
		if r.warning != "" {
			result.Warnings = append(result.Warnings, r.warning)
		}
		result.Findings = append(result.Findings, r.findings...)
		for _, name := range r.unknown {
			unknown[name] = true
		}
	}
	result.Unknown = slices.Sorted(maps.Keys(unknown))
	return result
}
