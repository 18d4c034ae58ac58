//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"time"
)

// endBy ends the process by a signal that it has received, as the shell that started it expects.
func endBy(s syscall.Signal) {
	signal.Reset(s)
	if syscall.Kill(syscall.Getpid(), s) == nil {
		time.Sleep(time.Second) // the signal is under way
	}
}
