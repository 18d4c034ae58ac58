package collect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/lake"
)

// FuzzBody sends any body: the answer is never an error of the server, and nothing of a refused body is stored.
func FuzzBody(f *testing.F) {
	good := line("aa-s1-0", "com.a", "ab")
	f.Add(packed(good), true)
	f.Add([]byte(good+"\n"+good), false)
	f.Add(append(packed(good), 0), true)
	s := openStore(f, f.TempDir(), Options{})
	h := NewServer(s, testOptions)
	f.Fuzz(func(t *testing.T, body []byte, compressed bool) {
		encoding := "identity"
		if compressed {
			encoding = "gzip"
		}
		if status, answer := post(h, body, "Content-Encoding", encoding); status != 200 && status != 400 && status != 413 {
			t.Errorf("%d %s", status, answer)
		}
		if left := h.bodies.left.Load(); left != bodyBudget {
			t.Errorf("%d bytes of the budget were not put back", bodyBudget-left)
		}
	})
}

// FuzzTexts reads any text as what an operator writes, a file of tokens, a private key and properties, and as the names
// of a recording: nothing appears outside of its place.
func FuzzTexts(f *testing.F) {
	key, err := os.ReadFile("testdata/signing.pem")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(key), strings.ReplaceAll(string(key), "EC PRIVATE", "PRIVATE"),
		"# ours\n0123456789abcdef\n\n 0123456789abcdefg\r\n", "short", "package = com.a\nserial: 7\nexpires=1\n",
		"a\\\n=\\u0041\\\n", "ab12/1/com.a/ab", "../x/1/..//", "ab/01/a\x00b/" + strings.Repeat("a", 300)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if tokens, err := ParseTokens(text); err == nil {
			again, err := ParseTokens(strings.Join(tokens, "\n"))
			if err != nil || !slices.Equal(again, tokens) {
				t.Errorf("%q is read as %q (%v)", tokens, again, err)
			}
		}
		if app, _, err := checkConfig([]byte(text)); err == nil && !devicereport.IsPackage(app) {
			t.Errorf("%q", app)
		}
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if key, err := LoadKey(file); err == nil {
			if _, err := sign([]byte("text"), key); err != nil {
				t.Errorf("%s does not sign: %v", text, err)
			}
		}
		checkPlaces(t, append(strings.SplitN(text, "/", 4), "", "", "", ""))
	})
}

// checkPlaces checks where a recording and a report with these names are stored.
func checkPlaces(t *testing.T, names []string) {
	t.Helper()
	n, err := parsePart(names[1])
	p := Part{Package: names[2], Mapping: names[3], Recording: names[0], Number: n}
	if err != nil || p.check() != nil {
		return
	}
	file := p.file()
	if filepath.ToSlash(filepath.Clean(file)) != file || !filepath.IsLocal(file) || strings.Count(file, "/") != 3 ||
		len(file) > 400 || strings.ContainsAny(file, "\x00\\:=") {
		t.Errorf("%q", file)
	}
	dir := lake.Partition{App: names[2], Mapping: names[3], Date: "2026-11-22"}.Dir()
	if filepath.ToSlash(filepath.Clean(dir))+"/" != dir || strings.Count(dir, "/") != 4 {
		t.Errorf("%q", dir)
	}
}
