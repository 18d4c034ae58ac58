//go:build !unix

package launch

import "os"

// passedOn are the signals that this process does not end by while a program runs. On Windows, Ctrl-C and Ctrl-Break
// are os.Interrupt.
var passedOn = []os.Signal{os.Interrupt}

func stops(os.Signal) bool { return true }

// passOn does nothing: Windows sends Ctrl-C to every process of the console, and has no signals for others.
func passOn(*os.Process, os.Signal) {}

func signalOf(*os.ProcessState) (number int, name string) { return 0, "" }
