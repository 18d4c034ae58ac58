package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tracegen/tracegen/internal/recording/resolve"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/mapping"
)

// compareHTML is the format of compare that is a page.
const compareHTML = "html"

func newCompareCmd(con *console) *cobra.Command {
	c := comparing{con: con}
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare the method times and stalls of two builds",
		Long: `compare reads the recordings of two builds, OLD and NEW, each a file or a directory. It
reports which methods take more or less time, by how much and with which certainty, and
which stalls are new, more frequent or gone. Methods are matched by their names, so that
the builds may have different IDs. Methods that a compiler numbers (lambda$f$1) are
matched by their code, if the mappings have it. Files may be compressed (.gz), and OLD or
NEW may be - for standard input.

compare compares the self time of a method per unit of work. The unit is a recording if
each side has at least five, or else a message; on threads without a looper, it is an
outermost call. A change is

  sure     it is significant after correction for the number of methods: of thousands,
           some differ by chance (Welch's test, correction by Benjamini and Hochberg at
           5 %)
  likely   it would be significant if this were the only method
  noise    it may be chance; these changes are counted, and shown with --all

Only methods and stalls that have changed are listed; the others are counted. Methods that
are known to wait for most of their own time (in sleep, in park, for a lock, for I/O) come
behind those that run or of which that is not known: recordings show it of stalls alone.

With --format html, compare writes a page with a flame graph of both builds: calls that
take longer now are red, those that took longer before are blue, and the width is the
time in the new build, or at a key that in the old one. Open the page in a browser.

A recording whose mapping is not given is skipped with a warning, and the exit code is 1.

Each change has an interval that contains the true change with 95 % confidence. Messages
of one recording depend on each other, so that --by message overstates the certainty.

With --exit-code, the exit code is 1 if a method is surely slower.`,
		Example: `  tracegen compare baseline/ candidate/ --mapping mappings/
  tracegen compare old.tgd new.tgd --old-mapping old.txt --new-mapping new.txt
  tracegen compare baseline/ candidate/ --mapping mappings/ --format html -o diff.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misuse("give two files or directories of recordings; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	c.options().addTo(cmd, 0)
	return cmd
}

// comparing holds the options of the command.
type comparing struct {
	con                    *console
	naming                 naming
	oldMapping, newMapping string
	format, output         string
	unit                   group.Unit
	top                    int
	all, exitCode          bool
	recordings, skipped    int // how many there are, and how many have no mapping
}

func (c *comparing) options() options {
	return newOptions(grouped("Output",
		option{name: "format", help: "output format",
			flag: oneOf(&c.format, groupText, named[string]{groupText, groupText},
				named[string]{groupJSON, groupJSON}, named[string]{compareHTML, compareHTML})},
		resultOption(&c.output),
		option{name: "top", flag: number(&c.top, 20), help: "number of methods and stalls of each kind; 0 is all"},
		option{name: "all", flag: yes(&c.all), help: "also show changes that may be chance"},
		option{name: "by", help: "unit of work; the default depends on the number of recordings",
			flag: oneOf(&c.unit, "", named[group.Unit]{"recording", group.UnitRecording},
				named[group.Unit]{"message", group.UnitMessage})},
		option{name: "exit-code", flag: yes(&c.exitCode), help: "exit with 1 if a method is surely slower"},
	), c.naming.options(
		option{name: "old-mapping", flag: text(&c.oldMapping, ""), file: fileRead,
			extensions: []string{"txt"},
			help:       "method mapping `FILE` of OLD, in place of --mapping"},
		option{name: "new-mapping", flag: text(&c.newMapping, ""), file: fileRead,
			extensions: []string{"txt"},
			help:       "method mapping `FILE` of NEW, in place of --mapping"},
	))
}

func (c *comparing) run(ctx context.Context, args []string) error {
	if c.top < 0 {
		return misuse("--top %d: must not be negative", c.top)
	}
	if args[0] == standardInput && args[1] == standardInput {
		return misuse("standard input can be read only once")
	}
	var sides [2][]recording
	for i, arg := range args {
		found, err := findRecordings([]string{arg})
		if err != nil {
			return err
		}
		sides[i] = found
	}
	if c.unit == "" {
		c.unit = group.UnitMessage
		if min(len(sides[0]), len(sides[1])) >= group.LeastUnits {
			c.unit = group.UnitRecording
		}
	}
	files := filesOf(slices.Concat(sides[0], sides[1]))
	if c.output != standardOutput {
		read := append(onDisk(files), cmp.Or(c.oldMapping, c.naming.mapping),
			cmp.Or(c.newMapping, c.naming.mapping))
		if c.naming.r8 != "" {
			read = append(read, c.naming.r8)
		}
		if err := checkNotRead([]target{{"--output", c.output}}, read); err != nil {
			return err
		}
		if err := c.con.checkWritable(destination{}, []target{{"--output", c.output}}); err != nil {
			return err
		}
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	advance, done := c.con.progress("comparing")
	defer done()
	r := reading{ctx: ctx, advance: advance, total: recordingSize(files)}
	old, oldMappings, err := c.sample(&r, sides[0], c.oldMapping)
	if err != nil {
		return refusal(err)
	}
	new, newMappings, err := c.sample(&r, sides[1], c.newMapping)
	if err != nil {
		return refusal(err)
	}
	comparison := group.Compare(old, new, renumbered(oldMappings, newMappings))
	done()
	return c.write(comparison)
}

// sample reads the recordings of one side.
func (c *comparing) sample(r *reading, recordings []recording, from string) (*group.Sample, *resolve.Mappings, error) {
	naming := c.naming
	naming.mapping = cmp.Or(from, naming.mapping)
	naming.flag = &pflag.Flag{Changed: from != "" || c.naming.flag.Changed}
	o, err := naming.openAll(r.ctx, c.con)
	if err != nil {
		return nil, nil, err
	}
	sample := &group.Sample{Unit: c.unit, Paths: c.format == compareHTML}
	o.Stall, o.Also = sample.Stall, sample.Add
	o.End = func(rec *analysis.Recording) error {
		for _, text := range rec.Warnings() {
			c.con.warn("%s", text)
		}
		return sample.End(rec)
	}
	var mismatch *resolve.MismatchError
	for _, of := range recordings {
		c.recordings++
		err := r.analyze(of, c.con.in, o)
		if errors.As(err, &mismatch) {
			// Nothing of it was added to the sample.
			c.skipped++
			c.con.warn("skipped: %v", mismatch)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if sample.Recordings == 0 && mismatch != nil {
		return nil, nil, mismatch
	}
	return sample, o.Mappings, nil
}

// renumbered returns the differences of the mappings if each side has one: they show which methods have another number.
func renumbered(old, new *resolve.Mappings) *mapping.Comparison {
	a, b := old.Loaded(), new.Loaded()
	if len(a) != 1 || len(b) != 1 {
		return nil
	}
	return mapping.Compare(a[0], b[0])
}

func (c *comparing) write(comparison *group.Comparison) error {
	err := writeTo(c.con, c.output, func(w io.Writer) error {
		switch c.format {
		case groupJSON:
			return comparison.WriteJSON(w, c.top)
		case compareHTML:
			return comparison.WriteHTML(w, c.top)
		}
		return comparison.WriteText(w, c.top, c.all)
	})
	if err != nil {
		return err
	}
	if c.skipped > 0 {
		err = checkFailed{fmt.Errorf("%d of %d recordings were skipped", c.skipped, c.recordings)}
	}
	if slower := comparison.Slower(); c.exitCode && len(slower) > 0 {
		return checkFailed{fmt.Errorf("%s and %d more are surely slower", slower[0].Name(), len(slower)-1)}
	}
	return err
}
