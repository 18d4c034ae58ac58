package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/explanation"
	"github.com/tracegen/tracegen/internal/pipeline"
	"github.com/tracegen/tracegen/internal/report"
	"github.com/tracegen/tracegen/mapping"
)

func newExplainCmd(con *console) *cobra.Command {
	e := explainer{instrument: instrument{con: con}}
	cmd := &cobra.Command{
		Use:   "explain INPUT... --method CLASS[#METHOD[DESCRIPTOR]]",
		Short: "tell whether methods are traced, with which ID and at what cost, or why not",
		Long: `explain makes all the decisions of instrument, writes nothing, and tells what was
decided about the methods that are asked for: the ID, or the reason with the rule
and its line; what was counted in the method; the calls that it gets and the
bytes that it grows by.

--method takes what lookup takes:
  com.example.Foo              the methods of a class
  com.example.Foo#bar          those of one name; also com.example.Foo.bar
  com.example.Foo#bar(I)V      one method; without V, of any return type
  com.example.**#get*(**)      a glob: ** crosses dots, * and ? do not
  /\.(foo|bar)$/               a regular expression, found anywhere in
                               "class method descriptor" as in a mapping

The options that decide are those of instrument, tracegen.yml included; without
them the answer is about another run. With --mapping, the IDs are those of that
mapping, and what it says otherwise is named.

The exit code is 1 if a --method names nothing; names that may be meant are told.`,
		Example: `  tracegen explain app.jar --method com.example.Feed#onCreate
  tracegen explain @inputs.txt --method com.example.Feed --mapping release/methodMapping.txt
  tracegen explain app.jar --method 'com.example.**#get*' --format json`,
		Args: atLeastOne("input"),
	}
	cmd.ValidArgsFunction = completeFiles(classFiles...)
	e.addOptions(cmd, byExplain)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(e.methods) == 0 {
			return misuse("no --method given")
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

// explainer is the command line of explain, and what the answer is made of.
type explainer struct {
	instrument // mapping is the one to look IDs up in, or ""

	patterns []*mapping.Pattern
	told     report.Explanation
}

// MatchClass implements explanation.Question.
func (e *explainer) MatchClass(class string) bool {
	for _, p := range e.patterns {
		if p.MatchClass(class) {
			return true
		}
	}
	return false
}

// Match implements explanation.Question.
func (e *explainer) Match(method mapping.Identity) bool {
	for _, p := range e.patterns {
		if p.Match(method) {
			return true
		}
	}
	return false
}

func (e *explainer) run(cmd *cobra.Command, args []string) error {
	for _, text := range e.methods {
		p, err := mapping.ParsePattern(text)
		if err != nil {
			return misuse("--method: %w", err)
		}
		if p.ByID() {
			return misuse("--method %s: name a method; which one an ID stands for, tracegen lookup tells", text)
		}
		e.patterns = append(e.patterns, p)
	}
	inputs, _, err := paths(args)
	if err != nil {
		return err
	}
	for _, path := range inputs {
		e.destination.inputs = append(e.destination.inputs, pipeline.Input{Path: path})
	}
	if e.merge {
		e.destination.merge = "merged.jar" // never written
	}
	e.told = report.Explanation{Version: version(), MappingFile: e.mapping}
	if e.mapping != "" {
		if e.told.Mapping, err = mapping.Load(e.mapping); err != nil {
			return fmt.Errorf("--mapping: %w", err)
		}
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	config := e.pipelineConfig()
	advance, done := e.con.progress("deciding")
	config.Progress, config.Files = advance, nil
	explained, err := pipeline.Explain(ctx, config, e)
	done()
	if err != nil {
		return err
	}
	for _, w := range explained.Warnings {
		e.con.detail("%s", w)
	}
	return e.answer(explained)
}

// answer prints what was found, and names the questions for which that is nothing.
func (e *explainer) answer(explained *pipeline.Explained) error {
	e.told.Classes = explained.Classes
	write := e.told.WriteText
	if e.inJSON {
		write = e.told.WriteJSON
	}
	if err := write(e.con.out); err != nil {
		return err
	}
	missing := 0
	for k, p := range e.patterns {
		if e.found(p) {
			continue
		}
		missing++
		text := "nothing found for " + e.methods[k]
		if near := explanation.Near(e.methods[k], explained.Names); len(near) > 0 {
			text += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		e.con.log("", text)
	}
	if missing > 0 {
		return answer{fmt.Errorf("nothing was found for %d of %d questions", missing, len(e.patterns))}
	}
	return nil
}

// found says whether there is an answer to the pattern.
func (e *explainer) found(p *mapping.Pattern) bool {
	for _, c := range e.told.Classes {
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
