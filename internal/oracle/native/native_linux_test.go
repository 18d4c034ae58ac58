package native

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// runLimit ends tests that hang. It is far beyond what they need.
const runLimit = 10 * time.Minute

const sources = "../../../runtime-java/native"

// need returns the path of a tool, and skips the test, or fails it in CI, if this machine lacks the tool.
func need(t *testing.T, tool string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skipf("skipped: needs x86-64, this is %s", runtime.GOARCH)
	}
	path, err := exec.LookPath(tool)
	if err != nil {
		oracle.Require(t, fmt.Errorf("%s: %w", tool, oracle.ErrMissing))
	}
	return path
}

// run runs a command and returns its output. The test fails if the command does.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	out := fixture.Run(t, exec.CommandContext(ctx, name, args...))
	return string(out)
}

// tests is how many tests test/run prints.
const tests = 22

// TestHook runs the tests in C with each kind of binding, under sanitizers, and for ARM in an emulator.
//
// Invariant: The native touch hook and the SIGQUIT listener change nothing that the app or another library sees, and
// can be removed at any time.
func TestHook(t *testing.T) {
	nightly.Only(t, "tools")
	for _, v := range []struct{ name, cc, binding, sanitizer, emulator, root string }{
		{"now", "gcc", "now", "none", "", ""},
		{"lazy", "gcc", "lazy", "none", "", ""},
		{"no plt", "gcc", "no-plt", "none", "", ""},
		{"address sanitizer", "gcc", "lazy", "address", "", ""},
		{"thread sanitizer", "gcc", "now", "thread", "", ""},
		{"arm64", "aarch64-linux-gnu-gcc", "now", "none", "qemu-aarch64", "/usr/aarch64-linux-gnu"},
		{"arm", "arm-linux-gnueabihf-gcc", "now", "none", "qemu-arm", "/usr/arm-linux-gnueabihf"},
	} {
		t.Run(v.name, func(t *testing.T) {
			need(t, v.cc)
			args := []string{t.TempDir(), v.cc, v.binding, v.sanitizer}
			if v.emulator != "" {
				args = append(args, need(t, v.emulator), "-L", v.root)
			}
			out := run(t, filepath.Join(sources, "test", "run"), args...)
			if n := strings.Count(out, "ok: "); n != tests {
				t.Errorf("%d tests passed, want %d:\n%s", n, tests, out)
			}
		})
	}
}

// TestAndroid builds the archive for Android twice and checks the libraries: what they need, the pages, the names of
// the native methods.
func TestAndroid(t *testing.T) {
	nightly.Only(t, "tools")
	need(t, "clang")
	need(t, "ld.lld")
	need(t, "javac")
	var archives [2][]byte
	for i := range archives {
		dir := t.TempDir()
		run(t, filepath.Join(sources, "build"), dir)
		data := fixture.Read(t, filepath.Join(dir, "tracegen-runtime-native.aar"))
		archives[i] = data
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two builds result in different bytes")
	}
	r, err := zip.NewReader(bytes.NewReader(archives[0]), int64(len(archives[0])))
	if err != nil {
		t.Fatal(err)
	}
	checkRules(t, r)
	machines := map[string]elf.Machine{}
	for _, f := range r.File {
		if filepath.Ext(f.Name) == ".so" {
			machines[f.Name] = checkLibrary(t, f)
		}
	}
	for abi, want := range map[string]elf.Machine{"arm64-v8a": elf.EM_AARCH64, "armeabi-v7a": elf.EM_ARM,
		"x86": elf.EM_386, "x86_64": elf.EM_X86_64} {
		if got := machines["jni/"+abi+"/libtracegen_native.so"]; got != want {
			t.Errorf("%s: %v, want %v", abi, got, want)
		}
	}
}

