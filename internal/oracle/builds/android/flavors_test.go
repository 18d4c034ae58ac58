package android_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/builds"
	"github.com/tracegen/tracegen/internal/oracle/builds/android"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// flavors is a copy of examples/android-flavors.
type flavors struct {
	t      *testing.T
	gradle builds.Gradle
	dir    string
}

// TestFlavors builds an app with flavours, four build types, a dynamic feature that depends on three projects, and
// Dagger. What is not instrumented must build too: debuggable variants, and those that the base module switches off.
func TestFlavors(t *testing.T) {
	nightly.Only(t, "android-apps")
	for _, setup := range setupAll(t) {
		t.Run(setup.Plugin.Version, func(t *testing.T) {
			setup.BuildCache = filepath.Join(t.TempDir(), "cache")
			newProject := func() flavors {
				f := flavors{t, builds.NewGradle(t, setup.Plugin.Gradle, "android"), filepath.Join(t.TempDir(), "app")}
				setup.Copy(t, sample("android-flavors"), f.dir)
				return f
			}
			f := newProject()
			f.release()
			f.benchmark()
			f.staging()
			f.offline()
			f.fresh(newProject)
			f.failures()
		})
	}
}

func (f flavors) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f flavors) edit(file, from, to string) {
	f.t.Helper()
	android.Edit(f.t, f.path(file), from, to)
}

// release builds a bundle, and puts its mappings into an archive.
func (f flavors) release() {
	f.t.Helper()
	r := gradle(f.t, f.gradle, f.dir, ":app:bundleFullRelease", ":app:uploadTracegenFullReleaseMapping")
	for _, noise := range []string{"module path", "left out", "tracegen: warning"} {
		if strings.Contains(r.Output, noise) {
			f.t.Errorf("the release build speaks of %q:\n%s", noise, r.Output)
		}
	}
	f.wantMethods("fullRelease", "dev.tracegen.example.flavors.DaggerGraph$GraphImpl feed",
		"dev.tracegen.example.stars.StarsActivity stars", "dev.tracegen.example.model.Note count",
		"com.google.gson.Gson toJson")
	calls := f.calls("fullRelease/app-full-release.aab")
	if calls["base/dex/classes.dex"] == 0 || calls["stars/dex/classes.dex"] == 0 {
		f.t.Errorf("entry calls by dex file: %v", calls)
	}
	loaded, err := mapping.Load(f.path("app/build/outputs/tracegen/fullRelease/methodMapping.txt"))
	if err != nil {
		f.t.Fatal(err)
	}
	found, err := filepath.Glob(f.path("mappings/releases/" + loaded.Digest() + "~*~1.0~fullRelease.json"))
	if err != nil || len(found) != 1 {
		f.t.Errorf("the archive has the releases %v of this build: %v", found, err)
	}
	objects, err := filepath.Glob(f.path("mappings/objects/*"))
	if err != nil || len(objects) != 2 {
		f.t.Errorf("the archive has the files %v, want the mapping and R8's: %v", objects, err)
	}
}

// benchmark builds a variant that the base module alone switches off.
func (f flavors) benchmark() {
	f.t.Helper()
	r := gradle(f.t, f.gradle, f.dir, ":app:bundleDemoBenchmark", "--info")
	if calls := f.calls("demoBenchmark/app-demo-benchmark.aab"); calls["base/dex/classes.dex"]+
		calls["stars/dex/classes.dex"] != 0 {
		f.t.Errorf("the variant that is switched off has entry calls: %v", calls)
	}
	if !strings.Contains(r.Output, "the feature is not instrumented") {
		f.t.Error("the feature does not say that it follows the base module")
	}
}

// staging builds a variant of a second debuggable build type.
func (f flavors) staging() {
	f.t.Helper()
	r := gradle(f.t, f.gradle, f.dir, ":app:bundleDemoStaging")
	for _, task := range []string{":app:tracegenDemoStaging", ":stars:tracegenDemoStaging"} {
		if got := outcome(r, task); got != "not run" {
			f.t.Errorf("a debuggable variant: %s was %s", task, got)
		}
	}
}

