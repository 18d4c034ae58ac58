package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/record/launch"
	"github.com/tracegen/tracegen/internal/record/program"
	"github.com/tracegen/tracegen/internal/userfile"
)

// Build instruments a program by the options that record has in common with instrument.
type Build interface {
	// AddOptions adds the options to the flags of the command.
	AddOptions(cmd *cobra.Command)
	// Resolve reads tracegen.yml and what the options name. Calls of methods that match messages are messages, and
	// classes are looked up in the JDK; "" is the one that the user would run.
	Resolve(messages []string, jdk string) error
	// Cache returns the directory of --cache, or "", and the limit of its size.
	Cache() (directory string, size int64)
	// Key returns everything but the program that decides what is written.
	Key() ([]string, error)
	// Instrument writes the outputs of the inputs, and the mapping. libraries are those of the inputs that are libraries.
	// It keeps results in the directory of a cache.
	Instrument(ctx context.Context, inputs []pipeline.Input, libraries []string, mapping, cache string, size int64) (
		*pipeline.Result, error)
}

// Analysis writes what analyze reports about recordings.
type Analysis struct {
	// Formats are the values of --format.
	Formats []string
	// Run writes an answer.
	Run func(ctx context.Context, con *console.Console, answer cli.Answer) error
}

// NewCommand returns the command record.
func NewCommand(con *console.Console, build Build, analysis Analysis) *cobra.Command {
	r := recorder{con: con, build: build, analysis: analysis}
	cmd := &cobra.Command{
		Use:   "record [FLAGS] -- java ARGUMENTS...",
		Short: "Instrument a Java program, run it, and report what was slow",
		Long: `record runs a Java program with its methods traced, and reports what took long when
the program has ended. It takes the java command as you type it: -jar, -cp and
--class-path with their wildcards, the variable CLASSPATH, the Class-Path of
manifests, -m with -p, argument files, JDK_JAVA_OPTIONS, and archives in
archives, as Spring Boot packs them.

record instruments what the class path names, with tracegen.yml of the working
directory, and keeps the result in a cache. A program that has not changed is
reused. The program runs from its original archives: a Java agent replaces a class
when the JVM loads it. The JDK's own classes are not instrumented.

The program has the terminal, the working directory and the environment of tracegen.
Ctrl-C ends the program, and record goes on: it waits for the program's end and
analyzes the recording. The recording stays, with the mapping that analyze needs, as
NAME.tgd and NAME-mapping.txt, with the name of the archive or of the main class. If
methods were called so often that recording cost much, NAME-profile.txt names them: with
--profile, the next recording leaves them out.

A command that is not java, such as a start script, is run with JAVA_TOOL_OPTIONS,
which every JVM reads. --also must name the archives then, as record cannot see them.
PATH and variables such as JAVA_HOME lead to a java that hides this variable when it
only prints its version.

The exit code is 0 if the program was recorded and ended with 0, or because it was
interrupted; it is 1 if the program failed, or if a check of analyze failed. It is 2
if nothing was recorded. The program's own exit code is printed.`,
		Example: `  tracegen record -- java -jar app.jar ARGUMENTS
  tracegen record --slow 100ms -- java -Xmx1g -cp 'lib/*' com.example.Main
  tracegen record -o startup.tgd --format table -- java -jar app.jar
  tracegen record --also 'lib/*' -- bin/app`,
		Args: cli.AtLeastOne("command"),
	}
	cmd.Flags().SetInterspersed(false) // what follows the program belongs to it
	cmd.SetFlagErrorFunc(optionOfJava)
	r.rows = r.options()
	r.rows.AddTo(cmd, 0)
	build.AddOptions(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) }
	return cmd
}

// optionOfJava returns the error for a flag that could not be parsed. If record has no such flag it may be one of java.
func optionOfJava(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	jar := errors.As(err, &invalid) && invalid.GetValue() == "ar" // -j with the value ar
	unknown := errors.As(err, new(*pflag.NotExistError))
	err = cli.FlagError(cmd, err)
	if jar || unknown && !strings.Contains(err.Error(), "did you mean") {
		return cli.Misuse("%w; put -- before java, and its options behind it: tracegen record -- java -jar app.jar", err)
	}
	return err
}

