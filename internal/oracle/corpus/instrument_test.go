package corpus_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// tracegen runs the tool in a directory of its own, so that it finds no tracegen.yml of ours.
func tracegen(t *testing.T, bin string, args ...string) {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Dir = t.TempDir()
	fixture.Run(t, cmd)
}

// An instrumented jar and the files that came with it.
type instrumented struct {
	corpus.Jar
	original string // the class jar before
	mapping  map[string]int
	skipped  map[string]int // methods by reason
	released string         // the output as released: an aar, where Path is one
}

func instrumentAll(t *testing.T, bin string, jars []corpus.Jar, flags ...string) []instrumented {
	t.Helper()
	dir := t.TempDir()
	list := make([]instrumented, len(jars))
	for k, j := range jars {
		out := filepath.Join(dir, j.Name+filepath.Ext(j.Path))
		mapping, lists := filepath.Join(dir, j.Name+".txt"), filepath.Join(dir, j.Name+".lists")
		tracegen(t, bin, append([]string{"instrument", j.Path, "-o", out, "--mapping", mapping,
			"--reports", lists, "--runtime-external", "--compression", "fast", "-q"}, flags...)...)
		list[k] = instrumented{Jar: j, original: j.Classes, released: out,
			mapping: readMapping(t, mapping), skipped: countReasons(t, filepath.Join(lists, "skipped.tsv"))}
		list[k].Classes = classesOf(t, out)
	}
	return list
}

func classesOf(t *testing.T, file string) string {
	t.Helper()
	if filepath.Ext(file) != ".aar" {
		return file
	}
	classes, err := corpus.ClassesOfAAR(file, file+".jar")
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

// stillLost links the jars with classes that no longer link once more, each alone in a JVM, the original and the
// output, and returns the classes that still fail. Jars share the JDK's loaders: whether a class violates a loader
// constraint (JVMS 5.3.4) can depend on which of them another jar, in another thread, has made load a class of the JDK
// that this jar also contains (xalan-2.7.0 and org.w3c.dom.Node).
func stillLost(t *testing.T, before, after []corpus.Jar, lost []oracle.LinkResult) []oracle.LinkResult {
	t.Helper()
	var still []oracle.LinkResult
	for k, j := range before {
		if !slices.ContainsFunc(lost, func(r oracle.LinkResult) bool { return r.Job == j.Name }) {
			continue
		}
		original := linkAll(t, before[k:k+1])
		output := linkAll(t, after[k:k+1])
		again := oracle.Regressions(original, output)
		t.Logf("measured: %s: of the classes that linked before, fewer linked among other jars; alone, %d", j.Name,
			len(again))
		still = append(still, again...)
	}
	return still
}

func outputs(list []instrumented) []corpus.Jar {
	jars := make([]corpus.Jar, len(list))
	for k, i := range list {
		jars[k] = i.Jar
	}
	return jars
}

var escape = regexp.MustCompile(`%[0-9A-F]{2}`)

// readMapping reads a mapping by the description of the format alone. It returns IDs by class, name and descriptor,
// with dots and with blanks between.
func readMapping(t *testing.T, file string) map[string]int {
	t.Helper()
	data := fixture.Read(t, file)
	ids := map[string]int{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, ",", 3)
		id, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 3 {
			t.Fatalf("%s: line %q", file, line)
		}
		if id == 1048574 {
			continue
		}
		ids[unescapeText(f[2])] = id
	}
	return ids
}

// unescapeText undoes the escapes of a name in text form.
func unescapeText(text string) string {
	return escape.ReplaceAllStringFunc(text, func(s string) string {
		b, _ := hex.DecodeString(s[1:])
		return string(b)
	})
}

func countReasons(t *testing.T, file string) map[string]int {
	t.Helper()
	data := fixture.Read(t, file)
	reasons := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(line, "\t"); len(f) > 3 && f[3] != "reason" {
			reasons[f[3]]++
		}
	}
	return reasons
}

