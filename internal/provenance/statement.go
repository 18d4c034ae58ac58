package provenance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// The identifiers in statements.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://slsa.dev/provenance/v1"
	BuilderID     = "https://github.com/tracegen/tracegen"
	Instrument    = "https://github.com/tracegen/tracegen/blob/main/docs/provenance.md#instrument-v1"
	Release       = "https://github.com/tracegen/tracegen/blob/main/docs/provenance.md#release-v1"
)

// Statement is an in-toto Statement v1 with SLSA provenance v1.
type Statement struct {
	Type          string     `json:"_type"`         // [StatementType]
	Subject       []Artifact `json:"subject"`       // the files that were written
	PredicateType string     `json:"predicateType"` // [PredicateType]
	Predicate     Predicate  `json:"predicate"`     // how
}

// Artifact is a file with its content. It is a ResourceDescriptor of in-toto.
type Artifact struct {
	Name   string `json:"name"`   // a path with slashes
	Digest Digest `json:"digest"` // of its content
}

// Digest is a DigestSet of in-toto with SHA-256 alone.
type Digest struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
}

// Predicate is the predicate of SLSA provenance v1.
type Predicate struct {
	Build Definition `json:"buildDefinition"` // what was asked for
	Run   Details    `json:"runDetails"`      // what did it
}

// Definition says what was built from what.
type Definition struct {
	BuildType    string     `json:"buildType"`            // [Instrument] or [Release]
	Parameters   any        `json:"externalParameters"`   // a pointer to what BuildType says
	Dependencies []Artifact `json:"resolvedDependencies"` // the files that were read
}

// Details says what built it.
type Details struct {
	Builder    Builder    `json:"builder"`    // the program
	Byproducts []Artifact `json:"byproducts"` // files that describe the run
}

// Builder is the program that built it.
type Builder struct {
	ID           string            `json:"id"`                  // [BuilderID]
	Version      map[string]string `json:"version"`             // of each part
	Dependencies []Artifact        `json:"builderDependencies"` // its executable
}

// Instrumentation is what was asked of a run of tracegen instrument: the parameters of a build of type [Instrument].
type Instrumentation struct {
	Options      map[string]string `json:"options"`      // all that can change the output, defaults included
	Rules        []string          `json:"rules"`        // in their order
	RuntimeClass string            `json:"runtimeClass"` // in the classes that were instrumented, with dots
	Mapping      Mapping           `json:"mapping"`
	Outputs      []Output          `json:"outputs"` // in the order of the run
}

// Mapping is the method mapping of a run.
type Mapping struct {
	Name   string `json:"name"`   // of a subject
	Digest string `json:"digest"` // that the classes and their recordings contain
}

// Output is a file or directory, and what it was made from.
type Output struct {
	Name   string   `json:"name"`   // of a subject, or of a directory of subjects
	Inputs []string `json:"inputs"` // of dependencies, or of directories of them; several if they were merged
}

// Building is what was asked of the build of a release: the parameters of a build of type [Release].
type Building struct {
	Version     string            `json:"version"`     // of tracegen
	Revision    string            `json:"revision"`    // the commit, or "" if it is not known
	Package     string            `json:"package"`     // of the command
	Flags       []string          `json:"flags"`       // of go build
	Environment map[string]string `json:"environment"` // of go build
	Platforms   []string          `json:"platforms"`   // GOOS/GOARCH, in order
}

// New returns a statement about a build, with the parameters in their place and all else empty.
func New(buildType string, parameters any) *Statement {
	return &Statement{Type: StatementType, Subject: []Artifact{}, PredicateType: PredicateType, Predicate: Predicate{
		Build: Definition{BuildType: buildType, Parameters: parameters, Dependencies: []Artifact{}},
		Run: Details{Byproducts: []Artifact{}, Builder: Builder{ID: BuilderID, Version: map[string]string{},
			Dependencies: []Artifact{}}},
	}}
}

// Encode returns the text of a statement. It fails if [ParseStatement] would not accept it.
func (s *Statement) Encode() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.text()
}

func (s *Statement) text() ([]byte, error) {
	var b bytes.Buffer
	j := json.NewEncoder(&b)
	j.SetEscapeHTML(false)
	if err := j.Encode(s); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ParseStatement reads a statement about a build of that type into parameters, which points to the type's struct.
func ParseStatement(text []byte, buildType string, parameters any) (*Statement, error) {
	s := New("", parameters)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("the payload is not a statement: %w", err)
	}
	if s.Predicate.Build.BuildType != buildType {
		return nil, fmt.Errorf("the statement is about a build of type %q, and not %q; it is not what this command checks",
			s.Predicate.Build.BuildType, buildType)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	again, err := s.text()
	if err != nil {
		return nil, err
	}
	if at := firstDifference(again, text); at >= 0 {
		return nil, fmt.Errorf("the statement holds something that this version of tracegen does not read, at byte %d: %q; "+
			"check it with the version that wrote it", at, text[at:min(len(text), at+40)])
	}
	return s, nil
}

// firstDifference returns the first position at which two texts differ, -1 if there is none.
func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return min(len(a), len(b))
}

