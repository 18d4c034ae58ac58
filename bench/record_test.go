package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// goldenRecord is a record with everything that can occur: a row that failed, one with a note, rows with different
// numbers of runs.
func goldenRecord(t *testing.T) *record {
	t.Helper()
	r, err := loadRecord("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func printed(print func(io.Writer)) string {
	var b bytes.Buffer
	print(&b)
	return b.String()
}

func TestRecordIsReadAsItWasWritten(t *testing.T) {
	text := fixture.Read(t, filepath.Join("testdata", recordFile))
	if got := written(t, goldenRecord(t).writeTo); got != string(text) {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
}

func TestNotesStayInTheirColumn(t *testing.T) {
	r := record{rows: []row{{input: "i", name: "n", note: "one\ttwo\nthree"}}}
	back, err := readRecord(strings.NewReader(written(t, r.writeTo)))
	if err != nil || len(back.rows) != 1 || back.rows[0].note != "one two three" || len(back.rows[0].runs) != 0 {
		t.Errorf("got %+v (%v)", back, err)
	}
}

func TestReadRecordRefuses(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"a\tb\t1", "line 1: 3 columns, want 15"},
		{"a\tb\t1\tx" + strings.Repeat("\t0", 10) + "\t", "line 1: column 4"},
	} {
		if _, err := readRecord(strings.NewReader(c.line + "\n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.line, err, c.want)
		}
	}
}

func TestDisturbedMachineIsReported(t *testing.T) {
	for said, want := range map[string]bool{
		"others: 11 % of the cores, and 0 % were stolen by other machines": true,
		"others: 6 % of the cores, and 6 % were stolen by other machines":  true,
		"others: 2 % of the cores, and 1 % were stolen by other machines":  false,
		"others: unknown": false,
	} {
		r := record{conditions: []string{said}}
		if r.disturbed() != want || strings.Contains(printed(r.printTables), disturbance) != want {
			t.Errorf("%s: disturbed is %v, want %v", said, r.disturbed(), want)
		}
	}
}

func TestParseProcessorTime(t *testing.T) {
	got, ok := parseProcessorTime("cpu  100 10 20 1000 50 1 2 7 3 4")
	if want := (processorTime{busy: 133, stolen: 7, all: 1190}); !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	if _, ok := parseProcessorTime("intr 1"); ok {
		t.Error("another line was used instead")
	}
}

// TestReadmeShowsItsRun compares the README's section, and the page of every record, with the record.
//
// Invariant: What the README and each page in bench/runs say about speed is what the record of the run says.
func TestReadmeShowsItsRun(t *testing.T) {
	records, err := filepath.Glob(filepath.Join("runs", "*", recordFile))
	if err != nil || len(records) == 0 {
		t.Fatalf("no records in runs (%v)", err)
	}
	text := fixture.Read(t, filepath.Join("..", "README.md"))
	shown := false
	for _, path := range records {
		dir := filepath.Dir(path)
		r, err := loadRecord(dir)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if want, err := os.ReadFile(filepath.Join(dir, "peers.md")); err != nil || string(want) != printed(r.printTables) {
			t.Errorf("peers.md (%v) is not what %s says: go run ./bench show bench/%s", err, path, filepath.ToSlash(dir))
		}
		linked := "bench/" + filepath.ToSlash(dir)
		if !strings.Contains(string(text), "("+linked+"/peers.md)") {
			continue
		}
		shown = true
		if want, err := r.insertSection(string(text), linked); err != nil || want != string(text) {
			t.Errorf("README.md (%v) does not show %s: go run ./bench show %s README.md", err, path, linked)
		}
	}
	if !shown {
		t.Error("README.md shows none of the records")
	}
}

// TestPageIsThatOfTheRecord publishes times that are rounded in a record: the page shows them as they are there.
func TestPageIsThatOfTheRecord(t *testing.T) {
	r, dir := goldenRecord(t), t.TempDir()
	for i := range r.rows {
		for k := range r.rows[i].runs {
			r.rows[i].runs[k].wall += 4_999_999
			r.rows[i].runs[k].user += 499_999
		}
	}
	if err := r.publish(dir); err != nil {
		t.Fatal(err)
	}
	loaded, err := loadRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "peers.md"))
	if err != nil || string(page) != printed(loaded.printTables) {
		t.Errorf("the page is not that of the record (%v)", err)
	}
}
