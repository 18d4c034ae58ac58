package verify_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify/types"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/crafted"
)

// caughtByTypes are the faults that the type checker finds without the equivalence check: what they make of some
// class, no JVM takes. The others make classes that link and do something else, or lie in tables that no JVM
// looks at.
var caughtByTypes = []string{
	"a move from one position late",
	"Uninitialized items of a frame not moved",
	"a probe of the operands of another form", "max_stack without the probe", "an exact handler that leaves out posts",
	"a result that is not copied", "max_stack without the result", "an entry before the constructor's call",
	"a frame on the wrong side",
	"a frame one byte late",
	"an Uninitialized offset not shifted",
	"an Uninitialized offset shifted like a branch",
	"a branch that runs the entry again",
	"a branch past the exit",
	"a branch to another target",
	"a switch whose default is not moved",
	"a switch case past the exit",
	"padding of the old place",
	"a handler past the exit",
	"a variable in another slot",
	"a frame lost",
	"an exit where this is uninitialised",
	"an entry inside of an instruction",
	"the constructor's entry at its start",
	"a max_stack too small",
	"a max_stack without the word of the exact handler",
	"an exact range that stops early",
	"an exact handler for some types only",
	"an exact handler that keeps locals",
	"an exact handler that returns",
	"another descriptor",
	"the focus hook with another argument",
}

// TestTypesAsPlanted is what TestPlantedFaults has the program with the faults run besides: the type verifier
// alone, on what becomes of the classes that it takes.
func TestTypesAsPlanted(t *testing.T) {
	if !*asPlanted {
		t.Skip("runs as a part of TestPlantedFaults")
	}
	all := committedAndCrafted(t)
	checked := 0
	for _, m := range crafted.Modes {
		in := m.Injector()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			request := m.Request(in, c)
			request.Focus = crafted.FocusOf(c)
			out, err := rewriteAsPlanted(in, c, request)
			if err != nil || len(types.Check(c, nil)) > 0 {
				continue
			}
			rewritten, err := classfile.Parse(out)
			if err != nil {
				t.Logf("types: %s, %s: %v", name, m.Name, err)
				return
			}
			if findings := types.Check(rewritten, nil); len(findings) > 0 {
				t.Logf("types: %s, %s: %v", name, m.Name, findings[0])
				return
			}
			checked++
		}
	}
	t.Logf("linked: %d", checked)
}

// rewriteAsPlanted injects with a fault, which may keep the injector from its work altogether.
func rewriteAsPlanted(in *inject.Injector, c *classfile.Class, request inject.Request) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the injector panics: %v", r)
		}
	}()
	return in.Rewrite(c, request)
}
