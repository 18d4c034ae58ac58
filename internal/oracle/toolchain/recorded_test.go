package toolchain

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the sample does in every run: its output, and how often each of its methods is called.
const sampleOutput = "7 of 40, 11830"

var sampleCalls = map[string]int{"app.Main.main": 1, "app.Feed.<init>": 1, "app.Feed.entry": 40, "app.Feed.load": 1,
	"app.Feed.waitForDisk": 1, "app.Store.sum": 1, "app.Store.weight": 40}

// sampleStack is the stack of the main thread while the sample waits, innermost first, with original names.
var sampleStack = []string{"java.lang.Thread.sleep(", "app.Feed.waitForDisk(", "app.Feed.load(", "app.Main.main("}

// A decoded recording is what analyze writes about one, as far as it is compared.
type decoded struct {
	Stalls []struct {
		HotPath []struct{ Method method }
		Verdict struct{ Method method }
		Samples []struct{ Frames []string }
	}
	Methods []struct {
		Method method
		Calls  int
	}
}

type method struct{ Class, Name string }

func (m method) String() string { return m.Class + "." + m.Name }

// sampleWaits are the arguments of the sample: how many times 20 ms it waits. On a busy machine the runtime may take no
// stack sample during a short wait, so a longer one follows.
var sampleWaits = []string{"30", "500", "3000"}

// checkRecorded runs the sample in the classes of a jar, and checks that its recording has every call by its original
// name, and the stall with its stack. r8 is the mapping of R8, or empty; flags are options of java.
func (s sample) checkRecorded(t *testing.T, tool, r8, jar string, flags ...string) {
	t.Helper()
	var d decoded
	for _, waits := range sampleWaits {
		var ok bool
		if d, ok = s.record(t, tool, r8, waits, jar, flags); !ok {
			return
		}
		if len(d.Stalls) == 1 && len(d.Stalls[0].Samples) > 0 {
			break
		}
	}
	calls := map[string]int{}
	for _, m := range d.Methods {
		calls[m.Method.String()] = m.Calls
	}
	for name, want := range sampleCalls {
		if calls[name] != want {
			t.Errorf("%d calls of %s in the recording, want %d", calls[name], name, want)
		}
	}
	if len(d.Stalls) != 1 {
		t.Errorf("%d stalls, want 1", len(d.Stalls))
		return
	}
	stall := d.Stalls[0]
	if got := stall.Verdict.Method.String(); got != "app.Feed.waitForDisk" {
		t.Errorf("the verdict names %s", got)
	}
	if len(stall.HotPath) != 3 {
		t.Errorf("the hot path is %v", stall.HotPath)
	}
	for _, one := range stall.Samples {
		if isSampleStack(one.Frames) {
			return
		}
	}
	t.Errorf("no stack sample is %q, with original names: %q", sampleStack, stall.Samples)
}

// record runs the sample once and decodes its recording. It reports false if the sample failed, which fails the test.
func (s sample) record(t *testing.T, tool, r8, waits, jar string, flags []string) (d decoded, ok bool) {
	t.Helper()
	recording := filepath.Join(t.TempDir(), "app.tgd")
	flags = append(slices.Clone(flags), "-XX:+UseSerialGC", "-Xmx128m", "-Dtracegen.output="+recording,
		"-Dtracegen.slow=100", "-cp", jar, "app.Main", waits)
	out, err := exec.CommandContext(t.Context(), s.jdk.Tool("java"), flags...).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != sampleOutput {
		t.Errorf("the sample: %v; it printed\n%s\nwant %s", err, got, sampleOutput)
		return d, false
	}
	args := []string{"analyze", recording, "--mapping", s.mapping, "--format", "json", "--top", "0"}
	if r8 != "" {
		args = append(args, "--r8-mapping", r8)
	}
	if err := json.Unmarshal([]byte(command(t, tool, args...)), &d); err != nil {
		t.Fatal(err)
	}
	return d, true
}

func isSampleStack(frames []string) bool {
	if len(frames) != len(sampleStack) {
		return false
	}
	for k, f := range frames {
		if !strings.Contains(f, sampleStack[k]) {
			return false
		}
	}
	return true
}
