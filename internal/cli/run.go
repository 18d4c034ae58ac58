package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/console"
)

// stopSignal is the key of the *atomic.Int32 in a context that holds the signal by which the user or the system has
// asked the program to stop, or 0.
type stopSignal struct{}

// NoteSignal returns a context by which the variable holds the signal that has stopped the program, or 0.
func NoteSignal(ctx context.Context) (context.Context, *atomic.Int32) {
	stoppedBy := new(atomic.Int32)
	return context.WithValue(ctx, stopSignal{}, stoppedBy), stoppedBy
}

// Interruptible returns a context that is canceled when the user or the system asks the program to stop, or when the
// terminal is closed, for commands that have something to clean up. A second request ends the program at once, in case
// cleaning up takes long.
func Interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it so
		signals = append(signals, syscall.SIGHUP)
	}
	return CanceledBy(ctx, signals...)
}

// CanceledBy returns a context that the first of these signals cancels.
func CanceledBy(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
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
	ExitDone        = 0
	ExitCheckFailed = 1
	ExitFailed      = 2
)

// CheckFailed is the error of a command that did its work and found that a check failed.
type CheckFailed struct {
	// Err says what failed. It may join several errors.
	Err error
}

// Error implements error.
func (c CheckFailed) Error() string { return c.Err.Error() }

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

// Run executes one command line and returns the exit code.
func Run(ctx context.Context, tree func(*console.Console) *cobra.Command, args []string, stdin io.Reader, stdout,
	stderr io.Writer) int {
	con := &console.Console{In: stdin, Out: stdout, Err: stderr}
	root := tree(con)
	root.SetArgs(args)
	printed := &noting{Writer: stdout} // help and completion scripts
	root.SetOut(printed)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && printed.err != nil {
		err = fmt.Errorf("standard output: %w", printed.err)
	}
	switch {
	case err == nil:
		con.EndGroup()
		return ExitDone
	case errors.As(err, new(CheckFailed)):
		fail(con, err)
		return ExitCheckFailed
	case errors.Is(err, context.Canceled):
		fail(con, errors.New("interrupted; nothing was written"))
	case errors.As(err, new(usageError)):
		fail(con, fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
	default:
		fail(con, err)
	}
	return ExitFailed
}

// messenger is an error that has a message of its own.
type messenger interface{ Message() console.Message }

// fail prints the error that ends a command: one message for each check that failed.
func fail(con *console.Console, err error) {
	for _, one := range joined(err) {
		m := console.Message{Level: console.LevelError, Text: one.Error()}
		if special := messenger(nil); errors.As(one, &special) {
			m = special.Message()
		}
		con.Print(m)
	}
	con.EndGroup()
}

// joined returns the errors that the error of failed checks joins, or the error.
func joined(err error) []error {
	var failed CheckFailed
	if !errors.As(err, &failed) {
		return []error{err}
	}
	if list, ok := failed.Err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	return []error{err}
}
