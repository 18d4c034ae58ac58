package pipeline_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestRefusedLate has methods that turn out to take no calls when their class is written, since the scan has not
// tried. What depends on that is decided as if it had been known before: the other methods of the class are traced,
// no class counts as rejected, and a module of which nothing else is traced requires nothing.
//
// Invariant: If a method is refused only when its class is written, all is decided as if the refusal had been known
// before.
func TestRefusedLate(t *testing.T) {
	info := fixture.Read(t, filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module", "module-info.class"))
	method := func(name, code string) assembly.Method {
		return assembly.Method{Access: static, Name: name, Descriptor: "()V", Code: code}
	}
	both := classFile(assembly.Class{Name: "a/Both", Methods: []assembly.Method{method("f", "return"),
		method("g", "pop | return"), method("h", "return")}})
	only := classFile(assembly.Class{Name: "sample/Only", Methods: []assembly.Method{method("g", "pop | return")}})
	dir := t.TempDir()
	c := pipeline.Config{RuntimeExternal: true, AddRequires: "dev.tracegen.runtime", Filter: everything(),
		Verify: pipeline.VerifyEquivalence,
		Inputs: []pipeline.Input{
			{Path: archive(t, filepath.Join(dir, "in.jar"), both, class("a/A", "f")),
				Output: filepath.Join(dir, "out.jar")},
			{Path: archive(t, filepath.Join(dir, "module.jar"), file{"module-info.class", info}, only),
				Output: filepath.Join(dir, "module.out.jar")},
		}}
	result := instrument(t, c)
	if result.Mapping.Len() != 3 || result.Introduced != 0 || result.PreExisting != 0 {
		t.Errorf("%d methods are traced, want 3; %d and %d findings", result.Mapping.Len(), result.Introduced,
			result.PreExisting)
	}
	skipped := slices.Collect(result.Skipped)
	if len(skipped) != 2 || skipped[0].Name != "g" || skipped[0].Reason != filter.ReasonMalformed {
		t.Errorf("skipped %+v", skipped)
	}
	if out := contents(t, c.Inputs[0].Output); bytes.Equal(entryOf(t, out, both.name), both.data) {
		t.Error("the class of which two methods can be traced is as it was")
	}
	equalFiles(t, c.Inputs[1].Path, c.Inputs[1].Output)
	c.AddRequires = ""
	if result := instrument(t, c); warned(result, "must read") {
		t.Errorf("warnings %q", result.Warnings)
	}
}
