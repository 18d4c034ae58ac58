package meaning

import (
	"bytes"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// needRecordingDevice returns ART with the runtime of an app, and a class that records a program with it.
func needRecordingDevice(t *testing.T) device {
	t.Helper()
	tools, err := toolchain.Versions[1].Fetch(t.Context())
	oracle.Require(t, err)
	d := device{art.NeedCompiler(t), tools, filepath.Join(t.TempDir(), "device.jar")}
	core, classes := oracle.NeedRuntime(t).Core, t.TempDir()
	javac(t, oracle.NeedJDK(t, 17), classes, "--release", "8", "-cp", core,
		filepath.Join("testdata", "art", "dev", "tracegen", "runtime", "RecordOnART.java"))
	d.D8(t, d.jar, classFiles(t, core, classes)...)
	return d
}

// recorded is a recording of a program, the mapping of its names, and what the program printed.
type recorded struct{ file, names, log string }

// record instruments jars, the first of them with the program, and records it on ART. Jars of DEX files are in front of
// those on the class path. ART's verifier must decide about the classes of the program as before; TestCorpusVerdicts
// asks about the libraries.
func (d device) record(t *testing.T, jars, front []string, main string) recorded {
	t.Helper()
	dir := t.TempDir()
	out, config := filepath.Join(dir, "out"), filepath.Join(dir, "tracegen.yml")
	fixture.Directory(t, out)
	fixture.Write(t, config, "trivial: none\n")
	r := recorded{file: filepath.Join(dir, "art.tgd"), names: filepath.Join(dir, "names.txt")}
	fixture.Run(t, exec.CommandContext(t.Context(), oracle.BuildTool(t), append([]string{"instrument", "-q", "-o",
		out + "/", "--mapping", r.names, "--runtime-external", "--exits", "exact", "--config", config, "--set",
		"trace-coroutines=on"}, jars...)...))
	outputs := make([]string, len(jars))
	for i, jar := range jars {
		outputs[i] = filepath.Join(out, filepath.Base(jar))
	}
	program, libraries := d.dex(t, deviceProgram{}, outputs[0]), d.dex(t, deviceProgram{with: outputs[2:]}, outputs[1])
	before := d.Verdicts(t, d.dex(t, deviceProgram{}, jars[0]), libraries, d.jar)
	if after := d.Verdicts(t, program, libraries, d.jar); len(after) < 10 || !maps.Equal(before, after) {
		t.Errorf("ART's verifier decides about the program: %v, about the original: %v", after, before)
	}
	cmd := d.Command(t.Context(), art.Program{ClassPath: append(front, program, libraries, d.jar), JIT: true, Dir: dir,
		Main: "dev.tracegen.runtime.RecordOnART", Args: []string{r.file, main}})
	var log, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, tail(messages.String()), tail(log.String()))
	}
	r.log = log.String()
	return r
}

// analyze returns the file of the answer of analyze.
func (r recorded) analyze(t *testing.T) string {
	t.Helper()
	fixture.Run(t, exec.CommandContext(t.Context(), oracle.BuildTool(t), "analyze", r.file, "--mapping", r.names,
		"--format", "json", "-o", r.file+".json"))
	return r.file + ".json"
}

// TestCorpusCoroutinesOnART does on ART what TestCorpusCoroutineTimes does on a JVM.
//
// Invariant: On ART, too, the recorder keeps no job and no continuation alive.
func TestCorpusCoroutinesOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	d := needRecordingDevice(t)
	r := d.record(t, compileTimes(t, jdk(t, 17)), nil, "times.TimesKt")
	compareTimes(t, r.analyze(t), r.log, true)
}

// TestCorpusKotlinProgramsOnART does on ART what TestCorpusKotlinPrograms does on a JVM.
//
// Invariant: On ART, too, each resumption of a generated program is a piece of the call that it resumes, and its times
// lie between those that it and its callers measure.
func TestCorpusKotlinProgramsOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	d := needRecordingDevice(t)
	p := kotlinCompilers[3].compile(t, kotlinPrograms(0, 60))
	front := filepath.Join(t.TempDir(), "probes.jar")
	d.D8(t, front, classFiles(t, p.probes)...)
	r := d.record(t, p.jars, []string{front}, "programs.ProgramsKt")
	checkKotlin(t, fixture.Read(t, r.file), r.names, r.log, true)
}

// TestCorpusCompositionsOnART does on ART what TestCorpusCompositions does on a JVM, with the library for desktops, as
// that for Android needs views.
//
// Invariant: On ART, too, the counts of compositions are those of Compose's runtime.
func TestCorpusCompositionsOnART(t *testing.T) {
	nightly.Only(t, "art-programs")
	d := needRecordingDevice(t)
	p := compileComposables(t, "Compose.kt", "indy", "runtime-desktop-1.8.2")
	jars := slices.DeleteFunc(filepath.SplitList(p.classPath), func(jar string) bool {
		// D8 refuses what is there twice.
		return strings.Contains(jar, "kotlin-stdlib_2.1") || strings.Contains(jar, "jetbrains_annotations_")
	})
	r := d.record(t, jars, nil, "compose.ComposeKt")
	compareCompositions(t, r.analyze(t), r.log)
}
