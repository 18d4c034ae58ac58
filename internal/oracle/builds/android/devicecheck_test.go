package android_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestDeviceCheckApp builds the three apps of examples/device-check. One is not instrumented, in the others every
// method that is measured has exactly the calls that the kit says.
func TestDeviceCheckApp(t *testing.T) {
	nightly.Only(t, "android-apps")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			dir := filepath.Join(t.TempDir(), "app")
			setup.Copy(t, sample("device-check"), dir)
			gradle(t, builds.NewGradle(t, setup.Plugin.Gradle, "android"), dir, ":app:assembleRelease")
			for _, kind := range []string{"plain", "traced", "interpreted"} {
				apk := filepath.Join(dir, "app", "build", "outputs", "apk", kind, "release", "app-"+kind+"-release.apk")
				dex := android.ReadDex(t, apk)
				if traced := dex.Entries > 0; traced != (kind != "plain") {
					t.Errorf("the app %s has %d entry calls", kind, dex.Entries)
				}
				// The script installs the files as they are.
				if !signed(t, apk) {
					t.Errorf("the app %s is not signed", kind)
				}
				if safe := strings.Contains(manifest(t, apk), "v\x00m\x00S\x00a\x00f\x00e\x00M\x00o\x00d\x00e"); safe !=
					(kind == "interpreted") {
					t.Errorf("the app %s: is it interpreted only? %v", kind, safe)
				}
				if kind == "plain" {
					continue
				}
				// The script passes it to analyze. R8 puts small classes into others, but not the activity.
				if r8 := string(fixture.Read(t, filepath.Join(dir, "app", "build", "outputs", "mapping", kind+"Release",
					"mapping.txt"))); !strings.Contains(r8, "dev.tracegen.devicecheck.MainActivity") {
					t.Errorf("the app %s: R8's mapping lacks the activity", kind)
				}
				text := string(fixture.Read(t, filepath.Join(dir, "app", "build", "outputs", "tracegen", kind+"Release",
					"methodMapping.txt")))
				for name, want := range map[string]bool{"TracedWork traced": true, "Planted stall": true,
					"PairCost bare": false, "PairCost ring": false, "PlainRing enter": false, "CostRun step": false} {
					if got := strings.Contains(text, "dev.tracegen.devicecheck."+name+" "); got != want {
						t.Errorf("the app %s: is %s traced? %v", kind, name, got)
					}
				}
			}
		})
	}
}

// signed reports whether an APK has a block of signatures in front of its directory, as Android 7 and newer want.
func signed(t *testing.T, apk string) bool {
	return strings.Contains(string(fixture.Read(t, apk)), "APK Sig Block 42")
}

// manifest returns the bytes of an APK's manifest.
func manifest(t *testing.T, apk string) string {
	file := filepath.Join(t.TempDir(), "manifest")
	if err := oracle.Extract(apk, "AndroidManifest.xml", file); err != nil {
		t.Fatal(err)
	}
	return string(fixture.Read(t, file))
}
