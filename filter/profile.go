package filter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/mapping"
)

// Profile says of single methods whether they are traced, as recordings of an earlier build show that it is worth its
// cost. [ParseProfile] reads one from a file; the zero Profile says nothing. A rule cannot cancel what it says.
//
// The same files may have rules of a baseline or a startup profile of Android. Methods that such a rule puts on the
// path of the start (the flag S) are traced only if they are big: at a start each call costs most, as code is not
// compiled yet, and small methods make nearly all of its calls.
type Profile struct {
	// Lines are what it says of methods, in the order of names. No two have the same method.
	Lines []ProfileLine
	// Rules is how many rules of baseline profiles were read, Ignored how many of them have wildcards that no rule of this
	// package can express.
	Rules, Ignored int

	index map[mapping.Identity]int    // of Lines
	start map[mapping.Identity]string // the detail for each method that a rule names
	wild  []startRule
}

// ProfileLine is what a profile says of one method, and the calls by which that was decided.
type ProfileLine struct {
	// Method is the method, under the name that it has before R8, in internal form.
	Method mapping.Identity
	// Traced says whether it is traced.
	Traced bool
	// Calls is how many calls recordings had, also those that the runtime has left out. Self is their own time, Long the
	// time of those that took so long that the clock of records can show it.
	Calls      uint64
	Self, Long time.Duration

	at Position
}

// startRule is a rule of a baseline profile with the flag S and wildcards.
type startRule struct {
	class  classPattern
	method *methodPattern
	detail string
}

// The levels of a line, and the first line of a file.
const (
	levelNone   = "none"
	levelFull   = "full"
	profileHead = "# tracegen-profile 1"
)

