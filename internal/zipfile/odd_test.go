package zipfile

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/toolchain"
)

var update = flag.Bool("update", false, "rewrite testdata/archives.md")

// oddPage is the page with the table.
var oddPage = filepath.Join("testdata", "archives.md")

// The columns of the table, in their order. Those of the JDK and of tracegen are always filled.
const (
	columnList       = "jar tf"
	columnExtract    = "jar xf"
	columnZipFile    = "ZipFile 17"
	columnZipFile25  = "ZipFile 25"
	columnStream     = "ZipInputStream"
	columnJavac      = "javac"
	columnCompress   = "commons-compress"
	columnD8         = "D8"
	columnInstrument = "instrument"
	columnVerify     = "verify"
	columnDiffers    = "why tracegen does something else"
)

var oddColumns = []string{columnList, columnExtract, columnZipFile, columnZipFile25, columnStream, columnJavac,
	columnCompress, columnD8, columnInstrument, columnVerify, columnDiffers}

// The libraries of the column of commons-compress, which Gradle 8.8 reads archives with.
var compressJars = [][2]string{
	{"org.apache.commons:commons-compress:1.26.1", "27bb5d40f37c3bb7205b4a0540247df057715e9f6cbbd97d626ab8b50318bb04"},
	{"commons-io:commons-io:2.15.1", "a58af12ee1b68cfd2ebb0c27caef164f084381a00ec81a48cc275fd7ea54e154"},
	{"org.apache.commons:commons-lang3:3.14.0", "7b96bf3ee68949abb5bc465559ac270e0551596fa34523fddf890ec418dde13c"},
	{"commons-codec:commons-codec:1.16.1", "ec87bfb55f22cbd1b21e2190eeda28b2b312ed2a431ee49fbdcc01812d04a5e4"},
}

// oddArchive is a row of the table.
type oddArchive struct {
	name string // the row
	odd  string // how it is made, and why it is odd
	data []byte // the archive
	ext  string // of the file's name; "" is .jar

	fault   string   // the entry that a refusal of instrument names, quoted as there; "" if it is the archive as a whole
	differs string   // why instrument does something else than ZipFile; "" if it does the same
	changed []string // entries that are no classes and that instrument changes or leaves out
	output  string   // why a program that finds no fault in the archive reads something else of the output
}

func (o oddArchive) file() string {
	if o.ext == "" {
		return "in.jar"
	}
	return "in" + o.ext
}

// oddRun is what tracegen does with an archive.
type oddRun struct {
	in, out  string // files; out is empty if instrument refused
	cells    map[string]string
	accepted bool
}

// oddTable is the table of the page, or what was measured: cells by row and column, and versions by program.
type oddTable struct {
	cells    map[string]map[string]string
	versions map[string]string
	outputs  map[string]map[string]string // as cells, of what tracegen wrote; not in the page
}

// cell keeps a cell that testdata/readers/Readers.java has printed.
func (o oddTable) cell(fields []string) {
	if fields[0] != "cell" {
		return
	}
	to := o.cells
	if fields[2] == "out" {
		to = o.outputs
	}
	to[fields[1]][fields[3]] = shortOdd(fields[4])
}

// TestOddArchives reads odd archives by tracegen and by other programs and compares what they do with the table in
// testdata/archives.md, which -update writes. A column is compared if its program is here in the version of the table.
//
// Invariant: Of an odd archive tracegen keeps every entry that ZipFile reads, or refuses it with a message that names
// archive and entry, and writes nothing.
func TestOddArchives(t *testing.T) {
	nightly.Only(t, "classes")
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the table has the names and messages of Linux")
	}
	jdks, err := oracle.FindJDKs()
	oracle.Require(t, err)
	i := slices.IndexFunc(jdks, func(j oracle.JDK) bool { return j.Feature == 17 })
	if i < 0 {
		oracle.Require(t, fmt.Errorf("no JDK 17: %w", oracle.ErrMissing))
	}
	bin := filepath.Join(t.TempDir(), "tracegen")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/tracegen").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	dir := t.TempDir()
	runs := map[string]*oddRun{}
	got := oddTable{map[string]map[string]string{}, map[string]string{}, map[string]map[string]string{}}
	var list strings.Builder
	n := 0
	for _, g := range oddGroups() {
		for _, o := range g.rows {
			if runs[o.name] != nil {
				t.Fatalf("two rows are called %s", o.name)
			}
			run := runOdd(t, bin, filepath.Join(dir, strconv.Itoa(n)), o)
			runs[o.name] = run
			got.cells[o.name] = run.cells
			got.outputs[o.name] = map[string]string{}
			run.cells[columnDiffers] = o.differs + o.output
			fmt.Fprintf(&list, "%s\t%s\t%s\n", o.name, run.in, run.out)
			n++
		}
	}
	if n < 100 {
		t.Errorf("only %d archives", n)
	}
	text, err := os.ReadFile(oddPage)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := parseOddPage(string(text))
	r := readOdd(t, jdks, jdks[i], list.String(), got)
	// Another version of the JDK may read other archives, and the rows have the reasons for one.
	same := *update || got.versions["JDK 17"] == want.versions["JDK 17"]
	for _, g := range oddGroups() {
		for _, o := range g.rows {
			checkOdd(t, o, runs[o.name], r[o.name], got, same)
		}
	}
	compareOdd(t, string(text), want, got)
}

