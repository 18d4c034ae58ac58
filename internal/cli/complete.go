package cli

import (
	"slices"

	"github.com/spf13/cobra"
)

// ClassFiles are the extensions of files that hold classes.
var ClassFiles = []string{"jar", "zip", "aar", "class"}

// completion returns the function that completes the option's value. It is nil if the option has no value, or if the
// shell's own completion of files is right.
func (o *Option) completion() cobra.CompletionFunc {
	words, isChoice := o.Flag.Value.(interface{ Names() []string })
	switch {
	case isChoice:
		return cobra.FixedCompletions(words.Names(), cobra.ShellCompDirectiveNoFileComp)
	case o.Flag.Value.Type() == "bool":
		return nil
	case o.File == NoFile:
		return cobra.NoFileCompletions
	case o.Extensions == nil:
		return nil
	case slices.Equal(o.Extensions, OnlyDirectories):
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	return CompleteFiles(o.Extensions...)
}

// CompleteFiles returns a function that completes files with one of the extensions.
func CompleteFiles(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}
