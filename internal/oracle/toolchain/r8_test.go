package toolchain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// keptNames are the classes that are found by their names: by instrumented classes of another part of the app, by
// tracegen, by other parts of the runtime, and by a copy of the library in another class loader.
var keptNames = []string{"dev/tracegen/runtime/AppMethodBeat", "dev/tracegen/runtime/MappingInfo",
	"dev/tracegen/runtime/android/LoopPrinter",
	"dev/tracegen/runtime/JvmHost", "dev/tracegen/runtime/android/Reporting"}

// keptMethods are the methods of AppMethodBeat and MappingInfo that instrumented classes and tracegen know.
var keptMethods = map[string][]string{
	"dev/tracegen/runtime/AppMethodBeat": {"i(I)V", "o(I)V", "at(Landroid/app/Activity;Z)V",
		"posted(Ljava/lang/Object;Ljava/lang/Object;I)V", "posted(Ljava/lang/Object;II)V"},
	"dev/tracegen/runtime/MappingInfo": {"digest()Ljava/lang/String;"},
}

// keptFields are the fields that an atomic updater finds by their names, of classes whose own names may change.
var keptFields = map[string][]string{"Ring": {"claimed", "now", "locked"}, "ThreadTrace": {"ring", "history"},
	"FastPath": {"gateRequest"}}

// TestCorpusR8 shrinks the sample with its runtime by R8 in full mode, to class files, with the rules of the runtime's
// jars and the few of the sample, and runs it on a JVM. The second row renames and moves everything that R8 may.
//
// Invariant: R8 in full mode needs no rules but those in the runtime's jars: it prints nothing but that an app without
// Compose has none of its classes, and the shrunk program records every call, which analyze names with R8's mapping.
func TestCorpusR8(t *testing.T) {
	nightly.Only(t, "tools")
	s := build(t)
	tool := oracle.BuildTool(t)
	t.Run("not shrunk", func(t *testing.T) { s.checkRecorded(t, tool, "", s.jar) })
	for _, tools := range versions(t) {
		for _, row := range []struct {
			name  string
			rules []string
		}{
			{"as it is", []string{s.rules}},
			{"as small as possible", []string{s.rules, filepath.Join("testdata", "hard.pro")}},
		} {
			t.Run(tools.Version+" "+row.name, func(t *testing.T) {
				r := s.shrink(t, tools, s.jar, row.rules...)
				for _, fault := range r.faults(t) {
					t.Error(fault)
				}
				if r.err != nil {
					return
				}
				t.Logf("measured: R8: %d classes of the app and the runtime become %d", r.before, len(r.classes))
				s.checkRecorded(t, tool, r.mapping, r.jar)
			})
		}
	}
}

// TestCorpusConsumerRules leaves out each of the runtime's rules, which must be noticed.
//
// Invariant: No rule of the runtime for R8 can be left out.
func TestCorpusConsumerRules(t *testing.T) {
	nightly.Only(t, "tools")
	s := build(t)
	tools := versions(t)[0]
	rules := consumerRules(t, s)
	if len(rules) < 4 {
		t.Fatalf("the runtime has the rules %q, want at least 4", rules)
	}
	bare := withoutRules(t, s.jar)
	for k, left := range rules {
		if !corpus.IsFull() && !strings.HasPrefix(left, "-dontwarn") {
			continue // a run of R8 takes a while
		}
		if strings.Contains(left, "android.**") {
			continue // for programs off Android: TestCorpusShrunkJVM
		}
		if strings.Contains(left, "androidx.compose") {
			continue // the sample has no composables
		}
		name := strings.Join(strings.Fields(left), " ")
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rules.pro")
			others := slices.Concat(rules[:k], rules[k+1:])
			fixture.Write(t, file, strings.Join(others, "\n"))
			r := s.shrink(t, tools, bare, s.rules, filepath.Join("testdata", "hard.pro"), file)
			faults := r.faults(t)
			if len(faults) == 0 {
				t.Errorf("nothing is wrong without the rule\n%s", left)
			} else {
				t.Logf("without it: %s", strings.SplitN(faults[0], "\n", 2)[0])
			}
		})
	}
}