// offline builds again without the network, with the mapping of the last release as base.
func (f flavors) offline() {
	f.t.Helper()
	const file = "app/build/outputs/tracegen/fullRelease/methodMapping.txt"
	copyFile(f.t, f.path(file), f.path("base.txt"))
	f.edit("app/build.gradle", "\ndependencies {\n", "\n"+block(f.t, "base = file(")+"\ndependencies {\n")
	f.edit("model/src/main/java/dev/tracegen/example/model/Note.java", "    public int count",
		"    public int twice(char letter) {\n        int sum = 0;\n        for (int i = 0; i < 2; i++) {\n"+
			"            sum += count(letter);\n        }\n        return sum;\n    }\n\n    public int count")
	before := ids(f.t, f.path(file))
	gradle(f.t, f.gradle, f.dir, ":app:tracegenFullRelease", "--offline")
	after := ids(f.t, f.path(file))
	for method, id := range before {
		if after[method] != id {
			f.t.Errorf("%s had the ID %s and has %q", method, id, after[method])
		}
	}
	f.wantMethods("fullRelease", "dev.tracegen.example.model.Note twice")
}

var takenOver = regexp.MustCompile(`(?m)^(\d+) of (\d+) inputs were instrumented before`)

// fresh takes the outputs from the build cache in another workspace, where then one class changes.
func (f flavors) fresh(newProject func() flavors) {
	f.t.Helper()
	other := newProject()
	if got := outcome(gradle(f.t, f.gradle, other.dir, ":app:tracegenFullRelease"), ":app:tracegenFullRelease"); got !=
		"FROM-CACHE" {
		f.t.Errorf("in a fresh workspace the task was %s", got)
	}
	other.edit("model/src/main/java/dev/tracegen/example/model/Note.java", "letter ? 1 : 0", "letter ? 2 : 0")
	r := gradle(f.t, f.gradle, other.dir, ":app:tracegenFullRelease", "--info")
	said := takenOver.FindStringSubmatch(r.Output)
	if said == nil {
		f.t.Fatalf("the build does not say how many inputs were taken over:\n%s", r.Output)
	}
	reused, _ := strconv.Atoi(said[1])
	all, _ := strconv.Atoi(said[2])
	// The changed module, and the runtime, which has the digest, unless it is the same.
	if all < 8 || reused < all-3 {
		f.t.Errorf("%d of %d inputs were taken over after the build cache had the outputs", reused, all)
	}
}

// failures runs builds that must fail or warn before they do anything.
func (f flavors) failures() {
	const app = "app/build.gradle"
	for _, c := range []struct {
		file, from, to string
		task           string
		texts          []string
	}{
		{app, `create("benchmark")`, `create("benchmrak")`, "help", []string{"benchmrak", "Did you mean benchmark?"}},
		{app, `create("fullRelease")`, `create("ful")`, "help", []string{"Did you mean full?", "demoStaging"}},
		{"stars/build.gradle", "\nandroid {\n", "\ntracegen { variants { relase { } } }\n\nandroid {\n", "help",
			[]string{"project ':stars' has no variant", "Did you mean release?"}},
		{app, "tracegen {\n", "tracegen {\n    toolVersion = '0.0.7'\n", ":app:tracegenFullRelease",
			[]string{"There is no tracegen binary for this machine", "dev.tracegen:tracegen:0.0.7"}},
		{"build.gradle", "minSdk = 21", "minSdk = 19", ":app:processFullReleaseMainManifest",
			[]string{"minSdkVersion 19 cannot be smaller than version 21"}},
		{"stars/build.gradle", "    alias(libs.plugins.tracegen)\n", "", ":app:tracegenFullRelease",
			[]string{"0 of the dynamic features [:stars] are instrumented"}},
		{"feed/build.gradle", "plugins {\n", "plugins {\n    alias(libs.plugins.tracegen)\n", "help",
			[]string{"the plugin dev.tracegen does nothing in project ':feed'", "com.android.application"}},
		{app, "tracegen {\n", "tracegen {\n    publishMapping = true\n", "help",
			[]string{"publishMapping has no effect", "uploadTracegen...Mapping"}},
	} {
		original := fixture.Read(f.t, f.path(c.file))
		f.edit(c.file, c.from, c.to)
		r := f.gradle.Run(f.t, f.dir, c.task)
		for _, text := range c.texts {
			if !strings.Contains(r.Output, text) {
				f.t.Errorf("after the change to %q, the build does not say %q:\n%s", c.to, text, r.Output)
			}
		}
		if err := os.WriteFile(f.path(c.file), original, 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f flavors) calls(bundle string) map[string]int {
	f.t.Helper()
	dex := android.ReadDex(f.t, f.path("app/build/outputs/bundle/"+bundle))
	return dex.ByFile
}

func (f flavors) wantMethods(variant string, methods ...string) {
	f.t.Helper()
	text := string(fixture.Read(f.t, f.path("app/build/outputs/tracegen/"+variant+"/methodMapping.txt")))
	for _, method := range methods {
		if !strings.Contains(text, method) {
			f.t.Errorf("the mapping of %s lacks %s", variant, method)
		}
	}
}
