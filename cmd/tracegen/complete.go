package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// argumentFiles are the extensions of the files that commands take as arguments. One without takes no files; one that
// is not here takes any, which is what shells complete by themselves.
var argumentFiles = map[string][]string{
	"analyze":    {"tgd", "json", "log", "txt"},
	"assign":     {"scan"},
	"diff":       {"txt"},
	"explain":    {"jar", "zip", "aar", "class"},
	"instrument": {"jar", "zip", "aar", "class"},
	"lookup":     nil,
	"scan":       {"jar", "zip", "aar", "class"},
	"strip":      {"jar", "zip", "aar", "class"},
	"verify":     {"jar", "zip", "aar", "class"},
	"version":    nil,
}

// flagFiles are the extensions of the files that flags name, where they have one.
var flagFiles = map[string][]string{
	"base":        {"txt"},
	"base-report": {"json"},
	"config":      {"yml", "yaml"},
	"ids":         {"ids"},
	"mapping":     {"txt"},
	"prune":       {"txt"},
	"r8-mapping":  {"txt"},
	"report":      {"json"},
	"skipped":     {"tsv"},
}

// completeFiles lets the shell complete the files that a command below cmd may mean, and none where it means
// something else.
func completeFiles(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		if extensions, known := argumentFiles[sub.Name()]; known {
			sub.ValidArgsFunction = fileCompletion(extensions)
		}
		sub.Flags().VisitAll(func(f *pflag.Flag) {
			complete := cobra.NoFileCompletions
			switch named, _ := pflag.UnquoteUsage(f); {
			case f.Value.Type() == "bool":
				return
			case named == "DIR":
				complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
			case flagFiles[f.Name] != nil && named == "FILE":
				complete = fileCompletion(flagFiles[f.Name])
			case slices.Contains([]string{"FILE", "OUT", "LIST"}, named):
				return // any file, which is what shells do by themselves
			}
			// The error is about a flag that has a completion already: a choice's words.
			_ = sub.RegisterFlagCompletionFunc(f.Name, complete)
		})
		completeFiles(sub)
	}
}

// fileCompletion completes files with one of the extensions; none if there is none.
func fileCompletion(extensions []string) cobra.CompletionFunc {
	if len(extensions) == 0 {
		return cobra.NoFileCompletions
	}
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}
