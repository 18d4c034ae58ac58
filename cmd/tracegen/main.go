// Command tracegen makes the methods of JVM programs and Android apps report their entries and exits.
//
// Each subcommand has a file of its own. A command resolves its options and arguments, calls one of the packages that
// do the work, and prints the result. Results go to standard output, messages to standard error. Every command returns
// its error to [Run], the only function that turns errors into exit codes:
//
//	0  the work is done; there may be warnings
//	1  the work is done, and a check failed: lookup found nothing, verify has findings, or a guard failed
//	2  the work could not be done; nothing was written
//
// A program that was asked to stop by a signal cleans up and ends by this signal, where there are any.
//
// # Options
//
// Each option is one row of a table, of type option (option.go). Flags, help, manual pages, completion, the keys of
// tracegen.yml, the options that scan files and reports record, and cache keys are all made from the rows. The table of
// instrument, scan, assign and explain is in options.go; every other command has its table next to its struct. To add
// an option, add a row, the field that it sets, and what reads the field.
//
// instrument, scan, assign and explain share the type instrument. Its method resolve (settings.go) brings together the
// command line, tracegen.yml (config.go) and the preset. cachekeys.go and origin.go make the records of the options.
package main

import (
	"context"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/cli/build"
	"github.com/tracegen/tracegen/internal/cli/fleet"
	"github.com/tracegen/tracegen/internal/cli/read"
	"github.com/tracegen/tracegen/internal/cli/record"
	"github.com/tracegen/tracegen/internal/console"
)

func main() {
	cli.SetUpCollector()
	ctx, stoppedBy := cli.NoteSignal(context.Background())
	code := cli.Run(ctx, newRootCmd, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if s := stoppedBy.Load(); s != 0 && code == cli.ExitFailed {
		endBy(syscall.Signal(s))
	}
	os.Exit(code)
}

// newRootCmd returns the command tree. Its commands read from con and print to con.
func newRootCmd(con *console.Console) *cobra.Command {
	return cli.Assemble(con, build.NewInit(con),
		record.NewCommand(con, build.NewProgram(con), record.Analysis{Formats: read.Formats(), Run: read.RunAnswer}),
		build.NewInstrument(con), build.NewScan(con), build.NewAssign(con), build.NewStrip(con), build.NewVerify(con),
		read.NewAnalyze(con), fleet.NewCollect(con), fleet.NewGroup(con), fleet.NewCompare(con), read.NewLookup(con),
		build.NewExplain(con), build.NewDiff(con), read.NewSymbolize(con), fleet.NewMappings(con), build.NewRuntime(con))
}
