package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/mapping"
)

// NewExplain returns the command explain.
func NewExplain(con *console.Console) *cobra.Command {
	e := explainer{settings: settings{con: con}}
	cmd := &cobra.Command{
		Use:   "explain INPUT... --method CLASS[#METHOD[DESCRIPTOR]]",
		Short: "Explain whether methods are traced, and why",
		Long: `explain makes all the decisions of instrument, writes nothing, and prints the
decisions on the methods that --method selects: the ID, or the reason for skipping
the method with the rule and its line; and the size of the method.

--method takes a pattern, as lookup does:
  com.example.Foo              the methods of a class
  com.example.Foo#bar          those with a name; also com.example.Foo.bar
  com.example.Foo#bar(I)V      one method; without V, with any return type
  com.example.**#get*(**)      a glob: ** crosses dots, * and ? do not
  /\.(foo|bar)$/               a regular expression that matches anywhere in
                               "class method descriptor" as in a mapping

Give the options and the tracegen.yml of the run that is to be explained. With
--mapping, explain shows the IDs of that mapping, and reports where it differs from
the decisions.

The exit code is 1 if a pattern matches no method; similar names are suggested.`,
		Example: `  tracegen explain app.jar --method com.example.Feed#onCreate
  tracegen explain @inputs.txt --method com.example.Feed --mapping release/methodMapping.txt
  tracegen explain app.jar --method 'com.example.**#get*'`,
		Args: cli.AtLeastOne("input"),
	}
	e.addOptions(cmd, byExplain,
		cli.Option{Name: "method", Flag: cli.Texts(&e.methods), Config: cli.OffLimits, Omit: cli.InNoRecord,
			Help: "explain the methods that match this `PATTERN`, as above; repeatable"})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(e.methods) == 0 {
			return cli.Misuse("no --method given: name the methods to explain")
		}
		if err := e.resolve(); err != nil {
			return err
		}
		if err := e.read(); err != nil {
			return err
		}
		return e.run(cmd, args)
	}
	return cmd
}

// explainer holds the options of the command and the explanation.
type explainer struct {
	settings // its mapping is the one whose IDs are shown, or ""
	methods  []string

	patterns    []*mapping.Pattern
	explanation buildreport.Explanation
}

// MatchClass implements pipeline.Question.
func (e *explainer) MatchClass(class string) bool {
	return slices.ContainsFunc(e.patterns, func(p *mapping.Pattern) bool { return p.MatchClass(class) })
}

// Match implements pipeline.Question.
func (e *explainer) Match(method mapping.Identity) bool {
	return slices.ContainsFunc(e.patterns, func(p *mapping.Pattern) bool { return p.Match(method) })
}

func (e *explainer) run(cmd *cobra.Command, args []string) error {
	for _, text := range e.methods {
		p, err := mapping.ParsePattern(text)
		if err != nil {
			return cli.Misuse("--method: %w", err)
		}
		if p.ByID() {
			return cli.Misuse("--method %s: give the name of a method; tracegen lookup finds the method of an ID", text)
		}
		e.patterns = append(e.patterns, p)
	}
	inputs, _, err := cli.Paths(args)
	if err != nil {
		return err
	}
	for _, path := range inputs {
		e.destination.inputs = append(e.destination.inputs, pipeline.Input{Path: path})
	}
	if e.merge {
		e.destination.merge = "merged.jar" // is not written
	}
	e.explanation = buildreport.Explanation{MappingFile: e.mapping}
	if e.mapping != "" {
		if e.explanation.Mapping, err = mapping.Load(e.mapping); err != nil {
			return fmt.Errorf("--mapping: %w", err)
		}
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	config := e.pipelineConfig()
	advance, done := e.con.Progress("deciding")
	config.Progress, config.Files = advance, nil
	explained, err := pipeline.Explain(ctx, config, e)
	done()
	if err != nil {
		return err
	}
	for _, w := range explained.Warnings {
		e.con.Detail("%s", w)
	}
	return e.print(explained)
}

// print prints the explanation, and reports the patterns that match nothing.
func (e *explainer) print(explained *pipeline.Explained) error {
	e.explanation.Classes = explained.Classes
	if err := e.explanation.WriteText(e.con.Out); err != nil {
		return err
	}
	missing := 0
	for k, p := range e.patterns {
		if e.found(p) {
			continue
		}
		missing++
		text := "no method matches " + e.methods[k]
		if near := cli.Near(e.methods[k], explained.Names); len(near) > 0 {
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		e.con.Inform("%s", text)
	}
	if missing > 0 {
		return cli.CheckFailed{Err: fmt.Errorf("%d of %d patterns match no method", missing, len(e.patterns))}
	}
	return nil
}

// found reports whether a method or class in the explanation matches the pattern.
func (e *explainer) found(p *mapping.Pattern) bool {
	for _, c := range e.explanation.Classes {
		if c.Reason != "" && p.MatchClass(c.Class) {
			return true
		}
		for _, m := range c.Methods {
			if p.Match(mapping.Identity{Class: m.Class, Name: m.Name, Descriptor: m.Descriptor}) {
				return true
			}
		}
	}
	return false
}
