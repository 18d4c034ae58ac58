package looper

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/mapping"
)

// endToEndSettings make stalls of 900 ms reach each threshold, and send reports at once.
const endToEndSettings = matrixSettings + `upload-network=any
upload-wait=0
upload-enough=1
upload-per-key=1000
build-id=end-to-end
upload-token=` + endToEndToken

const endToEndToken = "the-token-of-end-to-end"

// endToEndStalls are the kinds of the reports that must name a method of the sample, and that method.
var endToEndStalls = [...]struct{ kind, method string }{
	{"message", "app.Shop.showOffer"},
	{"idle-handler", "app.Shop.evictImages"},
	{"startup", "app.Shop.createCart"},
	{"frozen-frame", "app.Shop.drawGrid"},
	{"missed-poll", "app.Shop.refreshPrice"},
	{"lag", "app.Shop.saveOrder"},
	{"anr", "app.Shop.syncAll"},
}

// TestEndToEnd instruments an app by the command, runs it on Android's classes, where its main thread stalls in seven
// ways, has it send its reports to the command collect, and reads them with the command group and with SQL.
//
// Invariant: A method that makes the main thread stall is named by group and by SQL, whatever the kind of the stall is,
// from the reports that the app has sent.
func TestEndToEnd(t *testing.T) {
	nightly.Only(t, "looper")
	tool := oracle.BuildTool(t)
	b := compile(t, t.TempDir(), func(t *testing.T, file string, dirs ...*string) *mapping.Mapping {
		t.Helper()
		args := []string{"instrument", "--quiet", "--set", "trivial=none", "--set", "trace-posts", "--mapping", file}
		for _, dir := range dirs {
			out := *dir + "-instrumented"
			args = append(args, *dir+"="+out)
			*dir = out
		}
		command(t, tool, args...)
		m, err := mapping.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
	for _, p := range []platform{platforms[2], platforms[3]} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			endToEnd(t, b, p, tool)
		})
	}
}

func endToEnd(t *testing.T, b bench, p platform, tool string) {
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.txt")
	if err := os.WriteFile(tokens, []byte(endToEndToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "collected") // as the queries have it
	address, stop := collect(t, tool, "--store", store, "--mapping", b.mapping, "--token-file", tokens)
	settings := strings.ReplaceAll(endToEndSettings, "\n", ";") + ";upload=" + address
	b.options = append(slices.Clone(b.options), "-Dproofs.settings="+settings)
	sent := strings.Fields(b.prove(t, p, stock, "EndToEndProofs").seen["reports"])
	stop()
	if t.Failed() {
		return
	}
	out, err := exec.CommandContext(t.Context(), tool, "group", store, "--mapping", b.mapping, "--format", "json",
		"--top", "0").Output()
	var groups group.Fleet
	if err == nil {
		err = json.Unmarshal(out, &groups)
	}
	if err != nil {
		t.Fatalf("group: %v\n%s", err, out)
	}
	checkReports(t, b, p, dir, sent)
	worst := queryReports(t, dir, "worst")
	checkQuery(t, &groups, worst)
	// A report that a stall covers does not count: the stall names the method in the groups.
	all := query(t, dir, "select report_kind, method from all_reports")
	for _, want := range endToEndStalls {
		reported := slices.ContainsFunc(all, func(row []string) bool { return row[0] == want.kind && row[1] == want.method })
		inGroups := slices.ContainsFunc(groups.Groups, func(g *group.StallGroup) bool {
			return g.Worst.Method == want.method
		})
		inQuery := slices.ContainsFunc(worst, func(row []string) bool { return row[2] == want.method })
		if !reported || !inGroups || !inQuery {
			t.Errorf("%s of %s: reported: %t, group names it: %t, SQL names it: %t", want.kind, want.method, reported, inGroups,
				inQuery)
		}
	}
	if t.Failed() {
		for _, row := range worst {
			t.Log(row)
		}
	}
}

// collect starts the command collect. It returns the address, and a function that ends it as an operator does.
func collect(t *testing.T, tool string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool, append([]string{"collect", "--listen", "127.0.0.1:0"}, args...)...)
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(messages)
	var first string
	for address == "" {
		line, err := lines.ReadString('\n')
		first += line
		if _, after, ok := strings.Cut(line, "listening on "); ok {
			address, _, _ = strings.Cut(after, ",")
		} else if err != nil {
			t.Fatalf("collect: %v\n%s%v", err, first, cmd.Wait())
		}
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
	}()
	return address, func() {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		text := <-rest
		if err := cmd.Wait(); err != nil || text != "tracegen: stopped; all that was received is stored\n" {
			t.Fatalf("collect: %v\n%s", err, text)
		}
	}
}

