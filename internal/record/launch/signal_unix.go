//go:build unix

package launch

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that this process does not end by while a program runs.
var passedOn = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	syscall.SIGUSR2}

// stops reports whether a signal asks a program to stop.
func stops(s os.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP
}

// passOn sends a signal to the program, unless the terminal has sent it to both: a second one would count twice in a
// program that does something at the first.
func passOn(p *os.Process, s os.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP:
		if inForeground() {
			return
		}
	}
	_ = p.Signal(s) // fails if the program has just ended
}

// inForeground reports whether this process belongs to the foreground group of a terminal, to which Ctrl-C goes. The
// program is in the same group.
func inForeground() bool {
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// signalOf returns the number and the name of the signal that ended the program; 0 if none did.
func signalOf(state *os.ProcessState) (number int, name string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0, ""
	}
	s := status.Signal()
	if name = unix.SignalName(s); name == "" {
		name = s.String()
	}
	return int(s), name
}
