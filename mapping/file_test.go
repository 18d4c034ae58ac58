package mapping

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asked is the result of a look-up in a file.
type asked struct {
	entries []Entry
	err     error
}

// ask looks up patterns one after the other. The file is opened for each of them (fresh), or once for all. chunk is the
// size of the parts that a scan reads.
func ask(t testing.TB, path string, chunk int64, fresh bool, patterns []string) (answers []asked) {
	t.Helper()
	var f *File
	for _, text := range patterns {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if f == nil || fresh {
			if f, err = Open(path); err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.chunk = chunk
		}
		a := asked{}
		found, err := f.Find(p)
		if a.err = err; err == nil {
			a.entries = slices.Collect(found)
		}
		answers = append(answers, a)
	}
	return answers
}

// loadAndAsk returns the results of the loaded mapping, with which those of ask are compared.
func loadAndAsk(t testing.TB, path string, patterns []string) (answers [][]Entry, err error) {
	t.Helper()
	m, err := Load(path)
	if err != nil {
		return nil, err
	}
	for _, text := range patterns {
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, slices.Collect(m.Find(p)))
	}
	return answers, nil
}

// filePatterns match entries of the mapping of fileText, or nothing.
func filePatterns(rng *rand.Rand, n int) []string {
	patterns := []string{
		"1048574", "1048573-1048574", "1048570-1048574", "1-1048574", "**", "#method1", "com.example.app.feature1.**",
		"com.example.**.Presenter77*#method1", "/method[12] /", "/(?i)PRESENTER/", "nothing.here", "android.os.Handler",
		"a.b#odd name", "a.b odd%20name", "/größe/", "com.example.app.feature1.screen2.Presenter2",
	}
	for range n {
		from := 1 + rng.IntN(60)
		patterns = append(patterns, fmt.Sprint(from), fmt.Sprintf("%d-%d", from, from+rng.IntN(10)))
	}
	return patterns
}

// fileText returns the text of a mapping with living and retired methods, focus lines, escaped and international names.
func fileText(t testing.TB, order Order) string {
	old := append(synthetic(40), oddNames...)
	base := mustAssign(t, append(old, methods("a/b|odd name|()V", "a/b|größe|(I)V")...), Options{Order: order})
	return written(t, mustAssign(t, append(old[15:], methods("new/A|f|()V")...), Options{
		Order: order, Base: base, Focus: []Focus{{"a/A", FocusAdd}, {"a/B", FocusHook}},
	}))
}

