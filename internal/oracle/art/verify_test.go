package art

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/classfile/verify"
	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/golden"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
	"github.com/tracegen/tracegen/internal/runtimejars"
	"github.com/tracegen/tracegen/mapping/r8"
)

// jars are rows of the corpus that Android apps have. The share art runs one of parts, by turns, make corpus all.
var jars = []string{"timber-5.0.1", "okhttp-4.12.0", "kotlinx-coroutines-core-jvm-1.10.2", "lottie-6.6.6",
	"guava-33.4.8-jre", "kotlin-stdlib-2.2.20", "rxjava-3.1.10", "glide-4.16.0", "coil-base-2.7.0",
	"imagepipeline-3.6.0", "leakcanary-android-core-2.14", "shark-2.14", "gson-2.11.0", "okio-jvm-3.9.0",
	"jackson-core-2.19.0", "kotlin-stdlib-1.0.7", "guava-18.0", "commons-lang3-3.17.0"}

const parts = 6

// common are rows that most of the jars refer to.
var common = []string{"kotlin-stdlib-2.2.20", "okio-jvm-3.9.0"}

// A mode is a way to instrument: one of the exit modes, or the last of them with probes before calls that post.
type mode struct {
	name    string
	options inject.Options
}

func modes() []mode {
	var all []mode
	for _, exits := range inject.ExitModes() {
		all = append(all, mode{exits.String(), inject.Options{Exits: exits, Coroutines: true}})
	}
	return append(all, mode{"exact, posts", inject.Options{Exits: inject.ExitsExact, Posts: true,
		Coroutines: true}})
}

// A lab is the bench, with what apps are compiled against.
type lab struct {
	*Bench
	framework Framework
	library   string
	// runtime are the class files of the runtime of an app, runtimeDex is their DEX file.
	runtime    []string
	runtimeDex string
	// compiles says that it has the optimizing compiler.
	compiles bool

	mu   sync.Mutex
	dexs map[string]string // by the path of the class files
	rows []string          // of the table
}

func newLab(t *testing.T, b *Bench, compiles bool) *lab {
	t.Helper()
	l := &lab{Bench: b, framework: b.NeedFramework(t), compiles: compiles, dexs: map[string]string{}}
	l.library = b.Library(t, l.framework)
	l.runtime = appRuntime(t)
	l.runtimeDex = filepath.Join(t.TempDir(), "runtime-dex.jar")
	l.d8(t, l.runtimeDex, nil, l.runtime...)
	return l
}

// appRuntime returns the class files of the runtime of an app, as jars.
func appRuntime(t *testing.T) (jars []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range runtimejars.All() {
		file := filepath.Join(dir, f.Name)
		fixture.Write(t, file, f.Data)
		switch f.Name {
		case runtimejars.AndroidName:
			classes, err := corpus.ClassesOfAAR(file, filepath.Join(dir, "android-classes.jar"))
			if err != nil {
				t.Fatal(err)
			}
			jars = append(jars, classes)
		case runtimejars.CoreName, runtimejars.ReportName:
			jars = append(jars, file)
		}
	}
	return jars
}

