package read

import (
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// maxTraceFile is how many bytes of a file with the stacks of all threads are read.
const maxTraceFile = 64 << 20

// runTrace reads the file of --anr-trace and writes who waits for whom.
func (a *analyzing) runTrace(args []string) error {
	switch {
	case len(args) > 0:
		return cli.Misuse("--anr-trace reads its FILE alone: leave out %s", args[0])
	case a.format != cli.FormatReport && a.format != formatAsJSON:
		return cli.Misuse("--anr-trace writes --format %s and %s, not %s", cli.FormatReport, formatAsJSON, a.format)
	case a.block || a.stall != 0:
		return cli.Misuse("--anr-trace is of one moment: leave out --suggest-blocklist and --stall")
	}
	if err := cli.CheckNotRead(a.rows.Targets(cli.FileOutput), a.rows.Files(cli.FileRead)); err != nil {
		return err
	}
	text, cut, err := readTrace(a.trace)
	if err != nil {
		return err
	}
	var by *r8.Mapping
	if a.naming.R8 != "" {
		if by, err = r8.Load(a.naming.R8); err != nil {
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
		a.con.Warn("%s: only the first %d MiB were read", a.trace, maxTraceFile>>20)
	}
	return cli.WriteTo(a.con, a.output, func(w io.Writer) error {
		if a.format == formatAsJSON {
			return answer.WriteTraceJSON(w, cli.Version(), a.trace, processes)
		}
		return answer.WriteTrace(w, a.trace, processes)
	})
}

// readTrace returns the begin of a file; cut is whether there is more.
func readTrace(path string) (text string, cut bool, err error) {
	f, err := userfile.OpenText(path)
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
