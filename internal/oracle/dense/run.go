package dense

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/mapping"
)

// Way is a way to run a program.
type Way string

// The ways: the program without any change, the same with JFR, and the instrumented program, with the runtime that does
// nothing, with one that gets no output and so fills a ring for the first 10 s, with one that records with default
// options, and with one that records without a gate.
const (
	Plain     Way = "plain"
	WithJFR   Way = "jfr"
	NoOp      Way = "no-op"
	Idle      Way = "idle"
	Recording Way = "recording"
	GateOff   Way = "gate off"
)

// Prepared is a program whose jars were instrumented.
type Prepared struct {
	Program
	// Mapping has the traced methods.
	Mapping *mapping.Mapping

	jdk                 oracle.JDK
	dir                 string
	plain, instrumented []string // class path
	noOp                string   // the runtime that does nothing
	args                []string
	source              string
	runs                int
}

// Release returns the release of the JDK that the program runs on.
func (r *Prepared) Release() int { return r.jdk.Feature }

// Run is one run of a program.
type Run struct {
	// CPU is the time on processors, of the program and of the system for it; Wall is from start to exit.
	CPU, Wall time.Duration
	// Text is what the program printed.
	Text string
	// File is the recording or the file of JFR, if there is one.
	File string
}

// wholeStacks is the release whose JFR walks stacks at safepoints. That of earlier ones loses the outer frames of many
// stacks, and does not mark them as cut off: in bsh 1.3.0 on release 17, main was missing in two of three.
const wholeStacks = 25

// commonFlags make runs comparable. The serial collector has no threads of its own, which would compete with the
// program and take CPU time that differs from run to run.
var commonFlags = []string{"-Xmx1g", "-Xss8m", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-Duser.language=en",
	"-Duser.country=US", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"}

// Prepare fetches a program's jars, and instruments them and the runtime with default options. Its files are below dir.
// The program runs on JDK 25 or newer if there is one, else on 17 or newer.
func Prepare(ctx context.Context, p Program, c *corpus.Corpus, dir string) (*Prepared, error) {
	jdk, err := oracle.FindJDK(wholeStacks)
	if errors.Is(err, oracle.ErrMissing) {
		jdk, err = oracle.FindJDK(17)
	}
	if err != nil {
		return nil, err
	}
	runtime, err := oracle.BuildRuntime(ctx)
	if err != nil {
		return nil, err
	}
	r := &Prepared{Program: p, jdk: jdk, dir: dir, noOp: runtime.NoOp}
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
	for _, arg := range p.Args {
		if row, ok := strings.CutPrefix(arg, "{"); ok {
			if arg, err = fetchOne(ctx, c, strings.TrimSuffix(row, "}")); err != nil {
				return nil, err
			}
		}
		r.args = append(r.args, arg)
	}
	if p.Unpack != "" {
		if r.source, err = fetchOne(ctx, c, p.Unpack); err != nil {
			return nil, err
		}
	}
	config := pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.Smart}),
		Inject: inject.Options{Exits: inject.ExitsThrows},
		Jobs:   2,
	}
	for k, in := range append(slices.Clone(r.plain), runtime.JVM) {
		out := filepath.Join(dir, strconv.Itoa(k)+"-"+filepath.Base(in))
		config.Inputs = append(config.Inputs, pipeline.Input{Path: in, Output: out})
		r.instrumented = append(r.instrumented, out)
	}
	result, err := pipeline.Run(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	r.Mapping = result.Mapping
	return r, nil
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
	case NoOp:
		path = append(slices.Clone(path[:len(path)-1]), r.noOp)
	case WithJFR:
		path, run.File = r.plain, dir+".jfr"
		flags = append(flags, oracle.JFRFlags(run.File)...)
	case Recording, GateOff:
		run.File = dir + ".tgd"
		flags = append(flags, "-Dtracegen.output="+run.File)
		if way == GateOff {
			flags = append(flags, "-Dtracegen.gate=off")
		}
	}
	cmd := exec.CommandContext(ctx, r.jdk.Tool("java"), slices.Concat(flags, r.Flags, []string{"-cp",
		strings.Join(path, string(os.PathListSeparator))}, r.args)...)
	cmd.Dir = dir
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	begin := time.Now()
	err := cmd.Run()
	run.Wall, run.Text = time.Since(begin), text.String()
	if err != nil {
		return run, fmt.Errorf("%s, %s: %w\n%s", r.Name, way, err, lastLines(run.Text))
	}
	run.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return run, os.RemoveAll(dir)
}

func lastLines(text string) string { return text[max(0, len(text)-2000):] }

func (r *Prepared) writeFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range r.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content()), 0o644); err != nil {
			return err
		}
	}
	if r.source == "" {
		return nil
	}
	return oracle.ExtractSources(r.source, filepath.Join(dir, "src"))
}
