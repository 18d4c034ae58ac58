package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// Process is what [Run] needs to start a program.
type Process struct {
	// Args are the command and its arguments.
	Args []string
	// Env is the environment, nil for that of this process.
	Env []string
	// In, Out and Err are the program's streams. An *os.File is handed to the program itself.
	In       io.Reader
	Out, Err io.Writer
}

// End says how a program ended.
type End struct {
	// Code is the exit code; if the program was ended by a signal, 128 and the number of the signal, as shells say it.
	Code int
	// Signal names the signal that ended the program, "" if none did.
	Signal string
	// Interrupted reports whether this process was asked to stop while the program ran.
	Interrupted bool
}

// Run starts a program and waits until it has ended, by itself or because of a signal. This process does not end when
// it is asked to stop meanwhile: the program ends, and the caller goes on. Ctrl-C at a terminal reaches the program
// without this process; other signals are passed on to the program. The error says that the program could not be
// started.
func Run(p Process) (End, error) {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Env = p.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.In, p.Out, p.Err

	// Signals are caught before the program starts, so that none is lost between. They are not ignored: the program
	// would inherit that.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn...)
	if err := cmd.Start(); err != nil {
		signal.Stop(signals)
		return End{}, fmt.Errorf("cannot start the program: %w", err)
	}
	interrupted := false
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for s := range signals {
			if stops(s) {
				interrupted = true
			}
			passOn(cmd.Process, s)
		}
	}()
	err := cmd.Wait()
	// A signal to both may have ended the program before this process has looked at it.
	signal.Stop(signals)
	close(signals)
	<-watched
	end := End{Code: cmd.ProcessState.ExitCode(), Interrupted: interrupted}
	if number, name := signalOf(cmd.ProcessState); number > 0 {
		end.Code, end.Signal = 128+number, name
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return end, fmt.Errorf("the program's streams: %w", err)
	}
	return end, nil
}
