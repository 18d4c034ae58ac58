package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/build/buildreport"
	"github.com/tracegen/tracegen/internal/provenance"
	"github.com/tracegen/tracegen/internal/userfile"
)

func newAttestCheckCmd(con *console) *cobra.Command {
	c := attestCheck{con: con}
	cmd := &cobra.Command{
		Use:   "check FILE --public-key KEY",
		Short: "Check a build against its signed statement",
		Long: `check verifies the signature of a statement that attest has written, and compares the files
that it is about: outputs and mapping where the statement names them, below the current
directory or that of --outputs. A file that is not there is named by a warning.

With --inputs, check also compares the inputs, and shows for each output that it is its
inputs plus calls, and nothing else: it removes the calls, as strip does, and compares all
entries with those of the inputs. Only the classes of the runtime that is built into
tracegen may be added. All inputs of the outputs must be there.

The exit code is 1 if the signature is wrong or anything differs; each difference is
named. It is 2 if FILE is not a statement that check can read.`,
		Example: `  tracegen attest check out/provenance.json --public-key signing.pub
  tracegen attest check provenance.json --public-key signing.pub --outputs released/ --inputs reviewed/
  tracegen attest check out/provenance.json --public-key signing.pub --tool bin/tracegen`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("give one signed statement; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0]) },
	}
	cmd.ValidArgsFunction = completeFiles("json")
	c.options().addTo(cmd, 0)
	return cmd
}

// attestCheck holds the options of the command.
type attestCheck struct {
	con                              *console
	publicKey, outputs, inputs, tool string
	jobs                             int
}

func (c *attestCheck) options() options {
	jobs := jobsOption(&c.jobs)
	jobs.commands = 0 // it has no table of several commands
	return newOptions([]option{
		{name: "public-key", flag: text(&c.publicKey, ""), file: fileRead,
			help: "the public key in `FILE`: PEM, or the line that tracegen collect keygen prints"},
		{name: "outputs", flag: text(&c.outputs, ""), file: fileRead, extensions: onlyDirectories,
			help: "look for outputs and mapping in the directory `DIR` (default: the current directory)"},
		{name: "inputs", flag: text(&c.inputs, ""), file: fileRead, extensions: onlyDirectories,
			help: "look for inputs in the directory `DIR`, and compare the outputs with them"},
		{name: "tool", flag: text(&c.tool, ""), file: fileRead,
			help: "the executable `FILE` of tracegen that must have made the outputs"},
		jobs,
		quietOption(c.con, 0),
	})
}

func (c *attestCheck) run(ctx context.Context, file string) error {
	if c.publicKey == "" {
		return misuse("no --public-key given; without it, anyone may have made the statement")
	}
	if c.jobs < 0 {
		return misuse("--jobs %d: must not be negative", c.jobs)
	}
	for _, dir := range []target{{"--outputs", c.outputs}, {"--inputs", c.inputs}} {
		if dir.path != "" && !isDirectory(dir.path) {
			return misuse("%s %s is no directory", dir.what, dir.path)
		}
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	s, p, err := c.read(file)
	if err != nil {
		return err
	}
	faults, err := c.compare(ctx, s, p)
	if err != nil {
		return err
	}
	return failedChecks(faults)
}

// say prints a line about a check that passed.
func (c *attestCheck) say(format string, args ...any) error {
	if c.con.quiet {
		return nil
	}
	c.con.hideProgress()
	_, err := fmt.Fprintf(c.con.out, format+"\n", args...)
	return err
}

// read returns the statement in the file, after the signature was verified: nothing of it is used before.
func (c *attestCheck) read(file string) (*provenance.Statement, *provenance.Instrumentation, error) {
	data, err := userfile.ReadText(c.publicKey)
	if err != nil {
		return nil, nil, fmt.Errorf("--public-key: %w", err)
	}
	public, err := provenance.ParsePublicKey(data)
	if err != nil {
		return nil, nil, fmt.Errorf("--public-key: %s: %w", c.publicKey, err)
	}
	if data, err = userfile.ReadText(file); err != nil {
		return nil, nil, err
	}
	envelope, err := provenance.ParseEnvelope(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	text, err := envelope.Verify(public)
	if errors.Is(err, provenance.ErrSignature) || errors.As(err, new(*provenance.KeyError)) {
		return nil, nil, checkFailed{fmt.Errorf("%s: %w", file, err)}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &provenance.Instrumentation{}
	s, err := provenance.ParseStatement(text, provenance.Instrument, p)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	err = c.say("%s: signed with the key %s", buildreport.Printable(file), envelope.KeyID())
	return s, p, err
}

// compare returns all that differs from the statement.
func (c *attestCheck) compare(ctx context.Context, s *provenance.Statement, p *provenance.Instrumentation) (
	faults []error, err error) {
	if faults, err = c.compareTool(s); err != nil {
		return nil, err
	}
	outputs := whereabouts{root: cmp.Or(c.outputs, "."), loose: c.outputs != "", names: []string{p.Mapping.Name}}
	inputs := whereabouts{root: c.inputs, loose: true}
	for _, o := range p.Outputs {
		outputs.names = append(outputs.names, o.Name)
		inputs.names = append(inputs.names, o.Inputs...)
	}
	present := 0
	for _, o := range p.Outputs {
		made, there := outputs.find(o.Name)
		if !there {
			c.con.warn("%s is not there, and was not checked", made.path)
			continue
		}
		present++
		found, err := c.compareOutput(ctx, s, p, product{output: made}, o, &inputs)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
	}
	m, there := outputs.find(p.Mapping.Name)
	if there {
		found, err := c.compareFiles(ctx, m, s.Subject)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			if err := checkMapping(m.path, p.Mapping.Digest); err != nil {
				found = append(found, err)
			}
		}
		faults = append(faults, found...)
	} else {
		c.con.warn("%s is not there, and was not checked", m.path)
	}
	if present == 0 {
		faults = append(faults, fmt.Errorf("no output of the statement is in %s; name their directory by --outputs",
			outputs.root))
	}
	if c.inputs == "" {
		err = c.say("the inputs were not compared: give their directory by --inputs")
	}
	return faults, err
}

// compareTool compares the executable of the statement with that of --tool.
func (c *attestCheck) compareTool(s *provenance.Statement) ([]error, error) {
	stated := ""
	for _, a := range s.Predicate.Run.Builder.Dependencies {
		if a.Name == executableName {
			stated = a.Digest.SHA256
		}
	}
	if c.tool == "" {
		return nil, c.say("made by tracegen %s, whose executable has the SHA-256 %s",
			buildreport.Printable(s.Predicate.Run.Builder.Version["tracegen"]), stated)
	}
	sum, err := sumOf(c.tool)
	if err != nil {
		return nil, fmt.Errorf("--tool: %w", err)
	}
	if sum.SHA256 != stated {
		return []error{fmt.Errorf("--tool: %s has the SHA-256 %s, and the executable in the statement has %s", c.tool,
			sum.SHA256, stated)}, nil
	}
	return nil, c.say("made by tracegen %s, whose executable is %s",
		buildreport.Printable(s.Predicate.Run.Builder.Version["tracegen"]), c.tool)
}

// compareFiles compares a file or directory with the digests in the statement.
func (c *attestCheck) compareFiles(ctx context.Context, at located, stated []provenance.Artifact) ([]error, error) {
	found, err := compared(ctx, at, stated)
	if err == nil && len(found) == 0 {
		err = c.say("%s: as in the statement", buildreport.Printable(at.path))
	}
	return found, err
}

// compareOutput compares one output, and with --inputs what it was made from.
func (c *attestCheck) compareOutput(ctx context.Context, s *provenance.Statement, p *provenance.Instrumentation,
	made product, o provenance.Output, inputs *whereabouts) ([]error, error) {
	faults, err := c.compareFiles(ctx, made.output, s.Subject)
	if err != nil || c.inputs == "" {
		return faults, err
	}
	complete := true
	made.merged = p.Options["merge"] == "true"
	var names []string
	for _, name := range o.Inputs {
		if name == builtInName {
			made.builtIn = true
			names = append(names, name)
			if found := compareBuiltIn(s); found != nil {
				faults, complete = append(faults, found), false
			}
			continue
		}
		in, there := inputs.find(name)
		if !there {
			faults, complete = append(faults, fmt.Errorf("the input %s of %s is not there", in.path, made.output.path)), false
			continue
		}
		found, err := c.compareFiles(ctx, in, s.Predicate.Build.Dependencies)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
		made.inputs = append(made.inputs, in)
		names = append(names, in.path)
	}
	if !complete {
		return faults, nil
	}
	// This is also done for files that differ from the statement: it names the entries that were changed.
	r, err := made.restore(ctx, c.con, p, c.jobs)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err != nil {
		return append(faults, fmt.Errorf("%s: %w", made.output.path, err)), nil
	}
	for _, text := range r.Differences {
		faults = append(faults, errors.New(text))
	}
	if r.Earlier > 0 {
		c.con.warn("%s: %d classes of the inputs had calls of an earlier run, which the output does not have",
			made.output.path, r.Earlier)
	}
	if r.Unsigned > 0 {
		c.con.warn("%s: the inputs are signed jars; their signatures are left out", made.output.path)
	}
	if len(r.Differences) > 0 {
		return faults, nil
	}
	return faults, c.say("%s: without the calls in %d of %d classes, its %d entries are those of %s",
		buildreport.Printable(made.output.path), r.Called, r.Classes, r.Entries,
		buildreport.Printable(strings.Join(names, ", ")))
}

// compareBuiltIn returns an error if the runtime that the run added is not the one in this executable.
func compareBuiltIn(s *provenance.Statement) error {
	is := builtInArtifact()
	for _, a := range s.Predicate.Build.Dependencies {
		if a.Name == is.Name && a != is {
			return fmt.Errorf("the %s of the run has the SHA-256 %s, and that of this tracegen has %s; check it with "+
				"tracegen %s", a.Name, a.Digest.SHA256, is.Digest.SHA256, s.Predicate.Run.Builder.Version["tracegen"])
		}
	}
	return nil
}
