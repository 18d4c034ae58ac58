package looper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
)

// A platform is a version of Android's classes, and what of it an app is shown.
type platform struct {
	name string
	api  int
	// version of org.robolectric:android-all, and the SHA-256 of its jar.
	version, sum string
	// lockFree tells that the app targets Android 17.
	lockFree bool
	// jdk is the oldest JDK that reads the classes.
	jdk int
}

var platforms = []platform{
	{"API 23", 23, "6.0.1_r3-robolectric-r1", "a2d84271c5f033b1d082741a02f37a2d043120c0c09e5854e97ece9c3bb11d31", false, 17},
	{"API 28", 28, "9-robolectric-4913185-2", "cf4aed5e458deb48ddc0ca92fc25156e6f478d9d5c1d948cdd1817a67ee11b32", false, 17},
	{"API 34", 34, "14-robolectric-10818077", "6be2218c6a53fe3c57bc22ebdc723edcb7270a8a6f187545708aa5c0ed813977", false, 17},
	{"API 37", 37, "17-robolectric-16653203", "60f983b8bf180fa0790596c22a130c79ecf18b6d991b719de23100d4d6ff61a1", false, 21},
	{"API 37 lock-free", 37, "17-robolectric-16653203", "60f983b8bf180fa0790596c22a130c79ecf18b6d991b719de23100d4d6ff61a1", true, 21},
}

// proofClasses are the classes of testdata/proofs that hold proofs.
var proofClasses = []string{"MonitorProofs", "TheftProofs", "IdleProofs", "PendingProofs"}

// TestProofs runs every proof on every platform.
func TestProofs(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts JVMs that wait for seconds")
	}
	b := build(t)
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			b.prove(t, p)
		})
	}
}

// A bench is what all platforms share: compiled classes and natives.
type bench struct {
	// natives is the library, path the class path without android-all.
	natives, path string
}

// build compiles the runtime, the device and the proofs. The proofs are compiled against the oldest version, and the
// runtime against Google's stubs of API 16, as its Maven build does.
func build(t *testing.T) bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the natives are written for Linux")
	}
	j, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	dir := t.TempDir()
	b := bench{natives: filepath.Join(dir, "libframework.so")}
	compileNatives(t, j, b.natives)
	stubs := fetch(t, oracle.Artifact{Group: "com.google.android", Name: "android", Version: "4.1.1.4", Type: "jar"},
		"84072541cbb711eff89f7277100ff854929a446dba7ceb1b195c340e0b4fd3cb")
	framework := platforms[0].fetch(t)
	lib, device, proofs := filepath.Join(dir, "lib"), filepath.Join(dir, "device"), filepath.Join(dir, "proofs")
	source := filepath.Join("..", "..", "..", "runtime-java")
	javac(t, j, lib, []string{stubs}, filepath.Join(source, "core", "src", "main", "java"),
		filepath.Join(source, "android", "src", "main", "java"))
	javac(t, j, device, []string{framework}, filepath.Join("testdata", "device"))
	javac(t, j, proofs, []string{lib, device, framework}, filepath.Join("testdata", "proofs"))
	b.path = strings.Join([]string{proofs, device, lib}, string(os.PathListSeparator))
	return b
}

func compileNatives(t *testing.T, j oracle.JDK, out string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no gcc on PATH: %w", oracle.ErrMissing))
	}
	include := filepath.Join(j.Home, "include")
	if _, err := os.Stat(filepath.Join(include, "jni.h")); err != nil {
		oracle.Require(t, fmt.Errorf("the JDK has no jni.h: %w", oracle.ErrMissing))
	}
	command(t, gcc, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-I"+include, "-I"+filepath.Join(include, "linux"),
		"-o", out, filepath.Join("testdata", "native", "framework.c"))
}

// javac compiles all sources below some directories for Java 8, the runtime's release.
func javac(t *testing.T, j oracle.JDK, out string, path []string, dirs ...string) {
	t.Helper()
	args := []string{"--release", "8", "-Xlint:-options", "-nowarn", "-encoding", "UTF-8", "-proc:none", "-d", out,
		"-cp", strings.Join(path, string(os.PathListSeparator))}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".java" && filepath.Base(path) != "module-info.java" {
				args = append(args, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	command(t, j.Tool("javac"), args...)
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
}

func (p platform) fetch(t *testing.T) string {
	t.Helper()
	return fetch(t, oracle.Artifact{Group: "org.robolectric", Name: "android-all", Version: p.version, Type: "jar"}, p.sum)
}

// fetch gives the path of an artifact, which must have the SHA-256.
func fetch(t *testing.T, a oracle.Artifact, sum string) string {
	t.Helper()
	dir, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, []oracle.Artifact{a}))
	path := filepath.Join(dir, a.File())
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		t.Fatalf("%s has the SHA-256 %s, want %s; delete it", path, got, sum)
	}
	return path
}

// runLimit is far beyond what the proofs need; it ends what hangs.
const runLimit = 5 * time.Minute

// prove runs all proofs in one JVM and makes a subtest of each.
func (b bench) prove(t *testing.T, p platform) {
	j, err := oracle.FindJDK(p.jdk)
	if err != nil {
		// Not Require: a second JDK is welcome, but no machine has to have it.
		t.Skipf("skipped: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	queue := "list"
	if p.lockFree {
		queue = "lock-free"
	}
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-cp",
		b.path + string(os.PathListSeparator) + p.fetch(t)}
	if j.Feature >= 24 {
		args = append(args, "--enable-native-access=ALL-UNNAMED")
	}
	args = append(args, "Bench", b.natives, strconv.Itoa(p.api), queue)
	out, err := exec.CommandContext(ctx, j.Tool("java"), append(args, proofClasses...)...).CombinedOutput()
	text := string(out)
	if got := report(t, p, text); got != len(proofClasses) || (err != nil) != t.Failed() {
		t.Errorf("%d of %d classes were proven; java: %v", got, len(proofClasses), err)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// report turns what the proofs printed into subtests and measurements, and tells how many classes had their proofs run.
func report(t *testing.T, p platform, text string) (classes int) {
	proofs := 0
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "measured:":
			t.Logf("measured: %s: %s", p.name, rest)
		case "proof":
			name, verdict, _ := strings.Cut(rest, " ")
			proofs++
			t.Run(name, func(t *testing.T) {
				if verdict != "ok" {
					t.Error(verdict)
				}
			})
		case "class":
			_, count, _ := strings.Cut(rest, " ")
			if n, err := strconv.Atoi(count); err != nil || n == 0 || n != proofs {
				t.Errorf("%s proofs, %d were run", rest, proofs)
			}
			proofs = 0
			classes++
		}
	}
	return classes
}