// d8 makes DEX files of jars that refer to the framework and to other jars.
func (l *lab) d8(t *testing.T, output string, with []string, inputs ...string) {
	t.Helper()
	d := l.Dexing(output)
	d.ClassPath = slices.Concat(d.ClassPath, []string{l.framework.Classes}, with)
	if text, err := l.tools.D8(t.Context(), d, inputs...); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// r8 makes DEX files as a release build does that optimizes, but it removes nothing. It returns the mapping of names.
func (l *lab) r8(t *testing.T, output string, with []string, input string, rules ...string) *r8.Mapping {
	t.Helper()
	dir := t.TempDir()
	library, mapping := filepath.Join(dir, "library.jar"), filepath.Join(dir, "mapping.txt")
	toolchain.Merge(t, library, slices.Concat([]string{l.library}, l.runtime, with)...)
	text, err := l.tools.R8(t.Context(), toolchain.Shrinking{Library: library, MinAPI: MinAPI, Output: output,
		Rules: append(rules, filepath.Join("testdata", "keep.pro")), Mapping: mapping}, input)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	names, err := r8.Load(mapping)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// dexOf returns the DEX files of a jar that others refer to.
func (l *lab) dexOf(t *testing.T, jar string) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dexs[jar] == "" {
		dex := filepath.Join(filepath.Dir(l.runtimeDex), fmt.Sprintf("with-%d.jar", len(l.dexs)))
		l.d8(t, dex, nil, jar)
		l.dexs[jar] = dex
	}
	return l.dexs[jar]
}

// A subject is a jar of class files, and the jars that it refers to.
type subject struct {
	name, jar string
	with      []string
}

// outcome is what ART says of the DEX files of a jar.
type outcome struct {
	dex      string
	verdicts []Verdict
	// refused are the methods that the compiler did not compile, compiled is the number of the others.
	refused  []string
	compiled int
}

func (l *lab) ask(t *testing.T, dex string, with []string) outcome {
	t.Helper()
	j := outcome{dex: dex, verdicts: l.Verify(t, dex, with...)}
	if l.compiles {
		j.refused, j.compiled = l.compile(t, dex, with)
	}
	return j
}

// newIn returns the verdicts that differ from those of the original, as findings. A class that only j has must be ok,
// and with whole every class of the original must be there.
func (j outcome) newIn(original outcome, whole bool) []verify.Finding {
	var findings []verify.Finding
	before := map[string]string{}
	for _, v := range original.verdicts {
		before[v.Class] = v.Kind
	}
	for _, v := range j.verdicts {
		want := before[v.Class]
		delete(before, v.Class)
		if want == "" {
			want = "ok"
		}
		if v.Kind != want {
			findings = append(findings, v.Finding(want, nil))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(before)) {
		if whole {
			findings = append(findings, Verdict{Class: class, Kind: "no class"}.Finding(before[class], nil))
		}
	}
	return findings
}

// newRefusals returns the methods that the compiler takes in the original only.
func (j outcome) newRefusals(original outcome) []string {
	var added []string
	for _, line := range j.refused {
		if !slices.Contains(original.refused, line) {
			added = append(added, line)
		}
	}
	return added
}

// check compiles a jar, as it is and instrumented, for Android, and compares what ART says of them.
func (l *lab) check(t *testing.T, s subject, tool string, modes []mode) {
	t.Helper()
	dir := t.TempDir()
	with := []string{l.runtimeDex, l.framework.Dex}
	for _, jar := range s.with {
		with = append(with, l.dexOf(t, jar))
	}
	build := func(name, jar string) outcome {
		dex := filepath.Join(dir, name+"-dex.jar")
		if tool == "D8" {
			l.d8(t, dex, slices.Concat(l.runtime, s.with), jar)
		} else {
			// Classes are compared by their names.
			l.r8(t, dex, s.with, jar, filepath.Join("testdata", "names.pro"))
		}
		return l.ask(t, dex, with)
	}
	original := build("original", s.jar)
	l.row(s, tool, "-", original, 0, 0)
	for _, m := range modes {
		jar := filepath.Join(dir, m.name+".jar")
		focus := instrument(t, m, s.jar, jar, s.with)
		if probes := countProbed(t, jar); s.name == exampleName && (focus == 0 || (probes > 0) != m.options.Posts) {
			t.Errorf("%s: %d focus hooks, %d classes with probes", m.name, focus, probes)
		}
		j := build(m.name, jar)
		findings, refusals := j.newIn(original, tool == "D8"), j.newRefusals(original)
		for _, f := range findings {
			t.Errorf("%s, %s, %s: %v", s.name, tool, m.name, f)
		}
		for _, line := range refusals {
			t.Errorf("%s, %s, %s: not compiled any more: %s", s.name, tool, m.name, line)
		}
		if j.compiled < original.compiled && tool == "D8" {
			t.Errorf("%s, %s: %d methods were compiled, %d of the original", s.name, m.name, j.compiled, original.compiled)
		}
		l.row(s, tool, m.name, j, len(findings), len(refusals))
	}
}

// row adds a row to the table.
func (l *lab) row(s subject, tool, mode string, j outcome, findings, refusals int) {
	count := map[string]int{}
	for _, v := range j.verdicts {
		count[v.Kind]++
	}
	row := fmt.Sprintf("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", s.name, tool, mode, len(j.verdicts),
		count["ok"], count["access-checks"], count["soft"], count["hard"], count["unlinked"], findings, j.compiled,
		len(j.refused), refusals)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, row)
}

// countProbed returns the number of classes that call the method for probes.
func countProbed(t *testing.T, jar string) (probed int) {
	t.Helper()
	oracle.EachClass(t, jar, func(_ string, data []byte) {
		if bytes.Contains(data, []byte("\x06posted")) {
			probed++
		}
	})
	return probed
}

// instrument instruments every method of a jar, and returns the number of focus hooks.
func instrument(t *testing.T, m mode, in, out string, with []string) (focus int) {
	t.Helper()
	r, err := pipeline.Run(t.Context(), pipeline.Config{Filter: filter.New(filter.Options{Trivial: filter.None}),
		Inject: m.options, FocusHooks: true, Android: true, RuntimeExternal: true,
		Inputs: []pipeline.Input{{Path: in, Output: out}}, ClassPath: pipeline.ClassPath{Paths: with}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Introduced > 0 || r.Mapping.Len() == 0 {
		t.Errorf("%s: %d methods are traced, %d classes are rejected", m.name, r.Mapping.Len(), r.Introduced)
	}
	return len(r.Mapping.Focus())
}

// control plants a fault in DEX files of D8, and in those of R8 with new names. The verifier must find it, and nothing
// else.
func (l *lab) control(t *testing.T, s subject) {
	t.Helper()
	dir := t.TempDir()
	dex := filepath.Join(dir, "dex.jar")
	l.d8(t, dex, slices.Concat(l.runtime, s.with), s.jar)
	l.plant(t, s, dex, nil)
	renamed := filepath.Join(dir, "renamed.jar")
	l.plant(t, s, renamed, l.r8(t, renamed, s.with, s.jar))
}

func (l *lab) plant(t *testing.T, s subject, dex string, names *r8.Mapping) {
	t.Helper()
	bad := filepath.Join(t.TempDir(), "bad.jar")
	offset := PlantFault(t, dex, bad)
	with := []string{l.runtimeDex, l.framework.Dex}
	before := l.Verdicts(t, dex, with...)
	var findings []verify.Finding
	var class string
	for _, v := range l.Verify(t, bad, with...) {
		if v.Kind != before[v.Class] {
			findings = append(findings, v.Finding(before[v.Class], names))
			class = strings.ReplaceAll(v.Class, ".", "/")
		}
	}
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Got, "hard: ") || findings[0].Offset != offset {
		t.Fatalf("a fault was planted at %d, the findings are %v", offset, findings)
	}
	f := findings[0]
	found := false
	oracle.EachClass(t, s.jar, func(name string, data []byte) {
		c := assembly.Parse(t, data)
		found = found || c.Name() == f.Class && slices.ContainsFunc(c.Methods(), func(m classfile.Member) bool {
			return m.Name == f.Method && m.Descriptor == f.Descriptor
		})
	})
	if !found {
		t.Errorf("no class file has the method of the finding %v", f)
	}
	if (class == f.Class) != (names == nil) {
		t.Errorf("the class is %s in the DEX file, and %s in the class file", class, f.Class)
	}
	t.Logf("the planted fault in %s: %v", class, f)
}

const exampleName = "examples"

// examples returns a jar of the classes of the examples, and of testdata/android. It has none of android-flavors, which
// needs code that Dagger's processor makes.
func (l *lab) examples(t *testing.T) subject {
	t.Helper()
	dir, j := t.TempDir(), oracle.NeedJDK(t, 17)
	root := filepath.Join("..", "..", "..", "examples")
	var all []string
	s := subject{name: exampleName, jar: filepath.Join(dir, "examples.jar")}
	for _, jar := range corpus.Need(t, "gson-2.11.0", "okio-jvm-3.9.0") {
		s.with = append(s.with, jar.Classes)
	}
	path := slices.Concat([]string{l.framework.Classes}, l.runtime, s.with)
	for _, name := range strings.Fields("android-app android-feature bazel jvm-app maven-app shop testdata") {
		sources := filepath.Join(root, name)
		if name == "testdata" {
			sources = filepath.Join("testdata", "android")
		}
		out := filepath.Join(dir, name)
		oracle.Javac(t, j, out, path, []string{"--release", "8", "-g"}, sources)
		all = append(all, oracle.JarOf(t, out, out+".jar"))
	}
	toolchain.Merge(t, s.jar, all...)
	return s
}

// TestVerdicts asks ART's verifier about the examples and the runtime.
//
// Invariant: ART's verifier decides about an instrumented class as about the original, in any exit mode, after D8 and
// R8. It has nothing against the runtime.
func TestVerdicts(t *testing.T) {
	nightly.Only(t, "art-push")
	l := newLab(t, Need(t), false)
	s := l.examples(t)
	l.control(t, s)
	l.check(t, s, "D8", modes())
	l.check(t, s, "R8", modes()[2:])
	l.checkRuntime(t)
	l.compareTable(t)
}

// checkRuntime checks the verdicts of the runtime of an app, the reports among it. It is in no table, as that would
// change with each of its classes.
func (l *lab) checkRuntime(t *testing.T) {
	t.Helper()
	j := l.ask(t, l.runtimeDex, []string{l.framework.Dex})
	for _, v := range j.verdicts {
		if v.Kind != "ok" {
			t.Errorf("the runtime: %v", v.Finding("ok", nil))
		}
	}
	for _, line := range j.refused {
		t.Errorf("the runtime: not compiled: %s", line)
	}
	t.Logf("measured: ART has nothing against the %d classes of the runtime", len(j.verdicts))
}

// TestCorpusVerdicts asks ART's verifier about released jars and the runtime, and has the optimizing compiler compile
// each method.
//
// Invariant: ART's verifier decides about an instrumented class as about the original, in any exit mode, after D8 and
// R8, and ART's optimizing compiler takes every method that it took.
func TestCorpusVerdicts(t *testing.T) {
	nightly.Only(t, "art")
	l := newLab(t, NeedCompiler(t), true)
	names := jars
	if !corpus.IsFull() {
		names = partOf(t, jars, len(nightly.Shares))
	}
	s := l.examples(t)
	l.control(t, s)
	l.checkRuntime(t)
	subjects := []subject{s}
	for _, jar := range corpus.Need(t, slices.Concat(names, common)...)[:len(names)] {
		subjects = append(subjects, l.released(t, jar))
	}
	t.Run("jars", func(t *testing.T) {
		for _, s := range subjects {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				l.check(t, s, "D8", modes())
				l.check(t, s, "R8", modes())
			})
		}
	})
	l.compareTable(t)
}

