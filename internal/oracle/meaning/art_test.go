package meaning

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// A device is ART with the recorder, and the class Start of testdata/art.
type device struct {
	*art.Bench
	d8  toolchain.Tools
	jar string // of DEX files
}

func needDevice(t *testing.T) device {
	t.Helper()
	recorder := oracle.NeedRecorder(t)
	tools, err := toolchain.Versions[1].Fetch(t.Context())
	oracle.Require(t, err)
	d := device{art.NeedAhead(t), tools, filepath.Join(t.TempDir(), "device.jar")}
	start := t.TempDir()
	javac(t, oracle.NeedJDK(t, 17), start, "--release", "8", filepath.Join("testdata", "art", "Start.java"))
	d.D8(t, d.jar, classFiles(t, recorder, start)...)
	return d
}

// classFiles returns the paths of the class files below directories, and those of jars.
func classFiles(t *testing.T, inputs ...string) (all []string) {
	t.Helper()
	for _, in := range inputs {
		err := filepath.WalkDir(in, func(path string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); ext == ".class" && e.Name() != "module-info.class" || ext == ".jar" {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A deviceProgram is a small program to run on ART.
type deviceProgram struct {
	name string
	// classes is the directory or jar of what is instrumented, with are directories of other classes.
	classes string
	with    []string
	// files are copied from testdata/programs into the working directory.
	files []string
	// main is the main class with its arguments.
	main []string
	// want are the events that its sources list.
	want expected
	// focus means that Activities report focus changes.
	focus bool
	// slow leaves out modes: D8 needs long for the classes.
	slow bool
	// check checks what the recorder says about a run in a mode.
	check func(t *testing.T, m mode, s oracle.Summary)
}

// A way is a way in which ART runs a program.
type way string

const (
	interpreted way = "interpreted"
	jit         way = "JIT"   // compiled when first called
	ahead       way = "ahead" // compiled before the start, from the boot image, as on a phone
)

// check runs the original and the outputs of all modes in all ways, and compares what they do and the events of the
// outputs with those that the sources list.
func (d device) check(t *testing.T, p deviceProgram) {
	t.Helper()
	original := d.dex(t, p, p.classes)
	ways := []way{interpreted, jit, ahead}
	want := map[way]outcome{}
	for _, w := range ways {
		want[w] = d.run(t, p, original, w)
	}
	for _, shape := range shapeModes {
		m := shape.mode
		if p.slow && m != throwsNone && m != exactNone {
			continue
		}
		m.focus = p.focus
		outputs, ids := instrument(t, filepath.Join(t.TempDir(), "out"), m, []string{p.classes})
		dex := d.dex(t, p, outputs[p.classes])
		for _, w := range ways {
			t.Run(fmt.Sprintf("%s, %s", shape.word, w), func(t *testing.T) {
				summary, events := filepath.Join(t.TempDir(), "summary"), filepath.Join(t.TempDir(), "events")
				got := d.run(t, p, dex, w, oracle.RecorderFlag(summary), oracle.RecorderEventsFlag(events))
				compare(t, got, want[w])
				s := oracle.ReadSummary(t, summary)
				p.check(t, m, s)
				checked := 0
				if p.want != nil {
					checked = p.want.compareScenarios(t, shape.word, scenarios(t, got.text, events, ids))
				}
				t.Logf("measured: %s on ART, %s, %s: %d lines as the original's, %d scenarios as their sources say, "+
					"%d events, %d exits too many, %d closed late", p.name, shape.word, w, strings.Count(got.text, "\n"),
					checked, s.Entries+s.Exits, s.ExitsTooMany, s.ClosedLate)
			})
		}
	}
}

// dex returns a jar of DEX files with the classes of a directory, and those that the program needs beside them.
func (d device) dex(t *testing.T, p deviceProgram, classes string) string {
	t.Helper()
	options := d.Dexing(filepath.Join(t.TempDir(), "program.jar"))
	// The core library is that of Android 10: D8 replaces what came later, such as List.of.
	options.MinAPI = 29
	text, err := d.d8.D8(t.Context(), options, classFiles(t, append([]string{classes}, p.with...)...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return options.Output
}

// lostLine is the frame of a static method whose call starts the initialiser of its class, which fails. In the
// interpreter this method is on the stack, at its first instruction. That of an output pushes the ID, and D8 keeps the
// lines of instructions only that may throw, so that ART knows no line, and no file, of this frame.
const lostLine = "\tat Constructors$Broken.touch:166\n"

// run runs a program, which must end with 0.
func (d device) run(t *testing.T, p deviceProgram, dex string, w way, options ...string) outcome {
	t.Helper()
	classPath := []string{dex, d.jar}
	switch w {
	case jit:
		options = append(options, "-Xjitthreshold:0")
	case ahead:
		// Copies, as ART finds the code beside the jars, also when it shall not.
		dir := t.TempDir()
		for k, from := range classPath {
			classPath[k] = filepath.Join(dir, filepath.Base(from))
			copyFile(t, from, classPath[k])
		}
		d.CompileAhead(t, classPath...)
	}
	dir := t.TempDir()
	for _, name := range p.files {
		copyFile(t, filepath.Join("testdata", "programs", name), filepath.Join(dir, name))
	}
	if filepath.Ext(p.classes) == ".jar" {
		classPath = append(classPath, p.classes) // for its resources, which D8 does not copy
	}
	cmd := d.Command(t.Context(), art.Program{ClassPath: classPath, Main: "Start", Args: p.main, Options: options,
		JIT: w == jit, Ahead: w == ahead, Dir: dir})
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, tail(text.String()))
	}
	o := outcome{text.String(), 0, readTree(t, dir)}
	if n := strings.Count(o.text, lostLine); n > 0 {
		t.Logf("left out: %d frames at the first instruction of a method: %q", n, lostLine)
		o.text = strings.ReplaceAll(o.text, lostLine, "")
	}
	return o
}

// TestShapesOnART runs the small programs on ART.
//
// Invariant: On ART, instrumented programs do what they did before, and their entries and exits balance.
func TestShapesOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	d := needDevice(t)
	for _, b := range builds {
		if b.full && !corpus.IsFull() {
			continue
		}
		t.Run(b.String(), func(t *testing.T) {
			s := compileShapes(t, b)
			d.check(t, deviceProgram{name: "shapes for " + b.String(), classes: s.classes, main: s.main,
				want: expectations(t, s.sources), check: checkSummary})
		})
	}
}

// TestAssembledOnART runs the assembled programs on ART.
//
// Invariant: On ART, instrumented programs do what they did before, and their entries and exits balance.
func TestAssembledOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	needDevice(t).check(t, deviceProgram{name: "assembled classes", classes: assemble(t), main: []string{"Assembled"},
		want:  expectations(t, []string{filepath.Join("testdata", "assembled", "Assemble.java")}),
		check: checkSummary, slow: true})
}

// TestFocusOnART runs Activities on ART, on an imitated framework.
//
// Invariant: On ART, each change of the focus of an Activity is reported as in TestFocus.
func TestFocusOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	framework, app := compileFocus(t)
	needDevice(t).check(t, deviceProgram{name: "focus hook", classes: app, with: []string{framework},
		main: []string{"Focus"}, focus: true, check: checkFocus})
}

// TestStackOverflowOnART lets a program run out of stack on ART: see TestStackOverflow.
//
// Invariant: On ART, instrumented programs do what they did before, and their entries and exits balance.
func TestStackOverflowOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	classes := filepath.Join(t.TempDir(), "classes")
	javac(t, jdk(t, 17), classes, "--release", "8", filepath.Join("testdata", "shapes", "Overflow.java"))
	needDevice(t).check(t, deviceProgram{name: "five stack overflows", classes: classes, main: []string{"Overflow"},
		check: checkOverflow})
}

// TestCorpusProgramOnART runs a real program on ART, which fits into one DEX file and needs only what Android has.
//
// Invariant: On ART, instrumented programs do what they did before, and their entries and exits balance.
func TestCorpusProgramOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	k := slices.IndexFunc(programs, func(p program) bool { return p.name == "Rhino runs a script" })
	p := programs[k]
	needDevice(t).check(t, deviceProgram{name: p.name, classes: corpus.Need(t, p.jars...)[0].Classes, files: p.files,
		main: p.args, check: checkSummary, slow: true})
}
