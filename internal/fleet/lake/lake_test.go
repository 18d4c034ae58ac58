package lake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
)

// line returns a report.
func line(id, app, digest string) string {
	return fmt.Sprintf(`{"format":"tracegen-report","version":1,"id":%q,"kind":"message","detector":"looper",`+
		`"basic":{"package":%q,"mapping":%q,"versionName":"1.0","versionCode":"1","device":"Pixel 7","user":"ann",`+
		`"session":"0f"},"timing":{"wallMillis":1700000000000,"durationMillis":1000,"cpuMillis":900},`+
		`"stack":{"hotPath":[17,97]}}`, id, app, digest)
}

const digest = "e69c7a6d3eaeddc0"

// testNames has the mapping of one build.
func testNames(t testing.TB) *resolve.Names {
	t.Helper()
	m, err := mapping.Parse("m", "# tracegen-mapping 1\n# digest "+digest+"\n"+
		"# runtime dev.tracegen.runtime.AppMethodBeat\n"+
		"17,1,com.example.Main onCreate (Landroid.os.Bundle;)V\n97,1,com.example.feed.Feed load (I)V\n"+
		"99,1,com.example.feed.Row bind ()V\n249,1,com.example.feed.Row draw ()V\n"+
		"1048574,1,android.os.Handler dispatchMessage (Landroid.os.Message;)V\n")
	if err != nil {
		t.Fatal(err)
	}
	return resolve.NewNames(m, nil)
}

// table is a lake in a directory with a clock.
type table struct {
	*Lake
	testing.TB
	now    time.Time
	mu     sync.Mutex // guards warned
	warned []string
}

