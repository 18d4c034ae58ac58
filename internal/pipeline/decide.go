package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/mapping"
)

// decideWhole decides what needs all inputs but no IDs.
func (r *run) decideWhole() error {
	if r.config.Merge != "" {
		if err := r.dropDuplicates(); err != nil {
			return err
		}
	}
	if r.config.Disabled {
		return nil
	}
	r.recall()
	byName := make(map[string][]*unit, len(r.units))
	stamped := false
	for i, u := range r.units {
		if u.warning != "" {
			r.warn("%s%s", u.source.where(u.entry), u.warning)
		}
		if u.class == "" || u.entry.dropped {
			continue
		}
		stamped = stamped || u.stamped
		if same := byName[u.class]; same != nil {
			byName[u.class] = append(same, u)
		} else {
			byName[u.class] = r.units[i : i+1 : i+1] // most are the only one, and cost no memory
		}
	}
	if !stamped {
		r.warn("no input holds dev.tracegen.runtime.MappingInfo: recordings will not tell which mapping they belong to")
	}
	if err := r.resolve(byName); err != nil {
		return err
	}
	r.decideFocus(byName)
	if err := r.protectRuntime(byName); err != nil {
		return err
	}
	r.decideRequires()
	return nil
}

// compareAncestry tells which of several classes of one name speaks for them: one outside of META-INF/versions,
// and of these any, but always the same. Neither the order of inputs nor that of entries has a say.
func compareAncestry(a, b *unit) int {
	bit := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	x, y := &a.ancestry, &b.ancestry
	return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(x.SuperName, y.SuperName),
		cmp.Compare(bit(x.DeclaresFocus), bit(y.DeclaresFocus)), cmp.Compare(bit(x.BarsFocus), bit(y.BarsFocus)))
}

// decideRequires finds the modules whose classes are going to call the runtime.
func (r *run) decideRequires() {
	for _, u := range r.units {
		u.requires = false
	}
	for _, u := range r.callingModules() {
		u.requires = r.config.AddRequires != "" && !u.excluded
	}
}

// callingModules gives the module-infos of the sources with classes that call the runtime.
func (r *run) callingModules() (modules []*unit) {
	changed := make(map[*source]bool)
	for _, u := range r.units {
		// What is only stamped calls nothing: the runtime's own module, above all, need not read itself.
		if u.changes() && !u.stamped {
			changed[u.source] = true
		}
	}
	for _, u := range r.units {
		if u.class == "module-info" && !u.entry.dropped && changed[u.source] {
			modules = append(modules, u)
		}
	}
	return modules
}

// warnOfModules tells of modules that will not read the runtime's, when it is known which.
func (r *run) warnOfModules() {
	if r.config.AddRequires != "" {
		return
	}
	for _, u := range r.callingModules() {
		r.warn("%s: the module must read that of the runtime class: run tracegen with --add-requires, or the program with --add-reads",
			u.source.where(u.entry))
	}
}

// dropDuplicates leaves out, of entries of one name, all but the first input's.
func (r *run) dropDuplicates() error {
	first := make(map[string]*source)
	for _, s := range r.sources {
		s.placeClass()
		for i := range s.entries {
			e := &s.entries[i]
			if e.nested != nil {
				return fmt.Errorf("%s: an .aar cannot be merged into a jar: all but its classes would be lost", s.name)
			}
			winner, duplicate := first[e.name]
			if !duplicate {
				first[e.name] = s
				continue
			}
			if winner == s {
				continue // within one input, duplicates are kept
			}
			e.dropped = true
			if u := e.unit; u != nil {
				u.whole = filter.Decision{Reason: filter.ReasonDuplicateClass, Detail: "first in " + winner.name}
				for m := range u.methods {
					u.methods[m].decision = &u.whole
				}
			}
			if !strings.HasSuffix(e.name, "/") {
				r.warn("%s: left out, as %s has an entry of that name", s.where(e), winner.name)
			}
		}
	}
	return nil
}

// placeClass gives a lone class file the name under which a class loader looks for it in a jar.
func (s *source) placeClass() {
	if !s.lone {
		return
	}
	e := &s.entries[0]
	if name := e.unit.class + ".class"; e.unit.class != "" && jar.CheckName(name) == nil {
		e.name = name
	}
}

// decideFocus finds the Activities that report focus changes.
func (r *run) decideFocus(byName map[string][]*unit) {
	if !r.config.FocusHooks {
		return
	}
	// Of all classes, only those that could be hooked are of interest, and those above them.
	classes := make(map[string]inject.Ancestry)
	for _, u := range r.units {
		if u.ancestry.Focus() == inject.FocusNone {
			continue
		}
		for name := u.class; byName[name] != nil; name = classes[name].SuperName {
			if _, seen := classes[name]; seen {
				break
			}
			classes[name] = slices.MinFunc(byName[name], compareAncestry).ancestry
		}
	}
	hooks := inject.FocusHooks(classes)
	for _, u := range r.units {
		if u.untouched || u.entry.dropped {
			continue
		}
		action, own := hooks[u.class], u.ancestry.Focus()
		switch {
		case action == inject.FocusNone || own == inject.FocusNone || own == inject.FocusAdd && action != own:
		case u.focusRefusal != "":
			r.warn("%s: changes of focus are not reported: %s", u.source.where(u.entry), u.focusRefusal)
		default:
			u.focus = own
			r.hooksFocus = true
		}
	}
}

