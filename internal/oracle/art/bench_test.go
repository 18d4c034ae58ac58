package art

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// compileJava compiles a source of testdata against the core library of the bench, and returns the class files.
func compileJava(t *testing.T, b *Bench, source string) []string {
	t.Helper()
	dir := t.TempDir()
	b.javac(t, dir, nil, filepath.Join("testdata", source))
	return oracle.ClassFiles(t, dir)
}

// javac compiles sources against the core library and the framework of the bench.
func (b *Bench) javac(t *testing.T, out string, path []string, sources ...string) {
	t.Helper()
	boot := b.file("core", "classes.jar") + ":" + b.file("framework", "classes.jar")
	if b.dirs["app"] != "" {
		boot += ":" + b.file("app", "classes.jar")
	}
	oracle.Javac(t, oracle.NeedJDK(t, 17), out, path, []string{"-source", "8", "-target", "8", "-bootclasspath", boot},
		sources...)
}

// TestBench runs a program, interpreted and compiled, and the tools of the bench.
func TestBench(t *testing.T) {
	nightly.Only(t, "art")
	b := NeedCompiler(t)
	dex := filepath.Join(t.TempDir(), "hello.jar")
	b.D8(t, dex, compileJava(t, b, "Hello.java")...)
	for _, p := range []Program{{}, {JIT: true, Log: true, Options: []string{"-Xjitthreshold:0", "-verbose:jit"}}} {
		p.ClassPath, p.Main, p.Args = []string{dex}, "Hello", []string{"a", "b"}
		r := b.Run(t, p)
		if r.Exit != 3 || r.Stdout != "ART 2.1.0: a, b\n" {
			t.Errorf("JIT %t: exit code %d, output %q\n%s", p.JIT, r.Exit, r.Stdout, r.Stderr)
		}
		if n := strings.Count(r.Stderr, "JIT added"); (n > 0) != p.JIT {
			t.Errorf("JIT %t: %d methods were compiled", p.JIT, n)
		}
	}
	if got := b.Verdicts(t, dex); len(got) != 1 || got["Hello"] != "ok" {
		t.Errorf("verdicts %v", got)
	}
	not, compiled := b.compile(t, dex, nil)
	if len(not) > 0 || compiled != 2 {
		t.Errorf("%d methods compiled, not %q", compiled, not)
	}
}

// TestAhead runs a program from the boot image, with and without code of its own that was compiled ahead of time, and
// one that begins without the image. The second jar has code too, though it is behind the first on the class path.
func TestAhead(t *testing.T) {
	nightly.Only(t, "android")
	b := NeedAhead(t)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "hello.jar"), filepath.Join(dir, "mapped.jar")
	b.D8(t, first, compileJava(t, b, "Hello.java")...)
	b.D8(t, second, compileJava(t, b, "Mapped.java")...)
	image := Program{ClassPath: []string{first, second}, Main: "Mapped", Ahead: true}
	const boot = "boot-framework.oat, boot.oat"
	check := func(p Program, want string) {
		t.Helper()
		if r := b.Run(t, p); r.Exit != 0 || r.Stdout != want {
			t.Errorf("exit code %d, output %q, want %q\n%s", r.Exit, r.Stdout, want, r.Stderr)
		}
	}
	check(Program{ClassPath: image.ClassPath, Main: "Mapped"}, "[]\n")
	check(image, "["+boot+"]\n")
	b.CompileAhead(t, first, second)
	check(image, "["+boot+", hello.odex, mapped.odex]\n")
	image.JIT = true
	check(image, "["+boot+", hello.odex, mapped.odex]\n")
}