// TestCorpusInstrumented checks every instrumented jar with the oracles, in every exit mode and with trivial methods
// traced: every class that linked still links, ASM reads it and finds the IDs of the mapping in the right number and on
// every path, and strip returns the original's bytes. A push does that for five jars and two modes.
//
// Invariant: Classes that linked still link, and other programs find the mapping's IDs at every entry and exit.
func TestCorpusInstrumented(t *testing.T) {
	names := pushed
	jars := corpus.Need(t, names...)
	if nightly.Runs("corpora") {
		names, jars = nil, corpus.NeedAll(t)
	}
	bin := oracle.BuildTool(t)
	linked := linkAll(t, jars)
	checkLinked(t, jars, linked)
	classes, methods := oracle.Disassemble(t, jobs(jars), oracle.AsmOptions{Check: true})
	if corpus.IsFull() {
		checkKinds(t, classes)
	}
	before := asmIndex(classes, methods)
	runs := []struct {
		mode  string
		flags []string
	}{
		{"normal", []string{"--set", "trivial=none"}},
		{"throws", []string{"--set", "trivial=none", "--set", "id-order=compact"}},
		{"exact", []string{"--set", "trivial=none"}},
		{"throws", []string{"--set", "constructor-entry=after-super"}},
	}
	switch {
	case names != nil:
		runs = runs[1:3]
	case !corpus.IsFull():
		runs = runs[:3]
	}
	for _, tt := range runs {
		flags := append([]string{"--exits", tt.mode}, tt.flags...)
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			made := instrumentAll(t, bin, jars, flags...)
			now := linkAll(t, outputs(made))
			lost := stillLost(t, jars, outputs(made), oracle.Regressions(linked, now))
			for k, r := range lost {
				if k < 20 {
					t.Errorf("%s!%s linked before: %s %s", r.Job, r.Entry, r.Status, r.Message)
				}
			}
			classes, methods := oracle.Disassemble(t, jobs(outputs(made)), oracle.AsmOptions{Check: true})
			after := asmIndex(classes, methods)
			compareAsm(t, before, after)
			afterSuper := tt.mode == "exact" || slices.Contains(tt.flags, "after-super")
			traced := compareMethods(t, made, before, after, tt.mode, afterSuper)
			stripped := compareStripped(t, bin, made)
			reasons := map[string]int{}
			for _, m := range made {
				for r, n := range m.skipped {
					reasons[r] += n
				}
			}
			t.Logf("measured: %s: %d classes, %d that linked before do not now; %d methods traced, not traced %v; "+
				"%d class files stripped to what they were", t.Name(), len(now), len(lost), traced, reasons, stripped)
		})
	}
}

// asmView is what ASM reports about a set of jars, by job, entry and method.
type asmView struct {
	classes map[[2]string]oracle.AsmClass
	methods map[[4]string]*oracle.AsmMethod
}

func asmIndex(classes []oracle.AsmClass, methods []oracle.AsmMethod) asmView {
	v := asmView{map[[2]string]oracle.AsmClass{}, map[[4]string]*oracle.AsmMethod{}}
	for _, c := range classes {
		v.classes[[2]string{c.Job, c.Entry}] = c
	}
	for k := range methods {
		m := &methods[k]
		v.methods[[4]string{m.Job, m.Entry, m.Name, m.Desc}] = m
	}
	return v
}

// compareAsm checks that ASM accepts every instrumented class whose original it accepts.
func compareAsm(t *testing.T, before, after asmView) {
	t.Helper()
	bad := 0
	for key, c := range after.classes {
		old, found := before.classes[key]
		if bad++; c.Error != "" && (!found || old.Error == "") && bad < 20 {
			t.Errorf("ASM, %s!%s: %s", c.Job, c.Entry, c.Error)
		} else if c.Error == "" || found && old.Error != "" {
			bad--
		}
	}
	for key := range before.methods {
		if after.methods[key] == nil {
			t.Errorf("%v is missing", key)
		}
	}
}

// compareMethods compares the code with the mapping and the exit mode, method by method, and returns the number of
// traced methods.
func compareMethods(t *testing.T, made []instrumented, before, after asmView, mode string, afterSuper bool) int {
	t.Helper()
	mappings := map[string]map[string]int{}
	for _, m := range made {
		mappings[m.Name] = m.mapping
	}
	seen := map[string]map[string]bool{}
	traced, shown := 0, 0
	for key, m := range after.methods {
		name := strings.ReplaceAll(m.Class+" "+m.Name+" "+m.Desc, "/", ".")
		id, mapped := mappings[m.Job][name]
		old := before.methods[key]
		if old == nil && isFocusHook(m) {
			continue
		}
		why := "the original has no such method"
		if old != nil {
			why = methodFault(m, old, id, mapped, mode, afterSuper)
		}
		if why != "" {
			if shown++; shown < 20 {
				t.Errorf("%s!%s %s%s: %s", m.Job, m.Entry, m.Name, m.Desc, why)
			}
		}
		if len(m.EntryIDs) > 0 {
			traced++
			if seen[m.Job] == nil {
				seen[m.Job] = map[string]bool{}
			}
			seen[m.Job][name] = true
		}
	}
	for _, m := range made {
		for name, id := range m.mapping {
			if !seen[m.Name][name] {
				if shown++; shown < 20 {
					t.Errorf("%s: no class uses ID %d of the mapping, %s", m.Name, id, name)
				}
			}
		}
	}
	if shown >= 20 {
		t.Errorf("%d methods in all", shown)
	}
	return traced
}

