package build

import (
	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/artifact"
	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// NewSize returns the command size.
func NewSize(con *console.Console) *cobra.Command {
	var guards guardFlag[*buildreport.Artifacts]
	cmd := &cobra.Command{
		Use:   "size [PLAIN] APP",
		Short: "Compare an app bundle or APK with one that was built without tracegen",
		Long: `size reads an app bundle or APK after R8 and prints a table in Markdown: the bytes,
classes, methods, and method references of its dex files, in all modules; the shares of
the code that R8 may optimize, shrink, and obfuscate; and its baseline profile. With
PLAIN, an artifact of the same sources without tracegen, it prints both, the change, and
the methods that are in both but no longer in the baseline profile.

The shares are those that Google Play reads, in an app bundle of Android's plugin 8.10 or
newer. From February 2027, Play asks for 25 percent of each if an app has 10 MB of dex
files or more. The names of methods need R8's mapping, which only an app bundle contains.`,
		Example: `  tracegen size plain.aab app.aab
  tracegen size plain.aab app.aab --guard dex=3 --guard references --guard profile-methods
  tracegen size app.aab --guard shares --guard profile-size`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return cli.Misuse("give one or two app bundles or APKs; %d given", len(args))
			}
			if name := guards.Comparing(); len(args) == 1 && name != "" {
				return cli.Misuse("--guard %s compares with an app without tracegen: give both", name)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var read []*artifact.Artifact
			for _, file := range args {
				a, err := artifact.Read(file)
				if err != nil {
					return err
				}
				read = append(read, a)
			}
			var plain *artifact.Artifact
			if len(read) == 2 {
				plain = read[0]
			}
			compared, err := buildreport.CompareArtifacts(plain, read[len(read)-1])
			if err != nil {
				return err
			}
			if err := compared.WriteTable(con.Out); err != nil {
				return err
			}
			return failedGuards(guards.Check(compared))
		},
	}
	cli.NewOptions([]cli.Option{
		{Name: "guard", Flag: cli.Custom(&guards), Help: "after the table, exit with 1 if a limit is exceeded: the dex " +
			"files grow by more than 10 percent (dex=10), or the method references by more than 1 (references=1); " +
			"from 10 MB of dex files on, a share is below 25 percent (shares=25); the compiled baseline profile " +
			"has 1.5 MB or more (profile-size=1500000), or names a method no longer (profile-methods=0); repeatable"},
	}).AddTo(cmd, 0)
	return cmd
}
