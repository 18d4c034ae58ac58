package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// classFiles are the extensions of files with classes.
var classFiles = []string{"jar", "zip", "aar", "class"}

// completion returns what completes the option's value; nil if shells do that by themselves, or if there is none.
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

// completeFiles completes files with one of the extensions; nothing if there is none.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	if len(extensions) == 0 {
		return cobra.NoFileCompletions
	}
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}
