package main

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/classfile"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

const warmCommand = "warm"

// warmMain measures runs with --cache: one with an empty cache, some in which one jar has changed, one in which nothing
// has. Rounds are interleaved, and each changes the class again.
//
//	go run ./bench warm -runs 5
//	go run ./bench warm -jars 1 -classes 25000 -o DIR
func warmMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(warmCommand, flag.ContinueOnError)
	runs := flags.Int("runs", 5, "measured `rounds`")
	jars := flags.Int("jars", 200, "`number` of jars of the app, of which one changes")
	classes := flags.Int("classes", 60_000, "`number` of classes in all of them")
	tool := flags.String("tracegen", "./tracegen", "the tracegen `executable`")
	out := flags.String("o", today(), "`directory` for warm.md and warm.tsv")
	scratch := flags.String("scratch", "", "`directory` for inputs and outputs, 1 GB; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *jars < 1 || *classes < *jars {
		return fmt.Errorf("%d classes cannot be dealt to %d jars", *classes, *jars)
	}
	dir, err := os.MkdirTemp(*scratch, "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	app := &warmApp{tool: *tool, dir: dir, jars: *jars, classes: *classes, methods: 3}
	defer app.close()
	if err := app.deal(ctx); err != nil {
		return err
	}
	began := startWatch()
	all, err := app.measure(ctx, max(*runs, 1))
	if err != nil {
		return err
	}
	said := append(conditions(), began.conditions()...)
	table := func(w io.Writer) error { return app.print(w, said, all) }
	if err := table(os.Stdout); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(*out, "warm.md"), table); err != nil {
		return err
	}
	return writeFile(filepath.Join(*out, "warm.tsv"), func(w io.Writer) error { return printWarmRuns(w, all) })
}

// warmApp is an app of many jars, made from the classes of the corpus.
type warmApp struct {
	tool, dir     string
	jars, classes int
	opened        []*zip.ReadCloser
	first         []*zip.File // the unchanged classes of the jar that changes
	bytes         int64       // of all jars

	methods, nops int // of the class that changes
	more          int // classes of this program beside that
}

func (a *warmApp) close() {
	for _, r := range a.opened {
		r.Close()
	}
}

func (a *warmApp) path(name string) string { return filepath.Join(a.dir, name) }

func (a *warmApp) jar(i int) string { return a.path(fmt.Sprintf("in%03d.jar", i)) }

// deal distributes the corpus's classes to the jars in their order, each name once, without compressing them anew.
func (a *warmApp) deal(ctx context.Context) error {
	known, err := corpus.Load()
	if err != nil {
		return err
	}
	jars, err := known.Fetch(ctx, known.Names(true)...)
	if err != nil {
		return err
	}
	var all []*zip.File
	seen := map[string]bool{}
	for _, j := range jars {
		r, err := zip.OpenReader(j.Classes)
		if err != nil {
			return err
		}
		a.opened = append(a.opened, r)
		for _, f := range r.File {
			if strings.HasSuffix(f.Name, ".class") && !strings.HasPrefix(f.Name, "META-INF/") &&
				f.Name != "module-info.class" && !seen[f.Name] {
				seen[f.Name] = true
				all = append(all, f)
			}
		}
	}
	if len(all) < a.classes {
		return fmt.Errorf("the corpus has %d classes of different names, %d are needed", len(all), a.classes)
	}
	each := a.classes / a.jars
	var names strings.Builder
	for i := range a.jars {
		list := all[i*each : (i+1)*each]
		if i == 0 {
			a.first = list[1:]
			err = a.writeFirst()
		} else {
			err = writeClasses(a.jar(i), list)
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(a.jar(i))
		if err != nil {
			return err
		}
		a.bytes += info.Size()
		fmt.Fprintln(&names, a.jar(i))
	}
	return os.WriteFile(a.path("inputs.txt"), []byte(names.String()), 0o666)
}

// writeClasses writes a jar of classes of this program and unchanged ones.
func writeClasses(path string, classes []*zip.File, ours ...assembly.Class) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	w := zip.NewWriter(out)
	for _, c := range ours {
		var e io.Writer
		if err == nil {
			e, err = w.Create(c.Name + ".class")
		}
		if err == nil {
			_, err = e.Write(c.Bytes())
		}
	}
	for _, f := range classes {
		if err == nil {
			err = w.Copy(f)
		}
	}
	return errors.Join(err, w.Close(), out.Close())
}

