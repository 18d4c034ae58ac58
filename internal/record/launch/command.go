package launch

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind says how a command line names the program to run.
type Kind uint8

// The kinds of command lines.
const (
	Jar    Kind = iota + 1 // -jar FILE
	Class                  // a main class on the class path
	Module                 // -m MODULE[/CLASS]
)

// ErrNotJava is wrapped by the error of [Parse] for a command that is not java.
var ErrNotJava = errors.New("is not the java program")

// Command is a command line of java. It is immutable.
type Command struct {
	// Kind says how the program is named.
	Kind Kind
	// Program is the file of -jar, the main class, or the module.
	Program string
	// ClassPath are the elements of the class path, wildcards included; of -jar, its file. An empty element stands
	// for the working directory.
	ClassPath []string
	// ModulePath are the elements of the module path and of the patches of modules.
	ModulePath []string
	// Archives are the options for archives of loaded classes (AppCDS, AOT cache). A JVM refuses an archive that was
	// made without the agent, and one that it made with it would be of no use.
	Archives []string
	// Properties are the system properties that the command line sets, by name.
	Properties map[string]string

	args []string // java and its arguments, as they were given
}

// valued are the options whose value is the next argument. Those that begin with -- also take it behind =.
var valued = []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path",
	"--add-modules", "--enable-native-access", "--limit-modules", "--add-exports", "--add-opens", "--add-reads",
	"--patch-module", "-m", "--module", "-d", "--describe-module", "--source"}

// idle are options with which java prints something and runs no program.
var idle = []string{"-version", "--version", "-fullversion", "--full-version", "-help", "--help", "-h", "-?", "-X",
	"--help-extra", "-d", "--describe-module", "--list-modules", "--dry-run", "--validate-modules", "-Xshare:dump",
	"-XX:AOTMode=create"}

// archives are what options begin with that name an archive of loaded classes, or demand one.
var archives = []string{"-Xshare:on", "-XX:SharedArchiveFile=", "-XX:ArchiveClassesAtExit=", "-XX:SharedClassListFile=",
	"-XX:DumpLoadedClassList=", "-XX:+AutoCreateSharedArchive", "-XX:AOTCache", "-XX:AOTMode=", "-XX:AOTConfiguration="}

func isArchive(option string) bool {
	return slices.ContainsFunc(archives, func(a string) bool { return strings.HasPrefix(option, a) })
}

// IsJava reports whether a command is the java program, by its name.
func IsJava(command string) bool {
	name := strings.ToLower(filepath.Base(command))
	name = strings.TrimSuffix(name, ".exe")
	return name == "java" || name == "javaw"
}

// Parse takes a command line apart: the java program and its arguments. It fails if the command is not java (the
// error wraps [ErrNotJava]), if it would run no program, or if it would compile a source file. getenv returns a
// variable of the environment, "" if it is not set.
func Parse(args []string, getenv func(name string) string) (*Command, error) {
	if len(args) == 0 {
		return nil, errors.New("no command given")
	}
	if !IsJava(args[0]) {
		return nil, fmt.Errorf("%s %w", args[0], ErrNotJava)
	}
	c := &Command{Properties: map[string]string{}, args: slices.Clone(args)}
	p := parser{Command: c}
	variable, err := splitVariable(getenv("JDK_JAVA_OPTIONS"))
	if err != nil {
		return nil, fmt.Errorf("the variable JDK_JAVA_OPTIONS: %w", err)
	}
	for _, list := range [][]string{variable, args[1:]} {
		if p.args, err = p.expand(list); err != nil {
			return nil, err
		}
		if err := p.parse(); err != nil {
			return nil, err
		}
	}
	if p.Kind == 0 && p.jar {
		return nil, errors.New("java -jar: no jar file given")
	}
	if p.Program == "" { // java refuses an empty name, too
		return nil, errors.New("the java command names no program: give -jar FILE, a main class, or -m MODULE")
	}
	switch {
	case c.Kind == Jar:
		c.ClassPath = []string{c.Program}
	case p.classPath != nil:
		c.ClassPath = filepath.SplitList(*p.classPath)
		if *p.classPath == "" {
			c.ClassPath = []string{""}
		}
	case getenv("CLASSPATH") != "":
		c.ClassPath = filepath.SplitList(getenv("CLASSPATH"))
	case c.Kind == Class:
		c.ClassPath = []string{""}
	}
	return c, nil
}

// parser is the state of taking a command line apart.
type parser struct {
	*Command
	args      []string // that are left
	classPath *string
	jar       bool // -jar was given: the first argument that is no option is its file
}

// expand replaces the argument files in front of the program by what they hold.
func (p *parser) expand(args []string) (expanded []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if name, isFile := strings.CutPrefix(arg, "@"); isFile && !strings.HasPrefix(name, "@") && name != "" {
			more, err := readArgfile(name)
			if err != nil {
				return nil, err
			}
			expanded = append(expanded, more...)
			if ends(expanded) {
				return append(expanded, args[i+1:]...), nil
			}
			continue
		} else if isFile {
			arg = strings.TrimPrefix(arg, "@") // @@ stands for @
		}
		expanded = append(expanded, arg)
		if arg == "--disable-@files" || ends(expanded) {
			return append(expanded, args[i+1:]...), nil
		}
	}
	return expanded, nil
}

// ends reports whether the arguments name the program, so that those behind them are its own.
func ends(args []string) bool {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case !strings.HasPrefix(arg, "-"):
			return true
		case arg == "-m" || arg == "--module":
			return i+1 < len(args)
		case strings.HasPrefix(arg, "--module="):
			return true
		case slices.Contains(valued, arg):
			i++
		}
	}
	return false
}

