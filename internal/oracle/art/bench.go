package art

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// MinAPI is the version of Android that the bench is.
const MinAPI = 30

// Bench is ART of Android 11, with a core library and a few classes of the framework.
type Bench struct {
	dirs  map[string]string
	tools toolchain.Tools
}

// Need returns the bench. It builds it unless the cache has it. The test cannot go on without it.
func Need(t testing.TB) *Bench {
	t.Helper()
	return need(t, basicNeeds, basic)
}

// NeedCompiler is [Need] for a bench that has the optimizing compiler.
func NeedCompiler(t testing.TB) *Bench {
	t.Helper()
	return need(t, append(compilerNeeds, basicNeeds...), append(basic[:len(basic):len(basic)], compiling...))
}

// NeedAhead is [NeedCompiler] for a bench that has dex2oat, and a boot image with the code of the core library.
func NeedAhead(t testing.TB) *Bench {
	t.Helper()
	return need(t, append(compilerNeeds, basicNeeds...), slices.Concat(basic, compiling, ahead))
}

// NeedApps is [Need] for a bench that also has Application, Activity, Context and what they load of Android 11.
func NeedApps(t testing.TB) *Bench {
	t.Helper()
	return need(t, basicNeeds, append(basic[:len(basic):len(basic)], apps...))
}

func need(t testing.TB, needs []requirement, steps []step) *Bench {
	t.Helper()
	oracle.Require(t, check(needs))
	tools, err := toolchain.Versions[d8].Fetch(t.Context())
	oracle.Require(t, err)
	cache, err := oracle.CacheDir("art")
	oracle.Require(t, err)
	recipe, err := fs.Sub(embedded, "recipe")
	oracle.Require(t, err)
	b := builder{cache: cache, recipe: recipe, environment: environment, log: t.Logf}
	dirs, err := b.build(t.Context(), steps)
	oracle.Require(t, err)
	return &Bench{dirs, tools}
}

// file returns the path of a file that a step made.
func (b *Bench) file(step, name string) string { return filepath.Join(b.dirs[step], name) }

// Dexing returns what D8 needs to know to make a jar of DEX files for the bench.
func (b *Bench) Dexing(output string) toolchain.Dexing {
	path := []string{b.file("framework", "classes.jar")}
	if b.dirs["app"] != "" {
		path = append(path, b.file("app", "classes.jar"))
	}
	return toolchain.Dexing{MinAPI: MinAPI, Library: b.file("core", "classes.jar"), ClassPath: path, Output: output}
}

// D8 makes a jar of DEX files of jars and class files, as a release build does. It ignores warnings.
func (b *Bench) D8(t testing.TB, output string, inputs ...string) {
	t.Helper()
	if text, err := b.tools.D8(t.Context(), b.Dexing(output), inputs...); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// Program is a Java program in DEX files.
type Program struct {
	// ClassPath are jars of DEX files, Main is the name of the main class, with dots.
	ClassPath []string
	Main      string
	Args      []string
	// Options are options of ART, such as -Dkey=value, -Xmx64m, -Xjitthreshold:0, -verbose:jit.
	Options []string
	// JIT has hot methods compiled; otherwise the program is interpreted. It needs [NeedCompiler].
	JIT bool
	// Ahead starts from the boot image, as on a phone, and runs the code that [Bench.CompileAhead] has written. It needs
	// [NeedAhead]. Without JIT, methods that have no such code are interpreted.
	Ahead bool
	// Log has ART print its own log to standard error.
	Log bool
	// Env are variables in addition to those of this process, in the form KEY=VALUE.
	Env []string
	// Dir is the working directory.
	Dir string
}

// Result is the end of a program.
type Result struct {
	// Stdout and Stderr are what it printed.
	Stdout, Stderr string
	// Exit is its exit code, -1 if a signal ended it.
	Exit int
}

// Command returns the command that runs a program, for a test that does more with it than [Bench.Run].
func (b *Bench) Command(ctx context.Context, p Program) *exec.Cmd {
	// A collection while classes are loaded can end in a failed check of this ART, so the heap is large from the start.
	heap, image := "700m", "/nonexistent/boot.art"
	if p.Ahead {
		// There is less room below the image.
		heap, image = "600m", b.file("image", "boot.art")
	}
	args := []string{"-Xbootclasspath:" + b.bootClassPath(), "-Ximage:" + image, "-Xms" + heap, "-Xmx" + heap,
		"-Xuse-stderr-logger"}
	switch {
	case p.JIT:
		args = append(args, "-Xusejit:true")
	case p.Ahead:
		args = append(args, "-Xusejit:false")
	default:
		args = append(args, "-Xint")
	}
	args = append(append(args, p.Options...), "-cp", strings.Join(p.ClassPath, ":"), p.Main)
	cmd := b.command(ctx, b.file("launcher", "launcher"), append(args, p.Args...)...)
	cmd.Dir = p.Dir
	if !p.Log {
		cmd.Env = append(cmd.Env, "ANDROID_LOG_TAGS=*:f")
	}
	cmd.Env = append(cmd.Env, p.Env...)
	return cmd
}

func (b *Bench) bootClassPath() string {
	boot := b.file("core", "core.jar") + ":" + b.file("framework", "framework.jar")
	if b.dirs["app"] != "" {
		boot += ":" + b.file("app", "app.jar")
	}
	return boot
}

// command returns a command with the environment of ART.
func (b *Bench) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+b.dirs["natives"]+":"+b.dirs["compiler"],
		"ANDROID_ROOT="+b.file("launcher", "root"), "ANDROID_DATA="+b.file("launcher", "data"),
		"ANDROID_ART_ROOT="+b.file("launcher", "art-root"), "ANDROID_I18N_ROOT="+b.file("launcher", "i18n"),
		"ANDROID_TZDATA_ROOT="+b.file("launcher", "tzdata"))
	return cmd
}