// runOdd runs instrument and verify with one archive, and checks their messages and files.
func runOdd(t *testing.T, bin, dir string, o oddArchive) *oddRun {
	t.Helper()
	in := filepath.Join(dir, o.file())
	run := &oddRun{in: in, cells: map[string]string{}}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, o.data, 0o666); err != nil {
		t.Fatal(err)
	}
	said, exit := commandOdd(t, bin, dir, "instrument", o.file(), "-o", "out/")
	var files []string
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		files = append(files, filepath.Base(f))
	}
	prefix := o.file() + "!"
	switch exit {
	case 0:
		run.accepted = true
		run.out = filepath.Join(dir, "out", o.file())
	case 2:
		if !slices.Equal(files, []string{o.file()}) {
			t.Errorf("%s: refused, and there are the files %v", o.name, files)
		}
		if !strings.Contains(said, o.file()) || !strings.Contains(said, o.fault) {
			t.Errorf("%s: the message does not name the archive and %q:\n%s", o.name, o.fault, said)
		}
		if o.fault == "" && strings.Contains(said, prefix) {
			t.Errorf("%s: the row does not have the entry that the message names:\n%s", o.name, said)
		}
	default:
		t.Errorf("%s: instrument ends with exit code %d\n%s", o.name, exit, said)
	}
	run.cells[columnInstrument] = shortOdd(cellOdd(said, exit))
	said, exit = commandOdd(t, bin, dir, "verify", o.file())
	if exit != 0 && !strings.Contains(said, o.file()) {
		t.Errorf("%s: verify does not name the archive:\n%s", o.name, said)
	}
	run.cells[columnVerify] = shortOdd(cellOdd(said, exit))
	return run
}

func commandOdd(t *testing.T, bin, dir string, args ...string) (said string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	said = string(out)
	if strings.Contains(said, "panic:") || strings.Contains(said, "goroutine ") {
		t.Errorf("%s: %s\n%s", dir, strings.Join(args, " "), said)
	}
	return said, cmd.ProcessState.ExitCode()
}

var (
	oddSummary = regexp.MustCompile(`: (\d+) class(?:es)?, (\d+) changed`)
	oddChecked = regexp.MustCompile(`(\d+) class(?:es)? checked: (\d+) findings?`)
	oddCount   = regexp.MustCompile(`^\d+/(\d+)`)
)

// cellOdd shortens what tracegen said.
func cellOdd(said string, exit int) string {
	cell, warning := "", ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if m := oddSummary.FindStringSubmatch(line); m != nil {
			cell = m[1] + "/" + m[2]
		}
		if m := oddChecked.FindStringSubmatch(line); m != nil {
			cell = m[1] + " checked, " + m[2] + " found"
		}
		if text, ok := strings.CutPrefix(line, "tracegen: warning: "); ok && warning == "" {
			warning = "; " + text
		}
	}
	if cell == "" {
		last := strings.TrimSpace(strings.TrimPrefix(said, "tracegen: "))
		return "no: " + strings.TrimPrefix(last, "cannot read input as a zip archive: ")
	}
	if exit == 0 || strings.HasSuffix(cell, "found") {
		return cell + warning
	}
	return cell + warning + "; exit code " + strconv.Itoa(exit)
}

