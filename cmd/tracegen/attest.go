package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tracegen/tracegen/internal/collect"
	"github.com/tracegen/tracegen/internal/gz"
	"github.com/tracegen/tracegen/internal/provenance"
	"github.com/tracegen/tracegen/internal/report"
	"github.com/tracegen/tracegen/internal/runtimejars"
	"github.com/tracegen/tracegen/mapping"
)

func newAttestCmd(con *console) *cobra.Command {
	a := attesting{con: con}
	cmd := &cobra.Command{
		Use:   "attest --report REPORT --key KEY -o FILE",
		Short: "Sign what an instrumented build was made from",
		Long: `attest writes a signed statement about a run of instrument: the SHA-256 of each input, of
each output, of the method mapping and of tracegen's executable, the version, the options
and the rules. It reads the report of the run, and the files where the report names them.

Before it signs, attest does what attest check does: it removes the calls from each output
and compares the result with the inputs. It signs nothing that this check would refuse.

The statement is an in-toto Statement v1 with SLSA provenance v1, in a DSSE envelope that
is signed with ECDSA P-256. docs/provenance.md has the format, and how to check it with
other programs.`,
		Example: `  tracegen collect keygen -o signing.pem > signing.pub
  tracegen instrument app.jar -o out/app.jar --report out/report.json
  tracegen attest --report out/report.json --key signing.pem -o out/provenance.json
  tracegen attest check out/provenance.json --public-key signing.pub --inputs .`,
		Args: noArguments,

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context()) },
	}
	a.rows = a.options()
	a.rows.addTo(cmd, 0)
	cmd.AddCommand(newAttestCheckCmd(con))
	return cmd
}

// attesting holds the options of the command.
type attesting struct {
	con                               *console
	rows                              options
	report, key, output, runtimeClass string
	jobs                              int
}

func (a *attesting) options() options {
	jobs := jobsOption(&a.jobs)
	jobs.commands = 0 // it has no table of several commands
	return newOptions([]option{
		{name: "report", flag: text(&a.report, ""), file: fileRead, extensions: []string{"json"},
			help: "the `FILE` that instrument --report has written"},
		{name: "key", flag: text(&a.key, ""), file: fileRead,
			help: "sign with the private key in `FILE`, PEM; tracegen collect keygen makes one"},
		{name: "output", short: "o", flag: text(&a.output, ""), file: fileOutput, extensions: []string{"json"},
			help: "write the signed statement to `FILE`"},
		{name: "runtime-class", flag: text(&a.runtimeClass, ""),
			help: "the `CLASS` that the outputs call, if R8 or ProGuard had renamed it in the inputs (default: that of the " +
				"report)"},
		jobs,
		quietOption(a.con, 0),
	})
}

func (a *attesting) run(ctx context.Context) error {
	switch {
	case a.report == "":
		return misuse("no --report given")
	case a.key == "":
		return misuse("no --key given")
	case a.output == "":
		return misuse("no --output given")
	case a.jobs < 0:
		return misuse("--jobs %d: must not be negative", a.jobs)
	}
	build, err := a.read()
	if err != nil {
		return err
	}
	key, err := collect.LoadKey(a.key)
	if err != nil {
		return err
	}
	products, m, err := a.files(build)
	if err != nil {
		return err
	}
	read := append(a.rows.files(fileRead), m.path)
	for _, p := range products {
		read = append(read, p.output.path)
		for _, in := range p.inputs {
			read = append(read, in.path)
		}
	}
	if err := checkNotRead(a.rows.targets(fileOutput), read); err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	undo, err := makeDirectories(a.rows.targets(fileOutput))
	if err != nil {
		return err
	}
	defer undo()
	if err := a.con.checkWritable(destination{}, a.rows.targets(fileOutput)); err != nil {
		return err
	}
	s, err := a.statement(ctx, build, products, m)
	if err != nil {
		return err
	}
	text, err := s.Encode()
	if err != nil {
		return err
	}
	signed, err := provenance.Sign(text, key)
	if err != nil {
		return err
	}
	if err := writeTo(a.con, a.output, func(w io.Writer) error {
		_, err := w.Write(signed.Encode())
		return err
	}); err != nil || a.con.quiet {
		return err
	}
	_, err = fmt.Fprintf(a.con.out, "%s: %d files written from %d files, signed with the key %s\n",
		report.Printable(a.output), len(s.Subject), len(s.Predicate.Build.Dependencies), signed.KeyID())
	return err
}

// read reads the report. Another version of tracegen cannot state what this executable has done.
func (a *attesting) read() (*report.Build, error) {
	f, err := gz.Open(a.report)
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	defer f.Close()
	saved, err := report.ReadSaved(f)
	if err != nil {
		return nil, fmt.Errorf("--report: %s: %w", a.report, err)
	}
	build, err := saved.Build()
	if err != nil {
		return nil, fmt.Errorf("--report: %s: %w", a.report, err)
	}
	if build.Version != version() {
		return nil, fmt.Errorf("--report: %s: tracegen %s wrote it, and this is tracegen %s; use the one that wrote it",
			a.report, report.Printable(build.Version), version())
	}
	return build, nil
}

