package android_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// TestFeatures builds an app with a dynamic feature as an app bundle. The methods of both must be in one mapping, and
// the dex files of both must have calls.
func TestFeatures(t *testing.T) {
	nightly.Only(t, "android-apps")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			dir := filepath.Join(t.TempDir(), "app")
			setup.Copy(t, sample("android-feature"), dir)
			g := builds.NewGradle(t, setup.Plugin.Gradle, "android")
			gradle(t, g, dir, ":app:bundleRelease")
			loaded, err := mapping.Load(filepath.Join(dir, "app", "build", "outputs", "tracegen", "release",
				"methodMapping.txt"))
			if err != nil {
				t.Fatal(err)
			}
			text := string(fixture.Read(t, filepath.Join(dir, "app", "build", "outputs", "tracegen", "release",
				"methodMapping.txt")))
			for _, method := range []string{"dev.tracegen.example.base.MainActivity greeting",
				"dev.tracegen.example.stars.StarsActivity stars", "com.google.gson.Gson toJson"} {
				if !strings.Contains(text, method) {
					t.Errorf("the mapping lacks %s", method)
				}
			}
			dex := android.ReadDex(t, filepath.Join(dir, "app", "build", "outputs", "bundle", "release",
				"app-release.aab"))
			if dex.ByFile["base/dex/classes.dex"] == 0 || dex.ByFile["stars/dex/classes.dex"] == 0 {
				t.Errorf("entry calls by dex file: %v", dex.ByFile)
			}
			if !slices.Contains(dex.Strings, loaded.Digest()) {
				t.Errorf("digests %q in the dex files, want %s", dex.Strings, loaded.Digest())
			}
			again := gradle(t, g, dir, ":app:bundleRelease")
			for _, task := range []string{":app:tracegenRelease", ":stars:tracegenScanRelease", ":stars:tracegenRelease"} {
				if got := outcome(again, task); got != "UP-TO-DATE" {
					t.Errorf("second build: %s was %s", task, got)
				}
			}
		})
	}
}
