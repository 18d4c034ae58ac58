package android_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// scopeLine is what a build says that traces other methods than the last one.
var scopeLine = regexp.MustCompile(`(?m)^scope ([a-z-]+): (\d+) of the (\d+) methods of the program itself and (\d+) of ` +
	`the (\d+) of libraries are traced(; class files grow by [\d.]+ % before R8)?\. To trace less or more, write `)

// TestScope builds the sample, of two modules and libraries, in each scope, by both ways. Both modules are traced in
// full in all of them. A build says how much is traced, unless the last one did.
func TestScope(t *testing.T) {
	nightly.Only(t, "android-apps")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			dir := filepath.Join(t.TempDir(), "app")
			setup.Copy(t, sample("android-app"), dir)
			g := builds.NewGradle(t, setup.Plugin.Gradle, "android")
			setting := "tracegen {\n"
			// build builds with other settings and returns the line and the mapping.
			build := func(settings string) (line []string, mapping string) {
				t.Helper()
				if next := "tracegen {\n" + settings; next != setting {
					android.Edit(t, filepath.Join(dir, "app", "build.gradle"), setting, next)
					setting = next
				}
				r := gradle(t, g, dir, ":app:tracegenRelease")
				if strings.Contains(r.Output, "tracegen: ") {
					t.Errorf("with %q, the build has warnings:\n%s", settings, r.Output)
				}
				text := string(fixture.Read(t, filepath.Join(dir, "app", "build", "outputs", "tracegen", "release",
					"methodMapping.txt")))
				for _, own := range []string{"dev.tracegen.example.MainActivity onCreate",
					"dev.tracegen.example.feed.Feed load", "dev.tracegen.example.feed.Feed first"} {
					if !strings.Contains(text, own) {
						t.Errorf("with %q, the mapping lacks %s", settings, own)
					}
				}
				return scopeLine.FindStringSubmatch(r.Output), text
			}
			some, byDefault := build("")
			if some == nil || some[1] != "own-and-libraries" || some[2] == "0" || some[4] == "0" || some[6] == "" {
				t.Fatalf("the first build says %q", some)
			}
			for method, traced := range map[string]bool{
				"com.google.gson.Gson fromJson (Ljava.lang.String;":   true, // the module feed calls it
				"com.google.gson.stream.JsonReader nextNonWhitespace": true, // it has a loop
				"com.google.gson.Gson newJsonReader":                  false,
				",kotlin.collections.":                                false,
			} {
				if got := strings.Contains(byDefault, method); got != traced {
					t.Errorf("by default, %s is traced: %v", method, got)
				}
			}
			if line, _ := build("    exits = 'exact'\n"); line != nil {
				t.Errorf("a build that traces the same methods says %q", line)
			}
			parts, inParts := build("    incremental = true\n")
			if parts != nil || inParts != byDefault {
				t.Errorf("in parts, the same methods are not traced: %q", parts)
			}
			own, ownMapping := build("    scope = 'own'\n    incremental = true\n")
			if own == nil || own[1] != "own" || own[2] != some[2] || own[4] != "0" || own[6] != "" {
				t.Errorf("scope own in parts: %q, by default %q", own, some)
			}
			if _, again := build("    scope = 'own'\n"); again != ownMapping {
				t.Error("scope own traces other methods in parts than at once")
			}
			all, allMapping := build("    scope = 'all'\n")
			if all == nil || all[1] != "all" || all[2] != some[2] || !strings.Contains(allMapping, ",kotlin.collections.") ||
				!strings.Contains(allMapping, "com.google.gson.Gson newJsonReader") {
				t.Errorf("scope all: %q, by default %q", all, some)
			}
			t.Logf("own %q, by default %q, all %q", own, some, all)
		})
	}
}
