package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of the sources. The poms of the Java parts have the same.
const release = "0.1.0"

// version returns the release and, if the build recorded it, the commit that the program was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "+" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	return release + revision + modified
}

func newVersionCmd(con *console) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  tracegen version`,
		Args:    noArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return printVersion(con) },
	}
}

// printVersion prints the version of the program, and that of Go, with the platform.
func printVersion(con *console) error {
	_, err := fmt.Fprintf(con.out, "tracegen %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