// files returns the outputs of the run with their inputs, and the mapping, with their names.
func (a *attesting) files(build *report.Build) ([]product, located, error) {
	paths := []string{build.Mapping}
	for _, f := range build.Files {
		paths = append(paths, filepath.Clean(f.Path), filepath.Clean(f.Output))
	}
	if r := build.Runtime; r != nil {
		paths = append(paths, filepath.Clean(r.Output))
	}
	names, err := statedNames(paths)
	if err != nil {
		return nil, located{}, err
	}
	at := func(file string) located { return located{names[filepath.Clean(file)], filepath.Clean(file)} }
	var products []product
	merged := build.Options["merge"] == "true"
	for i, f := range build.Files {
		if merged && i > 0 {
			products[0].inputs = append(products[0].inputs, at(f.Path))
			continue
		}
		products = append(products, product{output: at(f.Output), inputs: []located{at(f.Path)}, merged: merged})
	}
	switch r := build.Runtime; {
	case r != nil && merged:
		products[0].builtIn = true
	case r != nil:
		products = append(products, product{output: at(r.Output), builtIn: true})
	}
	return products, located{names[build.Mapping], build.Mapping}, nil
}

// statement returns the statement about the run, after it has compared each output with its inputs.
func (a *attesting) statement(ctx context.Context, build *report.Build, products []product, m located) (
	*provenance.Statement, error) {
	p := &provenance.Instrumentation{Options: build.Options, Rules: append([]string{}, build.Rules...),
		RuntimeClass: cmp.Or(a.runtimeClass, build.Options["runtime-class"]),
		Mapping:      provenance.Mapping{Name: m.name, Digest: build.MappingDigest}}
	for _, made := range products {
		o := provenance.Output{Name: made.output.name, Inputs: []string{}}
		for _, in := range made.inputs {
			o.Inputs = append(o.Inputs, in.name)
		}
		if made.builtIn {
			o.Inputs = append(o.Inputs, builtInName)
		}
		p.Outputs = append(p.Outputs, o)
	}
	s := provenance.New(provenance.Instrument, p)
	var err error
	if s.Subject, s.Predicate.Build.Dependencies, err = digests(ctx, products, m); err != nil {
		return nil, err
	}
	if err := checkMapping(m.path, build.MappingDigest); err != nil {
		return nil, err
	}
	described := located{filepath.Base(a.report), a.report}
	if s.Predicate.Run.Byproducts, err = described.artifacts(ctx); err != nil {
		return nil, err
	}
	sum, err := executableSum(nil)
	if err != nil {
		return nil, err
	}
	builder := &s.Predicate.Run.Builder
	builder.Version["tracegen"] = build.Version
	builder.Dependencies = []provenance.Artifact{{Name: executableName, Digest: provenance.Digest{SHA256: sum}}}
	for _, made := range products {
		r, err := made.restore(ctx, a.con, p, a.jobs)
		if err != nil {
			return nil, err
		}
		if len(r.Differences) > 0 {
			return nil, fmt.Errorf("nothing was signed: %s is not what instrument makes of its inputs: %s",
				made.output.path, strings.Join(r.Differences, "; "))
		}
	}
	// What was compared must be what is signed.
	subjects, dependencies, err := digests(ctx, products, m)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(subjects, s.Subject) || !slices.Equal(dependencies, s.Predicate.Build.Dependencies) {
		return nil, errors.New("an input or output changed while tracegen was running; run it again when nothing else " +
			"writes them")
	}
	return s, nil
}

// executableName is the name of tracegen's executable in statements.
const executableName = "tracegen"

// digests returns the files that were written, and those that were read.
func digests(ctx context.Context, products []product, m located) (written, read []provenance.Artifact, err error) {
	var wanted []located
	for _, made := range products {
		wanted = append(wanted, made.output)
	}
	wanted = append(wanted, m)
	if written, err = artifactsOf(ctx, wanted); err != nil {
		return nil, nil, err
	}
	wanted = nil
	for _, made := range products {
		wanted = append(wanted, made.inputs...)
	}
	if read, err = artifactsOf(ctx, wanted); err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(products, func(made product) bool { return made.builtIn }) {
		read = append(read, builtInArtifact())
	}
	return written, read, nil
}

// artifactsOf returns the files that the files and directories consist of, each once: an input may be given twice.
func artifactsOf(ctx context.Context, wanted []located) ([]provenance.Artifact, error) {
	list := []provenance.Artifact{}
	seen := map[provenance.Artifact]bool{}
	for _, l := range wanted {
		added, err := l.artifacts(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range added {
			if !seen[a] {
				seen[a] = true
				list = append(list, a)
			}
		}
	}
	return list, nil
}

// builtInArtifact returns the built-in runtime as a file that was read.
func builtInArtifact() provenance.Artifact {
	return provenance.Artifact{Name: builtInName, Digest: provenance.SumOf(runtimejars.JVM().Data)}
}

// checkMapping returns an error if a file is not a mapping with the digest.
func checkMapping(file, digest string) error {
	m, err := mapping.Load(file)
	if err != nil {
		return err
	}
	if m.Digest() != digest {
		return fmt.Errorf("%s: the mapping has the digest %s, and that of the run has %s", file, m.Digest(), digest)
	}
	return nil
}

// failedChecks returns the error of a check that failed, nil if there are no faults.
func failedChecks(faults []error) error {
	if len(faults) == 0 {
		return nil
	}
	return checkFailed{errors.Join(faults...)}
}
