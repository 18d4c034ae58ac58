package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/zipfile"
	"github.com/tracegen/tracegen/mapping"
)

// LeftOut is an entry that is not written, because an earlier input of the merged archive has an entry of that name.
type LeftOut struct {
	Input string // the path of the input with the entry
	Entry string // the name of the entry in the merged archive
	First string // the path of the input whose entry is written
}

// dropDuplicates leaves out, of entries of one name that are merged, all but the first input's.
func (d *Draft) dropDuplicates() {
	first := make(map[string]*input.Container)
	for _, c := range d.options.Merged {
		for i := range c.Entries {
			e := &c.Entries[i]
			name := d.EntryName(c, e)
			winner, duplicate := first[name]
			if !duplicate {
				first[name] = c
				continue
			}
			if winner == c {
				continue // within one input, duplicates are kept
			}
			d.drop(e, winner)
			if !e.IsDirectory() {
				d.LeftOut = append(d.LeftOut, LeftOut{d.options.Inputs[c.Input], name, d.options.Inputs[winner.Input]})
			}
		}
	}
	d.warnLeftOut()
}

// warnLeftOut adds a warning if entries were left out that a program may miss. Nearly every jar has a manifest, and the
// merged jar has that of the first, as those of other tools for merging do. A module descriptor has no effect on
// Android, and in META-INF an app for it has no use for anything but services.
func (d *Draft) warnLeftOut() {
	isApp := d.isApp()
	missed := slices.DeleteFunc(slices.Clone(d.LeftOut), func(e LeftOut) bool {
		return zipfile.IsManifest(e.Entry) || d.options.Android && path.Base(e.Entry) == "module-info.class" ||
			isApp && strings.HasPrefix(e.Entry, "META-INF/") && !strings.HasPrefix(e.Entry, "META-INF/services/")
	})
	if n := len(missed); n > 0 {
		d.warn("%s!%s: left out, as %s has an entry of that name; left out in all: %d (--report lists them)",
			missed[0].Input, missed[0].Entry, missed[0].First, n)
	}
}

// isApp reports whether this is certainly a program for Android: a class extends one of Android's.
func (d *Draft) isApp() bool {
	return slices.ContainsFunc(d.facts, func(c *Class) bool { return strings.HasPrefix(c.Ancestry.SuperName, "android/") })
}

// drop leaves out an entry, and what is in it if it is an archive.
func (d *Draft) drop(e *input.Entry, winner *input.Container) {
	if d.dropped == nil {
		d.dropped = make(map[*input.Entry]bool)
	}
	d.dropped[e] = true
	if e.Nested != nil {
		for i := range e.Nested.Entries {
			d.drop(&e.Nested.Entries[i], winner)
		}
	}
	if e.Class < 0 {
		return
	}
	left := &filter.Decision{Reason: filter.ReasonDuplicateClass, Detail: "first in " + winner.Name}
	to := &d.classes[e.Class]
	to.left = left
	if n := len(d.facts[e.Class].Methods); n > 0 {
		to.methods = slices.Repeat([]*filter.Decision{left}, n)
	}
}

// Dropped implements [Decisions].
func (d *Draft) Dropped(e *input.Entry) bool { return d.dropped[e] }

// EntryName implements [Decisions]. A lone class file that is merged gets the name under which a class loader looks for
// it in a jar.
func (d *Draft) EntryName(c *input.Container, e *input.Entry) string {
	if c.Kind == input.ClassFile && len(d.options.Merged) > 0 {
		class := d.facts[e.Class].Name
		if name := class + ".class"; class != "" && zipfile.CheckName(name) == nil {
			return name
		}
	}
	return e.Name
}

// Path names the entry of a class below its input, as lists do.
func (d *Draft) Path(class int) string {
	at := d.facts[class].At
	return at.Container.Outer + d.EntryName(at.Container, &input.Entry{Name: at.Name, Class: class})
}

// Decision returns what is decided about method i of a class.
func (d *Draft) Decision(class, i int) filter.Decision { return Decided(d.decision(class, i)) }

// WholeDecision returns why a class has no methods that could be traced: it could not be read, or is left out.
func (d *Draft) WholeDecision(class int) filter.Decision {
	if left := d.classes[class].left; left != nil {
		return *left
	}
	return Decided(d.facts[class].Unread)
}

// Names returns the names of all classes in the inputs, by number: "" for those that could not be read or are left out.
func (d *Draft) Names() []string {
	names := make([]string, len(d.facts))
	for n, c := range d.facts {
		if d.classes[n].left == nil {
			names[n] = c.Name
		}
	}
	return names
}

// decideFocus finds the Activities that report focus changes.
func (d *Draft) decideFocus(byName map[string][]int) {
	if !d.options.FocusHooks {
		return
	}
	// Of all classes, only those that could be hooked are of interest, and those above them.
	classes := make(map[string]inject.Ancestry)
	for _, c := range d.facts {
		if c.Ancestry.Focus() == inject.FocusNone {
			continue
		}
		for name := c.Name; byName[name] != nil; name = classes[name].SuperName {
			if _, seen := classes[name]; seen {
				break
			}
			classes[name] = d.least(byName[name], CompareAncestry).Ancestry
		}
	}
	hooks := inject.FocusHooks(classes)
	for n, c := range d.facts {
		if c.Untouched || d.classes[n].left != nil {
			continue
		}
		action, own := hooks[c.Name], c.Ancestry.Focus()
		switch {
		case action == inject.FocusNone || own == inject.FocusNone || own == inject.FocusAdd && action != own:
		case c.FocusRefusal != "":
			d.warn("%s: changes of focus are not reported: %s", c.At.Where(), c.FocusRefusal)
		default:
			d.classes[n].focus = own
			d.hooksFocus = true
		}
	}
}

