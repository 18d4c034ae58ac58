package pipeline

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
)

// ScanExtension is what the name of a scan file usually ends in, and SliceExtension what that of a slice does.
const (
	ScanExtension  = ".scan"
	SliceExtension = ".slice"
)

var (
	scanFormat  = wire.Format{Name: "tracegen-scan", Number: 5}
	sliceFormat = wire.Format{Name: "tracegen-slice", Number: 4}
)

// Origin says which tool made a scan file or slice, and with which options.
type Origin = wire.Origin

// Part is the facts of some inputs that [Scan] has scanned: all that [Assign] needs of them. It is immutable.
type Part struct {
	path   string // as in messages
	name   string // of the scan file, without its directory and extension
	origin Origin
	inputs []plan.InputFacts // in the order of scan files
}

// Origin returns the tool and the options that the part was scanned with.
func (p *Part) Origin() Origin { return p.origin }

// Path returns the path of the scan file.
func (p *Part) Path() string { return p.path }

// Name returns the name of the scan file, without its directory and extension. A slice has the same.
func (p *Part) Name() string { return p.name }

// seal returns the scan file.
func (p *Part) seal() io.WriterTo {
	return &wire.Sealed{Format: scanFormat, Origin: p.origin, Content: plan.PackFacts(p.inputs, true)}
}

// LoadPart reads a scan file. Errors name the file, what is wrong with it, and what to do.
func LoadPart(path string) (*Part, error) {
	s, err := wire.Load(path, scanFormat)
	if err != nil {
		return nil, fmt.Errorf("scan file: %w", err)
	}
	return readPart(s, path)
}

func readPart(s *wire.Sealed, path string) (*Part, error) {
	p := &Part{path: path, name: strings.TrimSuffix(filepath.Base(path), ScanExtension), origin: s.Origin}
	inputs, ok := plan.UnpackFacts(s.Content, true, func(i int, name string) (int, string) { return i, p.inputName(name) })
	if !ok {
		return nil, fmt.Errorf("scan file: %s: %w", path, wire.ErrDamaged)
	}
	p.inputs = inputs
	return p, nil
}

// inputName returns what an input of the part is called.
func (p *Part) inputName(name string) string { return p.name + "!" + name }

// Slice is what [Assign] decided about one part: what each of its classes gets, and how it is known again. It is
// immutable.
type Slice struct {
	origin Origin
	tasks  *plan.Slice
}

// Origin returns the tool that made the slice, and those of the options that shape what is written.
func (s *Slice) Origin() Origin { return s.origin }

// newSlice returns a slice that records the named options of its part.
func newSlice(tasks *plan.Slice, by Origin, options []string) *Slice {
	s := &Slice{Origin{Tool: by.Tool, Options: make(map[string]string)}, tasks}
	for _, name := range options {
		if value, ok := by.Options[name]; ok {
			s.origin.Options[name] = value
		}
	}
	return s
}

// seal returns the slice's file.
func (s *Slice) seal() io.WriterTo {
	return &wire.Sealed{Format: sliceFormat, Origin: s.origin, Content: s.tasks.Pack()}
}

// LoadSlice reads a slice. Errors name the file, what is wrong with it, and what to do.
func LoadSlice(path string) (*Slice, error) {
	s, err := wire.Load(path, sliceFormat)
	if err != nil {
		return nil, fmt.Errorf("slice: %w", err)
	}
	return readSlice(s, path)
}

func readSlice(s *wire.Sealed, path string) (*Slice, error) {
	tasks, ok := plan.UnpackSlice(s.Content)
	if !ok {
		return nil, fmt.Errorf("slice: %s: %w", path, wire.ErrDamaged)
	}
	tasks.Path = path
	return &Slice{s.Origin, tasks}, nil
}

var errNoParts = errors.New("no scan file: there is nothing to assign IDs to")
