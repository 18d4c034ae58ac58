package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
)

// scopeCommand shows what each line of the lists about libraries (filter/lists) decides.
const scopeCommand = "libraries"

// scopeLibraries are the libraries that bench/testdata/scope/Libraries.java uses.
var scopeLibraries = []string{"rxjava-3.1.10", "okhttp-4.12.0", "okio-jvm-3.9.0", "gson-2.11.0", "kotlin-stdlib-2.2.20"}

// scopeMain records a program that uses libraries, with all of their methods traced, and compares the recording with
// what the scope own-and-libraries decides about each method:
//
//	go run ./bench libraries
//
// A line of families.tsv is right if its methods are called often and take little by themselves. The numbers of methods
// follow from the class files and are the same in each run; calls and times are those of one recording.
func scopeMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(scopeCommand, flag.ContinueOnError)
	out := flags.String("o", filepath.Join(today(), "libraries.md"), "`file` to write")
	tool := flags.String("tracegen", "", "the tracegen `executable`; empty: built here")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tracegen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *tool == "" {
		if *tool, err = buildTool(ctx, dir); err != nil {
			return err
		}
	}
	s := &scopeRun{tool: *tool, dir: dir}
	if err := s.compile(ctx); err != nil {
		return err
	}
	decisions, err := s.decide(ctx)
	if err != nil {
		return err
	}
	recorded, err := s.record(ctx)
	if err != nil {
		return err
	}
	return writeFile(*out, func(w io.Writer) error { return printScope(w, decisions, recorded) })
}

// scopeRun is one run of the command.
type scopeRun struct {
	tool, dir string
	jdk       oracle.JDK
	program   string   // the directory of the program's classes
	libraries []string // jars
}

// compile fetches the libraries and compiles the program.
func (s *scopeRun) compile(ctx context.Context) error {
	list, err := corpus.Load()
	if err != nil {
		return err
	}
	jars, err := list.Fetch(ctx, scopeLibraries...)
	if err != nil {
		return err
	}
	for _, jar := range jars {
		s.libraries = append(append(s.libraries, jar.Classes), jar.DepPaths...)
	}
	if s.jdk, err = oracle.FindJDK(17); err != nil {
		return err
	}
	root, err := oracle.Root()
	if err != nil {
		return err
	}
	s.program = filepath.Join(s.dir, "program")
	_, err = s.run(ctx, s.jdk.Tool("javac"), "-nowarn", "-d", s.program, "-cp", s.paths(),
		filepath.Join(root, "bench", "testdata", "scope", "Libraries.java"))
	return err
}

func (s *scopeRun) paths() string { return strings.Join(s.libraries, string(os.PathListSeparator)) }

func (s *scopeRun) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.dir
	text, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, failed.Stderr)
	}
	return text, err
}

// tracedMethods is what stands for the detail of a method that is traced.
const tracedMethods = "traced"

// decide returns what the scope own-and-libraries decides about each method of the libraries that would be traced
// otherwise, by class, name and descriptor: the detail, or tracedMethods.
func (s *scopeRun) decide(ctx context.Context) (map[string]string, error) {
	reports := filepath.Join(s.dir, "reports")
	args := append([]string{"instrument", s.program}, s.libraries...)
	args = append(args, "-o", filepath.Join(s.dir, "out")+"/", "--libraries", s.paths(), "--scope", "own-and-libraries",
		"--reports", reports, "--mapping", filepath.Join(s.dir, "mapping.txt"), "--verify", "equivalence", "-q")
	if _, err := s.run(ctx, s.tool, args...); err != nil {
		return nil, err
	}
	decisions := make(map[string]string)
	mapping, err := os.ReadFile(filepath.Join(s.dir, "mapping.txt"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mapping)) {
		// ID, access flags, and class, name and descriptor
		if fields := strings.SplitN(strings.TrimSpace(line), ",", 3); len(fields) == 3 && line[0] != '#' {
			decisions[fields[2]] = tracedMethods
		}
	}
	skipped, err := os.ReadFile(filepath.Join(reports, "skipped.tsv"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(skipped)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) == 5 && fields[3] == "library" {
			decisions[strings.Join(fields[:3], " ")] = fields[4]
		}
	}
	return decisions, nil
}

