package dense

import (
	"embed"
	"fmt"
	"strings"
)

// A Program is a real one that makes very many calls, on its main thread, and prints the same in every run.
type Program struct {
	// Name is unique.
	Name string
	// Jars are rows of bench/corpora.tsv, which are instrumented with all their dependencies.
	Jars []string
	// Flags are options of the JVM, Args the main class and its arguments. {NAME} stands for the jar of a row.
	Flags, Args []string
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
			Name: "ecj", Jars: []string{"ecj-3.40.0"}, Unpack: "commons-lang3-sources-3.17.0",
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
	}
}

// insert returns a statement that inserts row n.
func insert(n int) string {
	return fmt.Sprintf("INSERT INTO item VALUES(%d, 'name %d of %d', %d, %d.%02d);\n", n, n*7919%100003, n%97, n*31%500,
		n%1000, n%100)
}

// work is the statements behind the inserted rows; keep is how many rows a group must have.
func work(substring, like string, keep int) string {
	return strings.Join([]string{
		"CREATE INDEX item_grp ON item(grp);",
		fmt.Sprintf("SELECT grp, COUNT(*), SUM(price), MAX(name) FROM item GROUP BY grp HAVING COUNT(*) > %d "+
			"ORDER BY 1 FETCH FIRST 20 ROWS ONLY;", keep),
		"SELECT COUNT(*), SUM(a.price + b.price) FROM item a JOIN item b ON b.id = a.id WHERE a.grp < 250;",
		"SELECT COUNT(*) FROM item WHERE name LIKE '" + like + "';",
		"SELECT COUNT(DISTINCT " + substring + "(name, 6, 3)), MIN(UPPER(name)) FROM item WHERE price BETWEEN 100 AND 700;",
		"UPDATE item SET price = price * 1.1, name = name || '!' WHERE grp BETWEEN 100 AND 300;",
		"DELETE FROM item WHERE MOD(id, 3) = 0;",
		"SELECT COUNT(*), SUM(price) FROM item;\n",
	}, "\n")
}

const createTable = "CREATE TABLE item(id INT PRIMARY KEY, name VARCHAR(60), grp INT, price DOUBLE);\n"

// h2Script inserts 200,000 rows, and indexes, groups, joins, searches, updates and deletes them.
func h2Script() string {
	var b strings.Builder
	b.WriteString(createTable)
	for n := range 200_000 {
		b.WriteString(insert(n))
	}
	b.WriteString(work("SUBSTRING", "%99 of 1%", 3))
	return b.String()
}

// derbyScript does the same with 16,000 rows. Derby compiles each statement to a class, so most rows are inserted by a
// few statements.
func derbyScript() string {
	const single, rows = 2000, 16_000
	var b strings.Builder
	b.WriteString("connect 'jdbc:derby:memory:dense;create=true';\nautocommit off;\n" + createTable)
	for n := range single {
		b.WriteString(insert(n))
	}
	for n := single; n < rows; n *= 2 {
		fmt.Fprintf(&b, "INSERT INTO item SELECT id + %d, name, MOD(grp * 7 + id, 500), price + 1 FROM item;\n", n)
	}
	b.WriteString(work("SUBSTR", "%9 of 1%", 10) + "commit;\n")
	return b.String()
}

// listXML is a document of 6,000 items.
func listXML() string {
	words := strings.Fields("one two seven eleven green blue and or house tree")
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<list>\n")
	for n := range 6000 {
		fmt.Fprintf(&b, "<item id=\"%d\" group=\"%d\"><name>item %d</name><price>%d.%02d</price><description>", n, n*31%60,
			n*7919%10007, n%1000, n%100)
		for k := range 5 + n%8 {
			b.WriteString(" " + words[(n*(k+3)+k*k)%len(words)])
		}
		b.WriteString(" </description>")
		for k := range n % 5 {
			fmt.Fprintf(&b, "<tag>t%d</tag>", (n+k)%3)
		}
		b.WriteString("</item>\n")
	}
	b.WriteString("</list>\n")
	return b.String()
}