func newTable(t testing.TB) *table {
	t.Helper()
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found := &table{Lake: l, TB: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	l.Now = func() time.Time { return found.now }
	l.Warn = func(err error) {
		found.mu.Lock()
		defer found.mu.Unlock()
		found.warned = append(found.warned, err.Error())
	}
	return found
}

// add writes a file with a report of each ID, as a collector does.
func (l *table) add(ids ...string) {
	l.Helper()
	naming := l.Naming(digest)
	p := Partition{"com.a", digest, l.now.Format(time.DateOnly)}
	_, err := l.Write(l.Context(), p.Dir()+NewName(l.now)+suffix, func(add func(*Row) error) error {
		for _, id := range ids {
			row, err := naming.Row(line(id, "com.a", digest), l.now.UnixMilli())
			if err := errors.Join(err, add(&row)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
}

// want compares "ID METHOD NAMED" of all rows, and the number of files.
func (l *table) want(what string, files int, rows ...string) {
	l.Helper()
	var found []string
	for f, err := range l.Files(l.Context(), Reports) {
		if err == nil {
			err = l.Lake.Read(l.Context(), f.Name, func(r *Row) error {
				found = append(found, fmt.Sprint(r.ID, " ", *r.Method, " ", r.Named))
				return nil
			})
		}
		if err != nil {
			l.Fatal(err)
		}
		files--
	}
	slices.Sort(found)
	if files != 0 || !slices.Equal(found, rows) {
		l.Errorf("%s: %d files less, rows\n%s\nwant\n%s", what, files, strings.Join(found, "\n"), strings.Join(rows, "\n"))
	}
}

func (l *table) compact(many int) {
	l.Helper()
	if _, err := l.Compact(l.Context(), many); err != nil {
		l.Fatal(err)
	}
}

// TestUpkeep has reports of some days: files of a day that has passed are merged, reports that came twice are there
// once, names are written whenever the mapping comes, and what is too old is removed.
func TestUpkeep(t *testing.T) {
	l := newTable(t)
	l.add("aa-s1-0", "aa-s2-0")
	l.add("aa-s2-0")
	l.compact(ManyFiles)
	l.want("today", 2, "aa-s1-0 #97 false", "aa-s2-0 #97 false", "aa-s2-0 #97 false")
	l.now = l.now.AddDate(0, 0, 1)
	l.compact(ManyFiles)
	l.want("merged", 1, "aa-s1-0 #97 false", "aa-s2-0 #97 false")
	names := testNames(t)
	l.Names = func(string) (*resolve.Names, error) { return names, nil }
	l.add("aa-s3-0")
	l.compact(ManyFiles)
	load := " com.example.feed.Feed.load true"
	l.want("the mapping has come", 2, "aa-s1-0"+load, "aa-s2-0"+load, "aa-s3-0"+load)
	if n, err := l.Compact(t.Context(), ManyFiles); n != 0 || err != nil {
		t.Errorf("%d files are merged again, %v", n, err)
	}
	l.add("aa-s4-0")
	l.compact(2)
	l.want("many files of today", 2, "aa-s1-0"+load, "aa-s2-0"+load, "aa-s3-0"+load, "aa-s4-0"+load)
	l.now = l.now.AddDate(0, 0, 2)
	if n, err := l.Expire(t.Context(), 2, false); n != 1 || err != nil {
		t.Errorf("%d files have expired, %v", n, err)
	}
	l.want("the first day is gone", 1, "aa-s3-0"+load, "aa-s4-0"+load)
	l.now = l.now.AddDate(0, 0, 91)
	if n, err := l.Expire(t.Context(), 2, false); n != 0 || err != nil || len(l.warned) != 1 ||
		!strings.Contains(l.warned[0], "the clock says 2027-02-22") {
		t.Errorf("a clock that is far ahead: %d files have expired, %v, %q", n, err, l.warned)
	}
	if n, err := l.Expire(t.Context(), 2, true); n != 1 || err != nil {
		t.Errorf("it is right: %d files have expired, %v", n, err)
	}
}

// TestForgetSession forgets a session: its reports and, by these, its recordings.
func TestForgetSession(t *testing.T) {
	l := newTable(t)
	l.add("aa-s1-0", "bb-s1-0")
	for _, name := range []string{"aa.part1.tgd", "aa.part2.tgd", "cc.part1.tgd"} {
		if err := l.Put(t.Context(), Recordings+"com.a/none/"+name, []byte("no recording")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := l.Forget(t.Context(), nil, []string{"0e"}, false); n != (Removed{}) || err != nil {
		t.Error(n, err)
	}
	n, err := l.Forget(t.Context(), nil, []string{"0f"}, false)
	if n != (Removed{2, 2}) || err != nil || !strings.Contains(l.warned[0], "cannot be read") {
		t.Errorf("%+v, %v, %q", n, err, l.warned)
	}
	l.want("forgotten", 1)
	l.add("aa-s2-0")
	l.compact(2)
	l.want("it was received before", 1)
	l.now = l.now.Add(time.Hour)
	l.add("aa-s3-0")
	l.compact(1)
	l.want("it was received later", 2, "aa-s3-0 #97 false")
}

// TestForgetByAWrongClock forgets a user by a clock that is far from the days with reports.
func TestForgetByAWrongClock(t *testing.T) {
	for _, years := range []int{-54, 10} {
		l := newTable(t)
		right := l.now
		l.add("aa-s1-0")
		l.now = right.AddDate(years, 0, 0)
		n, err := l.Forget(t.Context(), []string{"ann"}, nil, false)
		if n != (Removed{}) || !errors.Is(err, ErrClock) || !strings.Contains(err.Error(), "2026-11-20") {
			t.Errorf("%d years: %+v, %v", years, n, err)
		}
		if f, err := l.Forgotten(t.Context()); err != nil || len(f.names) > 0 {
			t.Errorf("%d years: tombstones %q, %v", years, f.names, err)
		}
		l.want("nothing is removed", 1, "aa-s1-0 #97 false")
		if n, err := l.Forget(t.Context(), []string{"ann"}, nil, true); n.Reports != 1 || err != nil {
			t.Errorf("%d years, trusted: %+v, %v", years, n, err)
		}
	}
}

// TestFilesOfEarlierVersions reads and merges a file without the columns that came later.
func TestFilesOfEarlierVersions(t *testing.T) {
	l := newTable(t)
	type old struct {
		ID       string   `parquet:"id"`
		Method   *string  `parquet:"method,optional,dict"`
		Named    bool     `parquet:"named"`
		HotPath  []string `parquet:"hot_path,list,dict"`
		Received int64    `parquet:"received,timestamp(millisecond)"`
		Report   string   `parquet:"report"`
	}
	dir := filepath.Join(t.TempDir(), "x")
	method := "a.B.c"
	if err := parquet.WriteFile(dir, []old{{"aa-s1-0", &method, true, []string{method}, 1, "{}"}}); err != nil {
		t.Fatal(err)
	}
	p := Partition{"com.a", digest, "2026-11-19"}
	if err := l.PutFile(t.Context(), p.Dir()+"merged-000000000042.parquet", dir); err != nil {
		t.Fatal(err)
	}
	l.want("old", 1, "aa-s1-0 a.B.c true")
	l.compact(ManyFiles)
	l.want("merged", 1, "aa-s1-0 a.B.c true")
}

// TestClocks decides which day it is by the clock and by the days that have data.
func TestClocks(t *testing.T) {
	for _, test := range []struct {
		name  string
		clock uint16
		days  []uint16
		want  uint16
	}{
		{"nothing stored", 1000, nil, 1000},
		{"every day", 1003, []uint16{1000, 1001, 1002}, 1003},
		{"a week off", 1009, []uint16{1000, 1001, 1002}, 1009},
		{"one start with the clock ahead", 1091, []uint16{1000, 1001, 1002}, 1002},
		{"and a report then", 1091, []uint16{1000, 1001, 1002, 1091}, 1002},
		{"over midnight", 1092, []uint16{1000, 1001, 1002, 1091, 1092}, 1002},
		{"the clock is right again", 1003, []uint16{1000, 1001, 1002, 1091}, 1003},
		{"a long break", 1093, []uint16{1000, 1001, 1002, 1091, 1092, 1093}, 1093},
		{"two breaks", 1200, []uint16{1000, 1091, 1092, 1093, 1200}, 1093},
		{"a report of a clock that was behind", 1003, []uint16{300, 1000, 1001, 1002}, 1003},
		{"the clock is behind", 900, []uint16{1000, 1001, 1002}, 1002},
	} {
		days := map[uint16]bool{}
		for _, d := range test.days {
			days[d] = true
		}
		if got := today(test.clock, days); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// readBytes reads a file with these bytes.
func readBytes(t testing.TB, data []byte, each func(*Row) error) error {
	file := filepath.Join(t.TempDir(), "a.parquet")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readFile(f, "a.parquet", each)
}

// FuzzRows reads any bytes as a Parquet file of reports.
//
// Invariant: No bytes make the reader of stored reports panic, or allocate much more than they have.
func FuzzRows(f *testing.F) {
	l := newTable(f)
	l.add("aa-s1-0", "aa-s1-1")
	var data []byte
	for file, err := range l.Files(context.Background(), Reports) {
		if err == nil {
			data, err = os.ReadFile(filepath.Join(fmt.Sprint(l.Store), filepath.FromSlash(file.Name)))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	rows := 0
	if err := readBytes(f, data, func(*Row) error { rows++; return nil }); err != nil || rows != 2 {
		f.Fatalf("%d reports (%v)", rows, err)
	}
	f.Add(data)
	f.Add(data[:len(data)-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		least, limit := uint64(1<<62), uint64(64<<20+2000*len(data))
		for run := 0; run < 5 && least > limit; run++ {
			metrics.Read(sample)
			before := sample[0].Value.Uint64()
			rows := 0
			_ = readBytes(t, data, func(*Row) error {
				if rows++; rows > 1000 {
					return errors.New("enough")
				}
				return nil
			})
			metrics.Read(sample)
			least = min(least, sample[0].Value.Uint64()-before)
		}
		if least > limit {
			t.Errorf("%d bytes allocated for %d", least, len(data))
		}
	})
}

// TestFooterOfReports: a file of some bytes that claims a footer of gigabytes is damaged, and costs no memory.
func TestFooterOfReports(t *testing.T) {
	err := readBytes(t, []byte("PAR1....\xff\xff\xff\x7fPAR1"), func(*Row) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a footer of 2147483647 bytes in a file of 16") {
		t.Error(err)
	}
}
