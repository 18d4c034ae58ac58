package generated

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

// A device is ART with the runner, and what makes DEX files for it.
type device struct {
	*art.Bench
	runner string // DEX files
	// convert is the command that converts programs; the file of the result follows.
	convert []string
}

func newDevice(t *testing.T) device {
	t.Helper()
	b := art.NeedCompiler(t)
	j := oracle.NeedJDK(t, 17)
	tools, err := toolchain.Versions[1].Fetch(t.Context())
	oracle.Require(t, err)
	library := b.Dexing("").Library
	runner := compileJava(t, nil, []string{"-source", "8", "-target", "8", "-bootclasspath", library},
		append(runnerSources, "art/host/Loader.java")...)
	converter := compileJava(t, []string{tools.Jar()}, []string{"--release", "17"}, "art/Convert.java")
	d := device{Bench: b, runner: filepath.Join(t.TempDir(), "runner.jar")}
	b.D8(t, d.runner, oracle.ClassFiles(t, runner)...)
	d.convert = []string{j.Tool("java"), "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", tools.Jar() + ":" + converter, "Convert", library, runner}
	return d
}

// toDEX writes programs with DEX files as the runner reads them, and returns how many D8 takes. It fails if D8 takes an
// original and refuses an output, or the other way round.
func (d device) toDEX(t *testing.T, file string, all []program) (taken int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), d.convert[0], append(d.convert[1:len(d.convert):len(d.convert)], file)...)
	cmd.Stdin = bytes.NewReader(encode(all))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Convert: %v\n%s%s", err, out, stderr.String())
	}
	refused := map[string]map[string]string{} // messages by program and variant
	for line := range strings.Lines(string(out)) {
		row := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if refused[row[0]] == nil {
			refused[row[0]] = map[string]string{}
		}
		refused[row[0]][row[1]] = row[2]
	}
	reasons := map[string]int{}
	for _, p := range all {
		if refused[p.name] == nil {
			taken++
			continue
		}
		want := refused[p.name]["original"]
		reasons[want]++
		for _, v := range p.variants {
			if got := refused[p.name][v.name]; got != want {
				t.Errorf("%s, %s: D8 says %q; of the original it says %q", p.name, v.name, got, want)
			}
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		t.Logf("left out: %d programs, each of whose variants D8 refuses: %s", reasons[reason], reason)
	}
	return taken
}

// An outcome is what the runner printed.
type outcome struct {
	// differences are its lines about variants that differ from the original, those with planted faults in faulty.
	differences, faulty []string
	// results are hashes of what programs did, by program and variant.
	results map[string]map[string]string
	summary string
}

// artTimeout is far more than a run takes, which is a second for 50 programs on a machine that has nothing else to do.
const artTimeout = 5 * time.Minute

// run runs programs that toDEX wrote.
func (d device) run(t *testing.T, file string, count int, compiled bool) outcome {
	t.Helper()
	p := art.Program{ClassPath: []string{d.runner}, Main: "host.Runner", Args: []string{"results"}, JIT: compiled}
	if compiled {
		p.Options = []string{"-Xjitthreshold:0"}
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithTimeout(t.Context(), artTimeout)
	defer cancel()
	cmd := d.Command(ctx, p)
	cmd.Stdin = in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v, %v after %s%s", err, ctx.Err(), out[max(0, len(out)-1000):], stderr.String())
	}
	lines, summary, err := parse(string(out), count)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{results: map[string]map[string]string{}, summary: summary}
	for _, line := range lines {
		row := strings.Split(line, "\t")
		switch {
		case row[0] == "=":
			if o.results[row[1]] == nil {
				o.results[row[1]] = map[string]string{}
			}
			o.results[row[1]][row[2]] = row[3]
		case strings.HasPrefix(row[1], faulty):
			o.faulty = append(o.faulty, line)
		default:
			o.differences = append(o.differences, line)
		}
	}
	return o
}
