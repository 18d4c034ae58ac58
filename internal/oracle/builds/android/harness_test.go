package android_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
)

// sample returns the directory of a sample app.
func sample(name string) string { return filepath.Join("..", "..", "..", "..", "examples", name) }

// setupAll returns what samples are built with, for each version of the plugin that TRACEGEN_AGP names. If it is not
// set, that is the version which builds fastest, and all of them in `make builds`.
func setupAll(t *testing.T) []android.Setup {
	t.Helper()
	sdk := android.StandIn(t)
	repository := builds.Repository(t.Context(), t)
	names := os.Getenv("TRACEGEN_AGP")
	if names == "" && !builds.Full() {
		names = "8.0.2"
	}
	wanted := strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
	all := len(wanted) == 0
	var setups []android.Setup
	for _, plugin := range android.Versions {
		i := slices.Index(wanted, plugin.Version)
		if !all && i < 0 {
			continue
		}
		setups = append(setups, android.Setup{Plugin: plugin, SDK: sdk, Repository: repository})
		if i >= 0 {
			wanted = slices.Delete(wanted, i, i+1)
		}
	}
	if len(wanted) > 0 {
		t.Fatalf("TRACEGEN_AGP: there is no version %s", strings.Join(wanted, ", "))
	}
	return setups
}

// gradle builds tasks of the project in dir, and fails the test if the build fails.
func gradle(t *testing.T, g builds.Gradle, dir string, tasks ...string) builds.Result {
	t.Helper()
	return g.Build(t, dir, append([]string{"--build-cache", "--configuration-cache"}, tasks...)...)
}

// reused reports whether a build took its tasks from the configuration cache.
func reused(r builds.Result) bool { return strings.Contains(r.Output, "Reusing configuration cache.") }

// outcome returns what happened to a task.
func outcome(r builds.Result, task string) string {
	said, ran := r.Tasks[task]
	switch {
	case !ran:
		return "not run"
	case said == "":
		return "executed"
	}
	return said
}
