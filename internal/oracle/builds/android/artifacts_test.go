package android_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/build/artifact"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// startProfile has rules for the base module, as a library or Macrobenchmark writes them.
const startProfile = "HSPLdev/tracegen/example/base/**;->**(**)**\nLdev/tracegen/example/base/**;\n"

// TestArtifacts compares the bundle of an app with a dynamic feature and a baseline profile with that of a build
// without tracegen. What is counted must be what unzip and dexdump show. A profile that lost its rules is found, and so
// is a growth of base or feature over the limit, which no single run of tracegen sees.
func TestArtifacts(t *testing.T) {
	nightly.Only(t, "android-apps")
	if os.Getenv("TRACEGEN_AGP") == "" {
		t.Setenv("TRACEGEN_AGP", "8.13.2") // older plugins write no shares
	}
	setup := setupAll(t)[0]
	setup.BuildCache = filepath.Join(t.TempDir(), "cache")
	dir := filepath.Join(t.TempDir(), "app")
	setup.Copy(t, sample("android-feature"), dir)
	edit := func(file, from, to string) {
		t.Helper()
		android.Edit(t, filepath.Join(dir, file), from, to)
	}
	profile := filepath.Join("app", "src", "main", "baseline-prof.txt")
	fixture.Write(t, filepath.Join(dir, profile), startProfile)
	g := builds.NewGradle(t, setup.Plugin.Gradle, "android")
	bundle := func() *artifact.Artifact {
		t.Helper()
		gradle(t, g, dir, ":app:bundleRelease")
		file := filepath.Join(dir, "app", "build", "outputs", "bundle", "release", "app-release.aab")
		a, err := artifact.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		wantCounts(t, file, a)
		return a
	}
	check := func(plain, app *artifact.Artifact, guard string, failed bool) {
		t.Helper()
		compared, err := buildreport.CompareArtifacts(plain, app)
		if err != nil {
			t.Fatal(err)
		}
		var guards buildreport.Guards[*buildreport.Artifacts]
		if _, err := guards.Add(guard); err != nil {
			t.Fatal(err)
		}
		for _, result := range guards.Check(compared) {
			if result.Failed != failed {
				t.Errorf("guard failed %t: %s", result.Failed, result)
			}
		}
	}
	app := bundle()
	if s := app.Shares; s == nil || s.Optimized < 50 || s.Optimized > 100 {
		t.Errorf("shares %+v", s)
	}
	const without = "\ntracegen { enabled = false }\n\nandroid {\n"
	edit("app/build.gradle", "\nandroid {\n", without)
	edit("stars/build.gradle", "\nandroid {\n", without)
	plain := bundle()
	if app.DexFiles != plain.DexFiles || app.References <= plain.References ||
		app.Profile.Methods < plain.Profile.Methods {
		t.Errorf("with tracegen %+v, without %+v", app, plain)
	}
	check(plain, app, "profile-methods", false)
	check(plain, app, "dex=1", true) // the runtime is bigger than the example
	edit("app/build.gradle", without, "\nandroid {\n")
	edit("stars/build.gradle", without, "\nandroid {\n")
	edit(profile, "base/**;->", "base/ExampleApp;->")
	check(plain, bundle(), "profile-methods", true)

	// The base is within its limit when the feature is not.
	edit("app/build.gradle", "\nandroid {\n", "\ntracegen { maxGrowth = 60d }\n\nandroid {\n")
	edit("stars/build.gradle", "\nandroid {\n", "\ntracegen { maxGrowth = 0d }\n\nandroid {\n")
	for _, module := range []string{"stars", "app"} {
		r := g.Run(t, dir, ":"+module+":tracegenRelease")
		if r.Tasks[":"+module+":tracegenRelease"] != "FAILED" ||
			!strings.Contains(r.Output, "growth: the classes grow from") || !strings.Contains(r.Output, "at most 0.0 %") {
			t.Errorf("%s: the build does not say that the guard failed:\n%s", module, r.Output)
		}
		if module == "stars" {
			edit("app/build.gradle", "maxGrowth = 60d", "maxGrowth = 0d")
		}
	}
}

var dexNumber = regexp.MustCompile(`(?m)^(method_ids|class_defs|direct_methods|virtual_methods)_size *: (\d+)`)

// wantCounts compares what was read with what the zip directory and dexdump say.
func wantCounts(t *testing.T, file string, a *artifact.Artifact) {
	t.Helper()
	dexdump, err := exec.LookPath("dexdump")
	if err != nil {
		oracle.Require(t, oracle.ErrMissing)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	bytes, counts := uint64(0), map[string]int{}
	for _, f := range z.File {
		if path.Ext(f.Name) != ".dex" {
			continue
		}
		bytes += f.UncompressedSize64
		dex := filepath.Join(t.TempDir(), "classes.dex")
		if err := oracle.Extract(file, f.Name, dex); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), dexdump, "-f", "-h", dex).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range dexNumber.FindAllStringSubmatch(string(out), -1) {
			n, _ := strconv.Atoi(m[2])
			counts[m[1]] += n
		}
	}
	methods := counts["direct_methods"] + counts["virtual_methods"]
	if uint64(a.DexBytes) != bytes || a.Classes != counts["class_defs"] || a.References != counts["method_ids"] ||
		a.Methods != methods {
		t.Errorf("%+v, but there are %d bytes and %v", a, bytes, counts)
	}
}
