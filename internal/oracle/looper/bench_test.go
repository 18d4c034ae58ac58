package looper

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/mapping"
)

// A bench is what all platforms use: the compiled classes and natives.
type bench struct {
	// natives is the library, path the class path without android-all.
	natives, path string
	// mapping is the method mapping of the app, digest its digest, methods its names by ID.
	mapping, digest string
	methods         *mapping.Mapping
	// process is the name of the process, the app's package if empty.
	process string
	// options are further options of java.
	options []string
	// lib, app, device and proofs are the directories of classes on the path.
	lib, app, device, proofs string
	// art is set if everything runs on ART.
	art *onART
}

// built is the bench that all tests of this package use, below TestMain's directory.
var built struct {
	once    sync.Once
	dir     string
	skipped bool
	bench
}

// atOnce is how many tests run at a time. A proof waits for most of its time.
const atOnce = "5"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "looper")
	if err != nil {
		log.Fatal(err)
	}
	built.dir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// build returns the bench. The first call compiles it.
func build(t *testing.T) bench {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: starts JVMs that wait for seconds")
	}
	built.once.Do(func() {
		defer func() { built.skipped = t.Skipped() }()
		built.bench = compile(t, built.dir, instrument)
	})
	switch {
	case built.skipped:
		t.Skip("skipped: the proofs were not compiled; the first test that needs them says why")
	case built.path == "":
		t.Fatal("the proofs were not compiled; the first test that needs them says why")
	}
	return built.bench
}

// compile compiles the runtime, the device and the proofs into a directory. It compiles the proofs against the oldest
// version of Android, and the runtime against Google's stubs of API 16, as its Maven build does. The function
// instruments the app and the runtime as [instrument] does.
func compile(t *testing.T, dir string, instrument func(t *testing.T, file string, dirs ...*string) *mapping.Mapping,
) bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("skipped: the natives are written for Linux")
	}
	j := oracle.NeedJDK(t, 17)
	b := bench{natives: filepath.Join(dir, "libframework.so")}
	compileNatives(t, j, b.natives)
	stubs := fetch(t, oracle.Artifact{Group: "com.google.android", Name: "android", Version: "4.1.1.4", Type: "jar"},
		"84072541cbb711eff89f7277100ff854929a446dba7ceb1b195c340e0b4fd3cb")
	nullness := fetch(t, oracle.Artifact{Group: "org.jspecify", Name: "jspecify", Version: "1.0.0", Type: "jar"},
		"1fad6e6be7557781e4d33729d49ae1cdc8fdda6fe477bb0cc68ce351eafdfbab")
	framework := platforms[0].fetch(t)
	lib, app, device, proofs := filepath.Join(dir, "lib"), filepath.Join(dir, "app"), filepath.Join(dir, "device"),
		filepath.Join(dir, "proofs")
	source := filepath.Join("..", "..", "..", "runtime-java")
	oracle.Javac(t, j, lib, []string{stubs, nullness}, nil, filepath.Join(source, "core", "src", "main", "java"),
		filepath.Join(source, "core", "src", "android", "java"),
		filepath.Join(source, "android", "src", "main", "java"), filepath.Join(source, "report", "src", "main", "java"))
	oracle.Javac(t, j, app, []string{framework}, nil, filepath.Join("testdata", "app"))
	oracle.Javac(t, j, device, []string{framework}, nil, filepath.Join("testdata", "device"))
	oracle.Javac(t, j, proofs, []string{lib, app, device, framework}, nil, filepath.Join("testdata", "proofs"))
	b.mapping = filepath.Join(dir, "methodMapping.txt")
	b.methods = instrument(t, b.mapping, &app, &lib)
	b.digest = b.methods.Digest()
	// After the instrumentation, which must not see these calls.
	interceptLookups(t, lib)
	b.lib, b.app, b.device, b.proofs = lib, app, device, proofs
	b.path = strings.Join([]string{proofs, app, device, lib, filepath.Join("testdata", "resources")},
		string(os.PathListSeparator))
	return b
}

// instrument instruments every method of the app, and writes the digest of the mapping into the runtime. It returns the
// mapping and writes it to a file. The directories are replaced by those of the outputs.
func instrument(t *testing.T, file string, dirs ...*string) *mapping.Mapping {
	t.Helper()
	c := pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.None}),
		Inject: inject.Options{Posts: true},
		Files: func(r *pipeline.Result) ([]pipeline.File, error) {
			return []pipeline.File{{Path: file, Content: r.Mapping}}, nil
		},
	}
	for _, dir := range dirs {
		in := pipeline.Input{Path: *dir, Output: *dir + "-instrumented"}
		c.Inputs = append(c.Inputs, in)
		*dir = in.Output
	}
	r, err := pipeline.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("instrument: %v", err)
	}
	return r.Mapping
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

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	fixture.Run(t, exec.CommandContext(t.Context(), name, args...))
}

func (p platform) fetch(t *testing.T) string {
	t.Helper()
	return fetch(t, oracle.Artifact{Group: "org.robolectric", Name: "android-all", Version: p.version, Type: "jar"}, p.sum)
}

// fetch returns the path of an artifact and checks its SHA-256.
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