// recorder holds the options of record, and what follows from them.
type recorder struct {
	con      *console.Console
	build    Build
	analysis Analysis
	rows     cli.Options

	output, answer, format string
	also                   []string
	slow                   slowness
	threads, tick          string
	messages               []string

	command    *launch.Command // nil if the command is not java
	args       []string
	containers []string // the archives and directories that are instrumented
	named      []string // those of them that --also names
	recording  string   // the file
	// recordings are the files of this run, one of each recording: a start script may start several JVMs.
	recordings []string
	mapping    string // likewise
	kept       string // the directory of the instrumented program
	summary    programSummary
}

func (r *recorder) options() cli.Options {
	word := func(p *string, standard string, words ...string) *pflag.Flag {
		var values []cli.Named[string]
		for _, w := range words {
			values = append(values, cli.Word(w, w))
		}
		return cli.OneOf(p, standard, values...)
	}
	r.slow = slowness(700 * time.Millisecond)
	return cli.NewOptions(cli.Grouped("Recording",
		cli.Option{Name: "output", Short: "o", Flag: cli.Text(&r.output, ""), File: cli.FileOutput,
			Help: "record into `FILE` (default NAME.tgd in the working directory); a recording that is there is " +
				"renamed to FILE.1; the mapping is written beside it"},
		cli.Option{Name: "slow", Flag: cli.Custom(&r.slow),
			Help: "report outermost calls, or messages, of at least this `TIME` as stalls"},
		cli.Option{Name: "threads", Flag: word(&r.threads, "all", "main", "all", "all,virtual"),
			Help: "threads to record; all has no virtual threads"},
		cli.Option{Name: "tick", Flag: word(&r.tick, "ms", "ms", "us"),
			Help: "with us, times of records are exact to the microsecond, at about ten times the cost; with ms, they " +
				"are precise to 5 ms"},
		cli.Option{Name: "message", Flag: cli.Texts(&r.messages),
			Help: "calls of methods that match this `PATTERN` (CLASS#METHOD) are messages, each of which may be a " +
				"stall; repeatable"},
		cli.Option{Name: "also", Flag: cli.Texts(&r.also), File: cli.FileSearched, List: true,
			Help: "instrument these archives and directories too, which the program finds by itself: a `LIST` like " +
				"a class path, with patterns; repeatable"},
	), cli.Grouped("Answer",
		cli.Option{Name: "format", Flag: word(&r.format, cli.FormatReport, r.analysis.Formats...),
			Help: "write the answer in this `FORMAT`, one of those of analyze"},
		cli.Option{Name: "answer", Flag: cli.Text(&r.answer, cli.StandardOutput), File: cli.FileOutput, Stdout: true,
			Help: "write the answer to `FILE` instead of standard output"},
	))
}

// property is a system property of the runtime that a flag of record sets.
type property struct {
	flag, name string
	value      func(r *recorder) string
}

// properties are those of docs/recording.md, but for output, mapping and messages, whose values record finds out.
var properties = []property{
	{"slow", "slow", func(r *recorder) string { return strconv.FormatInt(time.Duration(r.slow).Milliseconds(), 10) }},
	{"threads", "threads", func(r *recorder) string { return r.threads }},
	{"tick", "tick", func(r *recorder) string { return r.tick }},
	{"output", "output", nil},
	{"message", "message", nil},
}

const propertyPrefix = "tracegen."

// checkProperties refuses a flag and a -D of the command that say the same thing. A -D alone has precedence over the
// default of the flag. The runtime itself says if a property does not exist.
func (r *recorder) checkProperties(given map[string]string) error {
	for _, p := range properties {
		if value, ok := given[propertyPrefix+p.name]; ok && r.rows.Given(p.flag) {
			return cli.Misuse("--%s and -D%s%s=%s of the java command exclude each other: give one of them", p.flag,
				propertyPrefix, p.name, value)
		}
	}
	if value, ok := given[propertyPrefix+"slow"]; ok {
		if n, err := strconv.Atoi(value); err == nil {
			r.slow = slowness(time.Duration(n) * time.Millisecond)
		}
	}
	return nil
}

// run records the program and analyzes the recording.
func (r *recorder) run(ctx context.Context, args []string) error {
	r.args = args
	given, err := r.find(args)
	if err != nil {
		return err
	}
	if err := r.checkProperties(given); err != nil {
		return err
	}
	if err := r.nameFiles(given); err != nil {
		return err
	}
	if err := r.prepare(ctx, r.containers); err != nil {
		return err
	}
	if err := r.keepMapping(); err != nil {
		return err
	}
	before := r.recordingsBeside()
	end, counts, err := r.start(given)
	if err != nil {
		return err
	}
	r.reportEnd(end)
	r.keepNew(before)
	if len(r.recordings) == 0 {
		return r.nothing(counts, end)
	}
	if counts.Differing > 0 {
		r.con.Warn("%d classes were changed before the JVM loaded them, and are not traced; the first is %s",
			counts.Differing, counts.First)
	}
	return errors.Join(r.analyze(ctx), failedProgram(end))
}

