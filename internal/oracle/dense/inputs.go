package dense

import (
	"fmt"
	"strconv"
	"strings"
)

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

// kotlinFiles are sources with data classes, sealed ones and lambdas.
func kotlinFiles() map[string]func() string {
	const files, parts = 5, 6
	all := map[string]func() string{}
	for n := range files {
		all[fmt.Sprintf("src/F%d.kt", n)] = func() string {
			var b strings.Builder
			fmt.Fprintf(&b, "package gen.p%d\n", n%5)
			for k := range parts {
				b.WriteString(strings.NewReplacer("NAME", fmt.Sprintf("%d_%d", n, k), "STEP", strconv.Itoa(k+2), "BY",
					strconv.Itoa(n+1)).Replace(kotlin))
			}
			return b.String()
		}
	}
	return all
}

const kotlin = `
data class ItemNAME(val id: Int, val name: String, val tags: List<String> = emptyList())

sealed class ShapeNAME {
    class Circle(val r: Double) : ShapeNAME()
    class Box(val a: Double, val b: Double) : ShapeNAME()
}

fun areaNAME(s: ShapeNAME): Double = when (s) {
    is ShapeNAME.Circle -> s.r * s.r * 3.14
    is ShapeNAME.Box -> s.a * s.b
}

fun groupNAME(list: List<ItemNAME>): Map<String, Int> =
    list.filter { it.id % STEP == 0 }.flatMap { i -> i.tags.map { t -> t to i.id } }
        .groupBy({ it.first }, { it.second }).mapValues { (_, v) -> v.sumOf { it * BY } }
`

// asciidoc is a document of 60 sections with text, lists, tables and code.
func asciidoc() string {
	words := strings.Fields("one two seven eleven green blue and or house tree")
	var b strings.Builder
	b.WriteString("= Title\n:toc:\n\n")
	for n := range 60 {
		fmt.Fprintf(&b, "== Section %d\n\nA paragraph with *bold %d*, _slanted_ and `code` of "+
			"https://example.com/%d[a link].", n, n, n)
		for k := range 60 {
			b.WriteString(" " + words[(n*k+k*k)%len(words)])
		}
		b.WriteString("\n\n* one\n** two\n* three\n\n|===\n|a |b\n")
		for k := range 8 {
			fmt.Fprintf(&b, "|%d |%d %s\n", k, k*n, words[k])
		}
		fmt.Fprintf(&b, "|===\n\n[source,java]\n----\nint a = %d; // <1>\n----\n<1> A note.\n\n", n)
	}
	return b.String()
}