// scopeMethod is what a recording says of a method.
type scopeMethod struct {
	Method struct{ Class, Name, Descriptor string }
	Calls  int
	Self   int64 `json:"selfNanos"`
}

// record returns the methods of a recording in which all methods are traced.
func (s *scopeRun) record(ctx context.Context) ([]scopeMethod, error) {
	args := []string{"record", "-q", "-o", filepath.Join(s.dir, "scope.tgd"), "--tick", "us", "--format", "json",
		"--answer", filepath.Join(s.dir, "answer.json"), "--cache", filepath.Join(s.dir, "cache")}
	for _, part := range []string{"write", "fetch", "sort", "operators", "texts"} {
		args = append(args, "--message", "Libraries#"+part)
	}
	// Every call is needed: nothing is let go, and no ring is full.
	args = append(args, "--", s.jdk.Tool("java"), "-Xmx1g", "-Dtracegen.gate=off", "-Dtracegen.ring=8388608",
		"-Dtracegen.memory=512M", "-cp", s.program+string(os.PathListSeparator)+s.paths(), "Libraries")
	if _, err := s.run(ctx, s.tool, args...); err != nil {
		return nil, err
	}
	text, err := s.run(ctx, s.tool, "analyze", filepath.Join(s.dir, "scope.tgd"), "--mapping",
		filepath.Join(s.dir, "scope-mapping.txt"), "--format", "json", "--top", "1000000")
	if err != nil {
		return nil, err
	}
	var answer struct{ Methods []scopeMethod }
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	return answer.Methods, nil
}

// scopeSum sums up the methods about which one line of the lists decides.
type scopeSum struct {
	methods, called, calls int
	self                   int64
}

// printScope writes a table with a line for each line of the lists that decides about a method.
func printScope(w io.Writer, decisions map[string]string, recorded []scopeMethod) error {
	sums := make(map[string]*scopeSum)
	all := &scopeSum{}
	of := func(detail string) *scopeSum {
		if sums[detail] == nil {
			sums[detail] = &scopeSum{}
		}
		return sums[detail]
	}
	for method, detail := range decisions {
		if !strings.HasPrefix(method, "Libraries") {
			of(detail).methods++
			all.methods++
		}
	}
	for _, m := range recorded {
		// The lists have dots in descriptors.
		name := m.Method.Class + " " + m.Method.Name + " " + strings.ReplaceAll(m.Method.Descriptor, "/", ".")
		detail, known := decisions[name]
		if !known || strings.HasPrefix(m.Method.Class, "Libraries") {
			continue
		}
		for _, sum := range []*scopeSum{of(detail), all} {
			sum.called++
			sum.calls += m.Calls
			sum.self += m.Self
		}
	}
	details := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b].methods, sums[a].methods), cmp.Compare(a, b))
	})
	fmt.Fprintf(w, "# What the lists about libraries decide\n\n`go run ./bench libraries`: %s, used by\n"+
		"[Libraries.java](../../testdata/scope/Libraries.java), recorded with all methods traced. The numbers of methods\n"+
		"follow from the class files; calls and times are those of one run, the times with the cost of recording.\n\n",
		strings.Join(scopeLibraries, ", "))
	fmt.Fprintln(w, "| decision | methods | of them called | calls | own time, ms | own time a call, ns |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	line := func(name string, s *scopeSum) {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d |\n", name, s.methods, s.called, s.calls, s.self/1e6,
			s.self/int64(max(s.calls, 1)))
	}
	line("all", all)
	for _, detail := range details {
		line(detail, sums[detail])
	}
	return nil
}
