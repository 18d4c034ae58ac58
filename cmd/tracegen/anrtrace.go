package main

import (
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/recording/answer"

	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// maxTraceFile is how many bytes of a file with the stacks of all threads are read.
const maxTraceFile = 64 << 20

// runTrace reads the file of --anr-trace and writes who waits for whom.
func (a *analyzing) runTrace(args []string) error {
	switch {
	case len(args) > 0:
		return misuse("--anr-trace reads its FILE alone: leave out %s", args[0])
	case a.format != answersReport && a.format != answersJSON:
		return misuse("--anr-trace writes --format %s and %s, not %s", answersReport, answersJSON, a.format)
	case a.block || a.selects():
		return misuse("--anr-trace is of one moment: leave out --suggest-blocklist, --from, --to, --thread, --stall and " +
			"--min")
	}
	if err := checkNotRead(a.rows.targets(fileOutput), a.rows.files(fileRead)); err != nil {
		return err
	}
	text, cut, err := readTrace(a.trace)
	if err != nil {
		return err
	}
	var by *r8.Mapping
	if a.naming.r8 != "" {
		if by, err = r8.Load(a.naming.r8); err != nil {
			return err
		}
	}
	processes := analysis.ReadTrace(text, by)
	if len(processes) == 0 {
		return fmt.Errorf("%s: no thread was found; --anr-trace reads what Android writes of an ANR and what jstack writes",
			a.trace)
	}
	if cut {
		processes[len(processes)-1].Truncated = true
		a.con.warn("%s: only the first %d MiB were read", a.trace, maxTraceFile>>20)
	}
	return writeTo(a.con, a.output, func(w io.Writer) error {
		if a.format == answersJSON {
			return answer.WriteTraceJSON(w, version(), a.trace, processes)
		}
		return answer.WriteTrace(w, a.trace, processes)
	})
}

// readTrace returns the begin of a file; cut is whether there is more.
func readTrace(path string) (text string, cut bool, err error) {
	f, err := userfile.OpenInflated(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTraceFile+1))
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", path, err)
	}
	return string(data[:min(len(data), maxTraceFile)]), len(data) > maxTraceFile, nil
}
