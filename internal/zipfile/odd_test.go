package zipfile

import (
	"bytes"
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
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// oddJDK is the version of the JDK whose ZipFile the rows' reasons are about.
const oddJDK = "17.0.15"

// columnZipFile is the reader that tracegen is compared with.
const columnZipFile = "ZipFile"

// oddArchive is an archive that is damaged, contradicts itself, or was made so that two programs see different content.
type oddArchive struct {
	name string // the row
	odd  string // how it is made, and why it is odd
	data []byte // the archive
	ext  string // of the file's name; "" is .jar

	fault   string   // the entry that a refusal of instrument names, quoted as there; "" if it is the archive as a whole
	differs string   // why instrument does something else than ZipFile; "" if it does the same
	changed []string // entries that are no classes and that instrument changes or leaves out
	output  string   // why a reader that finds no fault in the archive reads something else of the output

	table bool // a row of another test's table, without any reasons
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
	changed  string // how many classes it says that it changed
	accepted bool
}

// oddRead is what the JDK's programs read of an archive and of what tracegen wrote, by "in" and "out": the cells of
// the readers, why ZipFile refuses it, and the name and the hash of each entry.
type oddRead struct {
	cells   map[string]map[string]string
	refused map[string]string
	entries map[string][][2]string
}

// TestOddArchives runs instrument and verify with odd archives, and reads these and the outputs by the JDK's programs.
//
// Invariant: Of an odd archive tracegen keeps every entry that ZipFile reads, or refuses it with a message that names
// archive and entry, and writes nothing.
func TestOddArchives(t *testing.T) {
	nightly.Only(t, "classes")
	if runtime.GOOS != "linux" {
		t.Skip("the rows have the names of Linux")
	}
	j := oracle.NeedJDK(t, 17)
	bin := oracle.BuildTool(t)
	dir := t.TempDir()
	runs := map[string]*oddRun{}
	var all []oddArchive
	var list strings.Builder
	for _, rows := range oddGroups() {
		for _, o := range rows {
			if runs[o.name] != nil {
				t.Fatalf("two rows are called %s", o.name)
			}
			run := runOdd(t, bin, filepath.Join(dir, strconv.Itoa(len(all))), o)
			runs[o.name] = run
			fmt.Fprintf(&list, "%s\t%s\t%s\n", o.name, run.in, run.out)
			all = append(all, o)
		}
	}
	read, version := readOdd(t, j, list.String())
	if version != oddJDK {
		t.Logf("the reasons are about JDK %s, and this is %s: they are not checked", oddJDK, version)
	}
	for _, o := range all {
		checkOdd(t, o, runs[o.name], read[o.name], version == oddJDK && !o.table)
	}
}

// runOdd runs instrument and verify with one archive, and checks their messages and files.
func runOdd(t *testing.T, bin, dir string, o oddArchive) *oddRun {
	t.Helper()
	run := &oddRun{in: filepath.Join(dir, o.file())}
	fixture.Directory(t, dir)
	fixture.Write(t, run.in, o.data)
	said, exit := commandOdd(t, bin, dir, "instrument", o.file(), "-o", "out/", "--set", "trivial=none")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	switch exit {
	case 0:
		run.accepted, run.out = true, filepath.Join(dir, "out", o.file())
		if m := oddSummary.FindStringSubmatch(said); m != nil {
			run.changed = m[1]
		}
	case 2:
		if len(files) != 1 {
			t.Errorf("%s: refused, and there are the files %v", o.name, files)
		}
		if !strings.Contains(said, o.file()) || !strings.Contains(said, o.fault) {
			t.Errorf("%s (%s): the message does not name the archive and %q:\n%s", o.name, o.odd, o.fault, said)
		}
		if o.fault == "" && !o.table && strings.Contains(said, o.file()+"!") {
			t.Errorf("%s (%s): the row does not have the entry that the message names:\n%s", o.name, o.odd, said)
		}
	default:
		t.Errorf("%s (%s): instrument ends with exit code %d\n%s", o.name, o.odd, exit, said)
	}
	if said, exit := commandOdd(t, bin, dir, "verify", o.file()); exit != 0 && !strings.Contains(said, o.file()) {
		t.Errorf("%s (%s): verify does not name the archive:\n%s", o.name, o.odd, said)
	}
	return run
}

// oddSummary matches what instrument says when it is done.
var oddSummary = regexp.MustCompile(`: \d+ class(?:es)?, (\d+) changed`)

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

// readOdd runs testdata/readers/Readers.java, and returns what it reads by row, and the version of the JDK.
func readOdd(t *testing.T, j oracle.JDK, list string) (read map[string]*oddRead, version string) {
	t.Helper()
	dir := t.TempDir()
	here, made := filepath.Join(dir, "a", "b", "c"), filepath.Join(dir, "made")
	for _, d := range []string{here, made} {
		fixture.Directory(t, d)
	}
	listFile := filepath.Join(dir, "list")
	fixture.Write(t, listFile, list)
	source, err := filepath.Abs(filepath.Join("testdata", "readers", "Readers.java"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), j.Tool("java"), "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		source, listFile, made)
	cmd.Dir = here
	// The names of files and the texts of errors depend on both.
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("java: %v\n%s\n%.2000s", err, &failed, out)
	}
	read = map[string]*oddRead{}
	for l := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		if f[0] == "version" {
			version = f[1]
			continue
		}
		r := read[f[1]]
		if r == nil {
			r = &oddRead{map[string]map[string]string{"in": {}, "out": {}}, map[string]string{}, map[string][][2]string{}}
			read[f[1]] = r
		}
		switch f[0] {
		case "cell":
			r.cells[f[2]][f[3]] = f[4]
		case "read":
			r.refused[f[2]] = f[3]
		default:
			r.entries[f[2]] = append(r.entries[f[2]], [2]string{f[3], f[4]})
		}
	}
	return read, version
}

