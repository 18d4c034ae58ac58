package pipeline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// TestAddRequires has a module whose classes are going to call the runtime, one of which nothing changes, and one
// without a Module attribute.
func TestAddRequires(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module", "module-info.class"))
	if err != nil {
		t.Fatal(err)
	}
	info := file{"module-info.class", data}
	odd := file{"module-info.class", assembly.Class{Name: "module-info", Super: "-", Access: 0x8000}.Bytes()}
	dir := t.TempDir()
	c := pipeline.Config{RuntimeExternal: true, AddRequires: "dev.tracegen.runtime", Filter: everything(),
		Inputs: []pipeline.Input{
			{Path: archive(t, filepath.Join(dir, "in.jar"), info, class("sample/A", "f")),
				Output: filepath.Join(dir, "out.jar")},
			{Path: archive(t, filepath.Join(dir, "still.jar"), info, classFile(assembly.Class{Name: "sample/B"})),
				Output: filepath.Join(dir, "still.out.jar")},
			{Path: archive(t, filepath.Join(dir, "odd.jar"), odd, class("sample/C", "f")),
				Output: filepath.Join(dir, "odd.out.jar")},
		}}
	result := instrument(t, c)
	changed := entryOf(t, contents(t, c.Inputs[0].Output), info.name)
	if bytes.Equal(changed, data) || !bytes.Contains(changed, []byte("dev.tracegen.runtime")) {
		t.Error("the module does not require the runtime's")
	}
	equalFiles(t, c.Inputs[1].Path, c.Inputs[1].Output)
	if got := entryOf(t, contents(t, c.Inputs[2].Output), odd.name); !bytes.Equal(got, odd.data) {
		t.Error("a module-info that cannot be read has changed")
	}
	if !warned(result, "odd.jar!module-info.class: the rewritten class failed a check", "no Module attribute") ||
		warned(result, "must read") {
		t.Errorf("warnings %q", result.Warnings)
	}
	for i, want := range []int{2, 0, 1} {
		if result.Inputs[i].Rewritten != want {
			t.Errorf("%s: %d classes rewritten, want %d", result.Inputs[i].Path, result.Inputs[i].Rewritten, want)
		}
	}
	// Hash placement: the IDs are the same without the other inputs.
	again := c
	again.Inputs = []pipeline.Input{{Path: c.Inputs[0].Output, Output: filepath.Join(dir, "again.jar")}}
	instrument(t, again)
	equalFiles(t, c.Inputs[0].Output, again.Inputs[0].Output)

	strip := pipeline.Config{Inputs: []pipeline.Input{{Path: c.Inputs[0].Output,
		Output: filepath.Join(dir, "stripped.jar")}}}
	if _, err := pipeline.Strip(t.Context(), strip); err != nil {
		t.Fatal(err)
	}
	if got := entryOf(t, contents(t, strip.Inputs[0].Output), info.name); !bytes.Equal(got, data) {
		t.Error("strip does not give the module back")
	}
}

// TestStrip has classes with calls that are not ours, and inputs of every kind.
func TestStrip(t *testing.T) {
	dir := t.TempDir()
	foreign := classFile(assembly.Class{Name: "app/Foreign", Methods: []assembly.Method{{Access: static, Name: "f",
		Descriptor: "()V", Stack: 1,
		Code: "iconst_1 | invokestatic dev/tracegen/runtime/AppMethodBeat.i(I)V | return"}}})
	other := class("app/A", "f")
	in := archive(t, filepath.Join(dir, "in.jar"), foreign, other, file{"x.class", []byte("none")})
	c := pipeline.Config{Inputs: []pipeline.Input{{Path: in, Output: filepath.Join(dir, "out.jar")}}}
	result, err := pipeline.Strip(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	equalFiles(t, in, c.Inputs[0].Output)
	if !warned(result, "in.jar!app/Foreign.class is left as it is") || result.Inputs[0].Rewritten != 0 ||
		result.Mapping.Len() != 0 {
		t.Errorf("result %+v, warnings %q", result.Inputs, result.Warnings)
	}
	c.Inputs[0].Path = filepath.Join(dir, "none.jar")
	if result, err := pipeline.Strip(t.Context(), c); err == nil || result != nil {
		t.Error("an input that is not there can be stripped")
	}
}

// TestNoModulesOnAndroid has libraries with module descriptors. The advice about a module path is for programs on a
// JVM: one with a class that extends a class of Android gets none, also without --merge.
func TestNoModulesOnAndroid(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "classes", "bin", "module", "module-info.class"))
	if err != nil {
		t.Fatal(err)
	}
	for super, wants := range map[string]bool{"android/app/Activity": false, "androids/Robot": true} {
		dir := t.TempDir()
		result := instrument(t, pipeline.Config{RuntimeExternal: true, Android: true, Filter: everything(),
			Inputs: []pipeline.Input{
				{Path: archive(t, filepath.Join(dir, "a.jar"), file{"module-info.class", data},
					class("sample/A", "f")), Output: filepath.Join(dir, "a.out.jar")},
				{Path: archive(t, filepath.Join(dir, "app.jar"),
					classFile(assembly.Class{Name: "sample/B", Super: super})),
					Output: filepath.Join(dir, "app.out.jar")},
			}})
		if got := warned(result, "module path"); got != wants {
			t.Errorf("a program with a class that extends %s: warnings %q", super, result.Warnings)
		}
	}
}

// TestMergedApp merges an app of libraries that have files of one name in META-INF. An app misses services alone.
func TestMergedApp(t *testing.T) {
	dir := t.TempDir()
	rules, service := file{"META-INF/proguard/a.pro", []byte("-keep")}, file{"META-INF/services/x.Y", []byte("x.Z")}
	for super, wants := range map[string]string{"android/app/Activity": "services/x.Y: left out, as |in all: 1",
		"java/lang/Object": "proguard/a.pro: left out, as |in all: 2"} {
		result := instrument(t, pipeline.Config{RuntimeExternal: true, Android: true, Filter: everything(),
			Merge: filepath.Join(dir, "all.jar"), Inputs: []pipeline.Input{
				{Path: archive(t, filepath.Join(dir, "a.jar"), rules, service)},
				{Path: archive(t, filepath.Join(dir, "b.jar"), rules, service,
					classFile(assembly.Class{Name: "sample/B", Super: super}))},
			}})
		if first, all, _ := strings.Cut(wants, "|"); !warned(result, first, all) {
			t.Errorf("a program with a class that extends %s: warnings %q", super, result.Warnings)
		}
		if len(result.LeftOut) != 2 {
			t.Errorf("the report has %v", result.LeftOut)
		}
	}
}