// check returns an error for a statement that is incomplete, or has names or digests that none has.
func (s *Statement) check() error {
	switch {
	case s.Type != StatementType:
		return fmt.Errorf("the statement has _type %q, and must have %q", s.Type, StatementType)
	case s.PredicateType != PredicateType:
		return fmt.Errorf("the statement has predicateType %q, and must have %q", s.PredicateType, PredicateType)
	case s.Predicate.Run.Builder.ID != BuilderID:
		return fmt.Errorf("the statement has builder %q, and must have %q", s.Predicate.Run.Builder.ID, BuilderID)
	case len(s.Subject) == 0:
		return errors.New("the statement has no subject")
	}
	for _, list := range []struct {
		key       string
		artifacts []Artifact
	}{
		{"subject", s.Subject}, {"resolvedDependencies", s.Predicate.Build.Dependencies},
		{"builderDependencies", s.Predicate.Run.Builder.Dependencies}, {"byproducts", s.Predicate.Run.Byproducts},
	} {
		seen := make(map[string]bool, len(list.artifacts))
		for _, a := range list.artifacts {
			if err := a.check(); err != nil {
				return fmt.Errorf("%s: %w", list.key, err)
			}
			if seen[a.Name] {
				return fmt.Errorf("%s: the name %q is there twice", list.key, a.Name)
			}
			seen[a.Name] = true
		}
	}
	if p, ok := s.Predicate.Build.Parameters.(*Instrumentation); ok {
		return s.checkInstrumentation(p)
	}
	return nil
}

func (a Artifact) check() error {
	if err := checkName(a.Name); err != nil {
		return err
	}
	if d := a.Digest.SHA256; len(d) != 64 || strings.Trim(d, "0123456789abcdef") != "" {
		return fmt.Errorf("%q has the SHA-256 %q, which is none", a.Name, d)
	}
	return nil
}

// checkName refuses names that lead out of the directory in which they are looked up.
func checkName(name string) error {
	if !fs.ValidPath(name) || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("the name %q is not a path with slashes below a directory", name)
	}
	return nil
}

// checkInstrumentation checks that the parts of a statement belong to each other: every subject and every dependency is
// an output, an input or the mapping.
func (s *Statement) checkInstrumentation(p *Instrumentation) error {
	subjects, dependencies := newNames(s.Subject), newNames(s.Predicate.Build.Dependencies)
	if !subjects.take(p.Mapping.Name) {
		return fmt.Errorf("the mapping %q is no subject", p.Mapping.Name)
	}
	if len(p.Outputs) == 0 {
		return errors.New("the statement has no output")
	}
	for _, o := range p.Outputs {
		if !subjects.take(o.Name) {
			return fmt.Errorf("the output %q is no subject", o.Name)
		}
		for _, in := range o.Inputs {
			if !dependencies.take(in) {
				return fmt.Errorf("the input %q of %q is not in resolvedDependencies", in, o.Name)
			}
		}
	}
	if n := subjects.left(); n != "" {
		return fmt.Errorf("the subject %q is neither an output nor the mapping", n)
	}
	if n := dependencies.left(); n != "" {
		return fmt.Errorf("%q in resolvedDependencies is no input", n)
	}
	return nil
}

// names are the names of artifacts, with those that something refers to.
type names struct {
	list []Artifact
	used []bool
	at   map[string]int
}

func newNames(list []Artifact) *names {
	n := &names{list, make([]bool, len(list)), make(map[string]int, len(list))}
	for i, a := range list {
		n.at[a.Name] = i
	}
	return n
}

// take notes that something refers to a file, or to all files of a directory. It reports false if there is no such
// file, and if the name is no name of a directory.
func (n *names) take(name string) bool {
	dir, isDirectory := strings.CutSuffix(name, "/")
	if !isDirectory {
		i, there := n.at[name]
		if there {
			n.used[i] = true
		}
		return there
	}
	if checkName(dir) != nil {
		return false
	}
	for i, a := range n.list {
		if Below(name, a.Name) {
			n.used[i] = true
		}
	}
	return true
}

// left returns a name to which nothing refers, or "".
func (n *names) left() string {
	for i, used := range n.used {
		if !used {
			return n.list[i].Name
		}
	}
	return ""
}

// Below reports whether a name is that of a file in a directory, whose name ends in a slash. "./" is the directory in
// which all names are looked up.
func Below(directory, name string) bool {
	return directory == "./" || strings.HasPrefix(name, directory)
}

// SumOf returns the digest of data.
func SumOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest{hex.EncodeToString(sum[:])}
}
