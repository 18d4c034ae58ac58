package oracle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Victim is a process that a test ends at some moment by a signal, as the system or a user does. All tests that kill
// have this one harness; what they check afterwards is theirs.
type Victim struct {
	// Command is not started yet. Its standard output is read here, as is its standard error if it is not set.
	Command *exec.Cmd
	// Ready reports whether the process is so far that the moment may come, when it has printed a line. If it is nil,
	// the moment may come at once.
	Ready func(line string) bool
	// Moment returns when the signal is to be sent, or when the channel is closed: the process has ended by itself.
	Moment func(ended <-chan struct{})
	// Signal is sent; os.Kill if it is nil.
	Signal os.Signal
}

// Killed is what is known of a process that has ended.
type Killed struct {
	// Lines are the whole lines of its standard output, Errors is its standard error.
	Lines  []string
	Errors string
	// PID is its number.
	PID int
	// Took is how long it ran.
	Took time.Duration
	// Alive is whether it had not ended when the signal was sent.
	Alive bool
	// Exit is what waiting for it returned.
	Exit error
}

// LineWith returns what follows a word in the first line that begins with it.
func (k Killed) LineWith(word string) string {
	for _, line := range k.Lines {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// Kill starts the process, ends it, and waits for it. It fails if the process cannot be started, or ends before it is
// ready.
func (v Victim) Kill() (Killed, error) {
	var k Killed
	var problems bytes.Buffer
	if v.Command.Stderr == nil {
		v.Command.Stderr = &problems
	}
	out, err := v.Command.StdoutPipe()
	if err != nil {
		return k, err
	}
	began := time.Now()
	if err := v.Command.Start(); err != nil {
		return k, err
	}
	defer v.Command.Process.Kill() // a moment may end the test
	k.PID = v.Command.Process.Pid
	ready, ended := make(chan struct{}), make(chan struct{})
	isReady := v.Ready == nil
	if isReady {
		close(ready)
	}
	go func() {
		defer close(ended)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				break // a last line without an end is cut
			}
			line = strings.TrimRight(line, "\r\n")
			k.Lines = append(k.Lines, line)
			if !isReady && v.Ready(line) {
				isReady = true
				close(ready)
			}
		}
		k.Exit = v.Command.Wait()
		k.Took = time.Since(began)
	}()
	select {
	case <-ready:
	case <-ended:
		return k, fmt.Errorf("it ended before it was ready: %w\n%s\n%s", errors.Join(k.Exit, errNotReady),
			strings.Join(k.Lines, "\n"), &problems)
	}
	v.Moment(ended)
	select {
	case <-ended:
	default:
		signal := v.Signal
		if signal == nil {
			signal = os.Kill
		}
		k.Alive = v.Command.Process.Signal(signal) == nil
		<-ended
	}
	k.Errors = problems.String()
	return k, nil
}

var errNotReady = errors.New("not ready")

// After returns a moment that comes after a time.
func After(wait time.Duration) func(ended <-chan struct{}) {
	return func(ended <-chan struct{}) {
		select {
		case <-ended:
		case <-time.After(wait):
		}
	}
}
