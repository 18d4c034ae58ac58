package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// classFiles are the extensions of files that hold classes.
var classFiles = []string{"jar", "zip", "aar", "class"}

// completion returns the function that completes the option's value. It is nil if the option has no value, or if the
// shell's own completion of files is right.
func (o *option) completion() cobra.CompletionFunc {
	words, isChoice := o.flag.Value.(interface{ names() []string })
	switch {
	case isChoice:
		return cobra.FixedCompletions(words.names(), cobra.ShellCompDirectiveNoFileComp)
	case o.flag.Value.Type() == "bool" || o.hidden:
		return nil
	case o.file == noFile:
		return cobra.NoFileCompletions
	case o.extensions == nil:
		return nil
	case slices.Equal(o.extensions, onlyDirectories):
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	return completeFiles(o.extensions...)
}

// completeFiles returns a function that completes files with one of the extensions.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}
