package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// RecorderModule is the name of the recorder as a named module.
const RecorderModule = "dev.tracegen.runtime"

// Recorder returns the directory with the classes of the recording runtime: a
// dev.tracegen.runtime.AppMethodBeat that checks entries against exits as they come. It can stand on
// a class path, on a boot class path (-Xbootclasspath/a:) and on a module path, and runs on Java 8
// and newer.
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

// RecorderEventsFlag is the JVM option that makes the recorder also write the events themselves, at
// most a million a thread: one line a thread, its name, a tab, and +ID or -ID between blanks.
func RecorderEventsFlag(file string) string { return "-Dtracegen.recorder.events=" + file }

// Summary is what the recorder saw of one run of a program.
type Summary struct {
	// Threads is how many threads had an event.
	Threads int64 `json:"threads"`
	// Entries and Exits count the events.
	Entries int64 `json:"entries"`
	Exits   int64 `json:"exits"`
	// DistinctMethods is how many IDs were seen.
	DistinctMethods int `json:"distinctMethods"`
	// ExitsTooMany counts exits of methods that had no open frame. None is ever right.
	ExitsTooMany int64 `json:"exitsTooMany"`
	// ClosedLate counts frames that were still open when a caller's exit came: left by a throw.
	// None is right in the mode exact.
	ClosedLate int64 `json:"closedLate"`
	// OpenInEndedThreads counts frames that their thread never closed. None is right in exact.
	OpenInEndedThreads int64 `json:"openInEndedThreads"`
	// OpenInLiveThreads counts frames of threads that were still running when the JVM ended, such
	// as the caller of System.exit and daemons.
	OpenInLiveThreads int64 `json:"openInLiveThreads"`
	// BadIDs counts events whose ID no mapping can hold.
	BadIDs int64 `json:"badIds"`
	// FocusCalls counts calls of at.
	FocusCalls int64 `json:"focusCalls"`
	// MaxDepth is the deepest nesting of any thread.
	MaxDepth int `json:"maxDepth"`
}

// ReadSummary reads what the recorder wrote.
func ReadSummary(file string) (Summary, error) {
	var s Summary
	data, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("the recorder wrote nothing: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return s, nil
}
