package pipeline

import (
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// typeCheck is what package rewrite needs of a type checker. Goroutines share it.
type typeCheck interface {
	// Check returns why the rewritten class of this number must not be written, nil if it may.
	Check(class int, original, rewritten *classfile.Class) *plan.Rejection
	// TakeNotes returns the notes about an input since the last call. No class of it may be checked meanwhile.
	TakeNotes(input int) typeNotes
}

// noTypeCheck accepts every class: for runs that do not ask for types.
type noTypeCheck struct{}

// Check implements [typeCheck].
func (noTypeCheck) Check(int, *classfile.Class, *classfile.Class) *plan.Rejection { return nil }

// TakeNotes implements [typeCheck].
func (noTypeCheck) TakeNotes(int) typeNotes { return typeNotes{} }

// typeChecker checks rewritten classes. A class sees those of its own input only: what is found must not depend on what
// else happens to be instrumented in the same run.
type typeChecker struct {
	views []func() *typeViews // by input; made when its first class is checked, as a run may reuse most outputs
	set   *input.Set

	mu    sync.Mutex
	notes []typeNotes // by input
}

// typeNotes are what the type checker said of one input besides rejections.
type typeNotes struct {
	Unknown map[string]bool // classes that were not found, in internal form
	// Tolerated are faults that show only beside this machine's JDK, and that the original has too, by number of class
	// among those of the input.
	Tolerated map[int]string
}

// newTypeChecker returns a checker for the classes of a set, with their names by number, "" for those that are not to
// be found. It opens the class path.
func newTypeChecker(path *openedClassPath, set *input.Set, names []string) (*typeChecker, error) {
	if err := path.Open(); err != nil {
		return nil, err
	}
	c := &typeChecker{set: set, views: make([]func() *typeViews, len(set.Inputs)),
		notes: make([]typeNotes, len(set.Inputs))}
	r := &infoReader{set: set}
	none := namedClassesOf(r, nil, 0, 0)
	for i := range c.views {
		c.views[i] = sync.OnceValue(func() *typeViews {
			first, end := set.ClassesOf(i)
			return newTypeViews(path, set, first, end, namedClassesOf(r, names, first, end), none, false)
		})
	}
	return c, nil
}

// Check implements [typeCheck]. Only if the checker finds something in a rewritten class is the original checked too:
// what was wrong with it still is.
//
// What becomes of a class must not depend on the JDK that a machine happens to have. A fault that shows only beside the
// JDK's classes, and that the original has too, is noted: the rewritten class is as good as that was.
func (c *typeChecker) Check(class int, original, rewritten *classfile.Class) *plan.Rejection {
	views := c.views[c.set.Classes[class].Container.Input]()
	result := views.Check(class, rewritten)
	c.noteUnknown(class, result.Unknown)
	if len(result.Findings) == 0 {
		return nil
	}
	if found := views.checkPortably(class, rewritten).Findings; len(found) > 0 {
		if i := slices.IndexFunc(found, isLimit); i >= 0 {
			return &plan.Rejection{Detail: found[i].String(), Unchecked: true}
		}
		if before := views.checkPortably(class, original).Findings; len(before) > 0 {
			return &plan.Rejection{Detail: "pre-existing: " + before[0].String(), PreExisting: true}
		}
		return &plan.Rejection{Detail: found[0].String()}
	}
	before := views.Check(class, original).Findings
	if introduced := verify.Introduced(before, result.Findings); len(introduced) > 0 {
		return &plan.Rejection{Detail: introduced[0].String()}
	}
	c.noteTolerated(class, before[0].String())
	return nil
}

func isLimit(f verify.Finding) bool { return f.Rule == verify.RuleLimit }

// TakeNotes implements [typeCheck].
func (c *typeChecker) TakeNotes(input int) typeNotes {
	c.mu.Lock()
	defer c.mu.Unlock()
	notes := c.notes[input]
	c.notes[input] = typeNotes{}
	return notes
}

func (c *typeChecker) noteTolerated(class int, fault string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	input := c.set.Classes[class].Container.Input
	n := &c.notes[input]
	if n.Tolerated == nil {
		n.Tolerated = make(map[int]string)
	}
	n.Tolerated[class-c.set.Inputs[input].First] = fault
}

func (c *typeChecker) noteUnknown(class int, names []string) {
	if len(names) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.notes[c.set.Classes[class].Container.Input]
	if n.Unknown == nil {
		n.Unknown = make(map[string]bool)
	}
	for _, name := range names {
		if !n.Unknown[name] {
			n.Unknown[strings.Clone(name)] = true // it is cut from a class file
		}
	}
}
