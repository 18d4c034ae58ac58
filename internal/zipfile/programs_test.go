package zipfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// programs are other programs that read whole archives. FILE in args stands for the file's name.
var programs = []struct {
	program string
	args    []string
	benign  string // output of a run that fails although the archive is good
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

// needTool returns the path of a program. Without it, the test is skipped, but fails in CI, where all of them must
// be installed.
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

// readByPrograms checks that every program reads the archive at path.
func readByPrograms(t *testing.T, path string) {
	t.Helper()
	for _, r := range programs {
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

// TestOtherPrograms checks that other programs read the rewritten archives of those shapes that they support.
//
// Invariant: Other programs read the archives that are written.
func TestOtherPrograms(t *testing.T) {
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
			fixture.Write(t, path, out)
			readByPrograms(t, path)
		})
	}
	for name := range chosen {
		t.Errorf("no shape is called %q", name)
	}
}
