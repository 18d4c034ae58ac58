package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/console"
)

// Release is the version of the sources. The poms of the Java parts have the same.
const Release = "0.1.0"

// Version returns the release and, if the build recorded it, the commit that the program was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
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
	return Release + revision + modified
}

func newVersionCmd(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  tracegen version`,
		Args:    NoArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return printVersion(con) },
	}
}

// printVersion prints the version of the program, and that of Go, with the platform.
func printVersion(con *console.Console) error {
	_, err := fmt.Fprintf(con.Out, "tracegen %s (%s %s/%s)\n", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