// damages change the text of a mapping. With some it stays the same mapping, with some it becomes another one, and with
// some it is no longer a mapping.
var damages = map[string]func(rng *rand.Rand, text string) string{
	"none": func(_ *rand.Rand, text string) string { return text },
	"CRLF": func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, "\n", "\r\n") },
	"BOM":  func(_ *rand.Rand, text string) string { return "\ufeff" + text },
	"shuffled": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		rng.Shuffle(len(lines)-2, func(i, j int) { lines[i+1], lines[j+1] = lines[j+1], lines[i+1] })
		return strings.Join(lines, "")
	},
	"swapped": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		i, j := 1+rng.IntN(len(lines)-2), 1+rng.IntN(len(lines)-2)
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "")
	},
	"comments": func(rng *rand.Rand, text string) string {
		return eachLine(rng, text, func(line string) string {
			return []string{"\n", "# " + strings.Repeat("x", rng.IntN(300)) + "\n",
				"#17,1,a b ()V\n"}[rng.IntN(3)] + line
		})
	},
	"long comment": func(rng *rand.Rand, text string) string {
		return strings.Replace(text, "# counts", "# "+strings.Repeat("y", 1<<17)+"\n# counts", 1)
	},
	"escapes": func(rng *rand.Rand, text string) string {
		return eachLine(rng, text, func(line string) string {
			return strings.Replace(strings.Replace(line, "com.example", "com/example", 1), "method", "%6dethod", 1)
		})
	},
	"zeros": func(rng *rand.Rand, text string) string {
		return eachLine(rng, text, func(line string) string {
			if line[0] == '#' || strings.HasPrefix(line, dispatchPrefix) {
				return line
			}
			return "00" + line
		})
	},
	"Matrix": func(rng *rand.Rand, text string) string {
		var kept []string
		for line := range strings.Lines(text) {
			if line[0] != '#' {
				kept = append(kept, line)
			}
		}
		rng.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		return strings.Join(kept, "")
	},
	"cut":     func(rng *rand.Rand, text string) string { return text[:rng.IntN(len(text))] },
	"deleted": func(rng *rand.Rand, text string) string { i := rng.IntN(len(text)); return text[:i] + text[i+1:] },
	"flipped": func(rng *rand.Rand, text string) string {
		b := []byte(text)
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		return string(b)
	},
	"line lost": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		i := rng.IntN(len(lines) - 1)
		return strings.Join(slices.Delete(lines, i, i+1), "")
	},
	"ID twice": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		i, j := 4+rng.IntN(40), 4+rng.IntN(40)
		id, _, _ := strings.Cut(lines[i], ",")
		_, rest, _ := strings.Cut(lines[j], ",")
		lines[j] = id + "," + rest
		return strings.Join(lines, "")
	},
	"dispatch or header twice": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		again := []string{dispatchLine, lines[0], lines[1]}[rng.IntN(3)]
		return strings.Join(slices.Insert(lines, 1+rng.IntN(len(lines)-1), again), "")
	},
	"Matrix, ID twice": func(rng *rand.Rand, text string) string {
		return "1,1,a.A f ()V\n" + strings.Repeat("# x\n", rng.IntN(500)) + "1,1,a.A g ()V\n"
	},
	"line twice": func(rng *rand.Rand, text string) string {
		lines := strings.SplitAfter(text, "\n")
		return strings.Join(slices.Insert(lines, rng.IntN(len(lines)), lines[rng.IntN(len(lines)-1)]), "")
	},
}