// ParseProfile reads a profile. name is the name of the file, for positions. A line is empty, a comment that begins
// with #, a rule of a baseline profile, or
//
//	none CALLS OWN-MS LONG-MS class method descriptor
//
// or the same with full. Names are as in a mapping. The error joins the errors of all lines.
func ParseProfile(name string, data []byte) (*Profile, error) {
	p := &Profile{}
	err := eachLine(name, data, func(line string, at Position) error {
		var err error
		switch {
		case strings.HasPrefix(line, "# tracegen-profile ") && line != profileHead:
			err = errors.New("a later version of tracegen wrote this profile")
		case line[0] == '#':
		case strings.HasPrefix(strings.TrimLeft(line, "HSP"), "L"):
			p.addRule(line, at)
		default:
			err = p.addLine(line, at)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// addLine reads a line about a method.
func (p *Profile) addLine(text string, at Position) error {
	fields := strings.Fields(text)
	levels := []string{levelNone, levelFull}
	switch {
	case !slices.Contains(levels, fields[0]):
		return errors.New(unknown("level", fields[0], levels))
	case len(fields) != 7:
		return fmt.Errorf("a method has 7 fields, found %d: LEVEL CALLS OWN-MS LONG-MS class method descriptor",
			len(fields))
	}
	line := ProfileLine{Traced: fields[0] == levelFull, at: at}
	var err error
	if line.Calls, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return fmt.Errorf("%q is no number of calls", fields[1])
	}
	for k, to := range []*time.Duration{&line.Self, &line.Long} {
		millis, err := strconv.ParseUint(fields[2+k], 10, 40)
		if err != nil {
			return fmt.Errorf("%q is no number of milliseconds", fields[2+k])
		}
		*to = time.Duration(millis) * time.Millisecond
	}
	for k, to := range []*string{&line.Method.Class, &line.Method.Name, &line.Method.Descriptor} {
		if *to, err = mapping.ParseText(fields[4+k]); err != nil {
			return err
		}
	}
	if of := p.Find(line.Method); of != nil {
		return fmt.Errorf("the method is in line %d already", of.at.Line)
	}
	p.Set(line)
	return nil
}

// addRule reads a rule of a baseline profile: [HSP]*Lclass;->method(parameters)result, or a class alone.
func (p *Profile) addRule(text string, at Position) {
	p.Rules++
	flags, _, _ := strings.Cut(text, "L")
	class, method, ok := strings.Cut(text[len(flags)+1:], ";->")
	if !ok || !strings.Contains(flags, "S") {
		return
	}
	method, _, _ = strings.Cut(method, "+") // inline caches
	detail := fmt.Sprintf("%s: small, and on the start's path", at.inDirectory())
	name, descriptor, _ := strings.Cut(method, "(")
	if !strings.ContainsAny(class+method, "*?") {
		if p.start == nil {
			p.start = map[mapping.Identity]string{}
		}
		p.start[mapping.Identity{Class: classfile.EncodeMUTF8(class), Name: classfile.EncodeMUTF8(name),
			Descriptor: classfile.EncodeMUTF8("(" + descriptor)}] = detail
		return
	}
	name = strings.ReplaceAll(name, "**", "*")
	if descriptor != "**)**" {
		name += "(" + descriptor
	}
	rule := startRule{detail: detail}
	var errs [2]error
	rule.class, errs[0] = parseClassPattern(class, false)
	rule.method, errs[1] = parseMethodPattern(name)
	if errs[0] != nil || errs[1] != nil {
		p.Ignored++
		return
	}
	p.wild = append(p.wild, rule)
}

// Find returns the line about a method, nil if there is none.
func (p *Profile) Find(method mapping.Identity) *ProfileLine {
	if k, ok := p.index[method]; ok {
		return &p.Lines[k]
	}
	return nil
}

// Set adds a line, or replaces the one about the same method.
func (p *Profile) Set(line ProfileLine) {
	if old := p.Find(line.Method); old != nil {
		*old = line
		return
	}
	if p.index == nil {
		p.index = map[mapping.Identity]int{}
	}
	p.index[line.Method] = len(p.Lines)
	p.Lines = append(p.Lines, line)
}

// Add takes over what another profile says, which wins if both are about the same method.
func (p *Profile) Add(o *Profile) {
	for _, line := range o.Lines {
		p.Set(line)
	}
	p.wild = append(p.wild, o.wild...)
	if p.start == nil {
		p.start = map[mapping.Identity]string{}
	}
	maps.Copy(p.start, o.start)
	p.Rules += o.Rules
	p.Ignored += o.Ignored
}

// WriteTo writes the lines as a file. Rules of baseline profiles are not in it: they have files of their own.
func (p *Profile) WriteTo(w io.Writer) (int64, error) {
	lines := slices.Clone(p.Lines)
	slices.SortFunc(lines, func(a, b ProfileLine) int {
		return cmp.Or(cmp.Compare(a.Method.Class, b.Method.Class), cmp.Compare(a.Method.Name, b.Method.Name),
			cmp.Compare(a.Method.Descriptor, b.Method.Descriptor))
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, `%s
# Methods that are traced (full) or not (none), by their calls in recordings: number, own time, and time of long
# calls. tracegen analyze --profile adds lines, and keeps the level of each. Without its line, a method is
# decided anew.
# LEVEL CALLS OWN-MS LONG-MS class method descriptor
`, profileHead)
	for _, l := range lines {
		level := levelNone
		if l.Traced {
			level = levelFull
		}
		fmt.Fprintf(&out, "%s %d %d %d %s %s %s\n", level, l.Calls, l.Self.Milliseconds(), l.Long.Milliseconds(),
			mapping.Text(l.Method.Class), mapping.Text(l.Method.Name), mapping.Text(l.Method.Descriptor))
	}
	return out.WriteTo(w)
}

// smallAtStart is the size of code in bytes below which a method on the start's path is not traced: that of ART's
// inliner, for which a method may have 32 units of 2 bytes.
const smallAtStart = 64

// profiled returns the decision of the profile on a method that no rule blocks.
func (cf *ClassFilter) profiled(m *classfile.Member, c *classfile.Code) Decision {
	p := cf.filter.profile
	if p == nil {
		return Decision{}
	}
	method := mapping.Identity{Class: cf.name, Name: m.Name, Descriptor: m.Descriptor}
	if line := p.Find(method); line != nil {
		if line.Traced {
			return Decision{}
		}
		return Decision{Reason: ReasonProfile, Detail: fmt.Sprintf("%s: %d calls", line.at.inDirectory(), line.Calls)}
	}
	detail := p.onStart(method)
	if detail == "" || len(c.Bytecode) >= smallAtStart {
		return Decision{}
	}
	if can, err := cf.canStall(m, c); can || err != nil { // the check of the code reports the error
		return Decision{}
	}
	return Decision{Reason: ReasonProfile, Detail: detail}
}

// onStart returns the detail of the rule that puts a method on the start's path; "" if there is none.
func (p *Profile) onStart(method mapping.Identity) string {
	if detail := p.start[method]; detail != "" {
		return detail
	}
	for k := range p.wild {
		r := &p.wild[k]
		if r.class.match(method.Class) && r.method.match(method.Name, method.Descriptor) {
			return r.detail
		}
	}
	return ""
}
