package dense

import "embed"

// A Program is one that makes very many calls, and prints the same in every run: a real one, or one of ours.
type Program struct {
	// Name is unique.
	Name string
	// Jars are rows of bench/corpora.tsv, which are instrumented with all their dependencies.
	Jars []string
	// Source is the class of testdata that is compiled against the jars and instrumented too, or empty.
	Source string
	// Flags are options of the JVM, Args the main class and its arguments. {NAME} stands for the jar of a row.
	Flags, Args []string
	// Threads programs work on all their threads, others on the main one.
	Threads bool
	// Unpack is a row whose sources are extracted into the directory src, or empty.
	Unpack string
	// Small programs take a few seconds only and run in every test run.
	Small bool

	files map[string]func() string // by name, in the working directory
}

//go:embed testdata
var testdata embed.FS

// file returns a file of testdata, under its own name.
func file(name string) map[string]func() string {
	return map[string]func() string{name: func() string {
		text, err := testdata.ReadFile("testdata/" + name)
		if err != nil {
			panic(err) // The names are those below, and tests run all programs.
		}
		return string(text)
	}}
}

// with adds a generated file.
func with(files map[string]func() string, name string, content func() string) map[string]func() string {
	files[name] = content
	return files
}

// Programs returns all programs.
func Programs() []Program {
	return []Program{
		{
			Name: "h2", Jars: []string{"h2-2.1.214"},
			files: with(map[string]func() string{}, "script.sql", h2Script),
			Args:  []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:dense", "-script", "script.sql"},
		},
		{
			Name: "derby", Jars: []string{"derbytools-10.14.2.0"},
			files: with(map[string]func() string{}, "script.sql", derbyScript),
			Flags: []string{"-Dderby.stream.error.file=derby.log"},
			Args:  []string{"org.apache.derby.tools.ij", "script.sql"},
		},
		{
			Name: "ecj", Jars: []string{"ecj-3.40.0"}, Unpack: lang,
			Flags: []string{"-Djdt.compiler.useSingleThread=true"},
			Args: []string{"org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-nowarn", "-proc:none", "-d", "none",
				"src"},
		},
		{
			Name: "groovy", Jars: []string{"groovy-4.0.28"}, files: file("work.groovy"), Small: true,
			Args: []string{"groovy.ui.GroovyMain", "work.groovy"},
		},
		{
			Name: "clojure", Jars: []string{"clojure-1.12.0"}, files: file("work.clj"),
			Args: []string{"clojure.main", "work.clj"},
		},
		{
			Name: "jython", Jars: []string{"jython-2.2.1"}, files: file("work.py"),
			Flags: []string{"-Dpython.cachedir.skip=true"},
			Args:  []string{"org.python.util.jython", "work.py"},
		},
		{
			Name: "rhino", Jars: []string{"rhino-1.7.15"}, files: file("work.js"),
			Args: []string{"org.mozilla.javascript.tools.shell.Main", "-opt", "-1", "work.js"},
		},
		{
			Name: "bsh", Jars: []string{"bsh-1.3.0"}, files: file("work.bsh"), Small: true,
			Args: []string{"bsh.Interpreter", "work.bsh"},
		},
		{
			Name: "xalan", Jars: []string{"xalan-2.7.0", "xercesImpl-2.6.2"},
			files: with(file("work.xsl"), "list.xml", listXML),
			Args:  []string{"org.apache.xalan.xslt.Process", "-IN", "list.xml", "-XSL", "work.xsl", "-OUT", "out.xml"},
		},
		{
			Name: "saxon", Jars: []string{"Saxon-HE-12.7"},
			files: with(file("work.xq"), "list.xml", listXML),
			Args:  []string{"net.sf.saxon.Query", "-s:list.xml", "-q:work.xq", "-o:out.xml"},
		},
		{
			Name: "proguard", Jars: []string{"proguard-base-5.3.3"}, files: file("proguard.pro"),
			Args: []string{"proguard.ProGuard", "-include", "proguard.pro", "-injars", "{guava-18.0}", "-injars",
				"{clojure-1.12.0}", "-outjars", "out.jar"},
		},
		{
			// The rules of Google are warnings. Those of Sun are errors, and their number would be the exit code.
			Name: "checkstyle", Jars: []string{"checkstyle-10.26.1"}, Unpack: lang,
			Args: []string{"com.puppycrawl.tools.checkstyle.Main", "-c", "/google_checks.xml", "-o", "out.txt", langText,
				langTime},
		},
		{
			Name: "google-java-format", Jars: []string{"google-java-format-all-deps-1.28.0"}, Unpack: lang,
			Source: "Format.java", Flags: exports("api", "code", "file", "main", "parser", "tree", "util"),
			Args: []string{"Format", langText, langTime},
		},
		{
			Name: "kotlinc", Jars: []string{"kotlin-compiler-embeddable-2.2.20"}, files: kotlinFiles(),
			Args: []string{"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn", "-cp",
				"{kotlin-stdlib-2.2.20}", "-d", "out", "src"},
		},
		{
			Name: "pmd", Jars: []string{"pmd-java-7.16.0"}, Unpack: lang, Source: "Check.java",
			Args: []string{"Check", langText, langTime},
		},
		{
			Name: "asciidoctorj", Jars: []string{"asciidoctorj-3.0.0"}, Source: "Convert.java",
			files: with(map[string]func() string{}, "work.adoc", asciidoc),
			Args:  []string{"Convert", "work.adoc"},
		},
		{
			Name: "spotbugs", Jars: []string{"spotbugs-4.9.6"},
			Args: []string{"edu.umd.cs.findbugs.FindBugs2", "-effort:default", "-low", "-output", "out.txt",
				"{commons-collections-2.1}"},
		},
		{Name: "loop", Source: "Loop.java", Small: true, Args: []string{"Loop"}},
		{Name: "threads", Source: "Threads.java", Small: true, Threads: true, Args: []string{"Threads"}},
	}
}

// lang is sources that some programs read, langText and langTime two of its packages.
const (
	lang     = "commons-lang3-sources-3.17.0"
	langText = "src/org/apache/commons/lang3/text"
	langTime = "src/org/apache/commons/lang3/time"
)

// exports are the options that open packages of javac to a program that calls it.
func exports(packages ...string) (flags []string) {
	for _, p := range packages {
		flags = append(flags, "--add-exports=jdk.compiler/com.sun.tools.javac."+p+"=ALL-UNNAMED")
	}
	return flags
}