// eachLine changes some lines after the first.
func eachLine(rng *rand.Rand, text string, change func(string) string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if b.Len() > 0 && rng.IntN(3) == 0 {
			line = change(line)
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestFileAnswersAsLoaded compares look-ups in a file with look-ups in the loaded mapping. If the mapping cannot be
// loaded, the look-up either fails with the same error, or the fault is not in the part that was read.
//
// Invariant: A look-up in the mapping file answers what the loaded mapping answers, in whatever order the lines are.
func TestFileAnswersAsLoaded(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	path := filepath.Join(t.TempDir(), "m.txt")
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	refused, answered := 0, 0
	for _, order := range []Order{OrderCompact, OrderHash} {
		text := fileText(t, order)
		for name, damage := range damages {
			for range rounds {
				damaged := damage(rng, text)
				if err := os.WriteFile(path, []byte(damaged), 0o666); err != nil {
					t.Fatal(err)
				}
				patterns := filePatterns(rng, 8)
				for _, fresh := range []bool{true, false} {
					rng.Shuffle(len(patterns), func(i, j int) { patterns[i], patterns[j] = patterns[j], patterns[i] })
					want, wantErr := loadAndAsk(t, path, patterns)
					if wantErr != nil {
						refused++
					} else {
						answered++
					}
					compareAnswers(t, name, path, int64(1+rng.IntN(1<<(1+rng.IntN(13)))), fresh, patterns, want,
						wantErr)
				}
				if t.Failed() {
					t.Fatalf("%s:\n%s", name, damaged)
				}
			}
		}
	}
	if refused < 10*rounds || answered < 10*rounds {
		t.Errorf("only %d files were refused and %d answered: is it still a test?", refused, answered)
	}
}

func compareAnswers(t *testing.T, name, path string, chunk int64, fresh bool, patterns []string, want [][]Entry,
	wantErr error) {
	t.Helper()
	answers := ask(t, path, chunk, fresh, patterns)
	for i, got := range answers {
		pattern := patterns[i]
		switch {
		case got.err != nil && wantErr != nil:
			if got.err.Error() != wantErr.Error() {
				t.Errorf("%s: %s: error %q, want %q", name, pattern, got.err, wantErr)
			}
		case got.err != nil:
			t.Errorf("%s: %s: error %q, want none", name, pattern, got.err)
		case wantErr != nil:
			if byID := pattern[0] >= '1' && pattern[0] <= '9'; !byID && !unseen(wantErr) {
				t.Errorf("%s: %s: answered, want error %q", name, pattern, wantErr)
			}
		case !slices.Equal(got.entries, want[i]):
			t.Errorf("%s: %s: got %v, want %v", name, pattern, got.entries, want[i])
		}
	}
}

// unseen reports whether an error of Load is one that a scan does not find.
func unseen(err error) bool {
	return strings.Contains(err.Error(), "damaged: the header says digest") ||
		strings.Contains(err.Error(), "has an ID on line")
}

// FuzzFile checks that a file with any content returns the same as the loaded mapping.
func FuzzFile(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := fileText(f, OrderCompact)
	for _, damage := range damages {
		f.Add(damage(rng, text), uint16(700))
	}
	f.Add("1,1,a.A f\n2,131073,a/B g h, 100% ()V\r\n1048574,1,android.os.Handler dispatchMessage\n", uint16(20))
	f.Fuzz(func(t *testing.T, text string, chunk uint16) {
		path := filepath.Join(t.TempDir(), "m.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		patterns := []string{"1", "7-12", "1048573-1048574", "**", "#method1", "/a|e/"}
		want, wantErr := loadAndAsk(t, path, patterns)
		compareAnswers(t, "fuzz", path, int64(chunk)+1, true, patterns, want, wantErr)
	})
}

// TestFileReadsLittle checks that an ID of a large mapping is found without loading or scanning it.
//
// Invariant: A look-up in the mapping file answers what the loaded mapping answers, in whatever order the lines are.
func TestFileReadsLittle(t *testing.T) {
	base := mustAssign(t, synthetic(3000), Options{Order: OrderCompact})
	path := filepath.Join(t.TempDir(), "m.txt")
	text := written(t, mustAssign(t, synthetic(2900), Options{Base: base, Order: OrderCompact}))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for id := uint32(1); id <= 3000; id++ {
		p, err := ParsePattern(fmt.Sprint(id))
		if err != nil {
			t.Fatal(err)
		}
		found, err := f.Find(p)
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := base.ByID(id); !slices.EqualFunc(slices.Collect(found), []Entry{e},
			func(a, b Entry) bool { return a.ID == b.ID && a.Method == b.Method }) {
			t.Errorf("ID %d: not %v", id, e)
		}
	}
	if f.scanned || f.loaded != nil {
		t.Errorf("scanned: %v, loaded: %v", f.scanned, f.loaded != nil)
	}
	p, err := ParsePattern("**#method1")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, err := f.Find(p); err != nil || !f.scanned || (f.loaded != nil) != (n == 1) {
			t.Errorf("question %d: error %v, scanned %v, loaded %v", n, err, f.scanned, f.loaded != nil)
		}
	}
}

// TestFileOfOtherKinds checks that a file that cannot be read in parts is loaded, or refused with the error of Load.
func TestFileOfOtherKinds(t *testing.T) {
	p, err := ParsePattern("1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "none")); err == nil ||
		!strings.Contains(err.Error(), "cannot read mapping: ") {
		t.Errorf("no file: %v", err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, empty} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Find(p)
		if _, want := Load(path); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		f.Close()
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	text := fileText(t, OrderCompact)
	go func() {
		w.WriteString(text)
		w.Close()
	}()
	piped := &File{path: "pipe", f: r}
	found, err := piped.Find(p)
	if err != nil || len(slices.Collect(found)) != 1 {
		t.Errorf("pipe: %v", err)
	}
}

// BenchmarkFile opens a full mapping on disk and looks up one pattern, as a command does.
func BenchmarkFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "m.txt")
	text := written(b, mustAssign(b, synthetic(Capacity), Options{}))
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, pattern := range []string{
		"500000", "500000-500099", "com.example.app.feature1.screen2.Presenter2#method1",
		"com.example.**.Presenter77*#method1",
		`/Presenter77\d+ method1 /`, `/\.(Presenter1|Presenter2) method[0-9] /`, `/(?i)presenter77\d+ METHOD1 /`,
	} {
		b.Run(pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if a := ask(b, path, 1<<20, true, []string{pattern})[0]; a.err != nil {
					b.Fatal(a.err)
				}
			}
		})
	}
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}