// isFocusHook reports whether a method is the one that tracegen adds, which has no ID.
func isFocusHook(m *oracle.AsmMethod) bool {
	return m.Name == "onWindowFocusChanged" && m.Desc == "(Z)V" && len(m.EntryIDs)+len(m.ExitIDs) == 0
}

// methodFault returns what is wrong with one method of the output, whose original is old, or "".
func methodFault(m, old *oracle.AsmMethod, id int, mapped bool, mode string, afterSuper bool) string {
	if len(m.EntryIDs) == 0 && len(m.ExitIDs) == 0 {
		// One name may stand for several classes (META-INF/versions). Another check covers whether one of them is
		// traced.
		return ""
	}
	switch {
	case !mapped:
		return "calls the runtime, but is not in the mapping"
	case m.Faults != "":
		return m.Faults
	case len(m.EntryIDs) != 1 && !(m.Name == "<init>" && afterSuper && len(m.EntryIDs) > 1):
		return fmt.Sprintf("%d entries", len(m.EntryIDs))
	case m.Returns != old.Returns:
		return fmt.Sprintf("%d returns, and %d in the original", m.Returns, old.Returns)
	}
	for _, got := range slices.Concat(m.EntryIDs, m.ExitIDs) {
		if got != id {
			return fmt.Sprintf("reports ID %d, and the mapping says %d", got, id)
		}
	}
	return exitFault(m, old, mode, m.Name == "<init>" && afterSuper)
}

// exitFault compares the numbers of exits. If a constructor reports its entry late, a throw before it has no exit.
func exitFault(m, old *oracle.AsmMethod, mode string, late bool) string {
	least, most := old.Returns, old.Returns
	switch mode {
	case "throws":
		least, most = least+old.BareThrows, most+old.BareThrows
		if late {
			least = old.Returns
		}
	case "exact":
		least, most = least+m.Handlers, most+m.Handlers
		if m.Handlers > 1 {
			return fmt.Sprintf("%d handlers", m.Handlers)
		}
		if m.Exposed > 0 {
			return fmt.Sprintf("%d instructions can throw past the handler", m.Exposed)
		}
	}
	if n := len(m.ExitIDs); n < least || n > most {
		return fmt.Sprintf("%d exits for %d returns and %d throws that nothing catches", n, old.Returns, old.BareThrows)
	}
	return ""
}

// compareStripped strips the outputs and compares every class with the original. It returns the number of classes that
// it compared.
func compareStripped(t *testing.T, bin string, made []instrumented) int {
	t.Helper()
	dir := t.TempDir()
	n := 0
	for _, m := range made {
		back := filepath.Join(dir, m.Name+filepath.Ext(m.released))
		tracegen(t, bin, "strip", m.released, "-o", back, "--compression", "fast", "-q")
		n += sameClasses(t, m.Name, m.original, classesOf(t, back))
	}
	return n
}

// sameClasses compares the class files of two jars, byte by byte and in order, and returns their number. Other entries
// may be missing, because a signature is removed when a jar changes.
func sameClasses(t *testing.T, name, want, got string) int {
	t.Helper()
	w, g := classFiles(t, want), classFiles(t, got)
	if len(w) != len(g) {
		t.Errorf("%s: %d class files, want %d", name, len(g), len(w))
		return 0
	}
	for k, f := range w {
		if g[k].name != f.name {
			t.Errorf("%s: class file %d is %s, want %s", name, k, g[k].name, f.name)
			return k
		}
		if !bytes.Equal(f.data, g[k].data) {
			t.Errorf("%s!%s differs", name, f.name)
		}
	}
	return len(w)
}

type classFile struct {
	name string
	data []byte
}

func classFiles(t *testing.T, jar string) []classFile {
	t.Helper()
	var list []classFile
	oracle.EachClass(t, jar, func(name string, data []byte) { list = append(list, classFile{name, data}) })
	return list
}
