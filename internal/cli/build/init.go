package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/project"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
)

// NewInit returns the command init.
func NewInit(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first tracegen.yml for a project",
		Long: `init looks at a directory (default the working directory), and writes a tracegen.yml
with comments for what it finds there: an Android app or a JVM program that Gradle
builds, a project of Maven or Bazel, or archives. From the settings of the plugins of
Matrix and btrace it takes the block list, and the mapping that keeps IDs.

It prints what it found, and the next command to type. If there is a tracegen.yml,
init fails and leaves it alone. It writes nothing else.`,
		Example: `  tracegen init
  tracegen init path/to/project`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return initialize(con, dir)
		},
	}
}

// initialize writes the file for the directory, and prints what was found.
func initialize(con *console.Console, dir string) error {
	p, err := project.Find(dir)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	file := filepath.Join(dir, cli.DefaultConfig)
	if err := createNew(file, p.Config()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s exists, and is left alone; remove it, or edit it", file)
		}
		return err
	}
	sentence, command := p.Next()
	text := fmt.Sprintf("found: %s\n", p.Title())
	for _, list := range p.BlockLists {
		text += fmt.Sprintf("found: the block list of Matrix's plugin, %s\n", list)
	}
	for _, base := range p.Bases {
		text += fmt.Sprintf("found: a mapping that keeps IDs (%s), %s\n", strings.Join(p.Other, ", "), base)
	}
	text += fmt.Sprintf("written: %s\n\n%s\n\n    %s\n", file, sentence, command)
	_, err = fmt.Fprint(con.Out, text)
	return err
}

// createNew writes a file that must not exist. If that fails, no part of it is left.
func createNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(file)
	}
	return err
}
