package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/tape"
)

// openTerminal opens a pseudo terminal with a number of columns. What is written to the terminal can be read from the
// first file.
func openTerminal(t *testing.T, columns int) (controller, terminal *os.File) {
	t.Helper()
	controller, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { controller.Close() })
	fd := int(controller.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
	}
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return controller, terminal
}

// onTerminal runs the command with standard output and standard error on one terminal, and returns all that it wrote.
func onTerminal(t *testing.T, columns int, args ...string) string {
	t.Helper()
	controller, terminal := openTerminal(t, columns)
	cmd := exec.Command("tracegen", args...)
	cmd.Stdout, cmd.Stderr = terminal, terminal
	cmd.Env = append(os.Environ(), "TERM=xterm")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var written bytes.Buffer
	// Reading fails with EIO when the last process has closed the terminal.
	if _, err := io.Copy(&written, controller); err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != cli.ExitCheckFailed {
		t.Fatalf("%v: %v\n%s", args, err, &written)
	}
	return written.String()
}

// screen returns the lines that a terminal shows after the text. Escape sequences are not supported.
func screen(text string, columns int) []string {
	lines := [][]rune{nil}
	at := 0 // the column of the cursor, which is always in the last line
	for _, c := range text {
		switch c {
		case '\r':
			at = 0
			continue
		case '\n':
			lines = append(lines, nil)
			continue
		}
		if at == columns {
			lines, at = append(lines, nil), 0
		}
		last := &lines[len(lines)-1]
		for len(*last) <= at {
			*last = append(*last, ' ')
		}
		(*last)[at] = c
		at++
	}
	var shown []string
	for _, l := range lines {
		shown = append(shown, strings.TrimRight(string(l), " "))
	}
	return shown
}

func TestScreen(t *testing.T) {
	if got := fmt.Sprintf("%q", screen("abcdefg\rX\r\n12345678\r     \rok", 6)); got != `["abcdef" "X" "123456" "ok"]` {
		t.Error(got)
	}
}

// TestProgressIsErased checks that nothing of a progress bar is left on a terminal that shows the output too, whatever
// its width.
func TestProgressIsErased(t *testing.T) {
	sample, err := filepath.Abs("../../testdata/sample/sample.jar")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	recording, err := tape.Make("meta mappingId=e20ead05d5dd3e5e slowMillis=700 records=all\nclock now=0\n" +
		"thread index=0 name=main main=1\nrecords thread=0 first=0 list=\"+133906@0 -133906@800\"\nend\n")
	if err != nil {
		t.Fatal(err)
	}
	fixture.Write(t, "app.tgd", recording)
	for _, c := range []struct {
		bar   string
		first string
		args  []string
	}{
		{"instrumenting", sample, []string{"instrument", sample, "-o", "out.jar"}},
		{"scanning", sample, []string{"scan", sample, "-o", "app.scan"}},
		{"stripping", "out.jar", []string{"strip", "out.jar", "-o", "back.jar"}},
		{"verifying", "tracegen: 6 classes", []string{"verify", "out.jar"}},
		{"deciding", "", []string{"explain", sample, "--method", "sample.Main#main"}},
		{"comparing", "old: 1 recording", []string{"compare", "app.tgd", "app.tgd", "--mapping", "out.txt"}},
		{"reading", "1 recording", []string{"group", "app.tgd", "--mapping", "out.txt"}},
	} {
		for _, columns := range []int{60, 80, 200} {
			written := onTerminal(t, columns, c.args...)
			if !strings.Contains(written, c.bar) {
				t.Errorf("%s, %d columns: no progress bar: %q", c.args[0], columns, written)
			}
			shown := screen(written, columns)
			if all := strings.Join(shown, "\n"); strings.Contains(all, c.bar) || strings.ContainsAny(all, "█|") {
				t.Errorf("%s, %d columns: the screen shows a progress bar:\n%s", c.args[0], columns, all)
			}
			if wrapped := screen(c.first, columns)[0]; !strings.HasPrefix(shown[0], wrapped) {
				t.Errorf("%s, %d columns: the first line is %q, want %q", c.args[0], columns, shown[0], wrapped)
			}
		}
		if c.args[0] == "instrument" {
			if err := os.Rename("methodMapping.txt", "out.txt"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A terminal that is too narrow has no bar.
	if written := onTerminal(t, 40, "instrument", sample, "-o", "out.jar"); strings.Contains(written, "instrumenting") {
		t.Errorf("40 columns: %q", written)
	}
}
