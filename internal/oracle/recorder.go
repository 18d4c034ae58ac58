package oracle

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// RecorderModule is the name of the recorder as a named module.
const RecorderModule = "dev.tracegen.runtime"

// Recorder returns the directory with the classes of the recording runtime: a dev.tracegen.runtime.AppMethodBeat that
// checks entries against exits while the program runs. It works on a class path, a boot class path (-Xbootclasspath/a:)
// and a module path, on Java 8 and newer.
func Recorder(ctx context.Context) (string, error) {
	j, err := FindJDK(9)
	if err != nil {
		return "", err
	}
	android, err := tool{name: "android", release: 8}.build(ctx, j)
	if err != nil {
		return "", err
	}
	return tool{name: "recorder", release: 8, path: []string{android}, module: RecorderModule}.build(ctx, j)
}

// RecorderFlag is the JVM option that makes the recorder write its [Summary] to file when the JVM
// ends.
func RecorderFlag(file string) string { return "-Dtracegen.recorder.out=" + file }

// RecorderEventsFlag is the JVM option that makes the recorder also write the events, at most a million per thread: one
// line for each thread, with its name, a tab, and +ID or -ID separated by blanks.
func RecorderEventsFlag(file string) string { return "-Dtracegen.recorder.events=" + file }

// Summary describes what the recorder saw in one run of a program.
type Summary struct {
	// Threads is the number of threads with events.
	Threads int64 `json:"threads"`
	// Entries and Exits count the events.
	Entries int64 `json:"entries"`
	Exits   int64 `json:"exits"`
	// DistinctMethods is the number of different IDs.
	DistinctMethods int `json:"distinctMethods"`
	// ExitsTooMany counts exits of methods that had no open frame. It must be 0.
	ExitsTooMany int64 `json:"exitsTooMany"`
	// ClosedLate counts frames that were still open when a caller's exit came, because an exception left them. It must
	// be 0 in the mode exact.
	ClosedLate int64 `json:"closedLate"`
	// OpenInEndedThreads counts frames that their thread never closed. It must be 0 in the mode exact.
	OpenInEndedThreads int64 `json:"openInEndedThreads"`
	// OpenInLiveThreads counts frames of threads that were still running when the JVM ended, such
	// as the caller of System.exit and daemons.
	OpenInLiveThreads int64 `json:"openInLiveThreads"`
	// BadIDs counts events whose ID cannot be in a mapping.
	BadIDs int64 `json:"badIds"`
	// FocusCalls counts calls of at.
	FocusCalls int64 `json:"focusCalls"`
	// MaxDepth is the deepest nesting of any thread.
	MaxDepth int `json:"maxDepth"`
}

// ReadSummary reads what the recorder wrote.
func ReadSummary(t testing.TB, file string) (s Summary) {
	t.Helper()
	if err := json.Unmarshal(fixture.Read(t, file), &s); err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	return s
}