// queryReports runs a query of docs/sql in the directory that has the store.
func queryReports(t *testing.T, dir, name string) [][]string {
	t.Helper()
	sql := fixture.Read(t, filepath.Join("..", "..", "..", "docs", "sql", name+".sql"))
	return query(t, dir, string(sql))
}

func query(t *testing.T, dir, sql string) [][]string {
	t.Helper()
	views := ""
	for _, name := range []string{"duckdb", "reports"} {
		views += fixture.Text(t, filepath.Join("..", "..", "..", "docs", "sql", name+".sql"))
	}
	rows, err := oracle.DuckDB.Query(t.Context(), dir, views, sql)
	oracle.Require(t, err)
	return rows[0]
}

// checkReports checks each report as it came, and that all that were sent are there. The slow message must name who
// posted it.
func checkReports(t *testing.T, b bench, p platform, dir string, sent []string) {
	t.Helper()
	schema := reportSchema(t)
	came := map[string]bool{}
	posted := false
	for _, row := range query(t, dir, "select report, method from all_reports") {
		if _, err := checkReport(schema, []byte(row[0])); err != nil {
			t.Errorf("%v: %s", err, row[0])
		}
		r, err := devicereport.Parse(row[0])
		if err != nil {
			t.Errorf("%v: %s", err, row[0])
			continue
		}
		came[r.ID] = true
		if r.Package != appPackage || r.Mapping != b.digest || r.SDK == nil || *r.SDK != int64(p.api) || r.User == "" ||
			r.BuildID != "end-to-end" || r.Duration == nil || r.Began == nil {
			t.Errorf("a report without its facts: %s", row[0])
		}
		if r.Kind == devicereport.KindMessage && row[1] == "app.Shop.showOffer" && r.PostedBy != nil {
			m, ok := b.methods.ByID(*r.PostedBy)
			posted = posted || ok && m.Name == "offerLater"
		}
	}
	if !posted {
		t.Error("no report names the method that posted the slow message")
	}
	if len(sent) < len(endToEndStalls) {
		t.Errorf("%d reports were sent", len(sent))
	}
	for _, id := range sent {
		if !came[id] {
			t.Errorf("the report %s is not there", id)
		}
	}
	t.Logf("measured: %s: %d reports", p.name, len(came))
}

// checkQuery compares the groups with the rows of worst.sql.
func checkQuery(t *testing.T, groups *group.Fleet, rows [][]string) {
	t.Helper()
	if len(rows) != len(groups.Groups) {
		t.Fatalf("%d groups, the query has %d", len(groups.Groups), len(rows))
	}
	near := func(a string, b, share float64) bool {
		n, err := strconv.ParseFloat(a, 64)
		return err == nil && math.Abs(n-b) <= share*b+1e-9
	}
	for i, g := range groups.Groups {
		row := rows[i]
		want := []string{g.Key, g.Worst.ReportKind, cmp.Or(g.Worst.Method, "None")}
		for _, n := range []int64{int64(g.Stalls), int64(g.Recordings), int64(g.Users), int64(g.Total), int64(g.Mean)} {
			want = append(want, strconv.FormatInt(n, 10))
		}
		if !slices.Equal(row[:8], want) || row[10] != fmt.Sprint(int64(g.Longest)) || !near(row[15], g.Score, 1e-6) ||
			!near(row[8], float64(g.Median), 0.002) || !near(row[9], float64(g.P90), 0.002) ||
			row[13] != g.Since.Format(time.DateOnly) {
			t.Errorf("group %d is\n%q, %+v, the query has\n%q", i+1, want, g, row)
		}
	}
}