// oddRead is what ZipFile 17 reads of an archive and of what tracegen wrote: why it refuses it, and the name and the
// hash of each entry.
type oddRead struct {
	refused map[string]string
	entries map[string][][2]string
}

// readOdd runs the readers, fills their columns in got, and returns what ZipFile reads by row.
func readOdd(t *testing.T, jdks []oracle.JDK, j oracle.JDK, list string, got oddTable) map[string]*oddRead {
	t.Helper()
	columns := []string{columnList, columnExtract, columnZipFile, columnStream, columnJavac}
	sources := []string{"Readers.java"}
	var path []string
	compress, err := fetchAll(t.Context())
	if err == nil {
		columns, sources, path = append(columns, columnCompress), append(sources, "Compress.java"), append(path, compress...)
		got.versions[columnCompress] = compressJars[0][0][strings.LastIndexByte(compressJars[0][0], ':')+1:]
	} else {
		t.Logf("%s is left out: %v", columnCompress, err)
	}
	d8, err := toolchain.Versions[0].Fetch(t.Context())
	if err == nil {
		columns, sources, path = append(columns, columnD8), append(sources, "Dex.java"), append(path, d8.Jar())
		got.versions[columnD8] = d8.Version
	} else {
		t.Logf("%s is left out: %v", columnD8, err)
	}
	classes := filepath.Join(t.TempDir(), "classes")
	args := []string{"-d", classes, "-cp", strings.Join(path, string(os.PathListSeparator))}
	for _, s := range sources {
		args = append(args, filepath.Join("testdata", "readers", s))
	}
	if out, err := exec.CommandContext(t.Context(), j.Tool("javac"), args...).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	path = append([]string{classes}, path...)
	read := map[string]*oddRead{}
	runReaders(t, j, path, list, columns, func(f []string) {
		if f[0] == "version" {
			got.versions["JDK 17"] = f[2]
		}
		got.cell(f)
		if len(f) < 4 || f[0] != "entry" && f[0] != "read" {
			return
		}
		r := read[f[1]]
		if r == nil {
			r = &oddRead{map[string]string{}, map[string][][2]string{}}
			read[f[1]] = r
		}
		if f[0] == "read" {
			r.refused[f[2]] = f[3]
		} else {
			r.entries[f[2]] = append(r.entries[f[2]], [2]string{f[3], f[4]})
		}
	})
	if newer := jdks[len(jdks)-1]; newer.Feature == 25 {
		runReaders(t, newer, path, list, []string{columnZipFile25}, func(f []string) {
			if f[0] == "version" {
				got.versions["JDK 25"] = f[2]
			}
			got.cell(f)
		})
	}
	return read
}

func fetchAll(ctx context.Context) ([]string, error) {
	var jars []string
	for _, a := range compressJars {
		jar, err := oracle.FetchSum(ctx, a[0], a[1])
		if err != nil {
			return nil, err
		}
		jars = append(jars, jar)
	}
	return jars, nil
}

// runReaders runs testdata/readers/Readers.java, and calls line with the fields of each line that it prints.
func runReaders(t *testing.T, j oracle.JDK, path []string, list string, columns []string, line func([]string)) {
	t.Helper()
	dir := t.TempDir()
	here := filepath.Join(dir, "a", "b", "c")
	made := filepath.Join(dir, "made")
	for _, d := range []string{here, made} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	listFile := filepath.Join(dir, "list")
	if err := os.WriteFile(listFile, []byte(list), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
		strings.Join(path, string(os.PathListSeparator)), "Readers", listFile, made}
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), append(args, columns...)...)
	cmd.Dir = here
	// The names of files and the texts of errors depend on both.
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("java: %v\n%s\n%.2000s", err, &failed, out)
	}
	for l := range strings.Lines(string(out)) {
		line(strings.Split(strings.TrimSuffix(l, "\n"), "\t"))
	}
}