// protectRuntime checks the runtime class and takes out of tracing what it reaches.
func (r *run) protectRuntime(byName map[string][]*unit) error {
	name := r.config.Inject.RuntimeClass
	if byName[name] == nil {
		if r.config.RuntimeExternal {
			return nil
		}
		return fmt.Errorf("runtime class %s is in none of the inputs: the instrumented code could not run; add it, name another by --runtime-class, or say --runtime-external if it is elsewhere on purpose",
			mapping.Text(name))
	}
	for _, u := range byName[name] {
		if u.runtimeFaults == nil {
			continue // cannot be: the scan has looked at it
		}
		if fault := u.runtimeFaults.of(r.hooksFocus); fault != "" {
			return fmt.Errorf("%s: %s; repair it, or name another by --runtime-class", u.source.where(u.entry), fault)
		}
	}
	known := make(map[string][]inject.Calls)
	reached, err := inject.Reached(name, func(name string) ([]inject.Calls, error) {
		if calls, ok := known[name]; ok {
			return calls, nil
		}
		for _, u := range byName[name] {
			calls, err := r.callsOf(u)
			if err != nil {
				return nil, err
			}
			known[name] = append(known[name], calls)
		}
		return known[name], nil
	})
	if err != nil {
		return err
	}
	for _, u := range r.units {
		path, ok := reached[u.class]
		if !ok {
			continue
		}
		if u.untried { // its methods will not be rewritten, and what has another reason keeps it
			if err := r.tryLate(u); err != nil {
				return err
			}
		}
		u.focus = inject.FocusNone
		for i := range u.methods {
			if m := &u.methods[i]; m.traced() {
				m.decide(filter.Decision{Reason: filter.ReasonRuntime, Detail: "reached by " + path})
			}
		}
	}
	return nil
}

// assign gives every traced method its ID.
func (r *run) assign() error {
	focus := make(map[string]mapping.FocusAction)
	for _, u := range r.units {
		switch u.focus {
		case inject.FocusHook:
			if focus[u.className()] != mapping.FocusAdd { // of the same class elsewhere
				focus[u.className()] = mapping.FocusHook
			}
		case inject.FocusAdd:
			focus[u.className()] = mapping.FocusAdd
		}
	}
	o := mapping.Options{Base: r.config.Base, Prune: r.config.Prune, Order: r.config.Order, Runtime: r.runtime}
	for class, action := range focus {
		o.Focus = append(o.Focus, mapping.Focus{Class: class, Action: action})
	}
	slices.SortFunc(o.Focus, func(a, b mapping.Focus) int { return cmp.Compare(a.Class, b.Class) })
	var err error
	var ids []uint32
	if r.mapping, ids, err = mapping.AssignEach(r.tracedMethods, o); err != nil {
		return err
	}
	if mapping.Capacity-r.mapping.Headroom() >= mapping.NearlyFull {
		usage := r.mapping.IDUsage()
		r.warn("method IDs run short: %v", &usage)
	}
	r.distribute(ids)
	return nil
}

// tracedMethods goes through the methods that get IDs, each with its code's fingerprint, 0 if that does not matter. Of
// copies that differ, under META-INF/versions for instance, package mapping chooses one.
func (r *run) tracedMethods(yield func(mapping.Method, uint64) bool) {
	for _, u := range r.units {
		for i := range u.methods {
			m := &u.methods[i]
			if m.traced() && !yield(mapping.Method{Identity: u.identityOf(i), Access: m.access}, u.bodies[i]) {
				return
			}
		}
	}
}

// distribute puts IDs, which are in the order of tracedMethods, and the digest where rewriting finds them.
func (r *run) distribute(ids []uint32) {
	for _, u := range r.units {
		u.digest = ""
		if u.stamped {
			u.digest = r.mapping.Digest()
		}
		for i := range u.methods {
			if m := &u.methods[i]; m.traced() {
				m.id, ids = ids[0], ids[1:]
			}
		}
	}
}

// exclude takes a class that a referee objected to out of everything.
func (u *unit) exclude(detail string) {
	u.focus, u.stamped, u.requires, u.untouched, u.excluded = inject.FocusNone, false, false, true, true
	for i := range u.methods {
		if m := &u.methods[i]; m.traced() {
			m.decide(filter.Decision{Reason: filter.ReasonUnverifiable, Detail: detail})
		}
	}
}