func (d *Draft) least(classes []int, compare func(a, b *Class) int) *Class {
	return d.facts[slices.MinFunc(classes, func(a, b int) int { return compare(d.facts[a], d.facts[b]) })]
}

// toAddRuntime says where the runtime class comes from, as a part of an error.
func toAddRuntime(class string) string {
	switch class {
	case contract.RuntimeClass:
		return "write it with tracegen runtime -o DIR and scan DIR/tracegen-runtime.jar as a part of its own"
	case contract.MatrixRuntimeClass:
		return "add it, or tracegen's own: tracegen runtime -o DIR writes tracegen-runtime-matrix.jar, and " +
			"tracegen-runtime.jar, which it needs"
	}
	return "add it"
}

// MissingRuntime is the error for a runtime class, by its internal name, that is in none of the inputs.
func MissingRuntime(name string) error {
	return fmt.Errorf("runtime class %s is in none of the inputs: the instrumented code could not run; %s, "+
		"name another by --runtime-class, or set --runtime-external if it is provided elsewhere",
		mapping.Text(name), toAddRuntime(name))
}

// protectRuntime checks the runtime class and takes out of tracing what it reaches.
func (d *Draft) protectRuntime(byName map[string][]int, callsOf CallsOf) error {
	name := d.options.Runtime
	if byName[name] == nil {
		if d.options.RuntimeExternal {
			d.withoutCoroutines()
			return nil
		}
		return MissingRuntime(name)
	}
	for _, n := range byName[name] {
		c := d.facts[n]
		if c.Runtime == nil {
			continue // cannot happen: the scan has checked it
		}
		if fault := c.Runtime.Of(d.hooksFocus); fault != "" {
			return fmt.Errorf("%s: %s; repair it, or name another by --runtime-class", c.At.Where(), fault)
		}
		if fault := c.Runtime.Coroutines; fault != "" && d.coroutines {
			if !d.options.CoroutinesIfAny {
				return fmt.Errorf("%s: %s", c.At.Where(), fault)
			}
			d.coroutines = false
		}
	}
	known := make(map[string][]inject.Calls)
	options := d.options.Inject
	options.RuntimeClass = name
	reached, err := inject.Reached(options, func(name string) ([]inject.Calls, error) {
		if calls, ok := known[name]; ok {
			return calls, nil
		}
		for _, n := range byName[name] {
			calls, err := callsOf(n)
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
	for n, c := range d.facts {
		path, ok := reached[c.Name]
		if !ok {
			continue
		}
		d.classes[n].focus, d.classes[n].silent = inject.FocusNone, true
		d.decideTraced(n, filter.Decision{Reason: filter.ReasonRuntime, Detail: "reached by " + path})
	}
	return nil
}

// withoutCoroutines leaves out coroutines if that is wanted where the runtime class, which is not among the inputs, may
// lack their methods: each call of one would fail.
func (d *Draft) withoutCoroutines() {
	if !d.coroutines || !d.options.CoroutinesIfAny {
		return
	}
	d.coroutines = false
	if slices.ContainsFunc(d.facts, func(c *Class) bool { return c.Continued != nil }) {
		d.warn("suspend functions do not report that they wait: runtime class %s is in none of the inputs, and may be "+
			"older; set trace-coroutines to on if it is of this version", mapping.Text(d.options.Runtime))
	}
}

// decideRequires finds the modules whose classes are going to call the runtime.
func (d *Draft) decideRequires() {
	for n := range d.classes {
		d.classes[n].requires = false
	}
	for _, n := range d.callingModules() {
		d.classes[n].requires = d.options.AddRequires && !d.classes[n].rejected
	}
}

// callingModules returns the module-infos of containers with classes that call the runtime.
func (d *Draft) callingModules() (modules []int) {
	for n, c := range d.facts {
		if c.Name == "module-info" && d.classes[n].left == nil {
			modules = append(modules, n)
		}
	}
	if len(modules) == 0 { // nearly always
		return nil
	}
	changed := make(map[*input.Container]bool)
	for n, c := range d.facts {
		// What is only stamped calls nothing: the runtime's own module, above all, need not read itself.
		if d.Changes(n) && !d.stamped(n) {
			changed[c.At.Container] = true
		}
	}
	return slices.DeleteFunc(modules, func(n int) bool { return !changed[d.facts[n].At.Container] })
}

// ModuleWarnings returns a warning if there are modules that will not read the runtime's, when it is known which. On a
// class path they need not, so several are one warning. Android has no modules: a jar for it that was merged of many is
// none, and an app has none.
func (d *Draft) ModuleWarnings() (warnings []string) {
	if d.options.AddRequires || d.options.Android && len(d.options.Merged) > 0 || d.isApp() {
		return nil
	}
	modules := d.callingModules()
	if len(modules) == 0 {
		return nil
	}
	first := d.facts[modules[0]].At.Where()
	if len(modules) == 1 {
		return []string{first + ": on a module path, the module must read that of the runtime class: run tracegen " +
			"with --set add-requires, or the program with --add-reads"}
	}
	return []string{fmt.Sprintf("%d modules, the first of them %s: on a module path, they must read that of the runtime "+
		"class: run tracegen with --set add-requires, or the program with --add-reads", len(modules), first)}
}
