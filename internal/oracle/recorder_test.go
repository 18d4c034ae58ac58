package oracle

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// beats calls the runtime directly, once for each number that the recorder reports.
const beats = `
import dev.tracegen.runtime.AppMethodBeat;
public class Beats {
	public static void main(String[] args) throws Exception {
		AppMethodBeat.i(1);
		AppMethodBeat.i(2); AppMethodBeat.o(2);
		AppMethodBeat.i(3); AppMethodBeat.i(4);   // a throw leaves 4 and 3 open
		AppMethodBeat.o(1);
		AppMethodBeat.o(9);                       // one too many
		Thread t = new Thread("other\tone") {
			public void run() { AppMethodBeat.i(5); AppMethodBeat.i(0); AppMethodBeat.o(0); }
		};
		t.start();
		t.join();
		AppMethodBeat.i(6);
		System.exit(0);
	}
}
`

func TestRecorder(t *testing.T) {
	recorder, err := Recorder(t.Context())
	Require(t, err)
	jdks, err := FindJDKs()
	Require(t, err)
	dir := t.TempDir()
	src := filepath.Join(dir, "Beats.java")
	fixture.Write(t, src, beats)
	fixture.Run(t, exec.Command(jdks[0].Tool("javac"), "-cp", recorder, "-d", dir, src))
	for _, j := range jdks {
		for name, flags := range map[string][]string{
			"class path": {"-cp", classPath(dir, recorder)},
			"boot path":  {"-Xbootclasspath/a:" + recorder, "-cp", dir},
			"module":     {"-p", recorder, "--add-modules", RecorderModule, "-cp", dir},
		} {
			if j.Feature < 9 && name == "module" {
				continue
			}
			t.Run(name+" on "+filepath.Base(j.Home), func(t *testing.T) {
				summary, events := filepath.Join(t.TempDir(), "summary"), filepath.Join(t.TempDir(), "events")
				args := append([]string{RecorderFlag(summary), RecorderEventsFlag(events)}, flags...)
				fixture.Run(t, exec.Command(j.Tool("java"), append(args, "Beats")...))
				got := ReadSummary(t, summary)
				want := Summary{Threads: 2, Entries: 7, Exits: 4, DistinctMethods: 7, ExitsTooMany: 1,
					ClosedLate: 2, OpenInEndedThreads: 1, OpenInLiveThreads: 1, BadIDs: 2, MaxDepth: 3}
				if got != want {
					t.Errorf("summary %+v, want %+v", got, want)
				}
				text := fixture.Read(t, events)
				for _, line := range []string{"main\t+1 +2 -2 +3 +4 -1 -9 +6\n", "other one\t+5 "} {
					if !strings.Contains(string(text), line) {
						t.Errorf("events %q lack %q", text, line)
					}
				}
			})
		}
	}
}
