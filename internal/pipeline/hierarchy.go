package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/classpath"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/internal/recent"
)

// Surroundings say where the type verifier finds the classes that the judged ones refer to: first on ClassPath,
// then in the inputs ([Run] looks into the judged class's own only, [Verify] into all), then in JDK.
type Surroundings struct {
	ClassPath []string // jars, .aar files, directories of classes
	JDK       string   // a JDK's home directory, its lib/modules or a directory of .jmod files; "" for none
	// Strict makes every class that cannot be found a finding, instead of assuming that it fits.
	Strict bool
}

// surroundings are open.
type surroundings struct {
	before, after *classpath.ClassPath // of the inputs
	strict        bool
}

func (s Surroundings) open() (*surroundings, error) {
	opened := surroundings{strict: s.Strict}
	var err error
	if opened.before, err = classpath.Open(s.ClassPath...); err != nil {
		return nil, err
	}
	if s.JDK == "" {
		opened.after, err = classpath.Open()
	} else {
		opened.after, err = classpath.Open(s.JDK)
	}
	if err != nil {
		opened.before.Close()
		return nil, fmt.Errorf("JDK: %w", err)
	}
	return &opened, nil
}

// openSurroundings opens those of the run, if nobody has before.
func (r *run) openSurroundings() (err error) {
	if r.around == nil {
		r.around, err = r.config.Surroundings.open()
	}
	return err
}

func (s *surroundings) close() {
	if s != nil {
		s.before.Close()
		s.after.Close()
	}
}

// viewKey tells classes that see different ones under the same names: those of a file see what is in that file
// first, and those for a Java release what is for releases up to that one.
type viewKey struct {
	source  *source
	release int
}

// referee is the type verifier, for all units of a run or a part of them. Goroutines share it.
type referee struct {
	bench []func() *judges // by input; made when the first class of it is to be judged
}

// judges are those of classes that see each other.
type judges struct {
	checkers map[viewKey]*types.Checker
	// portable see no JDK: what they find is found on every machine.
	portable map[viewKey]*types.Checker
}

// detail is how the referee judges.
type detail struct {
	notes, frames bool // what it says besides what is wrong
	// parted keeps classes of other inputs out of sight: what is said of a class must not depend on what else
	// happens to be instrumented in the same run.
	parted bool
}

// newReferee makes what judges the classes of inputs. Those of further inputs are asked for classes only after
// them.
func newReferee(r *run, s *surroundings, inputs, further []*unit, more detail) *referee {
	judge := &referee{bench: make([]func() *judges, len(r.config.Inputs))}
	reader := &classReader{run: r}
	all := sync.OnceValue(func() *judges {
		return newJudges(s, inputs, newInputClasses(reader, inputs), newInputClasses(&classReader{run: r}, further), more)
	})
	for i := range judge.bench {
		if judge.bench[i] = all; more.parted {
			// Of a run that finds nearly everything in a cache, most inputs are never judged.
			judge.bench[i] = sync.OnceValue(func() *judges {
				units := unitsOf(inputs, i)
				return newJudges(s, units, newInputClasses(reader, units), newInputClasses(nil, nil), more)
			})
		}
	}
	if r.graph != nil {
		// The scan judges classes while it finds out the names of others: what they may be is looked up as it is now.
		for _, judges := range judge.bench {
			judges()
		}
	}
	return judge
}

// unitsOf gives those of one input. Units are in the order of inputs.
func unitsOf(units []*unit, input int) []*unit {
	byInput := func(u *unit, input int) int { return cmp.Compare(u.source.input, input) }
	from, _ := slices.BinarySearchFunc(units, input, byInput)
	to, _ := slices.BinarySearchFunc(units, input+1, byInput)
	return units[from:to]
}

