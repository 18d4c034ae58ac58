package mapping

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

const dispatchLine = "1048574,1," + dispatchKey + "\n"

// withDigest returns lines after a header with the right digest. The last lines need not be method lines.
func withDigest(t testing.TB, methodLines, comments string) string {
	t.Helper()
	m, err := Parse("", methodLines+dispatchLine)
	if err != nil {
		t.Fatal(err)
	}
	return "# tracegen-mapping 1\n# digest " + m.Digest() + "\n# runtime dev.tracegen.runtime.AppMethodBeat\n" +
		methodLines + dispatchLine + comments
}

// Invariant: Matrix's reader accepts our mapping, and we accept Matrix's.
func TestMatrix(t *testing.T) {
	m, err := Load(filepath.Join("testdata", "matrix.txt"))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join("testdata", "matrix.golden"), written(t, m))
	// As a base mapping: methods with descriptors are found in it, the others are gone.
	next := mustAssign(t, methods("sample/tencent/matrix/MatrixApplication|onCreate|()V",
		"com/example/Native|poll|()V"), Options{Base: m})
	if id, _ := next.ByMethod(method("sample/tencent/matrix/MatrixApplication|onCreate|()V").Identity); id != 1 {
		t.Errorf("onCreate has ID %d, want 1", id)
	}
	golden.Compare(t, filepath.Join("testdata", "matrix-later.golden"), written(t, next))
}

func TestParseTolerates(t *testing.T) {
	const retired = "# retired 5,1,a.A old ()V\n"
	plain := withDigest(t, "3,1,a.A f ()V\n9,2,a.A g ()V\n", "# focus a.A add\n"+retired)
	want, err := Parse("", plain)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"CRLF":          strings.ReplaceAll(plain, "\n", "\r\n"),
		"BOM":           "\ufeff" + plain,
		"comments":      strings.ReplaceAll(plain, "# runtime", "# label build=17\n\n#\n# runtime"),
		"slashes":       strings.ReplaceAll(plain, "a.A f", "a/A f"),
		"escapes":       strings.ReplaceAll(plain, "a.A f", "%61.A %66"),
		"leading zeros": strings.ReplaceAll(plain, "\n3,1,", "\n003,01,"),
		"other order": strings.ReplaceAll(strings.ReplaceAll(plain, "9,2,a.A g ()V\n", ""), "3,1,",
			"9,2,a.A g ()V\n3,1,"),
		"retired first": strings.Replace(strings.TrimSuffix(plain, retired), "3,1,", retired+"3,1,", 1),
	} {
		m, err := Parse(name, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if written(t, m) != written(t, want) {
			t.Errorf("%s: another mapping", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := withDigest(t, "3,1,a.A f ()V\n9,2,a.A g ()V\n", "# focus a.A add\n# retired 5,1,a.A old ()V\n")
	with := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("nothing to replace: %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	counted := strings.Replace(good, "3,1,", "# counts 2 methods, 1 focus, 1 retired\n3,1,", 1)
	if _, err := Parse("good", counted); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":         {"", "m.txt: no method line"},
		"comments only": {"# hello\n", "m.txt: no method line"},
		"newer":         {with("mapping 1", "mapping 2"), `m.txt:1: mapping format "2"`},
		"two headers":   {good + good, "m.txt:9: a second header"},
		"headless": {strings.TrimPrefix(good, "# tracegen-mapping 1\n"),
			"m.txt:1: damaged: a line in tracegen's format"},
		"cut in a line":  {good[:len(good)-3], "m.txt:8: damaged: the last line has no newline"},
		"cut in methods": {good[:strings.Index(good, "9,2")], "m.txt: damaged: no line for the message dispatch"},
		"lost method":    {with("9,2,a.A g ()V\n", ""), "m.txt:2: damaged: the header says digest"},
		"changed method": {with("a.A g", "a.A h"), "m.txt:2: damaged: the header says digest"},
		"lost retired": {strings.Replace(counted, "# retired 5,1,a.A old ()V\n", "", 1),
			`m.txt:4: damaged: the header says "2 methods, 1 focus, 1 retired", ` +
				`the file has "2 methods, 1 focus, 0 retired"`},
		"no digest":      {strings.Replace(good, "# digest ", "# digits ", 1), `m.txt: damaged: no "# digest" line`},
		"no runtime":     {with("# runtime dev", "# rumtime dev"), `m.txt: damaged: no "# runtime" line`},
		"empty digest":   {"# tracegen-mapping 1\n# digest \n", `m.txt:2: damaged: "# digest" without a value`},
		"two digests":    {with("# runtime", "# digest 1\n# runtime"), `m.txt:3: a second "# digest" line`},
		"runtime":        {with("# runtime dev", "# runtime a b"), "m.txt:3: ' ' must be written %20"},
		"focus action":   {with("a.A add", "a.A ad"), "m.txt:7: focus line"},
		"focus class":    {with("a.A add", "%A add"), "m.txt:7: '%' without"},
		"focus twice":    {with("# focus", "# focus a.A hook\n# focus"), "a.A: both add and hook"},
		"same ID":        {with("9,2,", "3,2,"), "m.txt:5: ID 3 is on line 4 already"},
		"ID retired":     {with("retired 5", "retired 9"), "m.txt:8: ID 9 is on line 5 already"},
		"same method":    {with("a.A g", "a.A f"), "m.txt:5: a.A f ()V has an ID on line 4 already"},
		"method retired": {with("a.A old", "a.A g"), "m.txt:8: a.A g ()V has an ID on line 5 already"},
		"ID 0":           {with("3,1,", "0,1,"), "m.txt:4: ID 0: IDs run from 1 to 1048573"},
		"ID too big":     {with("3,1,", "1048576,1,"), "m.txt:4: ID 1048576: IDs run"},
		"never used":     {with("3,1,", "1048575,1,"), "m.txt:4: ID 1048575 is never used"},
		"ID of dispatch": {with("3,1,", "1048574,1,"), "m.txt:4: ID 1048574 belongs to the message dispatch"},
		"two dispatches": {with("# focus", dispatchLine+"# focus"),
			"m.txt:7: a second line for the message dispatch"},
		"dispatch retired":  {with("retired 5", "retired 1048574"), "m.txt:8: ID 1048574: IDs run"},
		"ID overflow":       {with("3,1,", "18446744073709551617,1,"), "m.txt:4: "},
		"negative ID":       {with("3,1,", "-3,1,"), "m.txt:4: "},
		"no number":         {with("3,1,", "x,1,"), `m.txt:4: "x,1,a.A f ()V": want ID,access`},
		"no access":         {with("3,1,", "3,"), "m.txt:4: \"3,a.A f ()V\": want the access flags"},
		"access":            {with("3,1,", "3,65536,"), "m.txt:4: access flags 65536"},
		"no method":         {with("a.A f ()V", "a.A"), "m.txt:4: \"a.A\": want class, method"},
		"two spaces":        {with("a.A f", "a.A  f"), "m.txt:4: "},
		"trailing space":    {with("f ()V", "f ()V "), "m.txt:4: "},
		"too many fields":   {with("a.A f", "a.A f g"), "m.txt:4: "},
		"comma":             {with("a.A f", "a.A f,g"), "m.txt:4: \"f,g\": ',' must be written %2C"},
		"bad escape":        {with("a.A f", "a.A %f"), "m.txt:4: \"%f\": '%' without two"},
		"not UTF-8":         {with("a.A f", "a.A \xe9"), "m.txt:4: \"\\xe9\": not UTF-8"},
		"too long":          {with("a.A f", "a.A "+strings.Repeat("x", 65536)), "65536 bytes long"},
		"Matrix: same ID":   {"1,1,a.A f ()V\n1,1,a.A g ()V\n", "m.txt:2: ID 1 is on line 1 already"},
		"Matrix: no method": {"1,1,a.A\n", "m.txt:1: \"a.A\": want class"},
		"Matrix: binary":    {"PK\x03\x04\x00\xff", "m.txt:1: "},
		"Matrix: same":      {"1,1,a.A f ()V\n2,1,a/A f ()V\n", "m.txt:2: a.A f ()V has an ID on line 1 already"},
		"Matrix: GBK":       {"1,1,a.A \xc4\xe3 ()V\n", "not UTF-8"},
		"Matrix: wild":      {"1,1,a.A f g h\n", "want class, method"},
	} {
		m, err := Parse("m.txt", test.text)
		var format *FormatError
		if m != nil || !errors.As(err, &format) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, test.want)
		}
	}
}

// Every file whose end was cut off must be refused.
func TestTruncated(t *testing.T) {
	base := mustAssign(t, oddNames, Options{})
	text := written(t, mustAssign(t, oddNames[3:], Options{Base: base, Focus: []Focus{{"a/A", FocusAdd}}}))
	for n := range len(text) {
		if _, err := Parse("", text[:n]); err == nil {
			t.Errorf("the first %d bytes of %d were accepted:\n%s", n, len(text), text[:n])
		}
	}
}

func TestLoadMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none.txt")); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "none.txt") {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("a directory was loaded")
	}
	path := filepath.Join(dir, "m.txt")
	m := mustAssign(t, oddNames, Options{})
	fixture.Write(t, path, written(t, m))
	again, err := Load(path)
	if err != nil || again.Digest() != m.Digest() {
		t.Errorf("Load: %v", err)
	}
}

