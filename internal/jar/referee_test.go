package jar

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// referees are programs we did not write that read an archive in full. Args may hold the file's name
// as FILE.
var referees = []struct {
	program string
	args    []string
	benign  string // output that goes with an exit code that means "fine, but"
}{
	{"unzip", []string{"-tqq", "FILE"}, "extra bytes at beginning or within zipfile"},
	{"zipinfo", []string{"-v", "FILE"}, "extra bytes at beginning or within zipfile"},
	{"python3", []string{"-c", `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    bad = z.testzip()
    if bad is not None:
        sys.exit("damaged: " + bad)
    print(len(z.infolist()))
`, "FILE"}, ""},
	{"jar", []string{"tf", "FILE"}, ""},
}

// needTool skips the test on a machine without program, but not in CI, where a missing referee must
// not go unnoticed.
func needTool(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", program)
		}
		t.Skipf("%s is not installed", program)
	}
	return path
}

// judge has every referee read the archive at path.
func judge(t *testing.T, path string) {
	t.Helper()
	for _, r := range referees {
		t.Run(r.program, func(t *testing.T) {
			args := append([]string(nil), r.args...)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "FILE", path)
			}
			out, err := exec.Command(needTool(t, r.program), args...).CombinedOutput()
			if err != nil && (r.benign == "" || !strings.Contains(string(out), r.benign)) {
				t.Errorf("%v\n%.2000s", err, out)
			}
		})
	}
}

// TestReferees has other programs read copies and rewrites of the shapes that they can read.
//
// Invariant: Other programs read the archives that are written.
func TestReferees(t *testing.T) {
	chosen := map[string]bool{
		"plain jar": true, "extra fields differ": true, "aligned with broken padding": true, "descriptors": true,
		"duplicates": true, "prefix counted": true, "prefix not counted": true, "zip64 fields": true, "zip64 end": true,
		"gaps": true, "order of the directory": true,
	}
	for _, shape := range shapes {
		if !chosen[shape.name] {
			continue
		}
		delete(chosen, shape.name)
		t.Run(shape.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.jar")
			a := mustNew(t, shape.c.build())
			out := rewrite(t, a, LevelDefault, func(name string, data []byte) []byte {
				if strings.HasSuffix(name, "/") {
					return data
				}
				return append(data, "changed"...)
			})
			if err := os.WriteFile(path, out, 0o644); err != nil {
				t.Fatal(err)
			}
			judge(t, path)
		})
	}
	for name := range chosen {
		t.Errorf("no shape is called %q", name)
	}
}
