package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/oracle/tape"
)

// readSQL returns a file of docs/sql.
func readSQL(t *testing.T, name string) string {
	t.Helper()
	return fixture.Text(t, "../../docs/sql/"+name+".sql")
}

// askEngine runs the questions, and then other queries, in the directory that has the store.
func askEngine(t *testing.T, e oracle.Engine, dir string, queries ...string) (answers map[string][][]string) {
	t.Helper()
	asked := append([]string(nil), queries...)
	for _, name := range oracle.Questions {
		asked = append(asked, readSQL(t, name))
	}
	rows, err := e.Query(t.Context(), dir, readSQL(t, e.Name)+readSQL(t, "reports"), asked...)
	oracle.Require(t, err)
	answers = map[string][][]string{}
	for i, name := range append(append([]string(nil), queries...), oracle.Questions...) {
		answers[name] = rows[i]
	}
	return answers
}

// fillStore sends reports to a collector in two segments, each body twice. It returns the digest of a mapping.
func fillStore(t *testing.T, dir string, reports int) string {
	t.Helper()
	mappings := fixture.Directory(t, filepath.Join(dir, "mappings"))
	digests, load := writeMappings(t, mappings)
	rnd := rand.New(rand.NewPCG(16, 12))
	store := filepath.Join(dir, "collected")
	for range 2 {
		c := startCollect(t, "--store", store, "--mapping", mappings)
		if reports > 0 {
			body := randomReports(rnd, reports/2, digests, load)
			c.send(t, "POST", "/v1/reports", body)
			answer := c.send(t, "POST", "/v1/reports", body)
			if want := fmt.Sprintf(`{"accepted":0,"duplicates":%d,`, reports/2); !strings.HasPrefix(answer, want) {
				t.Error(answer)
			}
		}
		c.stop(t)
	}
	return digests[0]
}

const countReasons = "select not_counted, count(*) from all_reports group by not_counted"

// TestQueriesReturnWhatGroupReports sends reports to a collector, and runs the queries of docs/sql with DuckDB on the
// files that it has written.
//
// Invariant: The queries of docs/sql return what group reports of the same reports.
func TestQueriesReturnWhatGroupReports(t *testing.T) {
	dir := t.TempDir()
	writeRecordings(t, dir, fillStore(t, dir, 1000))
	want := readGroups(t, filepath.Join(dir, "collected"), "--mapping", filepath.Join(dir, "mappings"))
	if len(want.Groups) < 12 || want.Stalls < 500 {
		t.Fatalf("%d groups of %d stalls", len(want.Groups), want.Stalls)
	}
	answers := askEngine(t, oracle.DuckDB, dir, countReasons)
	// Without some of each, the comparison below could not show that a query counts what group does not.
	reasons := map[string]int{}
	for _, row := range answers[countReasons] {
		reasons[row[0]], _ = strconv.Atoi(row[1])
	}
	t.Logf("not counted: %v", reasons)
	for _, reason := range []string{"figures", "normal", "suspended", "covered"} {
		if reasons[reason] < 20 {
			t.Errorf("%d reports do not count because of %q", reasons[reason], reason)
		}
	}
	if reasons["None"] != want.Stalls {
		t.Errorf("%d reports count, and group counts %d", reasons["None"], want.Stalls)
	}
	compareGroups(t, &want, answers)
}

