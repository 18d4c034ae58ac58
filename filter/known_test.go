package filter

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/steps"
)

// TestKnownMethods calls the methods of the JDK that are known to be bounded, with several arguments each, on each JDK
// that is installed, and counts the bytecodes.
//
// Invariant: No call of a method that is known to be bounded executes more bytecodes than its size.
func TestKnownMethods(t *testing.T) {
	sizes := map[string]int{}
	var methods []string
	for class, of := range knownSizes {
		for method, size := range of {
			if strings.HasPrefix(class, "java/") {
				text := class + " " + method.name + " " + method.descriptor
				sizes[text], methods = size, append(methods, text)
			}
		}
	}
	slices.Sort(methods)
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	jdks = slices.DeleteFunc(jdks, func(j oracle.JDK) bool { return j.Feature < 17 })
	if len(jdks) == 0 {
		oracle.NeedJDK(t, 17)
	}
	dir := t.TempDir()
	oracle.Javac(t, jdks[0], dir, nil, []string{"--release", "17"}, filepath.Join("testdata", "known"))
	list := filepath.Join(dir, "list")
	fixture.Write(t, list, strings.Join(methods, "\n"))
	// Enum's constructor is called by initialisers alone; the interpreter executes the others without bytecodes.
	unseen := []string{"java/lang/Enum <init> (Ljava/lang/String;I)V", "java/lang/Math abs (D)D",
		"java/lang/Math sqrt (D)D", "java/lang/Thread currentThread ()Ljava/lang/Thread;"}
	for _, j := range jdks {
		for method, c := range steps.Need(t, j).Run(t, methods, "-cp", dir, "Known", list) {
			if c.Most > sizes[method] || c.Calls == 0 && !slices.Contains(unseen, method) {
				t.Errorf("JDK %d: %s: a call executes %d bytecodes, want at most %d (%d calls)", j.Feature, method,
					c.Most, sizes[method], c.Calls)
			}
		}
	}
	t.Logf("measured: %d methods on %d JDKs", len(methods), len(jdks))
}