// checkRules checks that the rules for R8 keep the names of the native methods.
func checkRules(t *testing.T, r *zip.Reader) {
	t.Helper()
	rules, err := fs.ReadFile(r, "proguard.txt")
	if err != nil || !strings.Contains(string(rules), "class dev.tracegen.runtime.detector.NativeLibrary {") ||
		!strings.Contains(string(rules), "native <methods>;") {
		t.Errorf("proguard.txt does not keep the native methods: %v\n%s", err, rules)
	}
}

func checkLibrary(t *testing.T, f *zip.File) elf.Machine {
	t.Helper()
	in, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", f.Name, len(data))
	lib, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	needed, err := lib.ImportedLibraries()
	if err != nil || !slices.Equal(needed, []string{"libc.so", "libdl.so"}) {
		t.Errorf("%s needs %v, %v; want libc.so and libdl.so only", f.Name, needed, err)
	}
	for _, p := range lib.Progs {
		if p.Type == elf.PT_LOAD && p.Align != 16384 {
			t.Errorf("%s: a segment is aligned to %d bytes, want 16384", f.Name, p.Align)
		}
	}
	symbols, err := lib.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	exported := 0
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			continue
		}
		exported++
		if !strings.HasPrefix(s.Name, "Java_dev_tracegen_runtime_detector_NativeLibrary_") {
			t.Errorf("%s exports %s", f.Name, s.Name)
		}
	}
	if exported != 10 {
		t.Errorf("%s exports %d functions, want the 10 native methods", f.Name, exported)
	}
	return lib.Machine
}

// What HotSpot prints when it gets SIGQUIT, and how often NativeProof sends it.
const (
	dump    = "Full thread dump"
	signals = 20
)

// TestJVM runs the detectors on HotSpot: a lag through the real hook and classes, and signals, which HotSpot still
// gets, each once.
func TestJVM(t *testing.T) {
	nightly.Only(t, "tools")
	cc := need(t, "gcc")
	j := oracle.NeedJDK(t, 17)
	jars := oracle.NeedRuntime(t)
	dir := t.TempDir()
	home := filepath.Dir(filepath.Dir(j.Tool("java")))
	include := []string{"-I" + filepath.Join(home, "include"), "-I" + filepath.Join(home, "include", "linux")}
	shared := func(name string, args ...string) {
		t.Helper()
		base := []string{"-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-o", filepath.Join(dir, name),
			"-Wl,-soname," + name, "-Wl,-z,nodelete"}
		run(t, cc, slices.Concat(base, include, args)...)
	}
	file := func(name string) string { return filepath.Join(sources, filepath.FromSlash(name)) }
	shared("libtracegen_native.so", file("src/got.c"), file("src/touch.c"), file("src/quit.c"), file("src/jni.c"))
	shared("libinput.so", file("test/libinput.c"))
	shared("libproof.so", file("test/jvm.c"), "-L"+dir, "-linput", "-Wl,-rpath,"+dir)
	run(t, j.Tool("javac"), "-nowarn", "-cp", jars.JVM, "-d", dir,
		"testdata/dev/tracegen/runtime/detector/NativeProof.java")
	java := func(library, preload string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), runLimit)
		defer cancel()
		flags := []string{"-Djava.library.path=" + library, "-cp", dir + ":" + jars.JVM,
			"dev.tracegen.runtime.detector.NativeProof"}
		cmd := exec.CommandContext(ctx, j.Tool("java"), append(flags, args...)...)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+preload)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// HotSpot prints its stacks some time after the signal.
		var text strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
			if strings.Count(text.String(), dump) == signals && strings.Contains(text.String(), "proved: sigquit") {
				in.Close()
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatalf("java %v: %v\n%s", args, err, text.String())
		}
		return text.String()
	}
	java(dir, "", "unsupported", "this process has no libinput.so")
	out := java(dir, filepath.Join(dir, "libinput.so"), "all")
	if !strings.Contains(out, "proved: native-touch") || !strings.Contains(out, "proved: sigquit") {
		t.Errorf("not all was proved:\n%s", out)
	}
	if n := strings.Count(out, dump); n != signals {
		t.Errorf("HotSpot printed its stacks %d times, want %d", n, signals)
	}
}
