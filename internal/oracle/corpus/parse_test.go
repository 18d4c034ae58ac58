package corpus_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func TestParse(t *testing.T) {
	c, err := corpus.Parse(strings.NewReader("# comment\n\n" +
		"a\tmaven:g:a:1\t00\tsmall\tjavac\tb c\n" +
		"b\tmaven:g:b:1\t00\tfull\t\t\n" +
		"c\tmaven:g:c:1\t00\tdep\t\t\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Names(false); !slices.Equal(got, []string{"a"}) {
		t.Errorf("small set %v", got)
	}
	if got := c.Names(true); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("full set %v", got)
	}
	for text, want := range map[string]string{
		"a\tmaven:g:a:1\t00\tsmall\tx\n":                           "line 1: 5 columns",
		"a\tm\t0\tbig\tx\t\n":                                      `no set "big"`,
		"a\tm\t0\tfull\tx\t\n#\na\tm\t0\tfull\tx\t\n":              "line 3: a is there twice",
		"a\tm\t0\tfull\tx\tgone\n":                                 "a depends on gone",
		"a\tm\t0\tfull\tx\t\nb\tm\t0\tsmall\tx\ta\nc\tm\t0\t\tx\t": `line 3: no set ""`,
	} {
		if _, err := corpus.Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestWrongSum checks that a file with another sum than the listed one is refused.
func TestWrongSum(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	cache, err := os.UserCacheDir()
	if err != nil || !strings.HasPrefix(cache, os.Getenv("XDG_CACHE_HOME")) {
		t.Skip("skipped: the cache directory cannot be moved here")
	}
	dir := filepath.Join(cache, "tracegen", "corpora")
	fixture.Directory(t, dir)
	fixture.Write(t, filepath.Join(dir, "g_a_1.jar"), "abc")
	for sum, want := range map[string]string{
		strings.Repeat("0", 64): "has the SHA-256 ba7816bf",
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad": "",
	} {
		c, err := corpus.Parse(strings.NewReader("a\tmaven:g:a:1\t" + sum + "\tsmall\tx\t\n"))
		if err != nil {
			t.Fatal(err)
		}
		jars, err := c.Fetch(t.Context(), "a")
		if want == "" && (err != nil || len(jars) != 1) {
			t.Errorf("%s: %v", sum, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", sum, err, want)
		}
	}
}

// TestListIsWhole checks that the list can be read.
func TestListIsWhole(t *testing.T) {
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	if small, full := len(c.Names(false)), len(c.Names(true)); small < 10 || full < 30 {
		t.Errorf("%d jars in the small set, %d in the full one", small, full)
	}
}
