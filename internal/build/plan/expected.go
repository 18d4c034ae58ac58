package plan

import (
	"fmt"

	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
)

// Expected returns what the equivalence check must find in a class that an injector with the options o rewrote as r
// asks. It panics if o or r holds a mode that package inject does not define.
//
// Package equivalence does not import package inject, so that a fault there is not repeated in the check. This
// translates between the two: what the injector was asked for becomes demands on the class file. The translation is
// written down by hand, not taken from the code that inserts the calls.
func Expected(o inject.Options, r inject.Request) equivalence.Instrumentation {
	want := equivalence.Instrumentation{RuntimeClass: o.RuntimeClass, Digest: r.Digest, Posts: o.Posts,
		Coroutines: r.Coroutines, Continuation: r.Continuation}
	if want.RuntimeClass == "" {
		want.RuntimeClass = inject.DefaultRuntimeClass
	}
	switch o.Exits {
	case inject.ExitsNormal:
	case inject.ExitsThrows:
		want.Exits.UncaughtThrows = true
	case inject.ExitsExact:
		want.Exits.Handler = true
	default:
		panic(fmt.Sprintf("no translation for exit mode %d", o.Exits))
	}
	switch o.ConstructorEntry {
	case inject.EntryAtStart:
	case inject.EntryAfterSuper:
		want.EntryAfterSuper = true
	default:
		panic(fmt.Sprintf("no translation for constructor entry %d", o.ConstructorEntry))
	}
	switch r.Focus {
	case inject.FocusNone:
	case inject.FocusHook:
		want.FocusHooked = true
	case inject.FocusAdd:
		want.FocusAdded = true
	default:
		panic(fmt.Sprintf("no translation for focus action %d", r.Focus))
	}
	if n := len(r.Methods); n > 0 {
		want.IDs = make([]uint32, r.Methods[n-1].Method+1)
	}
	for _, m := range r.Methods {
		want.IDs[m.Method] = m.ID
	}
	return want
}
