package meaning

import "regexp"

// programs are real programs. Their inputs are fixed, with seeds of their own if they use random numbers.
var programs = []program{
	{
		name: "ECJ compiles commons-lang", small: true,
		jars: []string{"ecj-3.40.0"}, unpack: "commons-lang3-sources-3.17.0",
		args: []string{"org.eclipse.jdt.internal.compiler.batch.Main", "-8", "-nowarn", "-proc:none", "-d", "out",
			"src/org/apache/commons/lang3/mutable", "src/org/apache/commons/lang3/tuple", "-sourcepath", "src"},
	},
	{
		name: "modules: Jackson", small: true,
		jars:  []string{"jackson-databind-2.19.0"},
		files: []string{"module/module-info.java", "module/Orders.java"}, modules: true,
		args: []string{"-m", "dev.tracegen.meaning/meaning.Orders"},
	},
	{
		name: "Xalan transforms", small: true,
		jars: []string{"xalan-2.7.0", "xercesImpl-2.6.2"}, files: []string{"style.xsl", "list.xml"},
		args: []string{"org.apache.xalan.xslt.Process", "-IN", "list.xml", "-XSL", "style.xsl", "-OUT", "list.html"},
	},
	{
		name: "Kotlin compiles a file",
		jars: []string{"kotlin-compiler-embeddable-2.2.20"}, files: []string{"sample.kt"},
		args: []string{"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-d", "out",
			"-cp", "{kotlin-stdlib-2.2.20}", "-module-name", "sample", "sample.kt"},
	},
	{
		name: "Groovy runs a script",
		jars: []string{"groovy-4.0.28"}, files: []string{"script.groovy"},
		args: []string{"groovy.ui.GroovyMain", "script.groovy"},
	},
	{
		name: "Clojure runs a script",
		jars: []string{"clojure-1.12.0"}, files: []string{"script.clj"},
		args: []string{"clojure.main", "script.clj"},
	},
	{
		name: "H2 runs a script",
		jars: []string{"h2-2.3.232"}, files: []string{"script.sql"},
		args: []string{"org.h2.tools.RunScript", "-url", "jdbc:h2:mem:sample", "-script", "script.sql", "-showResults",
			"-continueOnError"},
	},
	{
		name: "Scala compiles a file",
		jars: []string{"scala-compiler-2.12.20"}, files: []string{"Sample.scala"},
		args: []string{"scala.tools.nsc.Main", "-usejavacp", "-d", ".", "Sample.scala"},
	},
	{
		name: "Batik draws a picture",
		jars: []string{"batik-all-1.19"}, files: []string{"picture.svg"},
		args: []string{"org.apache.batik.apps.rasterizer.Main", "-scriptSecurityOff", "-d", "picture.png",
			"picture.svg"},
	},
	{
		name: "Rhino runs a script",
		jars: []string{"rhino-1.7.15"}, files: []string{"script.js"},
		args: []string{"org.mozilla.javascript.tools.shell.Main", "-opt", "-1", "script.js"},
	},
	{
		name: "Rhino of 2002 compiles and runs a script",
		jars: []string{"js-1.5R4.1"}, files: []string{"script-es3.js"},
		args: []string{"org.mozilla.javascript.tools.shell.Main", "script-es3.js"},
	},
	{
		name: "commons-lang tests itself",
		jars: []string{"commons-lang3-3.17.0", "commons-lang3-tests-3.17.0"},
		plain: []string{"junit-platform-console-standalone-1.11.4", "commons-text-1.12.0", "easymock-5.4.0",
			"objenesis-3.4", "junit-pioneer-1.9.1", "hamcrest-2.2"},
		args: []string{"org.junit.platform.console.ConsoleLauncher", "execute", "--disable-ansi-colors",
			"--disable-banner",
			"--details", "tree", "--fail-if-no-tests",
			// One of these tests takes ten times as long as all others.
			"--exclude-classname", ".*ExtendedMessageFormatTest",
			"--select-package", "org.apache.commons.lang3.math", "--select-package", "org.apache.commons.lang3.text",
			"--select-package", "org.apache.commons.lang3.tuple", "--select-package", "org.apache.commons.lang3.mutable"},
		// The times of tests, which are printed for long ones.
		noise: regexp.MustCompile(` \d+ ms\b`),
	},
}