// compareGroups compares the groups with the answers of an engine.
func compareGroups(t *testing.T, want *group.Fleet, answers map[string][][]string) {
	t.Helper()
	worst := answers["worst"]
	if len(worst) != len(want.Groups) {
		t.Fatalf("%d groups, the query has %d", len(want.Groups), len(worst))
	}
	near := func(a string, b time.Duration) bool {
		n, err := strconv.ParseFloat(a, 64)
		return err == nil && math.Abs(n-float64(b)) <= 0.002*float64(b)+1
	}
	for i, g := range want.Groups {
		row := slices.Clone(worst[i])
		for k := range row {
			if row[k] == "None" {
				row[k] = "" // the report has no stack of its thread, or no version
			}
		}
		text := fmt.Sprint(g.Key, " ", g.Worst.ReportKind, " ", g.Worst.Method, " ", g.Stalls, " ", g.Recordings, " ",
			g.Users, " ", g.Total.Nanoseconds(), " ", g.Mean.Nanoseconds())
		if got := strings.Join(row[:8], " "); got != text {
			t.Errorf("group %d is\n%s, the query says\n%s", i+1, text, got)
		}
		score, err := strconv.ParseFloat(row[15], 64)
		if err != nil || math.Abs(score-g.Score) > 1e-6*g.Score || !near(row[8], g.Median) || !near(row[9], g.P90) ||
			row[10] != fmt.Sprint(g.Longest.Nanoseconds()) || row[11] != g.First || row[12] != g.Last {
			t.Errorf("group %d is\n%+v, the query says\n%q", i+1, g, row)
		}
		if row[13] != g.Since.Format(time.DateOnly) {
			t.Errorf("group %d began %s, the query says %s", i+1, g.Since, row[13])
		}
	}
	shares := func(name string, columns int, of func(g *group.StallGroup) []group.Share) {
		rows, compared := answers[name], 0
		for _, g := range want.Groups {
			var lines []string
			for _, s := range of(g) {
				line := fmt.Sprint(s.Version, " ", s.Code, s.BuildID, s.Device, s.Scene, " ", s.Stalls, " ", s.Users)
				lines = append(lines, strings.Trim(line, " "))
			}
			var got []string
			for _, row := range rows {
				if row[0] == g.Key {
					got = append(got, strings.ReplaceAll(strings.Join(row[1:columns], " "), " None ", " "))
				}
			}
			compared += len(got)
			if strings.Join(got, "\n") != strings.Join(lines, "\n") {
				t.Errorf("%s of %s:\n%s\nthe query says\n%s", name, g.Key, strings.Join(lines, "\n"), strings.Join(got, "\n"))
			}
		}
		if compared != len(rows) || compared < 20 {
			t.Errorf("%s: %d of %d rows are of groups", name, compared, len(rows))
		}
	}
	shares("since", 6, func(g *group.StallGroup) []group.Share { return g.ByVersion })
	shares("devices", 4, func(g *group.StallGroup) []group.Share { return g.ByDevice })
	shares("scenes", 4, func(g *group.StallGroup) []group.Share { return g.ByScene })
}

// writeRecordings writes recordings of the first build with up to three stalls and an incident each. Some have an ID
// that reports of fillStore have, too, some no user. The rows of their stalls become a file of the table.
func writeRecordings(t *testing.T, dir, digest string) {
	t.Helper()
	reported := reportedStalls(t, filepath.Join(dir, "collected"))
	recordings := filepath.Join(dir, "collected", "recordings")
	rnd := rand.New(rand.NewPCG(9, 9))
	for k := range 60 {
		id := fmt.Sprintf("%016x", k)
		var b strings.Builder
		fmt.Fprintf(&b, "header minor=4\nmeta slowMillis=700 records=all mappingId=%s package=com.example device=Größe "+
			"versionName=1.%d versionCode=%[2]d sdk=24", digest, 9+rnd.IntN(3))
		if k%4 > 0 {
			fmt.Fprintf(&b, " recordingId=%s", id)
		}
		if k%3 > 0 {
			fmt.Fprintf(&b, " user=user%d", rnd.IntN(30))
		}
		fmt.Fprintf(&b, "\nclock now=0 wall=%d\nthread index=1 name=main main=1\n", 1_700_000_000_000+k*1_000_000)
		at := 0
		for stall := range 1 + rnd.IntN(3) {
			wall, sequence := 700+rnd.IntN(3000), 5000+stall
			if stall < len(reported[id]) {
				sequence = reported[id][stall]
			}
			fmt.Fprintf(&b, "records thread=1 first=%d list=\"+1048574@%d +97@%[2]d -97@%d -1048574@%[3]d\"\n", stall*4,
				at, at+wall)
			fmt.Fprintf(&b, "stall thread=1 sequence=%d begin=%d wall=%d first=%d end=%d\n", sequence, at, wall,
				stall*4, stall*4+4)
			at += wall + 1000
		}
		fmt.Fprintf(&b, "incident number=0 detector=anr kind=anr thread=1 begin=%d end=%d\nfact limit-of=input\nend\n",
			at, at+5000)
		data, err := tape.Make(b.String())
		if err != nil {
			t.Fatal(err)
		}
		fixture.Write(t, filepath.Join(recordings, fmt.Sprint(k, ".tgd")), data)
	}
	table := filepath.Join(dir, "collected", "reports", "package=com.example", "mapping="+digest, "date=2026-01-02")
	fixture.Directory(t, table)
	var errs bytes.Buffer
	command := []string{"group", recordings, "--mapping", filepath.Join(dir, "mappings"), "--format", "parquet", "-o",
		filepath.Join(table, "stalls.parquet")}
	if code := runTool(t.Context(), command, strings.NewReader(""), io.Discard, &errs); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
}