// CompileAhead compiles all methods of the jars of a class path, as "cmd package compile -m speed" does on a phone. The
// code goes beside each jar, where ART looks for it.
func (b *Bench) CompileAhead(t testing.TB, classPath ...string) {
	t.Helper()
	b.install(t, "speed", classPath...)
}

// install does with the jars of a class path what a phone does with an app, by a compiler filter of dex2oat. With
// "verify" it compiles nothing, as when an app was just installed.
func (b *Bench) install(t testing.TB, filter string, classPath ...string) {
	t.Helper()
	for i, jar := range classPath {
		dir := filepath.Join(filepath.Dir(jar), "oat", "x86_64")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		code := filepath.Join(dir, strings.TrimSuffix(filepath.Base(jar), filepath.Ext(jar))+".odex")
		cmd := b.command(t.Context(), b.file("dex2oat", "dex2oat"), "--dex-file="+jar, "--oat-file="+code,
			"--boot-image="+b.file("image", "boot.art"), "--class-loader-context=PCL["+strings.Join(classPath[:i], ":")+"]",
			"--compiler-filter="+filter, "--instruction-set=x86_64", "--instruction-set-features=default",
			"--no-watch-dog", "-j2", "--runtime-arg", "-Xms600m", "--runtime-arg", "-Xmx600m",
			"--runtime-arg", "-Xbootclasspath:"+b.bootClassPath())
		cmd.Env = append(cmd.Env, "ANDROID_LOG_TAGS=*:e")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("dex2oat of %s: %v\n%s", jar, err, out)
		}
	}
}

// runLimit ends programs that hang. It is far beyond what they need.
const runLimit = 10 * time.Minute

// Run runs a program until it ends. The test fails if it cannot be started.
func (b *Bench) Run(t testing.TB, p Program) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := b.Command(ctx, p)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v, %v\n%s%s", p.Main, err, ctx.Err(), stdout.String(), stderr.String())
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Verdict is what ART's verifier decided about a class.
type Verdict struct {
	// Class is the name in the DEX file, with dots.
	Class string
	// Kind is ok; access-checks or soft, if the class runs and is checked at run time, often because another class is
	// missing; hard, if loading it is a VerifyError; unlinked, if a superclass or an interface is missing.
	Kind string
	// Message is the verifier's reason, with the method and the offset of the instruction.
	Message string
}

// Verify returns the verdict of ART's verifier on each class of a jar of DEX files, sorted by name. Other jars, behind
// it on the class path, are only there to be found.
func (b *Bench) Verify(t testing.TB, dex string, with ...string) []Verdict {
	t.Helper()
	rows, _ := b.tool(t, Program{ClassPath: []string{b.file("tools", "Verify.jar")}, Main: "Verify",
		Options: []string{"-Dverify.lib=" + b.file("launcher", "libverify.so")}}, dex, with)
	var verdicts []Verdict
	for _, row := range rows {
		verdicts = append(verdicts, Verdict{row[1], row[0], row[2]})
	}
	return verdicts
}

// Verdicts returns the kind of the verdict for each class: see [Bench.Verify].
func (b *Bench) Verdicts(t testing.TB, dex string, with ...string) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for _, v := range b.Verify(t, dex, with...) {
		kinds[v.Class] = v.Kind
	}
	return kinds
}

// compile has the optimizing compiler compile every method of a jar of DEX files. It returns a line for each that is
// not compiled, with the reason, sorted: "bailout: void a.B.c(int)", and for each class that cannot be linked, and how
// many methods were compiled. Other jars are only there to be found.
func (b *Bench) compile(t testing.TB, dex string, with []string) (not []string, compiled int) {
	t.Helper()
	rows, total := b.tool(t, Program{ClassPath: []string{b.file("tools", "CompileAll.jar")}, Main: "CompileAll",
		JIT: true, Options: []string{"-Xjitinitialsize:32m", "-Xjitmaxsize:128m",
			"-Dcompileall.lib=" + b.file("compileall", "libcompileall.so")}}, dex, with)
	for _, row := range rows {
		not = append(not, row[0]+": "+row[1])
	}
	slices.Sort(not)
	compiled, err := strconv.Atoi(total[2])
	if err != nil {
		t.Fatal(err)
	}
	return not, compiled
}

// tool runs a tool of the bench, which prints rows of columns, and last one with their number.
func (b *Bench) tool(t testing.TB, p Program, dex string, with []string) (rows [][]string, total []string) {
	t.Helper()
	p.Args = append([]string{dex}, with...)
	r := b.Run(t, p)
	for line := range strings.Lines(r.Stdout) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	last := len(rows) - 1
	if r.Exit != 0 || last < 0 || rows[last][0] != "total" || rows[last][1] != strconv.Itoa(last) {
		t.Fatalf("%s %s: exit code %d\n%s%s", p.Main, dex, r.Exit, r.Stderr, r.Stdout[max(0, len(r.Stdout)-1000):])
	}
	return rows[:last], rows[last]
}
