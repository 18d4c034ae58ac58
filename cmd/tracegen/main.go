// Command tracegen makes the methods of JVM programs and Android apps report their entries and exits.
//
// Each subcommand has a file of its own. A command resolves its options and arguments, calls one of the packages that
// do the work, and prints the result. Results go to standard output, messages to standard error. Every command returns
// its error to [run], the only function that turns errors into exit codes:
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
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

func main() {
	ctx := context.WithValue(context.Background(), pacerKey{}, tuneCollector())
	stoppedBy := new(atomic.Int32)
	ctx = context.WithValue(ctx, stopSignal{}, stoppedBy)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if s := stoppedBy.Load(); s != 0 && code == exitFailed {
		endBy(syscall.Signal(s))
	}
	os.Exit(code)
}

// stopSignal is the key of the *atomic.Int32 in a context that holds the signal by which the user or the system has
// asked the program to stop, or 0.
type stopSignal struct{}

// interruptible returns a context that is canceled when the user or the system asks the program to stop, or when the
// terminal is closed, for commands that have something to clean up. A second request ends the program at once, in case
// cleaning up takes long.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it so
		signals = append(signals, syscall.SIGHUP)
	}
	return canceledBy(ctx, signals...)
}

// canceledBy returns a context that the first of these signals cancels.
func canceledBy(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			stoppedBy, wanted := ctx.Value(stopSignal{}).(*atomic.Int32)
			if s, ok := s.(syscall.Signal); ok && wanted {
				stoppedBy.Store(int32(s))
			}
		case <-ctx.Done():
		}
		signal.Stop(received)
		cancel()
	}()
	return ctx, cancel
}

// The exit codes.
const (
	exitDone        = 0
	exitCheckFailed = 1
	exitFailed      = 2
)

// checkFailed is the error of a command that did its work and found that a check failed.
type checkFailed struct{ error }

// noting is a writer that keeps its first error: cobra ignores those of what it prints.
type noting struct {
	io.Writer
	err error
}

func (n *noting) Write(p []byte) (int, error) {
	written, err := n.Writer.Write(p)
	if n.err == nil {
		n.err = err
	}
	return written, err
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	con := &console{in: stdin, out: stdout, err: stderr}
	con.pacer, _ = ctx.Value(pacerKey{}).(*pacer)
	root := newRootFor(con, args)
	root.SetArgs(args)
	printed := &noting{Writer: stdout} // help and completion scripts
	root.SetOut(printed)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && printed.err != nil {
		err = fmt.Errorf("standard output: %w", printed.err)
	}
	if stopped := con.profiling.stop(); stopped != nil {
		con.warn("the profile is incomplete: %v", stopped)
	}
	switch {
	case err == nil:
		con.endGroup()
		return exitDone
	case errors.As(err, new(checkFailed)):
		con.fail(err)
		return exitCheckFailed
	case errors.Is(err, context.Canceled):
		con.fail(errors.New("interrupted; nothing was written"))
	case errors.As(err, new(usageError)):
		con.fail(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	default:
		con.fail(err)
	}
	return exitFailed
}