// failedProgram returns the error for the exit code of a program that failed by itself.
func failedProgram(end launch.End) error {
	if end.Code == 0 || end.Interrupted {
		return nil
	}
	signal := ""
	if end.Signal != "" {
		signal = " (" + end.Signal + ")"
	}
	return cli.CheckFailed{Err: fmt.Errorf("the program ended with exit code %d%s", end.Code, signal)}
}

// reportEnd says how the program ended, unless failedProgram does.
func (r *recorder) reportEnd(end launch.End) {
	if end.Interrupted && !r.con.Quiet {
		r.con.Inform("the program was interrupted, and ended with exit code %d; analyzing", end.Code)
	}
}

// find takes the command apart and finds the archives and directories to instrument. It returns the system properties
// that the command sets.
func (r *recorder) find(args []string) (given map[string]string, err error) {
	r.command, err = launch.Parse(args, os.Getenv)
	var missing []string
	switch ext := strings.ToLower(filepath.Ext(args[0])); {
	case errors.Is(err, launch.ErrNotJava) && len(r.also) == 0 && (ext == ".jar" || ext == ".war"):
		return nil, cli.Misuse("%s is no program: put the java command behind --: tracegen record -- java -jar %s",
			args[0], strings.Join(args, " "))
	case errors.Is(err, launch.ErrNotJava) && len(r.also) == 0:
		return nil, cli.Misuse("%s is not the java program, and which archives it runs is not to be seen from here: "+
			"give the java command itself, or name them: tracegen record --also %s -- %s", args[0],
			cmp.Or(suggestedLibraries(args[0]), "'lib/*'"), strings.Join(args, " "))
	case errors.Is(err, launch.ErrNotJava):
		r.command = nil
	case err != nil:
		return nil, cli.Misuse("%w", err)
	default:
		given = r.command.Properties
		r.containers, missing = r.command.Containers()
		for _, m := range missing {
			r.con.Detail("not there, and left out as java does: %s", m)
		}
		if err := r.leaveOutArchives(); err != nil {
			return nil, err
		}
	}
	for _, list := range r.also {
		for _, name := range filepath.SplitList(list) {
			found, err := alsoNamed(name)
			if err != nil {
				return nil, err
			}
			r.containers, r.named = append(r.containers, found...), append(r.named, found...)
		}
	}
	if len(r.containers) == 0 && r.command == nil {
		return nil, fmt.Errorf("--also %s names no archive", strings.Join(r.also, " "))
	}
	if len(r.containers) == 0 && len(r.command.ModulePath) == 0 && r.command.Kind == launch.Module {
		return nil, fmt.Errorf("the java command has no module path, so that the module of %s is in the image that %s "+
			"belongs to: name the module's jar by --also", r.command.Program, args[0])
	}
	if len(r.containers) == 0 {
		return nil, fmt.Errorf("nothing of the class path exists: %s",
			strings.Join(slices.Concat(r.command.ClassPath, r.command.ModulePath), string(filepath.ListSeparator)))
	}
	return given, nil
}

// leaveOutArchives says which options of java are left out. It refuses a command with options that cannot be left out
// and at which the JVM would end.
func (r *recorder) leaveOutArchives() error {
	_, left := r.command.With()
	demanded := slices.ContainsFunc(left, func(o string) bool { return o == "-Xshare:on" || o == "-XX:AOTMode=on" })
	named := slices.ContainsFunc(left, func(o string) bool {
		return strings.HasPrefix(o, "-XX:SharedArchiveFile=") || strings.HasPrefix(o, "-XX:AOTCache=")
	})
	if demanded && named {
		return fmt.Errorf("an argument file or JDK_JAVA_OPTIONS has %s: a JVM with the agent of record ends at them; take "+
			"them out while you record", strings.Join(left, " "))
	}
	out := slices.DeleteFunc(slices.Clone(r.command.Archives), func(o string) bool { return slices.Contains(left, o) })
	if len(out) > 0 && !r.con.Quiet {
		r.con.Inform("java runs without %s: a JVM refuses an archive of loaded classes that was made without the agent "+
			"of record", strings.Join(out, " "))
	}
	return nil
}

