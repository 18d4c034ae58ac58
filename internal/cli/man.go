package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newManCmd returns the command that writes the manual pages. It is meant for packagers and hidden from the help.
func newManCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write a manual page for each command into a directory",
		Example: `  tracegen man /usr/local/share/man/man1`,
		Hidden:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return Misuse("give one directory; %d given", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, cmd := range ManPages(root) {
				path := filepath.Join(args[0], ManName(cmd)+".1")
				if err := os.WriteFile(path, manPage(cmd), 0o666); err != nil {
					return fmt.Errorf("manual page: %w", err)
				}
			}
			return nil
		},
	}
}

// ManPages returns the commands that have a page. The shells that completion has a command for are on its page.
func ManPages(cmd *cobra.Command) []*cobra.Command {
	pages := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && cmd.Name() != "completion" {
			pages = append(pages, ManPages(sub)...)
		}
	}
	return pages
}

// ManName returns the name of the page of a command.
func ManName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the help of a command in the format of man(7). The text is set line by line, as in the help: it holds
// tables and globs, which cobra's own writer would read as Markdown. The page has no date, so that builds of the same
// sources are equal.
func manPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	name := ManName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"tracegen %s\"\n", roff(strings.ToUpper(name)), roff(Release))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		verbatim(&b, "DESCRIPTION", cmd.Long)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
			}
		}
	}
	b.WriteString(".SH OPTIONS\n")
	cmd.InitDefaultHelpFlag()
	option := func(f *pflag.Flag) {
		named, usage := pflag.UnquoteUsage(f)
		text := "--" + f.Name
		if f.Shorthand != "" {
			text = "-" + f.Shorthand + ", " + text
		}
		if named != "" {
			text += " " + named
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(text), roff(usage))
	}
	cmd.LocalFlags().VisitAll(option)
	cmd.InheritedFlags().VisitAll(option)
	if keys := cmd.Annotations[keysAnnotation]; keys != "" {
		verbatim(&b, "KEYS OF TRACEGEN.YML, AND OF --SET", keys)
	}
	if cmd.HasExample() {
		verbatim(&b, "EXAMPLES", cmd.Example)
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", roff(ManName(cmd.Parent())))
	}
	return b.Bytes()
}

// verbatim writes a section whose lines are not filled.
func verbatim(b *bytes.Buffer, title, text string) {
	fmt.Fprintf(b, ".SH %s\n.nf\n", title)
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		if line = strings.TrimRight(line, "\n"); line == "" {
			line = ".sp"
		} else {
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(".fi\n")
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a line of text. A leading dot gets a \& in front, as it would start a request.
func roff(line string) string {
	line = roffEscapes.Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