// checkOdd checks what holds for every row. The reasons of the row are checked if it is the same JDK that they are for.
func checkOdd(t *testing.T, o oddArchive, run *oddRun, read *oddRead, got oddTable, same bool) {
	t.Helper()
	cells := got.cells[o.name]
	opens := read.refused["in"] == ""
	if run.accepted && opens && read.refused["out"] != "" {
		t.Errorf("%s: ZipFile reads it, and of the output it says: %s", o.name, read.refused["out"])
	}
	other := ""
	for column, out := range got.outputs[o.name] {
		if in := cells[column]; len(o.changed) == 0 && !faultyOdd(in) && in != out {
			other += fmt.Sprintf("%s reads %s of it, and of the output %s\n", column, in, out)
		}
	}
	_, all := got.versions[columnCompress]
	if other != "" && o.output == "" || other == "" && o.output != "" && all && same {
		t.Errorf("%s: the row's reason is %q\n%s", o.name, o.output, other)
	}
	differs := run.accepted != opens
	if run.accepted && opens {
		lost := lostEntries(read.entries["in"], read.entries["out"])
		if !slices.Equal(lost, slices.Sorted(slices.Values(o.changed))) {
			t.Errorf("%s: entries are changed: %q, the row has %q", o.name, lost, o.changed)
		}
		_, changed, _ := strings.Cut(cells[columnInstrument], "/")
		changed, _, _ = strings.Cut(changed, ";")
		differs = len(lost) > 0 || oddCount.FindStringSubmatch(cells[columnZipFile])[1] != changed
	}
	if same && differs != (o.differs != "") {
		t.Errorf("%s: tracegen differs from ZipFile: %v, the row's reason is %q\nZipFile: %s\ninstrument: %s", o.name,
			differs, o.differs, cells[columnZipFile], cells[columnInstrument])
	}
}

// faultyOdd reports whether a cell has a refusal or a fault.
func faultyOdd(cell string) bool {
	return strings.HasPrefix(cell, "no:") || strings.Contains(cell, ";")
}

// lostEntries returns the names of entries that are no classes and are not in the output with the same data.
func lostEntries(in, out [][2]string) []string {
	left := map[[2]string]int{}
	for _, e := range out {
		left[e]++
		left[[2]string{e[0]}]++
	}
	lost := []string{}
	for _, e := range in {
		if strings.HasSuffix(e[0], ".class") {
			e[1] = "" // any data
		}
		if left[e]--; left[e] < 0 {
			lost = append(lost, e[0])
		}
	}
	slices.Sort(lost)
	return lost
}

// compareOdd compares the table with the page, or writes it there.
func compareOdd(t *testing.T, text string, want, got oddTable) {
	t.Helper()
	for _, o := range allOdd() {
		for _, column := range oddColumns {
			cell, ok := got.cells[o.name][column]
			same := true
			for _, program := range programsOf(column) {
				same = same && got.versions[program] == want.versions[program]
			}
			switch {
			case *update && ok:
			case *update:
				got.cells[o.name][column] = want.cells[o.name][column]
			case ok && same && cell != want.cells[o.name][column]:
				t.Errorf("%s: %s: the page says\n%s\nmeasured\n%s", o.name, column, want.cells[o.name][column], cell)
			}
		}
	}
	for program, version := range want.versions {
		if v := got.versions[program]; v != version {
			t.Logf("%s is %q here and %s in the page: its columns are not compared", program, v, version)
			if *update && v == "" {
				got.versions[program] = version
			}
		}
	}
	page := formatOddPage(got)
	if *update {
		if err := os.WriteFile(oddPage, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if a, b := outlineOdd(page), outlineOdd(text); a != b {
		t.Errorf("the page has other sentences or rows than the test; run with -update")
	}
}

// programsOf returns the programs that fill a column, none for tracegen. D8 and commons-compress pass on messages of
// the zip code of the JDK that they run on.
func programsOf(column string) []string {
	switch column {
	case columnCompress, columnD8:
		return []string{column, "JDK 17"}
	case columnZipFile25:
		return []string{"JDK 25"}
	case columnInstrument, columnVerify, columnDiffers:
		return nil
	}
	return []string{"JDK 17"}
}

// longestCell is the number of bytes of a cell that are shown.
const longestCell = 120

// shortOdd returns a text for a cell of the table.
func shortOdd(s string) string {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "FILE", "in.jar")
	s = strings.NewReplacer("|", `\u007c`, "`", `\u0060`, "<", `\u003c`).Replace(s)
	if len(s) > longestCell {
		cut := longestCell
		for s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "..."
	}
	return s
}

func allOdd() (all []oddArchive) {
	for _, g := range oddGroups() {
		all = append(all, g.rows...)
	}
	return all
}
