package dense

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/record/launch"
	"github.com/tracegen/tracegen/internal/record/program"
	"github.com/tracegen/tracegen/mapping"
)

// Way is a way to run a program.
type Way string

// The ways: the program without any change, the same with JFR, and the instrumented program, with a runtime that
// records with default options, with one that does so without steady samples, and with one that does so while JFR runs
// too.
const (
	Plain     Way = "plain"
	WithJFR   Way = "jfr"
	Recording Way = "recording"
	Unsampled Way = "recording without steady samples"
	Both      Way = "recording and jfr"
)

// Prepared is a program whose jars were instrumented.
type Prepared struct {
	Program
	// Mapping has the traced methods.
	Mapping *mapping.Mapping

	traced              map[Method]bool
	jdk                 oracle.JDK
	dir                 string
	plain, instrumented []string // class path
	runtime             string   // that records
	args                []string
	source              string
	runs                int
}

// Run is one run of a program.
type Run struct {
	// CPU is the time on processors, of the program and of the system for it.
	CPU time.Duration
	// Text is what the program printed, without warnings of the JVM: these have the path of a jar.
	Text string
	// File is the recording, and JFR the file of JFR, if there is one.
	File, JFR string
}

// commonFlags make runs comparable. The serial collector has no threads of its own, which would compete with the
// program and take CPU time that differs from run to run.
var commonFlags = []string{"-Xmx1g", "-Xss8m", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-Duser.language=en",
	"-Duser.country=US", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"}

// JDKs returns the JDKs that programs run on: the oldest from 17 on, and the newest, which may be the same.
func JDKs() ([]oracle.JDK, error) {
	first, err := oracle.FindJDK(17)
	if err != nil {
		return nil, err
	}
	all, err := oracle.FindJDKs()
	if err != nil {
		return nil, err
	}
	if newest := all[len(all)-1]; newest.Feature > first.Feature {
		return []oracle.JDK{first, newest}, nil
	}
	return []oracle.JDK{first}, nil
}

// Prepare fetches a program's jars, and instruments them and the runtime with the options of record. The program runs
// on the JDK. Its files are below dir.
func Prepare(ctx context.Context, p Program, c *corpus.Corpus, jdk oracle.JDK, dir string) (*Prepared, error) {
	runtime, err := oracle.Runtime()
	if err != nil {
		return nil, err
	}
	r := &Prepared{Program: p, jdk: jdk, dir: dir}
	jars, err := c.Fetch(ctx, p.Jars...)
	if err != nil {
		return nil, err
	}
	for _, jar := range jars {
		for _, path := range append([]string{jar.Classes}, jar.DepPaths...) {
			if !slices.Contains(r.plain, path) {
				r.plain = append(r.plain, path)
			}
		}
	}
	if err := r.fetch(ctx, c); err != nil {
		return nil, err
	}
	if p.Source != "" {
		if err := r.compile(ctx); err != nil {
			return nil, err
		}
	}
	r.runtime = runtime.JVM
	if err := r.instrument(ctx, nil); err != nil {
		return nil, err
	}
	return r, nil
}

// With returns the same program, instrumented with a profile.
func (r *Prepared) With(ctx context.Context, profile *filter.Profile) (*Prepared, error) {
	next := *r
	next.dir = filepath.Join(r.dir, "profiled")
	if err := os.MkdirAll(next.dir, 0o755); err != nil {
		return nil, err
	}
	return &next, next.instrument(ctx, profile)
}

// instrument instruments the program and the runtime as record does, with a profile unless that is nil.
func (r *Prepared) instrument(ctx context.Context, profile *filter.Profile) error {
	libraries, err := r.libraries()
	if err != nil {
		return err
	}
	config := pipeline.Config{
		Filter: filter.New(filter.Options{Profile: profile, Scope: filter.ScopeOwnAndLibraries, Libraries: libraries}),
		Inject: inject.Options{Exits: inject.ExitsExact, KeepCompilable: true, Coroutines: true},
		Jobs:   2,
	}
	r.instrumented, r.traced = nil, map[Method]bool{}
	for k, in := range append(slices.Clone(r.plain), r.runtime) {
		out := filepath.Join(r.dir, strconv.Itoa(k)+"-"+filepath.Base(in))
		config.Inputs = append(config.Inputs, pipeline.Input{Path: in, Output: out})
		r.instrumented = append(r.instrumented, out)
	}
	result, err := pipeline.Run(ctx, config)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	r.Mapping = result.Mapping
	for m := range r.Mapping.All() {
		r.traced[methodOf(m.Identity)] = true
	}
	return nil
}

// libraries returns the classes of the archives that record takes for libraries.
func (r *Prepared) libraries() (map[string]bool, error) {
	gathered, err := program.Gather(r.plain, nil, r.dir, r.args[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	classes := make(map[string]bool)
	for _, file := range gathered.Libraries {
		archive, err := zip.OpenReader(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		for _, entry := range archive.File {
			classes[strings.TrimSuffix(entry.Name, ".class")] = true
		}
		archive.Close()
	}
	return classes, nil
}

// fetch fetches what the arguments stand for, and the sources that the program reads.
func (r *Prepared) fetch(ctx context.Context, c *corpus.Corpus) (err error) {
	for _, arg := range r.Args {
		if row, ok := strings.CutPrefix(arg, "{"); ok {
			if arg, err = fetchOne(ctx, c, strings.TrimSuffix(row, "}")); err != nil {
				return err
			}
		}
		r.args = append(r.args, arg)
	}
	if r.Unpack != "" {
		r.source, err = fetchOne(ctx, c, r.Unpack)
	}
	return err
}

// compile adds the class of testdata.
func (r *Prepared) compile(ctx context.Context) error {
	data, err := testdata.ReadFile("testdata/" + r.Source)
	if err != nil {
		return err
	}
	source, out := filepath.Join(r.dir, r.Source), filepath.Join(r.dir, "classes")
	if err := os.WriteFile(source, data, 0o644); err != nil {
		return err
	}
	text, err := exec.CommandContext(ctx, r.jdk.Tool("javac"), "-nowarn", "-proc:none", "-cp",
		strings.Join(r.plain, string(os.PathListSeparator)), "-d", out, source).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", r.Source, err, text)
	}
	r.plain = append(r.plain, out)
	return nil
}

func fetchOne(ctx context.Context, c *corpus.Corpus, row string) (string, error) {
	jars, err := c.Fetch(ctx, row)
	if err != nil {
		return "", err
	}
	if len(jars) != 1 {
		return "", fmt.Errorf("there is no jar %s: %w", row, oracle.ErrMissing)
	}
	return jars[0].Path, nil
}

// Run runs the program in a new directory below that of [Prepare]. It fails if the program does not end with 0.
func (r *Prepared) Run(ctx context.Context, way Way) (Run, error) {
	r.runs++
	dir := filepath.Join(r.dir, fmt.Sprint("run", r.runs))
	if err := r.writeFiles(dir); err != nil {
		return Run{}, err
	}
	var run Run
	flags, path := slices.Clone(commonFlags), r.instrumented
	switch way {
	case Plain:
		path = r.plain
	case WithJFR:
		path = r.plain
	case Recording, Unsampled, Both:
		run.File = dir + ".tgd"
		flags = append(append(flags, "-Dtracegen.output="+run.File), launch.JITOptions()...)
		if r.Threads {
			flags = append(flags, "-Dtracegen.threads=all")
		}
		if way == Unsampled {
			flags = append(flags, "-Dtracegen.stacks=off")
		}
	}
	if way == WithJFR || way == Both {
		run.JFR = dir + ".jfr"
		flags = append(flags, oracle.JFRFlags(run.JFR)...)
	}
	cmd := exec.CommandContext(ctx, r.jdk.Tool("java"), slices.Concat(flags, r.Flags, []string{"-cp",
		strings.Join(path, string(os.PathListSeparator))}, r.args)...)
	cmd.Dir = dir
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	run.Text = jvmWarning.ReplaceAllString(text.String(), "")
	if err != nil {
		return run, fmt.Errorf("%s, %s: %w\n%s", r.Name, way, err, lastLines(run.Text))
	}
	run.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return run, os.RemoveAll(dir)
}

var jvmWarning = regexp.MustCompile(`(?m)^WARNING: .*\n?`)

func lastLines(text string) string { return text[max(0, len(text)-2000):] }

func (r *Prepared) writeFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range r.files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content()), 0o644); err != nil {
			return err
		}
	}
	if r.source == "" {
		return nil
	}
	return oracle.ExtractSources(r.source, filepath.Join(dir, "src"))
}
