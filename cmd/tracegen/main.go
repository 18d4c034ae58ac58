// Command tracegen makes the methods of JVM programs and Android apps report their entries and exits.
//
// Each subcommand has a file of its own. A command reads its arguments, calls one of the packages that do the
// work, and prints; it decides nothing else. Results go to standard output, all else to standard error. Every
// command returns its error to [run], which is the one place where errors become exit codes:
//
//	0  done; there may have been warnings
//	1  done, and something that was asked about is so: lookup found nothing, verify something, or a guard fails
//	2  could not be done; nothing was written
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	kept := tuneCollector()
	code := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(kept)
	os.Exit(code)
}

// interruptible gives a context that ends when the user or the system asks the program to stop, for commands
// that have something to clean up. A second request ends the program at once, should cleaning up take long.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// The exit codes.
const (
	exitDone   = 0
	exitAnswer = 1
	exitFailed = 2
)

// answer is an error that is none: the command did its work, and what it was asked about is so.
type answer struct{ error }

// run carries out one command line and gives the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	con := &console{in: stdin, out: stdout, err: stderr}
	root := newRootCmd(con)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if stopped := con.profiling.stop(); stopped != nil {
		con.warn("the profile is not complete: %v", stopped)
	}
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, new(answer)):
		con.log("", err.Error())
		return exitAnswer
	case errors.Is(err, context.Canceled):
		con.log("error", "interrupted; nothing was written")
	case errors.As(err, new(usage)):
		con.log("error", fmt.Sprintf("%v (see %s --help)", err, cmd.CommandPath()))
	default:
		con.log("error", err.Error())
	}
	return exitFailed
}
