package plan_test

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
)

// TestEveryModeIsTranslated goes through all modes that package inject lists: each has a translation, and no two of a
// kind have the same one.
func TestEveryModeIsTranslated(t *testing.T) {
	distinct := func(kind string, count int, translate func(i int) equivalence.Instrumentation) {
		type demands struct{ throws, handler, afterSuper, hooked, added bool }
		seen := map[demands]int{}
		for i := range count {
			w := translate(i)
			d := demands{w.Exits.UncaughtThrows, w.Exits.Handler, w.EntryAfterSuper, w.FocusHooked, w.FocusAdded}
			if other, twice := seen[d]; twice {
				t.Errorf("%s %d is translated like %d: %+v", kind, i, other, d)
			}
			seen[d] = i
		}
	}
	exits, entries, focuses := inject.ExitModes(), inject.ConstructorEntries(), []inject.Focus{inject.FocusNone,
		inject.FocusHook, inject.FocusAdd}
	if len(exits) < 3 || len(entries) < 2 {
		t.Fatalf("too few modes: %v, %v", exits, entries)
	}
	distinct("exit mode", len(exits), func(i int) equivalence.Instrumentation {
		return plan.Expected(inject.Options{Exits: exits[i]}, inject.Request{})
	})
	distinct("constructor entry", len(entries), func(i int) equivalence.Instrumentation {
		return plan.Expected(inject.Options{ConstructorEntry: entries[i]}, inject.Request{})
	})
	distinct("focus action", len(focuses), func(i int) equivalence.Instrumentation {
		return plan.Expected(inject.Options{}, inject.Request{Focus: focuses[i]})
	})
}

// TestUnknownModePanics: a mode without a translation is not taken for another mode.
func TestUnknownModePanics(t *testing.T) {
	for name, translate := range map[string]func(){
		"exit mode": func() {
			plan.Expected(inject.Options{Exits: slices.Max(inject.ExitModes()) + 1}, inject.Request{})
		},
		"constructor entry": func() {
			plan.Expected(inject.Options{ConstructorEntry: slices.Max(inject.ConstructorEntries()) + 1},
				inject.Request{})
		},
		"focus action": func() {
			plan.Expected(inject.Options{}, inject.Request{Focus: inject.FocusAdd + 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			translate()
		})
	}
}
