package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/oracle"
)

// recordFile is the name of a record in the directory of its date; the page stands beside it.
const recordFile = "peers.tsv"

// today returns the directory for a record of today.
func today() string {
	return filepath.Join("bench", "runs", time.Now().UTC().Format(time.DateOnly))
}

// writeFile makes a file appear whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "bench: wrote", path)
	return nil
}

// publish writes the record into dir, and everything that is made from it.
func (r *record) publish(dir string) error {
	if err := writeFile(filepath.Join(dir, recordFile), r.writeTo); err != nil {
		return err
	}
	written, err := loadRecord(dir) // whose times are rounded
	if err != nil {
		return err
	}
	return written.show(dir)
}

// show writes the page of the record in dir.
func (r *record) show(dir string) error {
	return writeFile(filepath.Join(dir, "peers.md"), func(w io.Writer) error {
		var b bytes.Buffer
		r.printTables(&b)
		_, err := b.WriteTo(w)
		return err
	})
}

const showCommand = "show"

// showMain takes the directory of a record, and makes the page again. It writes the table into
// README.md if that is named.
func showMain(args []string) error {
	if len(args) < 1 || len(args) > 2 || len(args) == 2 && args[1] != "README.md" {
		return errors.New("usage: show DIRECTORY [README.md]")
	}
	r, err := loadRecord(args[0])
	if err != nil {
		return err
	}
	if err := r.show(args[0]); err != nil || len(args) == 1 {
		return err
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	changed, err := r.insertSection(string(text), filepath.ToSlash(filepath.Clean(args[0])))
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	return writeFile(args[1], func(w io.Writer) error {
		_, err := io.WriteString(w, changed)
		return err
	})
}

func loadRecord(dir string) (*record, error) {
	f, err := os.Open(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRecord(f)
}

// Between these lines README.md has the section that printSection writes.
const (
	sectionBegin = "<!-- speed: begin -->\n"
	sectionEnd   = "<!-- speed: end -->\n"
)

// insertSection replaces the section of a README.
func (r *record) insertSection(readme, dir string) (string, error) {
	before, rest, found := strings.Cut(readme, sectionBegin)
	_, after, closed := strings.Cut(rest, sectionEnd)
	if !found || !closed {
		return "", errors.New("no section on speed between its two comments")
	}
	var b strings.Builder
	r.printSection(&b, dir)
	return before + sectionBegin + b.String() + sectionEnd + after, nil
}

// conditions returns what a reader must know about the machine to understand the figures.
func conditions() []string {
	java := "none"
	if jdk, err := oracle.FindJDK(17); err == nil {
		java = firstLine(jdk.Tool("java"), "-version")
	}
	return []string{
		"date: " + time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		"cpu: " + fmt.Sprintf("%s, %d cores, %s/%s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
		"memory: " + totalMemory(),
		"kernel: " + firstLine("uname", "-sr"),
		"commit: " + firstLine("git", "describe", "--always", "--dirty"),
		"go: " + runtime.Version(),
		"java: " + java,
		"peers: " + strings.Join([]string{asmJar, matrixJar, byteBuddyJar, jacocoJar}, ", "),
		"command: go run ./bench " + strings.Join(os.Args[1:], " "),
	}
}

func cpuModel() string { return field("/proc/cpuinfo", "model name", "unknown CPU") }

func totalMemory() string {
	var kilobytes float64
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal", ""), &kilobytes); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.0f GB", kilobytes*1024/1e9)
}

// field returns the value of a name in a file of /proc.
func field(path, name, otherwise string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}

func firstLine(name string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}
