package android_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
)

// sample returns the directory of a sample app.
func sample(name string) string { return filepath.Join("..", "..", "..", "..", "examples", name) }

// setupAll returns what samples are built with, for each version of the plugin that TRACEGEN_AGP names. It skips the
// test unless TRACEGEN_BUILDS is full.
func setupAll(t *testing.T) []android.Setup {
	t.Helper()
	if os.Getenv("TRACEGEN_BUILDS") != "full" {
		t.Skip("skipped: builds with the Android Gradle plugin run with TRACEGEN_BUILDS=full (make builds)")
	}
	sdk, err := android.StandIn(t.Context())
	oracle.Require(t, err)
	repository := t.TempDir()
	script, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "release", "maven-repository"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), script, repository)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release/maven-repository: %v\n%s", err, out)
	}
	if dev := os.Getenv("TRACEGEN_DEV_REPO"); dev != "" {
		repository = dev
	}
	wanted := strings.FieldsFunc(os.Getenv("TRACEGEN_AGP"), func(r rune) bool { return r == ',' })
	var setups []android.Setup
	for _, plugin := range android.Versions {
		i := slices.Index(wanted, plugin.Version)
		if len(wanted) > 0 && i < 0 {
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
func gradle(t *testing.T, plugin android.Plugin, dir string, tasks ...string) android.Log {
	t.Helper()
	args := append([]string{plugin.Gradle, "-p", dir, "--build-cache", "--configuration-cache"}, tasks...)
	cmd := exec.CommandContext(t.Context(), "/tmp/android/g", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(tasks, " "), err, out)
	}
	return android.Log(out)
}
