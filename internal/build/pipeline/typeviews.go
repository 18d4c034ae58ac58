package pipeline

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/build/input"
)

// namedClasses are classes of a set by the names that they have, for other classes to refer to.
type namedClasses struct {
	reader *infoReader
	byName map[string][]int
}

// namedClassesOf lists those of classes from number first up to end, with the names of all classes of the set by
// number. A class whose name is "" is not there.
func namedClassesOf(r *infoReader, names []string, first, end int) *namedClasses {
	c := &namedClasses{reader: r, byName: make(map[string][]int, end-first)}
	for n := first; n < end; n++ {
		if names[n] != "" {
			c.byName[names[n]] = append(c.byName[names[n]], n)
		}
	}
	for _, same := range c.byName {
		slices.SortStableFunc(same, func(a, b int) int { return compareClasses(r.set.Classes[a], r.set.Classes[b]) })
	}
	return c
}

// compareClasses orders classes of one name: the first is found. It is one outside of META-INF/versions, of the first
// input, whatever the order of entries.
func compareClasses(a, b *input.Class) int {
	return cmp.Or(cmp.Compare(a.Release, b.Release), cmp.Compare(a.Container.Input, b.Container.Input),
		cmp.Compare(a.Container.Name, b.Container.Name), cmp.Compare(a.Name, b.Name))
}

// Named returns the numbers of the classes of that name.
func (c *namedClasses) Named(name string) []int { return c.byName[name] }

// infoReader reads classes that others refer to. Those that were asked for last are kept, so that memory does not
// grow with the inputs.
type infoReader struct {
	set     *input.Set
	read    classpath.Recent[int, *types.ClassInfo]
	scratch sync.Pool // of *scratch
}

// infoScratch is memory for a class that is read for a moment.
type infoScratch struct {
	parser classfile.Parser
	data   []byte
}

// info returns what the checker needs of a class, nil if it cannot be read any more.
func (r *infoReader) info(class int) *types.ClassInfo {
	info, found := r.read.Get(class)
	if found {
		return info
	}
	s, ok := r.scratch.Get().(*infoScratch)
	if !ok {
		s = new(infoScratch)
	}
	defer r.scratch.Put(s)
	if data, err := r.set.Peek(class, &s.data); err == nil {
		if parsed, err := s.parser.Parse(data); err == nil {
			info = types.NewClassInfo(parsed)
		}
	}
	r.read.Put(class, info)
	return info
}

// viewKey is the same for classes that see the same classes under the same names: those of a file see what is in that
// file first, and those for a Java release what is for releases up to that one.
type viewKey struct {
	container *input.Container
	release   int
}

// view is some classes as those of one key see them.
type view struct {
	classes *namedClasses
	from    viewKey
}

// Lookup implements types.Hierarchy.
func (v view) Lookup(name string) *types.ClassInfo {
	same := v.classes.byName[name]
	if len(same) == 0 {
		return nil
	}
	// The order of the list decides between equals.
	best := slices.MaxFunc(same, func(a, b int) int { return cmp.Compare(v.rank(a), v.rank(b)) })
	return v.classes.reader.info(best)
}

// rank says how near a class is: one of the same file before all others, then one of the same input, and then the
// latest one that is not for a later release.
func (v view) rank(class int) int {
	const sameInput, sameFile = 1 << 32, 1 << 33
	c := v.classes.reader.set.Classes[class]
	rank := -1
	if c.Release <= v.from.release {
		rank = min(c.Release, sameInput-1)
	}
	if c.Container == v.from.container {
		rank += sameFile
	}
	if c.Container.Input == v.from.container.Input {
		rank += sameInput
	}
	return rank
}

// typeViews check classes of a set, each with the view that it has of the others: first on the class path, then among
// the inputs, its own file first, and at last in the JDK. Goroutines share them.
type typeViews struct {
	set      *input.Set
	checkers map[viewKey]*types.Checker
	portable map[viewKey]*types.Checker // with no JDK: what they find is found on every machine
}

// newTypeViews returns views for classes from number first up to end, which see the classes own before the classes
// others. With frames, their findings have the types at their places. The class path must be open.
func newTypeViews(path *openedClassPath, set *input.Set, first, end int, own, others *namedClasses,
	frames bool) *typeViews {
	v := &typeViews{set, make(map[viewKey]*types.Checker), make(map[viewKey]*types.Checker)}
	for n := first; n < end; n++ {
		key := viewKey{set.Classes[n].Container, set.Classes[n].Release}
		if v.checkers[key] != nil {
			continue
		}
		given := classpath.Chain{path.before, view{own, key}, view{others, key}}
		all := &types.Checker{Hierarchy: append(slices.Clip(given), path.after), Frames: frames, Strict: path.from.Strict,
			Memory: &path.memory}
		v.checkers[key], v.portable[key] = all, &types.Checker{Hierarchy: given, Memory: &path.memory}
		if path.from.Strict {
			v.portable[key] = all // if all classes have to be there, those of the JDK count
		}
	}
	return v
}

// Check checks a class file as that of the class of this number.
func (v *typeViews) Check(class int, c *classfile.Class) types.Result {
	at := v.set.Classes[class]
	return v.checkers[viewKey{at.Container, at.Release}].Check(c)
}

// checkPortably is Check without the JDK.
func (v *typeViews) checkPortably(class int, c *classfile.Class) types.Result {
	at := v.set.Classes[class]
	return v.portable[viewKey{at.Container, at.Release}].Check(c)
}
