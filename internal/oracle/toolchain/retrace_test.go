package toolchain

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/symbolize"
	"github.com/tracegen/tracegen/mapping/r8"
)

// TestCorpusRetrace retraces texts by R8's retrace, too. Each text says whether R8 knows its notation.
//
// Invariant: Retraced texts are those of R8's retrace in each notation that it knows.
func TestCorpusRetrace(t *testing.T) {
	nightly.Only(t, "tools")
	all, err := txtar.ParseFile(filepath.FromSlash("../../../cmd/tracegen/testdata/renames/texts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mapping.txt")
	fixture.Write(t, file, all.Files[0].Data)
	m, err := r8.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := Versions[0].Fetch(t.Context())
	oracle.Require(t, err)
	for _, f := range all.Files[1:] {
		name, known, _ := strings.Cut(strings.TrimSuffix(f.Name, "]"), " [")
		text := filepath.Join(dir, "text.txt")
		fixture.Write(t, text, f.Data)
		want, err := exec.CommandContext(t.Context(), tools.java, "-cp", tools.jar,
			"com.android.tools.r8.retrace.Retrace", "--quiet", file, text).Output()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := (&symbolize.Symbolizer{R8: m}).Copy(&got, bytes.NewReader(f.Data)); err != nil {
			t.Fatal(err)
		}
		diff := cmp.Diff(strings.TrimSpace(string(want)), strings.TrimSpace(got.String()))
		if (known == "same") != (diff == "") {
			t.Errorf("%s [%s] (-R8 +tracegen):\n%s", name, known, diff)
		}
	}
}