// next returns the value of an option: behind its =, or the next argument.
func (p *parser) next(option, value string, has bool) (string, error) {
	if has {
		return value, nil
	}
	if len(p.args) == 0 {
		return "", fmt.Errorf("java %s: no value given", option)
	}
	value = p.args[0]
	p.args = p.args[1:]
	return value, nil
}

// parse reads options up to the program.
func (p *parser) parse() error {
	for len(p.args) > 0 && strings.HasPrefix(p.args[0], "-") && p.Kind == 0 {
		arg := p.args[0]
		p.args = p.args[1:]
		if err := p.option(arg); err != nil {
			return err
		}
	}
	if len(p.args) == 0 || p.Kind != 0 {
		return nil
	}
	p.Program, p.Kind = p.args[0], Class
	if p.jar {
		p.Kind = Jar
	} else if strings.HasSuffix(p.Program, ".java") && isFile(p.Program) {
		return sourceError(p.Program)
	}
	return nil
}

// sourceError is the error of a program that java would compile first: there is no class file to instrument.
func sourceError(file string) error {
	return fmt.Errorf("java %s compiles the program when it starts, so that there is no class file to instrument: "+
		"compile it by javac -d DIR %s, and give java -cp DIR and the main class", file, file)
}

func (p *parser) option(arg string) (err error) {
	name, value, has := arg, "", false
	if strings.HasPrefix(arg, "--") {
		name, value, has = strings.Cut(arg, "=")
	}
	if slices.Contains(idle, name) {
		return fmt.Errorf("java %s runs no program", name)
	}
	if isArchive(arg) {
		p.Archives = append(p.Archives, arg)
	}
	if definition, ok := strings.CutPrefix(arg, "-D"); ok {
		key, value, _ := strings.Cut(definition, "=")
		p.Properties[key] = value
		return nil
	}
	if name == "-jar" {
		p.jar = true
		return nil
	}
	if !slices.Contains(valued, name) {
		return nil
	}
	if value, err = p.next(name, value, has); err != nil {
		return err
	}
	switch name {
	case "-cp", "-classpath", "--class-path":
		p.classPath = &value
	case "-p", "--module-path":
		p.ModulePath = append(p.ModulePath, filepath.SplitList(value)...)
	case "--patch-module":
		_, paths, _ := strings.Cut(value, "=")
		p.ModulePath = append(p.ModulePath, filepath.SplitList(paths)...)
	case "-m", "--module":
		p.Kind, p.Program = Module, value
	case "--source":
		return sourceError("--source")
	}
	return nil
}

// With returns the command line with JVM options in front of those that it has, and without its Archives. left are
// those of them that stay, as they are in an argument file or in a variable.
func (c *Command) With(options ...string) (args, left []string) {
	args, left = slices.Concat(c.args[:1], options), slices.Clone(c.Archives)
	for i, arg := range c.args[1:] {
		at := slices.Index(left, arg)
		if at < 0 || ends(slices.DeleteFunc(slices.Clone(c.args[1:1+i]), isArgfile)) {
			args = append(args, arg)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	return args, left
}

func isArgfile(arg string) bool { return strings.HasPrefix(arg, "@") }

// Name returns a name for files about the program: that of the jar without its extension, the last part of the main
// class, or the module. It holds letters, digits, and the characters . _ - and is never empty.
func (c *Command) Name() string {
	name := c.Program
	switch c.Kind {
	case Jar:
		name = filepath.Base(filepath.Clean(name))
		name = strings.TrimSuffix(name, filepath.Ext(name))
	case Class:
		name = name[strings.LastIndexAny(name, "./")+1:]
	case Module:
		name, _, _ = strings.Cut(name, "/")
	}
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "program"
	}
	return name
}

// MainClass returns the name of the main class, "" if the command does not say it. That of an archive which starts a
// program in itself, as those of Spring Boot do, is the one that its manifest names as Start-Class.
func (c *Command) MainClass() string {
	switch c.Kind {
	case Jar:
		attributes := mainAttributes(c.Program)
		return cmp.Or(attributes["start-class"], attributes["main-class"])
	case Module:
		_, class, _ := strings.Cut(c.Program, "/")
		return class
	}
	return strings.ReplaceAll(c.Program, "/", ".")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// NameOf returns a name for files about a program that is not java.
func NameOf(command string) string { return (&Command{Kind: Jar, Program: command}).Name() }

// WithToolOptions returns an environment in which every JVM takes the options: they are added to JAVA_TOOL_OPTIONS.
func WithToolOptions(env, options []string) []string {
	const name = "JAVA_TOOL_OPTIONS="
	value := ""
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		old, ok := strings.CutPrefix(v, name)
		if ok {
			value = old
		}
		return ok
	})
	for _, o := range options {
		if strings.ContainsAny(o, " \t'") {
			o = `"` + o + `"`
		}
		value = strings.TrimSpace(value + " " + o)
	}
	return append(env, name+value)
}

// JITOptions returns the options of a JVM by which what records a call is not inlined into the program: it is far more
// code than most methods, and what it keeps the JIT from inlining and compiling costs more than the call. Methods with
// very many calls are let go.
func JITOptions() []string {
	return []string{"-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,dev.tracegen.runtime.FastPath::enter",
		"-XX:CompileCommand=dontinline,dev.tracegen.runtime.FastPath::leave"}
}
