package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/jar"
)

// VerifyConfig says what [Verify] is to judge. Paths are needed.
type VerifyConfig struct {
	Paths        []string // jars, zips, .aar and .class files, directories
	Baseline     []string // the same before somebody changed them; may be empty
	Surroundings Surroundings
	Notes        bool // also tell where the JVMS is stricter than HotSpot
	Frames       bool // tell the types at the place of each finding
	Jobs         int  // workers; 0 is one per CPU
	// Progress is as in [Config].
	Progress func(done, total int64)
}

// Verification is what was found.
type Verification struct {
	Findings []Finding // by path, entry and place in the class file
	Classes  int       // that were judged
	Unknown  []string  // classes that were not found anywhere, sorted, in internal form
	Warnings []string  // of classes that could not be judged
}

// Finding is what is wrong with a class of some file.
type Finding struct {
	Path  string // as in VerifyConfig.Paths
	Entry string // in it; with several levels a ! stands between them, "" for a lone class file
	verify.Finding
	PreExisting bool // the baseline has it too
}

// judgement is what was said of one unit.
type judgement struct {
	judged   bool
	findings []Finding
	unknown  []string
	warning  string
}

// verification is one call of Verify.
type verification struct {
	*run
	config   VerifyConfig
	referee  *referee // of Paths
	original *referee // of Baseline

	before map[string][]*unit // classes of Baseline by name
	mu     sync.Mutex
	said   map[*unit]judgement
}

// Verify judges every class by itself, as HotSpot does when it links it. An error is one of reading: what is
// wrong with a class that can be read is a finding.
func Verify(ctx context.Context, c VerifyConfig) (*Verification, error) {
	var inputs []Input
	for _, path := range slices.Concat(c.Paths, c.Baseline) {
		inputs = append(inputs, Input{Path: path})
	}
	v := verification{
		run:    newRun(Config{Inputs: inputs, Jobs: c.Jobs, Progress: c.Progress}),
		config: c, said: make(map[*unit]judgement),
	}
	defer v.close()
	if err := v.open(); err != nil {
		return nil, err
	}
	around, err := c.Surroundings.open()
	if err != nil {
		return nil, err
	}
	defer around.close()
	if err := v.eachUnit(ctx, (*worker).name); err != nil {
		return nil, err
	}
	all := v.units
	split := len(all)
	if i := slices.IndexFunc(all, func(u *unit) bool { return u.source.input >= len(c.Paths) }); i >= 0 {
		split = i
	}
	more := detail{notes: c.Notes, frames: c.Frames}
	v.referee = newReferee(v.run, around, all[:split], nil, more)
	v.original = newReferee(v.run, around, all[split:], all[:split], more)
	v.before = newInputClasses(nil, all[split:]).byName
	v.units = all[:split]
	if err := v.eachUnit(ctx, v.judge); err != nil {
		return nil, err
	}
	return v.result(), nil
}

// name finds out what the class of u is called, for others to refer to it.
func (w *worker) name(u *unit) error {
	data, err := w.read(u.entry, w.buffer)
	w.advance(u.entry.size)
	if errors.Is(err, jar.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return err
	}
	w.buffer = data
	if c, err := w.original.Parse(data); err == nil {
		u.class = strings.Clone(c.Name())
	}
	return nil
}

// judge judges one class, and says which findings its original had.
func (v *verification) judge(w *worker, u *unit) error {
	data, err := w.read(u.entry, w.buffer)
	w.advance(u.entry.size)
	j := judgement{}
	switch {
	case errors.Is(err, jar.ErrUnsupported):
		j.warning = fmt.Sprintf("%s is not judged: %v", u.source.where(u.entry), err)
	case err != nil:
		return err
	default:
		w.buffer = data
		findings, unknown, err := findingsOf(v.referee, u, &w.original, data)
		if err != nil {
			j.warning = fmt.Sprintf("%s is not judged: %v", u.source.where(u.entry), err)
			break
		}
		j.judged, j.unknown = true, unknown
		introduced, err := v.introduced(u, findings)
		if err != nil {
			return err
		}
		for _, f := range findings {
			// Both lists are in one order.
			isNew := len(introduced) > 0 && f == introduced[0]
			if isNew {
				introduced = introduced[1:]
			}
			j.findings = append(j.findings, Finding{
				Path: v.run.config.Inputs[u.source.input].Path, Entry: u.entryName(), Finding: f, PreExisting: !isNew,
			})
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said[u] = j
	return nil
}

// findingsOf judges a class file. The error is about one of a version that nobody here knows.
func findingsOf(by *referee, u *unit, parser *classfile.Parser, data []byte) ([]verify.Finding, []string, error) {
	c, err := parser.Parse(data)
	if errors.Is(err, classfile.ErrVersion) {
		return nil, nil, err
	}
	if err != nil {
		return []verify.Finding{{
			Class: strings.TrimSuffix(u.entry.name, ".class"), Offset: -1,
			Rule: "JVMS 4.8", Want: "a class file", Got: err.Error(),
		}}, nil, nil
	}
	result := by.check(u, c)
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

// introduced gives those of the findings that the original of u has not.
func (v *verification) introduced(u *unit, findings []verify.Finding) ([]verify.Finding, error) {
	original := v.originalOf(u)
	if len(findings) == 0 || original == nil {
		return findings, nil
	}
	data, err := v.read(original.entry, nil)
	if err != nil { // it was read for its name a moment ago
		return nil, err
	}
	before, _, err := findingsOf(v.original, original, new(classfile.Parser), data)
	if err != nil {
		return findings, nil // the original is of a version that cannot be judged
	}
	return verify.Introduced(before, findings), nil
}

// originalOf finds the unit of the baseline that u was before: of its name, in the same place if there is one.
func (v *verification) originalOf(u *unit) *unit {
	var best *unit
	bestScore := -1
	for _, o := range v.before[u.class] {
		score := 0
		if o.entryName() == u.entryName() {
			score += 2
		}
		if o.source.input-len(v.config.Paths) == u.source.input {
			score++
		}
		if score > bestScore {
			best, bestScore = o, score
		}
	}
	return best
}

// entryName names the entry below its input.
func (u *unit) entryName() string {
	if u.source.lone {
		return ""
	}
	return u.source.outer + u.entry.name
}

func (v *verification) result() *Verification {
	result := &Verification{}
	unknown := make(map[string]bool)
	for _, u := range v.units {
		j := v.said[u]
		if j.judged {
			result.Classes++
		}
		if j.warning != "" {
			result.Warnings = append(result.Warnings, j.warning)
		}
		result.Findings = append(result.Findings, j.findings...)
		for _, name := range j.unknown {
			unknown[name] = true
		}
	}
	result.Unknown = slices.Sorted(maps.Keys(unknown))
	return result
}
