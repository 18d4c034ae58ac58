package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestTreeOfOneCommand compares the tree that a command line gets with the whole tree: the help of each command, and
// errors.
//
// Invariant: A command behaves the same whether the other commands were made or not.
func TestTreeOfOneCommand(t *testing.T) {
	answer := func(newRoot func(con *console, args []string) *cobra.Command, args ...string) (string, *cobra.Command) {
		var out bytes.Buffer
		root := newRoot(&console{in: strings.NewReader(""), out: &out, err: &out}, args)
		root.SetArgs(args)
		err := root.Execute()
		if err != nil {
			out.WriteString(err.Error())
		}
		return out.String(), root
	}
	whole := func(con *console, _ []string) *cobra.Command { return newRootCmd(con) }
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
		for _, args := range [][]string{{c.name, "--help"}, {c.name, "--no-such-flag"}, {c.name, "no", "such", "file"}} {
			got, root := answer(newRootFor, args...)
			if want, _ := answer(whole, args...); got != want {
				t.Errorf("%q: %q, with all commands %q", args, got, want)
			}
			if own, _, err := root.Find([]string{c.name}); err != nil || own.Name() != c.name {
				t.Errorf("%s is not the name of its command: %v", c.name, err)
			}
		}
	}
	for _, c := range testedRoot().Commands() {
		if own := []string{"man", "help", "completion"}; !slices.Contains(names, c.Name()) &&
			!slices.Contains(own, c.Name()) {
			t.Errorf("%s is not among the commands", c.Name())
		}
	}
}
