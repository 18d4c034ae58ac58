package corpus_test

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/corpus"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// Rows that make up apps of Java 8 classes: a small app, and one of more than 5,000 classes.
var (
	smallApp = []string{"lottie-6.6.6", "timber-5.0.1"}
	wholeApp = []string{"lottie-6.6.6", "timber-5.0.1", "guava-18.0", "kotlinx-coroutines-core-jvm-1.10.2",
		"kotlin-stdlib-2.2.20", "rxjava-3.1.10", "glide-4.16.0", "coil-base-2.7.0",
		"leakcanary-android-core-2.14", "okhttp-4.12.0", "okio-jvm-3.9.0", "gson-2.11.0"}
)

// TestCorpusDex converts an app to dex files with dx, original and instrumented, each with the runtime, and checks with
// dexdump that the calls are there.
func TestCorpusDex(t *testing.T) {
	nightly.Only(t, "corpora")
	if testing.Short() {
		t.Skip("skipped: no corpus in this run")
	}
	dexdump, err := exec.LookPath("dexdump")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no dexdump on PATH: %w", oracle.ErrMissing))
	}
	d := dexer{dexdump: dexdump, dx: needDX(t)}
	d.jdk, err = oracle.FindJDK(11)
	oracle.Require(t, err)
	runtime, err := oracle.BuildRuntime(t.Context())
	oracle.Require(t, err)
	c, err := corpus.Load()
	if err != nil {
		t.Fatal(err)
	}
	names := smallApp
	if isFull() {
		names = wholeApp
	}
	jars, err := c.Fetch(t.Context(), names...)
	oracle.Require(t, err)
	app := []string{runtime.Core}
	for _, j := range jars {
		app = append(app, j.Classes)
	}
	made := t.TempDir()
	tracegen(t, buildTool(t), append([]string{"instrument", "-q", "-o", made + "/"}, app...)...)
	outputs, err := filepath.Glob(filepath.Join(made, "*.jar"))
	if err != nil || len(outputs) != len(app) {
		t.Fatalf("%d outputs of %d inputs, %v", len(outputs), len(app), err)
	}
	before := d.dex(t, merge(t, app))
	merged := merge(t, outputs)
	after := d.dex(t, merged)
	_, methods, err := oracle.Disassemble(t.Context(), []oracle.LinkJob{{ID: "app", Jar: merged}}, oracle.AsmOptions{})
	oracle.Require(t, err)
	entries, exits := 0, 0
	for _, m := range methods {
		entries += len(m.EntryIDs)
		exits += len(m.ExitIDs)
	}
	// dx removes unreachable code, so that there may be fewer exits.
	if after.entries != entries || after.exits > exits || after.exits < exits*99/100 || before.entries+before.exits != 0 {
		t.Errorf("dexdump sees %d entries and %d exits, want %d and %d; before, %d", after.entries, after.exits, entries,
			exits, before.entries+before.exits)
	}
	t.Logf("measured: dx: %d classes, dex files of %d bytes become %d (+%.1f %%); dexdump sees %d entries and %d "+
		"exits, ASM %d and %d",
		after.classes, before.size, after.size, 100*float64(after.size-before.size)/float64(before.size), after.entries,
		after.exits, entries, exits)
}

// needDX fetches dx.
func needDX(t *testing.T) string {
	t.Helper()
	dir, err := oracle.CacheDir("maven")
	oracle.Require(t, err)
	dx := oracle.Artifact{Group: "com.jakewharton.android.repackaged", Name: "dalvik-dx", Version: "16.0.1", Type: "jar"}
	oracle.Require(t, oracle.FetchMaven(t.Context(), dir, []oracle.Artifact{dx}))
	return filepath.Join(dir, dx.File())
}

// merge writes the classes of jars into one jar. Of classes with one name the first wins. It leaves out module
// declarations and classes for newer JVMs only, because an app has neither.
func merge(t *testing.T, jars []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.jar")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := zip.NewWriter(out)
	seen := map[string]bool{}
	for _, jar := range jars {
		r, err := zip.OpenReader(jar)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.File {
			if filepath.Ext(f.Name) != ".class" || seen[f.Name] || strings.HasPrefix(f.Name, "META-INF/") ||
				f.Name == "module-info.class" {
				continue
			}
			seen[f.Name] = true
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A dexer runs dx and dexdump.
type dexer struct {
	jdk         oracle.JDK
	dx, dexdump string
}

// A dexed app is the result of dx for one app.
type dexed struct {
	classes, entries, exits int
	size                    int64
}

func (d dexer) dex(t *testing.T, jar string) dexed {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), d.jdk.Tool("java"), "-Xmx3g", "-cp", d.dx, "com.android.dx.command.Main",
		"--dex", "--multi-dex", "--min-sdk-version=26", "--output="+dir, jar)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("dx: %v\n%s", err, text[max(0, len(text)-3000):])
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.dex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("dx made %d files, %v", len(files), err)
	}
	var sum dexed
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		sum.size += info.Size()
		d.count(t, f, &sum)
	}
	return sum
}

// count adds the numbers that dexdump reports for a dex file.
func (d dexer) count(t *testing.T, file string, sum *dexed) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), d.dexdump, "-d", file)
	text, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(text)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case strings.Contains(line, "  Class descriptor  :"):
			sum.classes++
		case strings.Contains(line, "invoke-static") && strings.Contains(line, "Ldev/tracegen/runtime/AppMethodBeat;.i:(I)V"):
			sum.entries++
		case strings.Contains(line, "invoke-static") && strings.Contains(line, "Ldev/tracegen/runtime/AppMethodBeat;.o:(I)V"):
			sum.exits++
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("dexdump: %v", err)
	}
}
