package android_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/art"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// costMain runs the measurement of the kit without an activity.
const costMain = `package dev.tracegen.devicecheck;

import dev.tracegen.runtime.Recorder;
import dev.tracegen.runtime.RecorderOptions;
import java.io.File;

public class CostMain {
    public static void main(String[] args) throws Exception {
        Recorder recorder = Recorder.start(new RecorderOptions().output(new File(args[0])));
        CostRun run = new CostRun(System::nanoTime);
        for (int round = 0; round < 2; round++) {
            for (int pause = 0; pause >= 0; pause = run.step()) {
                Thread.sleep(pause);
            }
            recorder.stop();
            run.again("stopped");
        }
        System.out.print(run.lines());
        System.exit(0);
    }
}
`

// costLine is a line that the script of the kit reads.
var costLine = regexp.MustCompile(`^([a-z]+ [a-z]+) batches=\d+ work=-?[\d.]+ ring=-?[\d.]+ traced=-?[\d.]+\n$`)

// TestDeviceCheckCosts runs what the kit measures with on ART, in each mode of a phone: it must print all lines that
// the script reads. How long the calls take depends on this machine, and is only printed.
func TestDeviceCheckCosts(t *testing.T) {
	nightly.Only(t, "android-apps")
	bench := art.NeedAhead(t)
	dir := t.TempDir()
	apps := filepath.Join(sample("device-check"), "app")
	main := filepath.Join(dir, "CostMain.java")
	fixture.Write(t, main, costMain)
	jdk, err := oracle.FindJDK(17)
	oracle.Require(t, err)
	tracegen := oracle.BuildTool(t)
	run := func(program string, args ...string) {
		t.Helper()
		fixture.Run(t, exec.CommandContext(t.Context(), program, args...))
	}
	run(tracegen, "runtime", "-o", dir)
	core := filepath.Join(dir, "tracegen-runtime-core.jar")
	args := []string{"-nowarn", "-source", "8", "-target", "8", "-cp", core, "-d", filepath.Join(dir, "classes"), main}
	for _, class := range []string{"PairCost", "CostRun", "PlainRing", "TracedWork"} {
		args = append(args, filepath.Join(apps, "src", "main", "java", "dev", "tracegen", "devicecheck", class+".java"))
	}
	run(jdk.Tool("javac"), args...)
	jar := filepath.Join(dir, "cost.jar")
	run(jdk.Tool("jar"), "--create", "--file", jar, "-C", filepath.Join(dir, "classes"), ".")
	run(tracegen, "instrument", jar, core, "-o", filepath.Join(dir, "out")+"/",
		"--config", filepath.Join(apps, "tracegen.yml"))
	dex := filepath.Join(dir, "app.jar")
	bench.D8(t, dex, filepath.Join(dir, "out", "cost.jar"), filepath.Join(dir, "out", "tracegen-runtime-core.jar"))
	bench.CompileAhead(t, dex)
	for name, p := range map[string]art.Program{"interpreted": {}, "JIT": {JIT: true}, "compiled ahead": {Ahead: true}} {
		p.ClassPath, p.Main = []string{dex}, "dev.tracegen.devicecheck.CostMain"
		p.Args = []string{filepath.Join(dir, "app.tgd")}
		r := bench.Run(t, p)
		var states []string
		for line := range strings.Lines(r.Stdout) {
			if m := costLine.FindStringSubmatch(line); m != nil {
				states = append(states, m[1])
			}
		}
		want := "recording first, recording warming, recording warm, stopped warming, stopped warm"
		if got := strings.Join(states, ", "); r.Exit != 0 || got != want {
			t.Errorf("%s: exit code %d, lines about %q, want %q\n%s%s", name, r.Exit, got, want, r.Stdout, r.Stderr)
		}
		t.Logf("measured: %s\n%s", name, r.Stdout)
	}
}