// partOf returns the part whose turn it is: the share runs once in as many landings as there are shares.
func partOf(t *testing.T, all []string, shares int) (names []string) {
	t.Helper()
	landings, err := strconv.Atoi(strings.TrimSpace(string(fixture.Read(t, "../../../.ci/landings"))))
	if err != nil {
		t.Fatal(err)
	}
	for k := landings / shares % parts; k < len(all); k += parts {
		names = append(names, all[k])
	}
	return names
}

// released returns a jar of the corpus, without classes for later releases of Java.
func (l *lab) released(t *testing.T, jar corpus.Jar) subject {
	t.Helper()
	s := subject{name: jar.Name, jar: filepath.Join(t.TempDir(), "in.jar")}
	toolchain.FirstRelease(t, s.jar, jar.Classes)
	for _, other := range corpus.Need(t, slices.Concat(common, l.dependencies(jar))...) {
		if other.Name != jar.Name {
			s.with = append(s.with, other.Classes)
		}
	}
	return s
}

// dependencies returns the rows that a jar refers to and that are not in common. The framework stands for the classes
// of Android.
func (l *lab) dependencies(jar corpus.Jar) []string {
	return slices.DeleteFunc(slices.Clone(jar.Deps), func(name string) bool {
		return strings.HasPrefix(name, "android-") || strings.HasPrefix(name, "kotlin-stdlib") ||
			strings.HasPrefix(name, "okio-")
	})
}