// writeFirst writes the jar that changes.
func (a *warmApp) writeFirst() error {
	c := assembly.Class{Name: "warm/Edited"}
	for i := range a.methods {
		c.Methods = append(c.Methods, assembly.Method{Access: classfile.AccPublic | classfile.AccStatic,
			Name:       fmt.Sprintf("m%d", i),
			Descriptor: "()V", Code: strings.Repeat("nop | ", 20+a.nops) + "return"})
	}
	ours := []assembly.Class{c}
	for i := range a.more {
		ours = append(ours, assembly.Class{Name: fmt.Sprintf("warm/New%d", i), Methods: c.Methods[:1]})
	}
	return writeClasses(a.jar(0), a.first, ours...)
}

// warmRow is one kind of run, and the preparation before each.
type warmRow struct {
	name   string
	before func() error
	args   []string
}

func (a *warmApp) rows() []warmRow {
	instrument := func(out string, more ...string) []string {
		return append([]string{a.tool, "instrument", "@" + a.path("inputs.txt"), "-q", "--runtime-external", "-o",
			a.path(out) + string(filepath.Separator)}, more...)
	}
	remove := func(names ...string) func() error {
		return func() error {
			var errs []error
			for _, name := range names {
				errs = append(errs, os.RemoveAll(a.path(name)))
			}
			return errors.Join(errs...)
		}
	}
	kept := instrument("out", "--cache", a.path("kept"))
	return []warmRow{
		{"without a cache", remove("plain"), instrument("plain")},
		{"cold: the cache is empty", remove("out", "kept"), kept},
		{"warm: the code of one class changed", func() error { a.nops++; return a.writeFirst() }, kept},
		{"warm: a method is new in one class", func() error { a.methods++; return a.writeFirst() }, kept},
		{"warm: a class is new", func() error { a.more++; return a.writeFirst() }, kept},
		{"warm: nothing changed", remove(), kept},
	}
}

func (a *warmApp) measure(ctx context.Context, runs int) ([]series, error) {
	rows := a.rows()
	all := make([]series, len(rows))
	for i, r := range rows {
		all[i] = series{row: row{input: a.path("inputs.txt"), name: r.name},
			contestant: contestant{command: func(job) *exec.Cmd {
				return exec.CommandContext(ctx, r.args[0], r.args[1:]...)
			}}}
	}
	for n := range runs {
		fmt.Fprintf(os.Stderr, "bench: warm runs: round %d of %d\n", n+1, runs)
		for i, r := range rows {
			if err := errors.Join(ctx.Err(), r.before()); err != nil {
				return nil, err
			}
			if all[i].once(); all[i].failed != nil {
				return nil, all[i].failed
			}
		}
	}
	return all, nil
}

func (a *warmApp) print(w io.Writer, said []string, all []series) error {
	fmt.Fprintf(w, "# Measured %s, %d runs each, interleaved: min-**median**-max\n\n",
		time.Now().UTC().Format(time.DateOnly), len(all[0].runs))
	for _, c := range said {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, "\n## builds of %d classes in %d jars, %.1f MB, with --cache\n\n", a.classes, a.jars,
		float64(a.bytes)/mega)
	fmt.Fprintln(w, "| run | wall ms | user+sys ms | peak MB |")
	fmt.Fprintln(w, "|---|---|---|---|")
	for _, s := range all {
		low, wall, high := s.spread(wallSeconds)
		fmt.Fprintf(w, "| %s | %.0f-**%.0f**-%.0f | %.0f | %.0f |\n", s.name, 1000*low, 1000*wall, 1000*high,
			1000*s.median(cpuSeconds),
			s.median(peakMB))
	}
	return nil
}

// printWarmRuns writes a line for each run.
func printWarmRuns(w io.Writer, all []series) error {
	b := bufio.NewWriter(w)
	for _, c := range conditions() {
		fmt.Fprintf(b, "# %s\n", c)
	}
	fmt.Fprintln(b, "question\trun\twall_s\tuser_s\tsys_s\tpeak_bytes\tlines")
	for _, s := range all {
		for i, r := range s.runs {
			fmt.Fprintf(b, "%s\t%d\t%.4f\t%.4f\t%.4f\t%d\t%d\n", s.name, i+1, r.wall.Seconds(), r.user.Seconds(),
				r.sys.Seconds(), r.peak, strings.Count(s.said, "\n"))
		}
	}
	return b.Flush()
}
