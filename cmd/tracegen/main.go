// Command tracegen makes the methods of JVM programs and Android apps report their entries and exits. The commands are
// in the packages below internal/cli.
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
	ctx, stoppedBy := cli.NoteSignal(context.Background())
	code := cli.Run(ctx, newRootCmd, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if s := stoppedBy.Load(); s != 0 && code == cli.ExitFailed {
		endBy(syscall.Signal(s))
	}
	os.Exit(code)
}

// newRootCmd returns the command tree. Its commands read from con and print to con.
func newRootCmd(con *console.Console) *cobra.Command {
	return cli.Assemble(con,
		record.NewCommand(con, build.NewProgram(con), record.Analysis{Formats: read.Formats(), Run: read.RunAnswer}),
		build.NewInstrument(con), build.NewScan(con), build.NewAssign(con), build.NewStrip(con), build.NewVerify(con),
		read.NewAnalyze(con), fleet.NewCollect(con), fleet.NewGroup(con), fleet.NewCompare(con), read.NewLookup(con),
		build.NewExplain(con), build.NewDiff(con), build.NewSize(con), read.NewSymbolize(con), fleet.NewMappings(con),
		build.NewRuntime(con))
}
