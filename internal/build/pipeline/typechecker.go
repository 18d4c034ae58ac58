package pipeline

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// typeChecker checks rewritten classes. A class sees those of its own input only: what is found must not depend on what
// else happens to be instrumented in the same run.
type typeChecker struct {
	views []func() *typeViews // by input; made when its first class is checked, as a run may reuse most outputs
	set   *input.Set

	mu      sync.Mutex
	unknown []map[string]bool // by input: classes that were not found, in internal form
}

// newTypeChecker returns a checker for the classes of a set, with their names by number, "" for those that are not to
// be found. It opens the class path.
func newTypeChecker(path *openedClassPath, set *input.Set, names []string) (*typeChecker, error) {
	if err := path.Open(); err != nil {
		return nil, err
	}
	c := &typeChecker{set: set, views: make([]func() *typeViews, len(set.Inputs)),
		unknown: make([]map[string]bool, len(set.Inputs))}
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

// Check returns why the rewritten class of this number must not be written, nil if it may. A nil checker accepts every
// class. Only if the checker finds something in a rewritten class is the original checked too:
// what was wrong with it still is.
//
// What becomes of a class must not depend on the JDK that a machine happens to have. A fault that shows only beside the
// JDK's classes, and that the original has too, is none: the rewritten class is as good as that was.
func (c *typeChecker) Check(class int, original, rewritten *classfile.Class) *plan.Rejection {
	if c == nil {
		return nil
	}
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
	return nil
}

func isLimit(f verify.Finding) bool { return f.Rule == verify.RuleLimit }

// TakeUnknown returns the classes of an input that were not found since the last call, sorted. No class of it may be
// checked meanwhile.
func (c *typeChecker) TakeUnknown(input int) []string {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	unknown := slices.Sorted(maps.Keys(c.unknown[input]))
	c.unknown[input] = nil
	return unknown
}

func (c *typeChecker) noteUnknown(class int, names []string) {
	if len(names) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := &c.unknown[c.set.Classes[class].Container.Input]
	if *of == nil {
		*of = make(map[string]bool)
	}
	for _, name := range names {
		if !(*of)[name] {
			(*of)[strings.Clone(name)] = true // it is cut from a class file
		}
	}
}
