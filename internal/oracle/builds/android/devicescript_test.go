package android_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// deviceCheck is a copy of the script of examples/device-check, with empty apps, and an adb that answers with the
// transcripts of testdata/device-check.
type deviceCheck struct {
	t   *testing.T
	dir string
	env []string
}

// newDeviceCheck returns a copy that analyzes with the program tracegen.
func newDeviceCheck(t *testing.T, tracegen string) deviceCheck {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is for sh")
	}
	d := deviceCheck{t: t, dir: t.TempDir()}
	data, err := filepath.Abs(filepath.Join("testdata", "device-check"))
	if err != nil {
		t.Fatal(err)
	}
	outputs := "app/build/outputs/"
	d.write("device-check", string(fixture.Read(t, filepath.Join(sample("device-check"), "device-check"))))
	d.write("bin/sleep", "#!/bin/sh\n")
	d.write("state/log", "")
	d.write(outputs+"tracegen/tracedRelease/methodMapping.txt",
		string(fixture.Read(t, filepath.Join(data, "methodMapping.txt"))))
	for _, kind := range []string{"plain", "traced", "interpreted"} {
		d.write(outputs+"apk/"+kind+"/release/app-"+kind+"-release.apk", "")
	}
	d.env = append(os.Environ(), "PATH="+filepath.Join(d.dir, "bin")+":"+os.Getenv("PATH"), "ANDROID_SERIAL=",
		"ADB="+filepath.Join(data, "adb"), "TRACEGEN="+tracegen,
		"FAKE_STATE="+filepath.Join(d.dir, "state"), "FAKE_DEVICE="+filepath.Join(data, "api34"))
	return d
}

func (d deviceCheck) write(name, text string) {
	d.t.Helper()
	file := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		d.t.Fatal(err)
	}
}

