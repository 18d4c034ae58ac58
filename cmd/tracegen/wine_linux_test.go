package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// A wine runs the program for Windows with Wine, which has Windows's rules for names: no case, drives, backslashes,
// devices such as NUL in each directory.
type wine struct {
	bin, dir string
	env      []string
}

// newWine builds the program for Windows and prepares Wine in a directory of its own, or skips the test: Wine is no
// part of what CI installs.
func newWine(t *testing.T) *wine {
	t.Helper()
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("skipped: -short, or another processor")
	}
	if _, err := exec.LookPath("wine"); err != nil {
		t.Skip("not run: no Wine here (Debian: wine64, wine, gcc-mingw-w64-x86-64-win32)")
	}
	w := &wine{bin: filepath.Join(t.TempDir(), "tracegen.exe"), dir: t.TempDir()}
	w.env = append(os.Environ(), "WINEPREFIX="+t.TempDir(), "WINEDEBUG=-all", "DISPLAY=")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", w.bin, ".")
	build.Env = append(os.Environ(), "GOOS=windows", "CGO_ENABLED=0")
	fixture.Run(t, build)
	t.Cleanup(func() {
		stop := exec.Command("wineserver", "-k", "-w")
		stop.Env = w.env
		_ = stop.Run() // Wine's processes stay for a while otherwise, and write into the directory
	})
	if out, code := w.run(t, "version"); code != cli.ExitDone {
		w.addLibrary(t, out)
	}
	return w
}

// addLibrary adds the library without which Go's runtime does not start on an old Wine.
func (w *wine) addLibrary(t *testing.T, said string) {
	t.Helper()
	library := filepath.Join(strings.TrimPrefix(w.env[len(w.env)-3], "WINEPREFIX="), "drive_c", "windows", "system32",
		"bcryptprimitives.dll")
	out, err := exec.CommandContext(t.Context(), "x86_64-w64-mingw32-gcc", "-shared", "-o", library,
		filepath.Join("testdata", "wine", "bcryptprimitives.c"), "-ladvapi32").CombinedOutput()
	if err != nil {
		t.Skipf("not run: Wine cannot start a program of Go: %v\n%s\n%s", err, out, said)
	}
	if out, code := w.run(t, "version"); code != cli.ExitDone {
		t.Skipf("not run: Wine cannot start a program of Go: %d\n%s", code, out)
	}
}

// run runs the program and returns what it printed, and its exit code.
func (w *wine) run(t *testing.T, args ...string) (output string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "wine", append([]string{w.bin}, args...)...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), cli.ExitDone
}

// TestWindowsNames runs the program for Windows with names that only Windows has. What it writes must be what the
// program writes here.
//
// Invariant: The outputs do not depend on the operating system, and Windows's names of one file are seen to be one.
func TestWindowsNames(t *testing.T) {
	w := newWine(t)
	sample := fixture.Read(t, filepath.Join("..", "..", "testdata", "sample", "sample.jar"))
	class := fixture.Read(t, filepath.Join("..", "..", "testdata", "classes", "bin", "g", "Flow.class"))
	for name, data := range map[string][]byte{"in/a.jar": sample, "in/B.JAR": sample, "in/classes/g/Flow.class": class,
		"rules/more.yml": []byte("rules: [{block: 'sample.Main#main'}]\n"),
		"conf.yml":       []byte("include: 'rules\\more.yml'\n"),
		"args.txt":       []byte("in\\\\a.jar\n-o\nargs.jar\n--mapping\nargs.txt.map\n")} {
		path := filepath.Join(w.dir, filepath.FromSlash(name))
		fixture.Write(t, path, data)
	}
	if err := os.Link(filepath.Join(w.dir, "in", "a.jar"), filepath.Join(w.dir, "hard.jar")); err != nil {
		t.Fatal(err)
	}
	drive := "Z:" + strings.ReplaceAll(w.dir, "/", `\`)
	for _, row := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"instrument", `in\a.jar`, `in\B.JAR`, `in\classes`, "-o", `out\`, "--mapping", `lists\map.txt`,
			"--report", `lists\report.json`}, cli.ExitDone, `in\classes -> out\classes`},
		{[]string{"instrument", `in\a.jar`, `in\B.JAR`, `in\classes`, "-o", `out\`, "--mapping", `lists\map.txt`,
			"--report", `lists\report.json`}, cli.ExitDone, `in\classes -> out\classes`}, // over the outputs
		{[]string{"verify", `OUT\A.jar`, `out\classes`}, cli.ExitDone, ""},
		{[]string{"instrument", drive + `\in\a.jar`, "-o", drive + `\drive.jar`, "--mapping", `lists/drive.txt`}, cli.ExitDone, ""},
		{[]string{"instrument", `in/a.jar`, "-o", `.\sub\..\dots.jar`, "--mapping", `lists\dots.txt`}, cli.ExitDone, ""},
		{[]string{"strip", `out\a.jar`, "-o", "back.jar"}, cli.ExitDone, ""},
		{[]string{"instrument", `in\a.jar`, "-o", "o.jar", "--mapping", "O.JAR"}, cli.ExitFailed, "two names of one file"},
		{[]string{"instrument", `in\a.jar`, "-o", `IN\A.jar`, "--mapping", "m.txt"}, cli.ExitFailed, "choose another output"},
		{[]string{"instrument", `in\a.jar`, "-o", "hard.jar", "--mapping", "m.txt"}, cli.ExitFailed, "choose another output"},
		{[]string{"instrument", `in\a.jar`, `in\b.jar`, "-o", `out`, "--mapping", `OUT\b.jar`}, cli.ExitFailed, "two names of one file"},
		{[]string{"instrument", `in\none.jar`, "-o", "n.jar", "--mapping", "m.txt"}, cli.ExitFailed, `in\none.jar`},
		{[]string{"instrument", `in\a.jar`, "-o", "p.jar", "--mapping", "m.txt", "--config", "conf.yml"}, cli.ExitDone, ""},
	} {
		said, code := w.run(t, row.args...)
		if code != row.code || !strings.Contains(said, row.says) {
			t.Errorf("%s: exit code %d, want %d and %q; said\n%s", strings.Join(row.args, " "), code, row.code, row.says, said)
		}
	}
	here := exec.CommandContext(t.Context(), builtTool(t), "instrument", "in/a.jar", "in/B.JAR", "in/classes", "-o",
		"here/", "--mapping", "here/map.txt")
	here.Dir = w.dir
	fixture.Run(t, here)
	for windows, linux := range map[string]string{"out/a.jar": "here/a.jar", "out/B.JAR": "here/B.JAR",
		"out/classes/g/Flow.class": "here/classes/g/Flow.class", "lists/map.txt": "here/map.txt", "back.jar": "in/a.jar"} {
		got, err := os.ReadFile(filepath.Join(w.dir, windows))
		if err != nil {
			t.Error(err)
			continue
		}
		want := fixture.Read(t, filepath.Join(w.dir, linux))
		if windows != "back.jar" && !bytes.Equal(got, want) {
			t.Errorf("%s is not what the program writes here", windows)
		}
	}
	left, err := filepath.Glob(filepath.Join(w.dir, "*", ".tracegen-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