// A shrunk sample is the result of R8.
type shrunk struct {
	jar, mapping string
	// text is what R8 printed, err why it failed.
	text string
	err  error
	// before is the number of classes of the input, classes are those of the output.
	before  int
	classes map[string]*classfile.Class
}

func (s sample) shrink(t *testing.T, tools Tools, jar string, rules ...string) shrunk {
	t.Helper()
	dir := t.TempDir()
	r := shrunk{jar: filepath.Join(dir, "shrunk.jar"), mapping: filepath.Join(dir, "mapping.txt")}
	r.text, r.err = tools.R8(t.Context(), Shrinking{Library: s.library, Rules: rules, Output: r.jar, Mapping: r.mapping},
		jar)
	if r.err == nil {
		r.before = len(readClasses(t, jar))
		r.classes = readClasses(t, r.jar)
	}
	return r
}

// withoutCompose matches what R8 reports, as information, about the rules for Compose, which the sample does not have.
var withoutCompose = regexp.MustCompile("Info in [^\n]*\nProguard configuration rule does not match anything: " +
	"`[^`]*androidx\\.compose[^`]*`\n?")

// faults returns what is wrong with the result.
func (r shrunk) faults(t *testing.T) []string {
	t.Helper()
	if r.err != nil {
		return []string{r.err.Error()}
	}
	var faults []string
	if text := withoutCompose.ReplaceAllString(r.text, ""); text != "" {
		faults = append(faults, "R8 printed:\n"+text)
	}
	for _, name := range keptNames {
		c := r.classes[name]
		if c == nil {
			faults = append(faults, fmt.Sprintf("there is no class %s", name))
			continue
		}
		for _, want := range keptMethods[name] {
			if !slices.ContainsFunc(c.Methods(), func(m classfile.Member) bool { return m.Name+m.Descriptor == want }) {
				faults = append(faults, fmt.Sprintf("class %s has no method %s", name, want))
			}
		}
	}
	// R8 renames them in the calls of newUpdater, too; other shrinkers need not.
	for class, fields := range keptFields {
		if !hasFields(r.classes, fields...) {
			faults = append(faults, fmt.Sprintf("no class has the fields %q of %s", fields, class))
		}
	}
	for _, name := range []string{"app/Feed", "dev/tracegen/runtime/Ring"} {
		if r.classes[name] != nil {
			faults = append(faults, fmt.Sprintf("class %s is not renamed", name))
		}
	}
	return faults
}

// hasFields reports whether one of the classes has all fields.
func hasFields(classes map[string]*classfile.Class, names ...string) bool {
	for _, c := range classes {
		found := 0
		for _, f := range c.Fields() {
			if slices.Contains(names, f.Name) {
				found++
			}
		}
		if found == len(names) {
			return true
		}
	}
	return false
}

// rule matches a rule of R8 with its braces.
var rule = regexp.MustCompile(`(?s)-\w+[^{}#]*?(?:\{[^}]*\}|\n)`)

// consumerRules returns the rules in META-INF/proguard of the runtime's jars, without comments.
func consumerRules(t *testing.T, s sample) []string {
	t.Helper()
	var rules []string
	for _, jar := range s.runtime {
		isRules := func(name string) bool {
			return strings.HasPrefix(name, "META-INF/proguard/") && !strings.HasSuffix(name, "/")
		}
		oracle.Require(t, oracle.EachEntry(jar, isRules, func(_ string, text []byte) error {
			lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"),
				func(line string) bool { return strings.HasPrefix(line, "#") })
			rules = append(rules, rule.FindAllString(strings.Join(lines, ""), -1)...)
			return nil
		}))
	}
	return rules
}

// withoutRules returns a copy of a jar without rules for R8.
func withoutRules(t *testing.T, jar string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bare.jar")
	w := newJar(t, file)
	w.add(jar, func(name string) (string, bool) { return name, strings.HasSuffix(name, ".class") })
	w.close()
	return file
}

// readClasses returns the classes of a jar by name.
func readClasses(t *testing.T, jar string) map[string]*classfile.Class {
	t.Helper()
	all := map[string]*classfile.Class{}
	oracle.EachClass(t, jar, func(name string, data []byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			t.Fatalf("%s: %s: %v", jar, name, err)
		}
		all[strings.TrimSuffix(name, ".class")] = c
	})
	return all
}