// run runs the script, and returns what it says.
func (d deviceCheck) run(env []string, args ...string) (said string, exit int) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "sh", append([]string{"./device-check"}, args...)...)
	cmd.Dir, cmd.Env = d.dir, append(slices.Clone(d.env), env...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func (d deviceCheck) read(name string) string {
	d.t.Helper()
	return string(fixture.Read(d.t, filepath.Join(d.dir, filepath.FromSlash(name))))
}

// A measurement is a row of the JSON that the script writes.
type measurement struct {
	What, Mode, App, Unit string
	N                     int
	Median, Min, Max      float64
}

// TestDeviceCheck runs the script of the kit with the formats of Android 14 and 8.0: it must read each number where
// that version has it, and must find the stall in the recording, which was made on ART.
func TestDeviceCheck(t *testing.T) {
	tracegen := oracle.BuildTool(t)
	for _, c := range []struct {
		transcripts, device string
		pss, rss, janky     float64
	}{
		{"api34", "Google Pixel 5", 32012, 98304, 4.05},
		{"api26", "unknown Android SDK built for x86", 20012, 98000, 5},
	} {
		t.Run(c.transcripts, func(t *testing.T) {
			d := newDeviceCheck(t, tracegen)
			data := filepath.Dir(d.env[len(d.env)-1][len("FAKE_DEVICE="):])
			said, exit := d.run([]string{"FAKE_DEVICE=" + filepath.Join(data, c.transcripts)}, "-n", "4")
			if exit != 0 {
				t.Fatalf("exit code %d:\n%s", exit, said)
			}
			var result struct {
				Device   struct{ Name string }
				Stall    struct{ Found string }
				Compiled []struct{ App, Asked, Has string }
				Measured []measurement
			}
			if err := json.Unmarshal([]byte(d.read("result/device-check.json")), &result); err != nil {
				t.Fatal(err)
			}
			if result.Device.Name != c.device || result.Stall.Found != "yes" {
				t.Errorf("device %q, stall found: %s", result.Device.Name, result.Stall.Found)
			}
			for _, app := range result.Compiled {
				if app.Has != app.Asked {
					t.Errorf("the app %s is %s, not %s", app.App, app.Has, app.Asked)
				}
			}
			for _, want := range []measurement{
				// Each start of an app takes a millisecond more than the one before, and the first two are not counted.
				{"start", "verify", "plain", "ms", 4, 404.5, 403, 406},
				{"start", "verify", "traced", "ms", 4, 424.5, 423, 426},
				{"pss", "speed", "traced", "kB", 3, c.pss, c.pss, c.pss},
				{"rss", "speed", "plain", "kB", 3, c.rss, c.rss, c.rss},
				{"janky frames", "verify", "traced", "%", 3, c.janky, c.janky, c.janky},
				{"pair, recording, warm", "interpreted", "tracegen", "ns", 3, 11.5, 11.5, 11.5},
				{"pair, stopped, warm", "speed", "tracegen", "ns", 3, 4.5, 4.5, 4.5},
				{"pair, recording, first", "verify", "plain ring", "ns", 3, 300.5, 300.5, 300.5},
			} {
				if !slices.Contains(result.Measured, want) {
					t.Errorf("the result lacks %+v", want)
				}
			}
			table := d.read("result/device-check.md")
			for _, row := range []string{"| start | JIT | 404.5 ms (403 to 406) | 424.5 ms (423 to 426) |",
				"| pair, recording, warm | compiled ahead | 9.5 ns (9.5 to 9.5) | 11.5 ns (11.5 to 11.5) |", "found: yes, 444 ms"} {
				if !strings.Contains(table, row) {
					t.Errorf("the table lacks %q:\n%s", row, table)
				}
			}
			d.checkCommands()
		})
	}
}

// checkCommands checks the order of the commands: the apps take turns, and none is left on the device.
func (d deviceCheck) checkCommands() {
	d.t.Helper()
	var starts []string
	installed := map[string]bool{}
	for line := range strings.Lines(d.read("state/log")) {
		words := strings.Fields(line)
		if words[0] != "devices" && (words[0] != "-s" || words[1] != "emulator-5554") {
			d.t.Errorf("a command without the device: %s", line)
		}
		switch {
		case len(words) > 2 && words[2] == "install":
			installed[strings.Split(filepath.Base(words[4]), "-")[1]] = true
		case len(words) > 2 && words[2] == "uninstall":
			delete(installed, words[3][strings.LastIndex(words[3], ".")+1:])
		case strings.Contains(line, " am start ") && !strings.Contains(line, "--es"):
			app, _, _ := strings.Cut(words[7], "/")
			starts = append(starts, app[strings.LastIndex(app, ".")+1:])
		}
	}
	if len(installed) > 0 {
		d.t.Errorf("left on the device: %v", installed)
	}
	const want = "plain traced plain traced traced plain plain traced traced plain"
	if got := strings.Join(starts[:min(10, len(starts))], " "); got != want {
		d.t.Errorf("the first starts are %s, want %s", got, want)
	}
}

// TestDeviceCheckSaysTheWayOut runs the script where it cannot go on.
//
// Invariant: Where the kit cannot measure, it ends with what is wrong and with what to do.
func TestDeviceCheckSaysTheWayOut(t *testing.T) {
	for _, c := range []struct {
		env       string
		args      []string
		what, way string
	}{
		{"ADB=no-such-adb", nil, "no-such-adb is not on PATH", "platform tools"},
		{"FAKE_DEVICES=", nil, "adb sees no device", "USB debugging"},
		{`FAKE_DEVICES=A1\tdevice\nB2\tdevice`, nil, "more than one device", "-s: A1, B2"},
		{`FAKE_DEVICES=A1\tdevice`, []string{"-s", "C3"}, "does not see the device C3", "Connected are: A1"},
		{`FAKE_DEVICES=A1\tunauthorized`, nil, "has not authorised", "Allow USB debugging"},
		{`FAKE_DEVICES=A1\tno permissions (user in plugdev group; are your udev rules wrong?)`, nil,
			"may not open the device A1", "udev rules"},
		{`FAKE_DEVICES=A1\toffline`, nil, "A1 is offline", "Connect it again"},
		{"FAKE_SDK=25", nil, "API level 25", "Android 8.0"},
		{"FAKE_INSTALL=Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]", nil, "no room", "Free 200 MB"},
		{"FAKE_INSTALL=Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: signatures do not match]", nil,
			"another signature", "uninstall dev.tracegen.devicecheck.plain"},
		{"FAKE_INSTALL=Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]", nil,
			"does not allow", "Install via USB"},
		{"FAKE_LAUNCH=WARM", nil, "did not start cold", "keeps it running"},
		{"FAKE_TIME=", nil, "no number for start", "screen"},
		{"FAKE_FILE=cat: Permission denied", nil, "Permission denied", "The shell must be able to read"},
		{"FAKE_PULL=adb: error: failed to stat remote object", nil, "failed to stat", "free storage"},
		{"", []string{"-n", "ten"}, "-n ten", "-n 10"},
	} {
		d := newDeviceCheck(t, "true")
		said, exit := d.run([]string{c.env}, c.args...)
		what, way, _ := strings.Cut(said[max(0, strings.Index(said, "device-check: ")):], "\n  ")
		if exit != 1 || !strings.Contains(what, c.what) || !strings.Contains(way, c.way) {
			t.Errorf("%s %v: exit code %d, want %q and %q:\n%s", c.env, c.args, exit, c.what, c.way, said)
		}
	}
	d := newDeviceCheck(t, "true")
	if err := os.RemoveAll(filepath.Join(d.dir, "app")); err != nil {
		t.Fatal(err)
	}
	if said, exit := d.run(nil); exit != 1 || !strings.Contains(said, "gradle :app:assembleRelease") {
		t.Errorf("without apps: exit code %d:\n%s", exit, said)
	}
}

// TestDeviceCheckDoubts checks what the script says of results that are not what they seem: code that was compiled in
// another way than the script asked for, no tracegen, and a recording without the stall.
func TestDeviceCheckDoubts(t *testing.T) {
	d := newDeviceCheck(t, oracle.BuildTool(t))
	said, exit := d.run([]string{"FAKE_COMPILED=speed-profile"}, "-n", "1")
	if exit != 0 || !strings.Contains(said, "as speed-profile, not as speed") ||
		!strings.Contains(d.read("result/device-check.md"), "was compiled as speed-profile") {
		t.Errorf("exit code %d:\n%s", exit, said)
	}
	said, exit = d.run([]string{"TRACEGEN=no-such-tracegen"}, "-n", "1")
	if exit != 0 || !strings.Contains(said, "no-such-tracegen is not on PATH") ||
		!strings.Contains(d.read("result/device-check.json"), `"found": "skipped", "ms": null`) {
		t.Errorf("exit code %d:\n%s", exit, said)
	}
	const mapping = "app/build/outputs/tracegen/tracedRelease/methodMapping.txt"
	d.write(mapping, strings.ReplaceAll(d.read(mapping), "Planted stall", "Planted other"))
	said, exit = d.run(nil, "-n", "1")
	if exit != 1 || !strings.Contains(said, "the planted stall was not found") {
		t.Errorf("exit code %d:\n%s", exit, said)
	}
}
