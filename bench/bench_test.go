package main

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeJar makes a jar of the given entries, in order, each deflated but for directories.
func writeJar(t *testing.T, path string, entries ...[2]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, e := range entries {
		entry, err := w.Create(e[0])
		if err == nil {
			_, err = io.WriteString(entry, e[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

var sampleEntries = [][2]string{
	{"META-INF/", ""},
	{"META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"},
	{"a/A.class", strings.Repeat("not really a class ", 100)},
	{"a/B.class", ""},
}

func TestRezipKeepsEveryByte(t *testing.T) {
	for _, method := range rezipMethods {
		t.Run(method, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.jar"), filepath.Join(dir, "out.jar")
			writeJar(t, in, sampleEntries...)
			if err := rezipMain([]string{method, in, out}); err != nil {
				t.Fatal(err)
			}
			r, err := zip.OpenReader(out)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if len(r.File) != len(sampleEntries) {
				t.Fatalf("%d entries, want %d", len(r.File), len(sampleEntries))
			}
			for i, f := range r.File {
				rc, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(rc)
				if err != nil || f.Name != sampleEntries[i][0] || string(b) != sampleEntries[i][1] {
					t.Errorf("entry %d is %s %q (%v), want %q", i, f.Name, b, err, sampleEntries[i])
				}
			}
		})
	}
}

func TestInspectCountsWhatChanged(t *testing.T) {
	dir := t.TempDir()
	s := series{
		contestant: contestant{name: "c", traces: true},
		jar:        filepath.Join(dir, "in.jar"),
		out:        filepath.Join(dir, "out.jar"),
		mapping:    filepath.Join(dir, "mapping.txt"),
	}
	writeJar(t, s.jar, sampleEntries...)
	changed := append([][2]string{}, sampleEntries...)
	changed[3][1] = "grown"
	writeJar(t, s.out, changed...)
	mapping := "# tracegen-mapping 1\n1,1,a.A f ()V\n2,1,a.A g ()V\n" + dispatchID + "1,android.os.Handler dispatchMessage (Landroid.os.Message;)V\n"
	if err := os.WriteFile(s.mapping, []byte(mapping), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.inspect(); err != nil {
		t.Fatal(err)
	}
	got := s.work
	got.size = 0
	if want := (work{classes: 2, changed: 1, methods: 2, before: 1900, after: 1905}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	writeJar(t, s.out, sampleEntries[1:]...)
	if err := s.inspect(); err == nil {
		t.Error("an output that lacks an entry was accepted")
	}
}

func TestSpread(t *testing.T) {
	s := series{runs: []run{{wall: 3 * time.Second}, {wall: time.Second}, {wall: 2 * time.Second}, {wall: 10 * time.Second}}}
	low, median, high := s.spread(func(r run) float64 { return r.wall.Seconds() })
	if low != 1 || median != 2.5 || high != 10 {
		t.Errorf("got %v, %v, %v, want 1, 2.5, 10", low, median, high)
	}
}