// newJudges makes those of the units, which look for classes among their own first.
func newJudges(s *surroundings, units []*unit, own, others *inputClasses, more detail) *judges {
	judge := &judges{make(map[viewKey]*types.Checker), make(map[viewKey]*types.Checker)}
	for _, u := range units {
		key := viewKey{u.source, u.version}
		if judge.checkers[key] != nil {
			continue
		}
		given := classpath.Chain{s.before, view{own, key}, view{others, key}}
		all := &types.Checker{Hierarchy: append(slices.Clip(given), s.after), Notes: more.notes, Frames: more.frames, Strict: s.strict}
		judge.checkers[key], judge.portable[key] = all, &types.Checker{Hierarchy: given}
		if s.strict {
			judge.portable[key] = all // who wants all classes to be there wants the JDK to count
		}
	}
	return judge
}

// check judges the class of u, or what is to become of it.
func (j *referee) check(u *unit, c *classfile.Class) types.Result {
	return j.bench[u.source.input]().checkers[viewKey{u.source, u.version}].Check(c)
}

// checkPortably is check without the JDK.
func (j *referee) checkPortably(u *unit, c *classfile.Class) types.Result {
	return j.bench[u.source.input]().portable[viewKey{u.source, u.version}].Check(c)
}

// inputClasses gives out classes of the inputs by name. Each is read when it is asked for.
type inputClasses struct {
	reader *classReader
	byName map[string][]*unit
}

// classReader reads classes for whoever asks for one. What was asked for last is kept, so that memory does not grow with
// the inputs.
type classReader struct {
	run   *run
	read  recent.Map[*unit, *types.ClassInfo]
	desks sync.Pool // of *desk
}

// desk is memory for a class that is read for a moment.
type desk struct {
	parser classfile.Parser
	data   []byte
}

func newInputClasses(reader *classReader, units []*unit) *inputClasses {
	c := &inputClasses{reader: reader, byName: make(map[string][]*unit, len(units))}
	for _, u := range units {
		if u.class != "" && !u.entry.dropped {
			c.byName[u.class] = append(c.byName[u.class], u)
		}
	}
	for _, same := range c.byName {
		slices.SortStableFunc(same, compareUnits)
	}
	return c
}

// compareUnits tells which of several classes of one name is found: one outside of META-INF/versions, of the first
// input. The order of entries has no say.
func compareUnits(a, b *unit) int {
	return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.source.input, b.source.input),
		cmp.Compare(a.source.name, b.source.name), cmp.Compare(a.entry.name, b.entry.name))
}

// info gives what the verifier wants to know of a class, nil if it cannot be read any more.
func (c *classReader) info(u *unit) *types.ClassInfo {
	info, found := c.read.Get(u)
	if found {
		return info
	}
	d, ok := c.desks.Get().(*desk)
	if !ok {
		d = new(desk)
	}
	defer c.desks.Put(d)
	if data, err := c.run.reread(u, d.data); err == nil {
		if u.data == nil {
			d.data = data
		}
		if parsed, err := d.parser.Parse(data); err == nil {
			info = types.NewClassInfo(parsed)
		}
		if u.data == nil && u.entry.zip != nil {
			u.entry.zip.Release()
		}
	}
	c.read.Put(u, info)
	return info
}

// view is the inputs as classes of one file see them.
type view struct {
	classes *inputClasses
	from    viewKey
}

// Lookup implements types.Hierarchy.
func (v view) Lookup(name string) *types.ClassInfo {
	same := v.classes.byName[name]
	if len(same) == 0 {
		return nil
	}
	// The order of units decides between equals, as it does everywhere.
	best := slices.MaxFunc(same, func(a, b *unit) int { return cmp.Compare(v.rank(a), v.rank(b)) })
	return v.classes.reader.info(best)
}

// rank tells how near a class is: one of the same file before all others, then one of the same input, and then the
// latest one that is not for a later release.
func (v view) rank(u *unit) int {
	const sameInput, sameFile = 1 << 32, 1 << 33
	rank := -1
	if u.version <= v.from.release {
		rank = min(u.version, sameInput-1)
	}
	if u.source == v.from.source {
		rank += sameFile
	}
	if u.source.input == v.from.source.input {
		rank += sameInput
	}
	return rank
}