// FuzzParse checks that no input panics, and that an accepted mapping, when written, is read as the same mapping and
// written as the same text again.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil || len(seeds) < 6 {
		f.Fatalf("seeds: %v, %v", seeds, err)
	}
	for _, path := range seeds {
		text := fixture.Read(f, path)
		f.Add(string(text))
	}
	f.Add("1,1,a.A f\n2,131073,a/B g h, 100% ()V\r\n1048574,1,android.os.Handler dispatchMessage\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("fuzz", text)
		if err != nil {
			// Nearly all changes that a fuzzer makes to our own files fail at the digest. Correct it and go on.
			_, have, ok := strings.Cut(err.Error(), "the method lines have ")
			i := strings.Index(text, digestPrefix)
			if !ok || i < 0 {
				return
			}
			_, rest, _ := strings.Cut(text[i:], "\n")
			if m, err = Parse("fuzz", text[:i]+digestPrefix+have[:16]+"\n"+rest); err != nil {
				return
			}
		}
		first := written(t, m)
		again, err := Parse("again", first)
		if err != nil {
			t.Fatalf("%v in\n%s", err, first)
		}
		if second := written(t, again); second != first {
			t.Fatalf("written first\n%s\nand then\n%s", first, second)
		}
		for e := range m.All() {
			if id, ok := again.ByMethod(e.Identity); !ok || id != e.ID {
				t.Fatalf("%v: has ID %d after reading", e, id)
			}
		}
		if !slices.Equal(slices.Collect(m.Retired()), slices.Collect(again.Retired())) {
			t.Fatal("other retired methods")
		}
	})
}
