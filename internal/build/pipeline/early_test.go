package pipeline_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestKnownFaultsStopBeforeTheScan checks that a run stops before it reads a class if what makes it fail is known
// without the classes.
func TestKnownFaultsStopBeforeTheScan(t *testing.T) {
	dir := t.TempDir()
	app := archive(t, filepath.Join(dir, "app.jar"), class("app/A", "f"), class("app/B", "g"))
	inner := archive(t, filepath.Join(dir, "classes.jar"), class("lib/C", "h"))
	lib := archive(t, filepath.Join(dir, "lib.aar"), file{"classes.jar", fixture.Read(t, inner)})
	for name, row := range map[string]struct {
		change func(*pipeline.Config)
		words  []string
	}{
		"runtime class": {func(c *pipeline.Config) { c.RuntimeExternal = false },
			[]string{"runtime class dev.tracegen.runtime.AppMethodBeat is in none of the inputs"}},
		"class path": {func(c *pipeline.Config) { c.ClassPath.Paths = []string{filepath.Join(dir, "nosuch.jar")} },
			[]string{"nosuch.jar"}},
		"archive in a merged jar": {func(c *pipeline.Config) {
			c.Inputs = append(c.Inputs, pipeline.Input{Path: lib})
			c.Merge = filepath.Join(dir, "all.jar")
		}, []string{"lib.aar: an .aar cannot be merged"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(app, filepath.Join(dir, "out.jar"))
			c.RuntimeExternal = true
			c.Progress = func(done, total int64) { t.Errorf("progress: %d of %d", done, total) }
			row.change(&c)
			fails(t, context.Background(), c, row.words...)
		})
	}
}
