package toolchain

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// exitModes are all values of --exits.
var exitModes = []string{"normal", "throws", "exact"}

// An app is a Java program for Android, to be compiled in several ways. Its main class is app.Main, and what it prints
// and calls is always the same.
type app struct {
	jdk                  oracle.JDK
	tool, library, rules string
	// jars have all classes that are packaged but the runtime's. They are not merged: R8 takes the rules of each jar by
	// other names if there are any for it, and so would leave out those of another library.
	jars []string
	// core is the runtime's jar.
	core string
	// output is what it prints.
	output string
}

// newApp compiles the sources in directories against libraries.
func newApp(t *testing.T, rules string, libraries []string, sources ...string) app {
	t.Helper()
	j := oracle.NeedJDK(t, 17)
	runtime := oracle.NeedRuntime(t)
	library := Library(t)
	dir := t.TempDir()
	classes, own := filepath.Join(dir, "classes"), filepath.Join(dir, "own.jar")
	a := app{jdk: j, tool: oracle.BuildTool(t), library: library, rules: rules, jars: append([]string{own}, libraries...),
		core: filepath.Join(dir, "core.jar")}
	Merge(t, a.core, runtime.JVM) // without its manifest
	for _, source := range sources {
		oracle.Javac(t, j, classes, append([]string{library, classes}, libraries...), withNames, source)
	}
	command(t, j.Tool("jar"), "--create", "--no-manifest", "--file", own, "-C", classes, ".")
	a.output = a.run(t, a.jars)
	if a.output == "" {
		t.Fatal("the app prints nothing")
	}
	return a
}

// run runs the app of jars and returns what it prints.
func (a app) run(t *testing.T, jars []string, flags ...string) string {
	t.Helper()
	flags = append(slices.Clone(flags), "-XX:+UseSerialGC", "-Xmx256m", "-cp",
		strings.Join(jars, string(os.PathListSeparator)), "app.Main")
	out := fixture.Run(t, exec.CommandContext(t.Context(), a.jdk.Tool("java"), flags...))
	return string(out)
}

// instrument instruments jars, and returns the outputs with the runtime's core, and the mapping.
func (a app) instrument(t *testing.T, jars []string, options ...string) (out []string, mapping string) {
	t.Helper()
	dir := t.TempDir()
	mapping = filepath.Join(dir, "methodMapping.txt")
	fixture.Directory(t, filepath.Join(dir, "out"))
	for _, jar := range jars {
		out = append(out, filepath.Join(dir, "out", filepath.Base(jar)))
	}
	command(t, a.tool, slices.Concat([]string{"instrument", "-q", "-o", filepath.Join(dir, "out") + "/", "--mapping",
		mapping, "--runtime-external", "--set", "trivial=none", "--set", "allow-huge"}, options, jars)...)
	return append(out, a.core), mapping
}

// calls runs an instrumented app, checks what it prints, and returns how often its recording has a call of each method,
// under its original name.
func (a app) calls(t *testing.T, jars []string, mapping, r8 string) map[string]int {
	t.Helper()
	recording := filepath.Join(t.TempDir(), "app.tgd")
	if got := a.run(t, jars, "-Dtracegen.output="+recording); got != a.output {
		t.Errorf("it prints\n%s\nnot\n%s", got, a.output)
	}
	args := []string{"analyze", recording, "--mapping", mapping, "--format", "json", "--top", "0"}
	if r8 != "" {
		args = append(args, "--r8-mapping", r8)
	}
	var d decoded
	text, err := exec.CommandContext(t.Context(), a.tool, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for _, m := range d.Methods {
		calls[m.Method.String()] += m.Calls
	}
	return calls
}

// shrink shrinks jars to class files, and returns them, R8's mapping, and what R8 printed.
func (a app) shrink(t *testing.T, tools Tools, jars []string) (out, mapping string, said []string) {
	t.Helper()
	dir := t.TempDir()
	out, mapping = filepath.Join(dir, "shrunk.jar"), filepath.Join(dir, "mapping.txt")
	text, err := tools.R8(t.Context(), Shrinking{Library: a.library, Rules: []string{a.rules}, Output: out,
		Mapping: mapping}, jars...)
	if err != nil {
		t.Fatal(err)
	}
	for _, jar := range jars {
		text = strings.ReplaceAll(text, jar, filepath.Base(jar))
	}
	return out, mapping, messages(text)
}

// sameCalls compares the calls of two runs of those methods that varies does not hold for.
func sameCalls(t *testing.T, want, got map[string]int, varies func(name string) bool) (compared int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if varies != nil && varies(name) {
			continue
		}
		compared++
		if want[name] != got[name] {
			t.Errorf("%d calls of %s, want %d", got[name], name, want[name])
		}
	}
	for name := range got {
		if _, known := want[name]; !known && (varies == nil || !varies(name)) {
			t.Errorf("calls of %s, which did not run before", name)
		}
	}
	return compared
}

