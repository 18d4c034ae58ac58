package read

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/recording/answer"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/internal/recording/source"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/mapping/r8"
)

// maxThreadsFile is how many bytes of a file with the stacks of all threads are read.
const maxThreadsFile = 64 << 20

// threadFiles returns those of the files that have the stacks of all threads. They and recordings exclude each other.
// Standard input is read ahead of.
func (a *analyzing) threadFiles(recordings []cli.Recording) (files []string, err error) {
	other := ""
	for _, of := range recordings {
		var s *source.Source
		if of.Name == cli.StandardInput {
			b := bufio.NewReaderSize(a.con.In, source.Sniffed)
			a.con.In = b
			err = source.Check(b)
		} else if s, err = source.Open(of.Files[0]); err == nil {
			err = s.Close()
		}
		if errors.Is(err, source.ErrThreads) {
			files = append(files, of.Name)
		} else if other == "" {
			other = of.Name
		}
	}
	switch {
	case len(files) == 0:
		return nil, nil // other errors are reported when the recordings are read
	case other != "":
		return nil, cli.Misuse("%s has the stacks of all threads, and %s has not: analyze them one after the other", files[0],
			other)
	case a.format != cli.FormatReport && a.format != formatAsJSON:
		return nil, cli.Misuse("%s has the stacks of all threads: --format %s and %s write that, not %s", files[0],
			cli.FormatReport, formatAsJSON, a.format)
	case a.profile != "" || a.stall != 0:
		return nil, cli.Misuse("%s has the stacks of all threads at one moment: leave out --profile and --stall",
			files[0])
	}
	return files, nil
}

// runThreads writes who waits for whom in files with the stacks of all threads.
func (a *analyzing) runThreads(files []string) error {
	read := append(cli.OnDisk(files), a.rows.Files(cli.FileRead)...)
	if err := cli.CheckNotRead(a.rows.Targets(cli.FileOutput), read); err != nil {
		return err
	}
	var by *r8.Mapping
	var err error
	if a.naming.R8 != "" {
		if by, err = r8.Load(a.naming.R8); err != nil {
			return err
		}
	}
	return cli.WriteTo(a.con, a.output, func(w io.Writer) error {
		for _, file := range files {
			if err := a.writeThreads(w, file, by); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *analyzing) writeThreads(w io.Writer, file string, by *r8.Mapping) error {
	text, cut, err := readThreads(file, a.con.In)
	if err != nil {
		return err
	}
	processes := resolve.ReadTrace(text, by)
	if len(processes) == 0 {
		return fmt.Errorf("%s: it begins as a thread dump in JSON, and is no complete JSON", file)
	}
	if by != nil && (resolve.Residual{By: by}).Text(text) == text {
		a.con.Warn("%s: no frame or lock is in the mapping of R8: give that of the build that wrote it", file)
	}
	if cut {
		a.con.Warn("%s: only the first %d MiB were read", file, maxThreadsFile>>20)
		processes[len(processes)-1].Cut()
	}
	if a.format == formatAsJSON {
		return answer.WriteTraceJSON(w, cli.Version(), file, processes)
	}
	return answer.WriteTrace(w, file, processes)
}

// readThreads returns the begin of a file; cut is whether there is more.
func readThreads(path string, in io.Reader) (text string, cut bool, err error) {
	if path == cli.StandardInput {
		in, err = userfile.Text(in)
	} else {
		var f *userfile.TextFile
		if f, err = userfile.OpenText(path); err == nil {
			defer f.Close()
			in = f
		}
	}
	if err != nil {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxThreadsFile+1))
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", path, err)
	}
	return string(data[:min(len(data), maxThreadsFile)]), len(data) > maxThreadsFile, nil
}
