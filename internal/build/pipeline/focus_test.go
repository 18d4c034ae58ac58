package pipeline_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/mapping"
)

// TestFocusBelowClassesOfNoInterest wants the way up from a class to its Activity to be seen, though nothing is done
// about the classes on it; one whose classes extend each other has an end.
func TestFocusBelowClassesOfNoInterest(t *testing.T) {
	focus := []assembly.Method{{Access: public, Name: "onWindowFocusChanged", Descriptor: "(Z)V", Locals: 2,
		Code: "return"}}
	files := []file{runtimeClass(inject.DefaultRuntimeClass), mappingInfo()}
	for _, c := range []assembly.Class{
		{Name: "a/Top", Super: "android/app/Activity"},
		{Name: "a/Middle", Super: "a/Top"},
		{Name: "a/Lower", Super: "a/Middle"},
		{Name: "a/Leaf", Super: "a/Lower", Methods: focus},
		{Name: "a/Stray", Super: "a/Gone", Methods: focus},
		{Name: "a/Round", Super: "a/About", Methods: focus},
		{Name: "a/About", Super: "a/Round"},
	} {
		files = append(files, file{c.Name + ".class", c.Bytes()})
	}
	path := filepath.Join(t.TempDir(), "in.jar")
	c := config(archiveAt(t, path, time.Unix(1e9, 0), files...), path+".out.jar")
	c.FocusHooks = true
	got := instrument(t, c).Mapping.Focus()
	if want := []mapping.Focus{{Class: "a/Leaf", Action: mapping.FocusHook},
		{Class: "a/Top", Action: mapping.FocusAdd}}; !slices.Equal(got, want) {
		t.Errorf("focus decisions %v, want %v", got, want)
	}
}
