package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// sizeRow is one way to instrument the app of testdata/size, and what that may add to what R8 makes of it.
type sizeRow struct {
	name    string
	options []string
	full    bool // only with the whole corpus
	// bytes and methods are the greatest growth of the dex files and of their method references, in percent; asBefore
	// is the least share of the methods that R8 inlines away as it does without tracegen.
	bytes, methods, asBefore float64
}

// ownRules traces the app's own classes only.
const ownRules = "rules:\n- block: \"**\"\n- allow: app.**\n"

// TestCorpusR8Size shrinks an app of two libraries by R8 in full mode to dex files, as it is and instrumented, and
// compares sizes, method references, and what R8 has inlined. The runtime is in none of them: R8 takes its class for
// one that another dex file has.
//
// Invariant: What calls add to a shrunk app stays within limits.
func TestCorpusR8Size(t *testing.T) {
	nightly.Only(t, "tools")
	var libraries []string
	for _, jar := range corpus.Need(t, "gson-2.11.0", "okio-jvm-3.9.0", "kotlin-stdlib-2.2.20", "annotations-23.0.0",
		"error_prone_annotations-2.27.0") {
		first := filepath.Join(t.TempDir(), filepath.Base(jar.Classes))
		FirstRelease(t, first, jar.Classes)
		libraries = append(libraries, first)
	}
	dir := filepath.Join("testdata", "size")
	a := newApp(t, filepath.Join(dir, "app.pro"), libraries, dir)
	own := filepath.Join(t.TempDir(), "own.yml")
	fixture.Write(t, own, ownRules)
	rows := []sizeRow{
		{"own", []string{"--config", own}, false, 1, 1, 99},
		{"own and libraries", []string{"--scope", "own-and-libraries", "--libraries",
			strings.Join(libraries, string(os.PathListSeparator))}, false, 4, 1, 99},
		// With smart, it is +22 %, +5.8 % and 91.5 %; with bounded, 92.4 % are inlined as before.
		{"all", nil, false, 16, 4, 91},
		{"all, normal exits", []string{"--exits", "normal"}, true, 25, 10, 85},
		{"all, exact exits", []string{"--exits", "exact"}, true, 50, 15, 70},
		{"all, compact IDs", []string{"--set", "id-order=compact"}, true, 25, 10, 85},
		{"all, every method", []string{"--set", "trivial=none"}, true, 60, 30, 50},
	}
	tools := versions(t)[0]
	plain, inlined := a.size(t, tools, a.jars)
	table := fmt.Sprintf("row\tdex bytes\tmethod references\tclasses\tinlined away as before\nplain\t%d\t%d\t%d\t%d\n",
		plain.Bytes, plain.Methods, plain.Classes, len(inlined.Away))
	for _, row := range rows {
		if row.full && !corpus.IsFull() {
			continue
		}
		size, now := a.size(t, tools, a.instrumentAll(t, row.options))
		kept, all := now.AsBefore(inlined)
		bytes, methods := growth(plain.Bytes, size.Bytes), growth(plain.Methods, size.Methods)
		asBefore := 100 * float64(kept) / float64(max(all, 1))
		table += fmt.Sprintf("%s\t%+.2f %%\t%+.2f %%\t%+d\t%.2f %%\n", row.name, bytes, methods,
			size.Classes-plain.Classes, asBefore)
		if all < 300 || bytes <= 0 || bytes > row.bytes || methods > row.methods || asBefore < row.asBefore {
			t.Errorf("%s: dex files %+.2f %%, at most %+.0f; method references %+.2f %%, at most %+.0f; %.2f %% of %d "+
				"methods inlined as before, at least %.0f", row.name, bytes, row.bytes, methods, row.methods, asBefore, all,
				row.asBefore)
		}
	}
	t.Logf("measured: R8 %s:\n%s", tools.Version, table)
}

// instrumentAll instruments the app with the default of everything that the options do not name.
func (a app) instrumentAll(t *testing.T, options []string) (out []string) {
	t.Helper()
	dir := t.TempDir()
	for _, jar := range a.jars {
		out = append(out, filepath.Join(dir, filepath.Base(jar)))
	}
	command(t, a.tool, slices.Concat([]string{"instrument", "-q", "-o", dir + "/", "--mapping",
		filepath.Join(dir, "methodMapping.txt"), "--runtime-external"}, options, a.jars)...)
	return out
}

// growth returns by how many percent a number has grown.
func growth(from, to int64) float64 { return 100 * (float64(to)/float64(from) - 1) }

// size shrinks jars to dex files.
func (a app) size(t *testing.T, tools Tools, jars []string) (DexSize, Inlined) {
	t.Helper()
	dir := t.TempDir()
	s := Shrinking{Library: a.library, Rules: []string{a.rules}, MinAPI: 24,
		ClassPath: []string{a.core}, Output: filepath.Join(dir, "dex"), Mapping: filepath.Join(dir, "mapping.txt")}
	if text, err := tools.R8(t.Context(), s, jars...); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	size := ReadDexSize(t, s.Output)
	inlined := ReadInlined(t, s.Mapping)
	return size, inlined
}

// TestReadInlined reads a mapping as R8 writes it.
func TestReadInlined(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mapping.txt")
	const text = `# compiler: R8
app.Main -> a.a:
# {"id":"sourceFile","fileName":"Main.java"}
    int count -> a
    1:1:void app.Texts.check(java.lang.String):7:7 -> a
    1:1:int size(int):10 -> a
    2:2:int size(int):11:11 -> a
    3:3:void lone():12:12 -> b
    3:3:void lone():12:12 -> c
app.Texts -> a.b:
    1:1:void app.Main.lone():12:12 -> a
    1:1:void app.Main.two(int,long[]):12:12 -> a
    1:1:void <init>():5:5 -> a
    void other() -> b
`
	fixture.Write(t, file, text)
	got := ReadInlined(t, file)
	want := Inlined{
		Away: map[string]bool{"app.Texts.check(java.lang.String)": true, "app.Main.two(int,long[])": true},
		Own: map[string]bool{"app.Main.size(int)": true, "app.Main.lone()": true, "app.Texts.<init>()": true,
			"app.Texts.other()": true},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	after := Inlined{Own: map[string]bool{"app.Main.two(int,long[])": true}}
	if kept, all := after.AsBefore(got); kept != 1 || all != 2 {
		t.Errorf("%d of %d as before, want 1 of 2", kept, all)
	}
}