// alsoNamed returns the archives and directories that an element of --also stands for. DIR/* is the archives of a
// directory, as java has it.
func alsoNamed(name string) ([]string, error) {
	found, missing := launch.Expand([]string{name})
	if len(missing) > 0 {
		paths, err := userfile.Expand(name)
		if err != nil {
			return nil, fmt.Errorf("--also: %w", err)
		}
		found, _ = launch.Expand(paths)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("--also: %s matches no archive", name)
	}
	return found, nil
}

// suggestedLibraries returns the wildcard for the archives of a start script, where Gradle and Maven put them; "" if
// there are none.
func suggestedLibraries(script string) string {
	lib := filepath.Join(filepath.Dir(filepath.Dir(filepath.Clean(script))), "lib")
	if jars, _ := filepath.Glob(filepath.Join(lib, "*.jar")); len(jars) > 0 {
		return "'" + filepath.Join(lib, "*") + "'"
	}
	return ""
}

// start runs the program with the instrumented classes.
func (r *recorder) start(given map[string]string) (launch.End, program.Counts, error) {
	status, err := program.NewStatus(filepath.Join(r.kept, classesName))
	if err != nil {
		return launch.End{}, program.Counts{}, err
	}
	defer os.Remove(status)
	options, err := r.jvmOptions(status, given)
	if err != nil {
		return launch.End{}, program.Counts{}, err
	}
	p := launch.Process{Args: r.args, In: r.con.In, Out: r.con.Out, Err: r.con.Err}
	if r.command != nil {
		p.Args, _ = r.command.With(options...)
	} else {
		dir, err := os.MkdirTemp("", "tracegen-java-")
		if err != nil {
			return launch.End{}, program.Counts{}, err
		}
		defer os.RemoveAll(dir)
		if p.Env, err = launch.Shims(dir, os.Environ(), options); err != nil {
			r.con.Detail("java -version reports JAVA_TOOL_OPTIONS, as there is no shim for it: %v", err)
		}
	}
	r.con.Detail("%s", strings.Join(p.Args, " "))
	end, err := launch.Run(p)
	if err != nil {
		return end, program.Counts{}, err
	}
	counts, err := program.ReadStatus(status)
	if err != nil {
		r.con.Warn("the counts of the agent: %v", err)
	}
	r.con.Detail("%d of the classes that the JVM loaded are traced", counts.Replaced)
	return end, counts, nil
}

// jvmOptions returns the options that make a JVM run the program with the instrumented classes and record it.
func (r *recorder) jvmOptions(status string, given map[string]string) ([]string, error) {
	kept, err := filepath.Abs(r.kept)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(kept, "="+string(filepath.ListSeparator)) {
		return nil, fmt.Errorf("the JVM cannot read files in %s, because of a character in its name: name another "+
			"directory by --cache", kept)
	}
	options := []string{
		// The runtime must be there for the classes of all class loaders. The JVM takes the agent from there, too: a
		// security manager would not let it read files otherwise.
		"-Xbootclasspath/a:" + filepath.Join(kept, runtimeName) + string(filepath.ListSeparator) +
			filepath.Join(kept, agentName),
		"-javaagent:" + filepath.Join(kept, agentName) + "=" + status,
	}
	options = append(options, launch.JITOptions()...)
	set := func(name, value string) {
		if _, ok := given[propertyPrefix+name]; !ok {
			options = append(options, "-D"+propertyPrefix+name+"="+value)
		}
	}
	recording, err := filepath.Abs(r.recording)
	if err != nil {
		return nil, err
	}
	set("output", recording)
	for _, p := range properties {
		if p.value != nil {
			set(p.name, p.value(r))
		}
	}
	if len(r.summary.Messages) > 0 {
		set("message", strings.Join(r.summary.Messages, ","))
	}
	return options, nil
}

// slowness is the flag --slow: a duration, or a number of milliseconds as the property has.
type slowness time.Duration

// Set implements pflag.Value.
func (s *slowness) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, e := strconv.ParseInt(text, 10, 32); e == nil {
		d, err = time.Duration(n)*time.Millisecond, nil
	}
	if err != nil || d < time.Millisecond {
		return errors.New("must be a time such as 100ms or 2s, at least 1ms")
	}
	*s = slowness(d)
	return nil
}

// String implements pflag.Value.
func (s *slowness) String() string { return time.Duration(*s).String() }

// Type implements pflag.Value.
func (s *slowness) Type() string { return "duration" }