// wideLocals are the numbers of int variables of the methods of class Wide: around what the short forms of dex
// instructions can name (16 and 256 registers), and far beyond.
var wideLocals = []int{14, 15, 16, 17, 250, 255, 256, 257, 300, 1000, 8000}

// generateTraps writes the sources of the classes that are too long to be written by hand: Wide has methods with many
// variables, Large one whose code has more than 40,000 bytes and many exits.
func generateTraps(t *testing.T) string {
	t.Helper()
	var wide, large strings.Builder
	wide.WriteString("package app;\nfinal class Wide {\n  static long sum() {\n    long all = 0;\n")
	for _, n := range wideLocals {
		fmt.Fprintf(&wide, "    all = all * 31 + m%d(3);\n", n)
	}
	wide.WriteString("    return all;\n  }\n")
	for _, n := range wideLocals {
		fmt.Fprintf(&wide, "  static int m%d(int a) {\n", n)
		for k := range n {
			fmt.Fprintf(&wide, "    int v%d = a + %d;\n", k, k%100)
		}
		fmt.Fprintf(&wide, "    if (a > 100) {\n      return v0;\n    }\n    int all = 0;\n    all += v0 + v%d;\n", n-1)
		for k := 0; k < n; k += 1 + n/50 {
			fmt.Fprintf(&wide, "    all = all * 31 + v%d;\n", k)
		}
		wide.WriteString("    return all;\n  }\n")
	}
	wide.WriteString("}\n")
	large.WriteString("package app;\nfinal class Large {\n  static int sum(int a) {\n    int all = a;\n")
	for k := range 3000 {
		fmt.Fprintf(&large, "    all = all * 31 + %d;\n", k)
		if k%10 == 0 {
			fmt.Fprintf(&large, "    if (all == %d) return %d;\n", 1000000+k, k)
		}
	}
	large.WriteString("    return all;\n  }\n}\n")
	dir := t.TempDir()
	for name, text := range map[string]string{"Wide.java": wide.String(), "Large.java": large.String()} {
		fixture.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// TestCorpusTraps compiles what D8 and R8 take apart: lambdas, default and static methods of interfaces, huge methods,
// methods with up to 8,000 variables, and a class that is used nowhere. Each call must be in the dex file, and in the
// recording of what R8 has made of it.
//
// Invariant: D8 and R8 keep every call of what they take apart, and print nothing, in any exit mode.
func TestCorpusTraps(t *testing.T) {
	nightly.Only(t, "tools")
	dir := filepath.Join("testdata", "traps")
	a := newApp(t, filepath.Join(dir, "app.pro"), nil, generateTraps(t), dir)
	modes := []string{"exact"}
	if corpus.IsFull() {
		modes = exitModes
	}
	all := versions(t)
	for _, mode := range modes {
		jars, mapping := a.instrument(t, a.jars, "--exits", mode)
		want := callsOf(t, jars[0])
		before := len(readClasses(t, jars[0])) + len(readClasses(t, a.core))
		whole := a.calls(t, jars, mapping, "")
		if whole["app.Main.depth"] != 6 || whole["app.Main$Unused.text"] != 0 || whole["app.Large.sum"] != 1 {
			t.Errorf("%s: the calls are %v", mode, whole)
		}
		text, err := os.ReadFile(mapping)
		if err != nil || !strings.Contains(string(text), "app.Main$Unused text") {
			t.Errorf("%s: the mapping lacks a method that is used nowhere (%v)", mode, err)
		}
		for _, tools := range all {
			t.Run(mode+" "+tools.Version, func(t *testing.T) {
				for _, api := range minAPIs {
					dex := tools.dex(t, sample{library: a.library}, api, jars...)
					for call, n := range want {
						// D8 removes the handler of a method whose instructions cannot throw in a dex file, and its o.
						least := n
						if mode == "exact" && call[0] == 'o' {
							least--
						}
						if got := dex.calls[call]; got < least || got > n {
							t.Errorf("API %d: dexdump sees %d of %s, ASM %d", api, got, call, n)
						}
					}
					if len(dex.calls) != len(want) {
						t.Errorf("API %d: dexdump sees %d calls, ASM sees %d", api, len(dex.calls), len(want))
					}
				}
				shrunk, renamed, said := a.shrink(t, tools, jars)
				if said = strings.Fields(NotOfCompose(strings.Join(said, "\n"))); len(said) > 0 {
					t.Errorf("R8 prints %q", said)
				}
				classes := readClasses(t, shrunk)
				if got := len(classes); got >= before {
					t.Errorf("R8 leaves %d classes", got)
				}
				n := sameCalls(t, whole, a.calls(t, []string{shrunk}, mapping, renamed), nil)
				t.Logf("measured: R8 leaves %d classes; the calls of %d methods are the same", len(classes), n)
			})
		}
	}
}

// callsOf returns the calls that ASM sees in a jar.
func callsOf(t *testing.T, jar string) calls {
	t.Helper()
	_, methods := oracle.Disassemble(t, []oracle.LinkJob{{ID: "app", Jar: jar}}, oracle.AsmOptions{})
	found := calls{}
	for _, m := range methods {
		for _, id := range m.EntryIDs {
			found[fmt.Sprint("i ", id)]++
		}
		for _, id := range m.ExitIDs {
			found[fmt.Sprint("o ", id)]++
		}
	}
	return found
}

// TestCorpusR8Libraries shrinks an app of five libraries by R8 in full mode, to class files: instrumented before R8 in
// each exit mode, and after it with R8's mapping.
//
// Invariant: An app of released libraries that R8 has shrunk prints and calls the same, instrumented before or after.
func TestCorpusR8Libraries(t *testing.T) {
	nightly.Only(t, "tools")
	if !corpus.IsFull() {
		t.Skip("skipped: takes minutes")
	}
	jars := corpus.Need(t, "gson-2.11.0", "rxjava-3.1.10", "reactive-streams-1.0.4", "okio-jvm-3.9.0",
		"commons-lang3-3.17.0", "kotlin-stdlib-2.2.20", "kotlinx-coroutines-core-jvm-1.10.2", "annotations-23.0.0",
		"error_prone_annotations-2.27.0")
	var libraries []string
	for _, jar := range jars {
		first := filepath.Join(t.TempDir(), filepath.Base(jar.Classes))
		FirstRelease(t, first, jar.Classes)
		libraries = append(libraries, first)
	}
	dir := filepath.Join("testdata", "libraries")
	a := newApp(t, filepath.Join(dir, "app.pro"), libraries, dir)
	classes := map[string]bool{}
	for _, jar := range a.jars {
		for name := range readClasses(t, jar) {
			classes[strings.ReplaceAll(name, "/", ".")] = true
		}
	}
	// Coroutines wait for another thread, and how often they look varies. The bridges that R8 makes have names in its
	// mapping that are renamed in part, such as z.EmptyCoroutineContext.plus: there was never such a class.
	varies := func(name string) bool {
		return strings.HasPrefix(name, "kotlin") || !classes[name[:strings.LastIndexByte(name, '.')]]
	}
	for _, tools := range versions(t) {
		t.Run(tools.Version, func(t *testing.T) {
			plain, renamed, before := a.shrink(t, tools, a.jars)
			if got := a.run(t, []string{plain}); got != a.output {
				t.Fatalf("without tracegen it prints\n%s\nnot\n%s", got, a.output)
			}
			for _, mode := range exitModes {
				jars, mapping := a.instrument(t, a.jars, "--exits", mode)
				want := a.calls(t, jars, mapping, "")
				shrunk, names, said := a.shrink(t, tools, jars)
				for _, text := range surplus(before, said) {
					t.Errorf("%s: R8 says, of the instrumented app only: %s", mode, text)
				}
				n := sameCalls(t, want, a.calls(t, []string{shrunk}, mapping, names), varies)
				after, mapping := a.instrument(t, []string{plain}, "--exits", mode, "--r8-mapping", renamed)
				calls := a.calls(t, after, mapping, renamed)
				for name := range calls {
					if _, known := want[name]; !known && !varies(name) {
						t.Errorf("%s: after R8, calls of %s, which the app does not call", mode, name)
					}
				}
				if n < 300 || len(calls) < 100 || calls["app.Main.main"] != 1 {
					t.Errorf("%s: %d methods compared, %d called after R8", mode, n, len(calls))
				}
				t.Logf("measured: %s: the calls of %d methods are the same; instrumented after R8, %d are called", mode, n,
					len(calls))
			}
		})
	}
}

// dexMethods is how many methods a dex file can refer to.
const dexMethods = 1 << 16

// generateMethods writes the sources of classes that refer to exactly that many methods: their own, their constructors,
// and that of Object.
func generateMethods(t *testing.T, references int) string {
	t.Helper()
	const classes = 164
	dir := t.TempDir()
	left := references - classes - 1
	for k := range classes {
		var b strings.Builder
		fmt.Fprintf(&b, "package app;\nfinal class C%d {\n", k)
		n := left / (classes - k)
		left -= n
		for m := range n {
			fmt.Fprintf(&b, "  static void m%d() { }\n", m)
		}
		b.WriteString("}\n")
		fixture.Write(t, filepath.Join(dir, fmt.Sprintf("C%d.java", k)), b.String())
	}
	return dir
}

// TestCorpusMethodLimit instruments an app whose methods fill a dex file to the last one. The two that are added need a
// second dex file, which D8 makes.
//
// Invariant: Instrumenting adds two methods to those that a dex file refers to, whatever the exit mode.
func TestCorpusMethodLimit(t *testing.T) {
	nightly.Only(t, "tools")
	if !corpus.IsFull() {
		t.Skip("skipped: takes minutes")
	}
	j := oracle.NeedJDK(t, 17)
	library := Library(t)
	dir := t.TempDir()
	a := app{jdk: j, tool: oracle.BuildTool(t), library: library}
	classes, own := filepath.Join(dir, "classes"), filepath.Join(dir, "own.jar")
	oracle.Javac(t, j, classes, []string{library}, withNames, generateMethods(t, dexMethods))
	command(t, j.Tool("jar"), "--create", "--no-manifest", "--file", own, "-C", classes, ".")
	for _, mode := range exitModes {
		jars, _ := a.instrument(t, []string{own}, "--exits", mode)
		for _, tools := range versions(t) {
			t.Run(mode+" "+tools.Version, func(t *testing.T) {
				for want, jar := range map[int]string{1: own, 2: jars[0]} {
					out := t.TempDir()
					text, err := tools.D8(t.Context(), Dexing{MinAPI: 21, Library: library, Output: out}, jar)
					files, _ := filepath.Glob(filepath.Join(out, "*.dex"))
					if len(files) != want || err != nil || text != "" {
						t.Errorf("%s: %d files, want %d, %v\n%s", filepath.Base(jar), len(files), want, err, text)
					}
				}
			})
		}
	}
}