// tableHead names the columns: classes by their verdict, those that differ from the original's, methods that the
// compiler took and refused, and those that it refuses since they are instrumented.
const tableHead = "jar\ttool\texits\tclasses\tok\taccess-checks\tsoft\thard\tunlinked\tnew\tcompiled\trefused\tnew\n"

// compareTable compares the rows with those of the same jars, tools and exits in testdata/verdicts.tsv. A lab without
// the compiler compares the columns of the verifier, of its rows alone. With -update, a lab with the compiler writes
// its rows into the file. A jar that has no row in the file is only in the log.
func (l *lab) compareTable(t *testing.T) {
	t.Helper()
	slices.Sort(l.rows)
	t.Logf("measured: verdicts of ART:\n%s", tableHead+strings.Join(l.rows, ""))
	file := filepath.Join("testdata", "verdicts.tsv")
	table := string(fixture.Read(t, file))
	if l.compiles {
		rows := slices.DeleteFunc(slices.Clone(l.rows), func(row string) bool {
			return !strings.Contains(table, "\n"+row[:strings.IndexByte(row, '\t')+1])
		})
		kept := strings.SplitAfter(strings.TrimPrefix(table, tableHead), "\n")
		kept = slices.DeleteFunc(kept, func(row string) bool {
			return row == "" || slices.ContainsFunc(rows, func(r string) bool { return rowKey(r) == rowKey(row) })
		})
		all := append(kept, rows...)
		slices.Sort(all)
		golden.Compare(t, file, tableHead+strings.Join(all, ""))
		return
	}
	for _, row := range l.rows {
		if row = strings.TrimSuffix(row, "0\t0\t0\n"); !strings.Contains(table, "\n"+row) {
			t.Errorf("%s has no row %q", file, row)
		}
	}
}

// rowKey returns the first three columns of a row.
func rowKey(row string) [3]string { return [3]string(strings.SplitN(row, "\t", 4)) }