// reportedStalls returns the numbers of stalls that reports are about, by the recordings' IDs.
func reportedStalls(t *testing.T, store string) map[string][]int {
	t.Helper()
	found := map[string][]int{}
	l, err := lake.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range l.Files(t.Context(), lake.Reports) {
		if err == nil {
			err = l.Read(t.Context(), f.Name, func(r *lake.Row) error {
				_, after, _ := strings.Cut(r.ID, "-s")
				number, err := strconv.Atoi(strings.TrimSuffix(after, "-1"))
				if devicereport.IsStall(r.ReportKind) {
					found[r.Recording] = append(found[r.Recording], number)
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestCompareReports compares the reports of two builds in a store.
//
// Invariant: compare and group count the same users of the same groups.
func TestCompareReports(t *testing.T) {
	dir := t.TempDir()
	fillStore(t, dir, 2000)
	mappings := []string{"--mapping", filepath.Join(dir, "mappings")}
	builds, err := filepath.Glob(filepath.Join(dir, "collected", "reports", "package=*", "mapping=*"))
	if err != nil || len(builds) != 2 {
		t.Fatal(builds, err)
	}
	var out, errs bytes.Buffer
	args := append([]string{"compare", builds[0], builds[1], "--format", "json", "--top", "0"}, mappings...)
	if code := runTool(t.Context(), args, strings.NewReader(""), &out, &errs); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	var c group.Comparison
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if c.Unit != group.UnitUser || len(c.Changes) > 0 || len(c.Stalls) < 12 {
		t.Errorf("unit %s, %d methods, %d groups", c.Unit, len(c.Changes), len(c.Stalls))
	}
	l, err := lake.Open(filepath.Join(dir, "collected"))
	if err != nil {
		t.Fatal(err)
	}
	for i, build := range builds {
		side := []group.Side{c.Old, c.New}[i]
		users := map[string]bool{}
		for f, err := range l.Files(t.Context(), "reports/package=com.example/"+filepath.Base(build)+"/") {
			if err == nil {
				err = l.Read(t.Context(), f.Name, func(r *lake.Row) error {
					if r.User != nil {
						users[*r.User] = true
					} else {
						users[r.Recording] = true
					}
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if side.Units != len(users) {
			t.Errorf("%d users, want %d", side.Units, len(users))
		}
		want := readGroups(t, append(mappings, build)...)
		hurt := map[string]*group.StallGroup{}
		for _, g := range want.Groups {
			hurt[g.Key] = g
		}
		for _, s := range c.Stalls {
			got, mean := []int{s.Old, s.New}[i], []float64{s.OldMean, s.NewMean}[i]
			if g := hurt[s.Key]; g == nil && got != 0 || g != nil && (g.Users != got || math.Abs(mean-float64(g.Mean)) > 1) {
				t.Errorf("%s: %d users, %.0f ns on average, want %+v", s.Key, got, mean, g)
			}
		}
		if side.First != want.First || side.Last != want.Last {
			t.Errorf("versions %s to %s, want %s to %s", side.First, side.Last, want.First, want.Last)
		}
	}
}

// TestEnginesAgree runs all questions with three engines, which share no code, on the same files: rows that are there
// twice, as a killed merge leaves them; nulls and other languages; and a store without reports.
//
// Invariant: The queries of docs/sql return the same rows in DuckDB, Spark and ClickHouse.
func TestEnginesAgree(t *testing.T) {
	nightly.Only(t, "engines")
	for name, reports := range map[string]int{"empty": 0, "made": 3000} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			digest := fillStore(t, dir, reports)
			if reports > 0 {
				writeRecordings(t, dir, digest)
			}
			files, err := filepath.Glob(filepath.Join(dir, "collected", "reports", "*", "*", "*", "*.parquet"))
			if err != nil || len(files) > 0 != (reports > 0) {
				t.Fatal(files, err)
			}
			for i, file := range files {
				if i%2 == 0 {
					fixture.Write(t, filepath.Join(filepath.Dir(file), "twice.parquet"), fixture.Read(t, file))
				}
			}
			want := askEngine(t, oracle.DuckDB, dir)
			for _, e := range []oracle.Engine{oracle.ClickHouse, oracle.Spark} {
				got := askEngine(t, e, dir)
				for _, name := range oracle.Questions {
					if d := oracle.CompareRows(want[name], got[name]); d != "" {
						t.Errorf("%s %s: %s", e.Name, name, d)
					}
					if len(want[name]) > 0 != (reports > 0) {
						t.Errorf("%s: %d rows", name, len(want[name]))
					}
				}
			}
			if reports > 0 {
				groups := readGroups(t, filepath.Join(dir, "collected"), "--mapping", filepath.Join(dir, "mappings"))
				compareGroups(t, &groups, want)
			}
		})
	}
}

// TestRegressionsOfAKnownExample has the example of Newcombe (1998, Statistics in Medicine 17, table II (a)): 56 of 70
// and 48 of 80, whose difference of 0.2 is between 0.0524 and 0.3339. A group that hurts one more user is noise.
func TestRegressionsOfAKnownExample(t *testing.T) {
	dir := t.TempDir()
	l, err := lake.Open(filepath.Join(dir, "collected"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Write(t.Context(), lake.Partition{App: "a", Mapping: "b", Date: "2026-01-01"}.Dir()+"x.parquet",
		func(add func(*lake.Row) error) error {
			for _, side := range []struct {
				version       string
				of, hurt, few int
			}{{"1.0", 80, 48, 3}, {"1.1", 70, 56, 4}, {"1.2", 9, 9, 9}} {
				for user := range side.of {
					name, version := fmt.Sprint("user", user), side.version
					code := version[2:]
					row := lake.Row{ReportKind: "message", Named: true, User: &name, Version: &version, Code: &code,
						Recording: name + version, Wall: int64(1+user%2) * 1e9}
					figures := "figures"
					for _, of := range []struct {
						key        string
						hurt       bool
						notCounted *string
					}{{"worse", user < side.hurt, nil}, {"few", user < side.few, nil}, {"scene-frames", true, &figures}} {
						row.ID, row.Key, row.NotCounted = of.key+name+version, of.key, of.notCounted
						if !of.hurt {
							continue
						}
						if err := add(&row); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	sql := readSQL(t, "regressions")
	chosen := strings.Replace(sql, "'' as old_version, '' as new_version", "'1.0' as old_version, '1.1' as new_version", 1)
	rows, err := oracle.DuckDB.Query(t.Context(), dir, readSQL(t, "duckdb")+readSQL(t, "reports"), chosen, sql)
	oracle.Require(t, err)
	var got []string
	for _, row := range rows[0] {
		for k := 6; k < len(row); k++ {
			if n, err := strconv.ParseFloat(row[k], 64); err == nil && strings.Contains(row[k], ".") {
				row[k] = strconv.FormatFloat(n, 'f', 4, 64)
			}
		}
		got = append(got, strings.Join(row, " "))
	}
	want := []string{
		"worse None 48 80 56 70 0.2000 0.0524 0.3339 0.0139 sure 48 56 1500000000 1500000000 -0.1947 0.1947",
		"few None 3 80 4 70 0.0196 -0.0559 0.1041 0.8784 noise 3 4 1333333333 1500000000 None None",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// The newest two.
	if len(rows[1]) != 2 || strings.Join(rows[1][0][2:6], " ") != "4 70 9 9" || rows[1][0][10] != "sure" {
		t.Errorf("%q", rows[1])
	}
}