// oddCount is the number of classes in a cell.
var oddCount = regexp.MustCompile(`^\d+/(\d+)`)

// checkOdd checks what holds for every row. The reasons of the row are checked if it is the JDK that they are about.
func checkOdd(t *testing.T, o oddArchive, run *oddRun, read *oddRead, same bool) {
	t.Helper()
	opens := read.refused["in"] == ""
	if run.accepted && opens && read.refused["out"] != "" {
		t.Errorf("%s: ZipFile reads it, and of the output it says: %s", o.name, read.refused["out"])
	}
	other := ""
	for reader, out := range read.cells["out"] {
		in := read.cells["in"][reader]
		faulty := strings.HasPrefix(in, "no:") || strings.Contains(in, ";")
		if len(o.changed) == 0 && !faulty && in != out {
			other += fmt.Sprintf("%s reads %s of it, and of the output %s\n", reader, in, out)
		}
	}
	if other != "" && o.output == "" || other == "" && o.output != "" && same {
		t.Errorf("%s: the row's reason is %q\n%s", o.name, o.output, other)
	}
	differs := run.accepted != opens
	if run.accepted && opens {
		lost := lostEntries(read.entries["in"], read.entries["out"])
		if !slices.Equal(lost, slices.Sorted(slices.Values(o.changed))) {
			t.Errorf("%s: entries are changed: %q, the row has %q", o.name, lost, o.changed)
		}
		differs = len(lost) > 0 || oddCount.FindStringSubmatch(read.cells["in"][columnZipFile])[1] != run.changed
	}
	if same && differs != (o.differs != "") {
		t.Errorf("%s (%s): tracegen differs from ZipFile: %v, the row's reason is %q\nZipFile: %s\naccepted: %v, classes "+
			"changed: %s", o.name, o.odd, differs, o.differs, read.cells["in"][columnZipFile], run.accepted, run.changed)
	}
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
