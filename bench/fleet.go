package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tracegen/tracegen/internal/oracle"
)

// fleetCommand measures collectors, the table that they write, and what reads it.
const fleetCommand = "fleet"

// fleet is what the parts of a measurement share.
type fleet struct {
	tool, dir, store           string
	reports, recordings, kills int
	lasts, limit               time.Duration
	rate                       int
	mappings                   string
	digests                    []string
	rows                       []string // lines of fleet.tsv: part, figure, value
	part                       string
}

// fleetMain measures parts in their order, and writes fleet.md and fleet.tsv anew after each. Parts that the directory
// has from another run stay. The table of ten million reports is filled before, as that takes long.
//
//	go run ./bench fleet
//	go run ./bench fleet -only '^table$' -reports 10000000 -recordings 100000 -store DIR
//	go run ./bench fleet -only '^(group|queries)$' -store DIR
//	go run ./bench fleet -only '^(ingest|compaction|bucket)$' -for 1m
//	go run ./bench fleet -only '^kills$'
func fleetMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(fleetCommand, flag.ContinueOnError)
	f := &fleet{}
	flags.IntVar(&f.reports, "reports", 100_000, "`number` of reports in the table")
	flags.IntVar(&f.recordings, "recordings", 1000, "`number` of recordings in the store")
	flags.IntVar(&f.kills, "kills", 300, "`number` of kills at random moments, beside those at each step")
	flags.DurationVar(&f.lasts, "for", 20*time.Second, "how long clients send")
	flags.IntVar(&f.rate, "rate", 5000, "reports a second that one collector shall take")
	flags.DurationVar(&f.limit, "limit", 10*time.Minute, "how long an engine may take for all questions")
	only := flags.String("only", "", "measure parts whose name matches this `regexp`")
	flags.StringVar(&f.store, "store", "", "`directory` that keeps the table and the recordings; it is filled if it is "+
		"empty. Without one they are removed")
	flags.StringVar(&f.tool, "tracegen", "", "the tracegen `executable`; empty: built here")
	out := flags.String("o", today(), "`directory` of fleet.md and fleet.tsv")
	scratch := flags.String("scratch", "", "`directory` for logs and stores; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if f.dir, err = os.MkdirTemp(*scratch, "tracegen-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	if f.tool == "" {
		if f.tool, err = buildTool(ctx, f.dir); err != nil {
			return err
		}
	}
	if f.store == "" {
		f.store = filepath.Join(f.dir, "kept")
	}
	f.mappings = filepath.Join(f.store, "mappings")
	if err = os.MkdirAll(f.mappings, 0o755); err == nil {
		f.digests, err = writeFleetMappings(f.mappings)
	}
	if err != nil {
		return err
	}
	return f.measure(ctx, wanted, *out)
}

// measure measures the parts.
func (f *fleet) measure(ctx context.Context, wanted *regexp.Regexp, out string) error {
	old, _ := os.ReadFile(filepath.Join(out, "fleet.tsv")) // there may be none
	var failed error
	for _, p := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"table", f.fillTable}, {"group", f.groupRecordings}, {"queries", f.askEngines}, {"ingest", f.ingest},
		{"compaction", f.compaction}, {"bucket", f.bucket}, {"kills", f.countKills},
	} {
		if !wanted.MatchString(p.name) {
			for line := range strings.Lines(string(old)) {
				if strings.HasPrefix(line, p.name+"\t") {
					f.rows = append(f.rows, strings.TrimSuffix(line, "\n"))
				}
			}
			continue
		}
		f.part = p.name
		fmt.Fprintf(os.Stderr, "bench: %s: %s\n", time.Now().Format(time.TimeOnly), p.name)
		w := startWatch()
		if err := p.run(ctx); err != nil {
			f.add("failed", "%.300v", err)
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
		}
		f.add("conditions", "%s; %s", time.Now().UTC().Format("2006-01-02 15:04 UTC"), strings.Join(w.conditions(), "; "))
		for name, table := range map[string]func(io.Writer){"fleet.tsv": f.raw, "fleet.md": f.print} {
			err := writeFile(filepath.Join(out, name), func(w io.Writer) error { table(w); return nil })
			failed = errors.Join(failed, err)
		}
	}
	f.print(os.Stdout)
	return failed
}

// add adds a figure of the part that is measured.
func (f *fleet) add(figure, format string, args ...any) {
	value := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	f.rows = append(f.rows, f.part+"\t"+figure+"\t"+value)
	fmt.Fprintf(os.Stderr, "bench: %s: %s: %s\n", f.part, figure, value)
}

// fleetConditions leaves out what is of other measurements, and the command: a part may be of another one.
func fleetConditions() []string {
	return slices.DeleteFunc(conditions(), func(c string) bool {
		return strings.HasPrefix(c, "peers:") || strings.HasPrefix(c, "command:")
	})
}

func (f *fleet) raw(w io.Writer) {
	for _, c := range fleetConditions() {
		fmt.Fprintf(w, "# %s\n", c)
	}
	for _, row := range f.rows {
		fmt.Fprintln(w, row)
	}
}

func (f *fleet) print(w io.Writer) {
	fmt.Fprintf(w, `# Collectors, their table, and what reads it

Reports have 2 KB of JSON, of %d builds. Clients, collectors and the bucket share the cores. *CPU* is that of the
collectors alone. *memory* is the most that all processes that the benchmark has started had resident together, seen
ten times a second. *latency* counts from when a request is due.

`, fleetBuilds)
	for _, c := range fleetConditions() {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprint(w, "\n| part | figure | value |\n|---|---|---|\n")
	for _, row := range f.rows {
		fmt.Fprintf(w, "| %s |\n", strings.ReplaceAll(strings.ReplaceAll(row, "|", `\|`), "\t", " | "))
	}
}

// run runs a program to its end, and adds what it took.
func (f *fleet) run(ctx context.Context, figure string, args ...string) error {
	most := watchMemory(ctx)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	began := time.Now()
	text, err := cmd.CombinedOutput()
	took, peak := time.Since(began), most()
	if exit := new(exec.ExitError); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	f.add(figure, "%.1f s, CPU %.1f s, memory %d MB", took.Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak)
	return nil
}

// watchMemory watches the memory of all processes below this one. The function that it returns ends that, and returns
// the most that was resident, in MB.
func watchMemory(ctx context.Context) (most func() int64) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan int64)
	go func() {
		var peak int64
		for ctx.Err() == nil {
			peak = max(peak, residentBelow(os.Getpid()))
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
		ended <- peak
	}()
	return func() int64 { cancel(); return <-ended / mega }
}

// residentBelow returns how many bytes the processes have resident that a process and its children have started, see
// proc(5).
func residentBelow(pid int) (bytes int64) {
	self, _ := os.Executable()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(text)) {
			// Before it has started its program, a child has the memory of this one.
			if exe, _ := os.Readlink("/proc/" + child + "/exe"); exe == self {
				continue
			}
			n, _ := strconv.Atoi(child)
			kilobytes, _, _ := strings.Cut(field("/proc/"+child+"/status", "VmRSS", "0"), " ")
			size, _ := strconv.ParseInt(kilobytes, 10, 64)
			bytes += size*1024 + residentBelow(n)
		}
	}
	return bytes
}

// sizeBelow returns the number and the bytes of the files below a directory.
func sizeBelow(dir string) (files int, bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return nil
	})
	return files, bytes
}

func (f *fleet) collected(below ...string) string {
	return filepath.Join(append([]string{f.store, "collected"}, below...)...)
}

// distinct is how many reports of the table are made. The others are copies with another ID.
const distinct = 1_000_000

// fillTable fills the store, unless it has reports, and merges the files.
func (f *fleet) fillTable(ctx context.Context) error {
	if n, _ := sizeBelow(f.collected("reports")); n == 0 {
		began, first := time.Now(), min(f.reports, distinct)
		if err := fillStore(f.collected(), f.mappings, f.digests, first, 10); err != nil {
			return err
		}
		f.add("filled by the collector's code, without HTTP", "%d reports in %.1f s", first, time.Since(began).Seconds())
		f.add("copied, with other IDs", "%d reports", f.reports-first)
		if err := copyReports(ctx, f.collected(), f.reports/first-1); err != nil {
			return err
		}
		if err := writeFleetRecordings(f.collected("recordings", fleetApp), f.digests, f.recordings); err != nil {
			return err
		}
	}
	files, size := sizeBelow(f.collected("reports"))
	f.add("before merging", "%d files, %.1f bytes a report", files, float64(size)/float64(f.reports))
	if err := f.run(ctx, "collect compact", f.tool, "collect", "compact", "--store", f.collected(), "--mapping",
		f.mappings); err != nil {
		return err
	}
	files, size = sizeBelow(f.collected("reports"))
	f.add("after merging", "%d files, %.1f bytes a report", files, float64(size)/float64(f.reports))
	files, size = sizeBelow(f.collected("recordings"))
	f.add("recordings", "%d files, %.1f bytes each", files, float64(size)/float64(max(1, files)))
	return nil
}

// groupRecordings groups up to 10,000 recordings of the store, twice, and writes their rows into the table.
func (f *fleet) groupRecordings(ctx context.Context) error {
	const most = 10_000
	all, err := filepath.Glob(f.collected("recordings", fleetApp, "*", "*.tgd"))
	if err != nil || len(all) == 0 {
		return errors.Join(err, errors.New("the store has no recordings; measure table before"))
	}
	some := filepath.Join(f.dir, "some")
	if err := os.MkdirAll(some, 0o755); err != nil {
		return err
	}
	all = all[:min(len(all), most)]
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(some, filepath.Base(file)), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	figure := fmt.Sprintf("group of %d recordings", len(all))
	for _, again := range []string{"", ", again"} {
		if err := f.run(ctx, figure+again, f.tool, "group", some, "--mapping", f.mappings); err != nil {
			return err
		}
	}
	rows := f.collected("reports", "package="+fleetApp, "mapping="+f.digests[0], "date=2026-01-02")
	if err := os.MkdirAll(rows, 0o755); err != nil {
		return err
	}
	return f.run(ctx, figure+" as Parquet", f.tool, "group", some, "--mapping", f.mappings, "--format", "parquet", "-o",
		filepath.Join(rows, "stalls.parquet"))
}

// askEngines asks each engine all questions about the table, and compares their answers.
func (f *fleet) askEngines(ctx context.Context) error {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("docs", "sql", name+".sql"))
		if err != nil {
			panic(err) // not in the repository
		}
		return string(text)
	}
	var questions []string
	for _, name := range oracle.Questions {
		questions = append(questions, read(name))
	}
	var want [][][]string
	for _, e := range []oracle.Engine{oracle.DuckDB, oracle.ClickHouse, oracle.Spark} {
		limited, cancel := context.WithTimeout(ctx, f.limit)
		most := watchMemory(ctx)
		began := time.Now()
		got, seconds, err := e.Measure(limited, f.store, read(e.Name)+read("reports"), questions...)
		cancel()
		took, peak := time.Since(began), most()
		if err != nil {
			f.add(e.Name, "failed after %.0f s, memory %d MB: %.300s", took.Seconds(), peak, err)
			continue
		}
		f.add(e.Name, "%.1f s with its start, memory %d MB", took.Seconds(), peak)
		for i, name := range oracle.Questions {
			answer := ""
			switch {
			case want == nil:
			case oracle.CompareRows(want[i], got[i]) == "":
				answer = ", answers alike"
			default:
				answer = ", ANOTHER ANSWER"
			}
			f.add(e.Name+" "+name, "%.2f s, %d rows%s", seconds[i], len(got[i]), answer)
		}
		if want == nil {
			want = got
		}
	}
	return nil
}

// collectArgs are the options of a collector in a directory of its own; a store in it if none is named.
func (f *fleet) collectArgs(name, store string, more ...string) []string {
	dir := filepath.Join(f.dir, name)
	if store == "" {
		store = filepath.Join(dir, "collected")
	}
	return append([]string{"--store", store, "--wal", filepath.Join(dir, "wal"), "--every", "10s", "--mapping", f.mappings,
		"--address-rate", "0", "--keep-days", "0", "--max-store", "1TiB"}, more...)
}

// send sends to collectors, stops them, and adds what was seen.
func (f *fleet) send(ctx context.Context, figure string, l *load, all ...*collector) error {
	l.clients = 64
	for _, c := range all {
		l.urls = append(l.urls, c.url)
	}
	most := watchMemory(context.WithoutCancel(ctx))
	seen, err := l.run(ctx)
	peak := most()
	cpu, stopped, err2 := stopCollectors(all...)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var left int64
	for _, c := range all {
		_, size := sizeBelow(c.wal)
		left += size
	}
	n := float64(max(1, seen.reports))
	f.add(figure, "%d reports in %.1f s: %.0f a second; %d answers of 429 or 503", seen.reports, seen.took.Seconds(),
		n/seen.took.Seconds(), seen.busy)
	f.add(figure+", latency", "p50 %s, p99 %s, longest %s", seen.latency(0.5), seen.latency(0.99), seen.latency(1))
	f.add(figure+", cost", "CPU %.0f s a million reports, %.0f bytes received a report, memory %d MB, stopped in %.1f s "+
		"with %.0f bytes a report left in the log", cpu.Seconds()*1e6/n, float64(seen.bytes)/n, peak, stopped.Seconds(),
		float64(left)/n)
	return nil
}

// mostAtOnce is more than two cores take of reports in a second, mergedAtOnce more than they merge.
const mostAtOnce, mergedAtOnce = 30_000, 40_000

// ingest measures one collector at the rate, and at as many reports as it takes.
func (f *fleet) ingest(ctx context.Context) error {
	for _, rate := range []int{f.rate, 0} {
		name := fmt.Sprintf("one collector, %d a second", rate)
		seconds := int(f.lasts.Seconds())
		l := &load{rate: rate, batch: 50}
		if l.bodies = newBodies(f.digests, 0, rate*seconds, l.batch); rate == 0 {
			name = "one collector, all that it takes"
			l.bodies = newBodies(f.digests, 0, mostAtOnce*seconds, l.batch)
		}
		limited, cancel := context.WithTimeout(ctx, f.lasts)
		defer cancel()
		c, err := startCollector(ctx, f.tool, nil, f.collectArgs(strconv.Itoa(rate), "")...)
		if err != nil {
			return err
		}
		if rate > 0 {
			limited = ctx // all that is due; the rate shows if it takes longer
		}
		if err := f.send(limited, name, l, c); err != nil {
			return err
		}
	}
	return nil
}

// compaction sends 1,000 reports a second to a collector that merges files meanwhile.
func (f *fleet) compaction(ctx context.Context) error {
	const rate, batch, rowsOfDay = 1000, 10, 50_000
	args := f.collectArgs("merging", "")
	collected := args[1]
	if err := fillStore(collected, f.mappings, f.digests, rowsOfDay, 1); err != nil {
		return err
	}
	days := max(1, int(f.lasts.Seconds())*mergedAtOnce/rowsOfDay)
	files, err := filepath.Glob(filepath.Join(collected, "reports", "*", "*", "*", "*.parquet"))
	if err != nil {
		return err
	}
	for day := 1; day < days; day++ {
		for _, file := range files {
			date := time.Now().AddDate(0, 0, -day-2).Format(time.DateOnly)
			to := filepath.Join(filepath.Dir(filepath.Dir(file)), "date="+date)
			err := os.MkdirAll(to, 0o755)
			if err == nil {
				err = os.Link(file, filepath.Join(to, fmt.Sprint(date, filepath.Base(file))))
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	l := &load{rate: rate, batch: batch, bodies: newBodies(f.digests, rowsOfDay, 4*rate*int(f.lasts.Seconds()), batch)}
	c, err := startCollector(ctx, f.tool, nil, args...)
	if err != nil {
		return err
	}
	merging, stop := context.WithCancel(ctx)
	defer stop()
	began := time.Now()
	var took atomic.Int64
	go func() {
		for merging.Err() == nil {
			left, _ := filepath.Glob(filepath.Join(collected, "reports", "*", "*", "date=*", "*.parquet"))
			if len(left) > 0 && !hasSegment(left) {
				took.Store(int64(time.Since(began)))
				stop()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	err = f.send(merging, "1,000 a second while files are merged", l, c)
	f.add("merged meanwhile", "%d rows in %.1f s, of %d", days*rowsOfDay, time.Duration(took.Load()).Seconds(),
		days*len(files))
	return err
}

// hasSegment reports whether files of days that have passed are left that were not merged.
func hasSegment(files []string) bool {
	today := "date=" + time.Now().UTC().Format(time.DateOnly)
	for _, file := range files {
		if !strings.Contains(file, "-merged.") && !strings.Contains(file, today) {
			return true
		}
	}
	return false
}

// bucket sends to three collectors of one bucket as many reports as they take.
func (f *fleet) bucket(ctx context.Context) error {
	server, stop, err := oracle.RunObjectStore(filepath.Join(f.dir, "bucket"))
	if err != nil {
		return err
	}
	defer stop()
	l := &load{batch: 50}
	l.bodies = newBodies(f.digests, 0, mostAtOnce*int(f.lasts.Seconds()), l.batch)
	var all []*collector
	for k := range 3 {
		args := f.collectArgs(fmt.Sprint("bucket", k), "s3://"+server.Bucket+"/app")
		if k > 0 {
			args = append(args, "--no-maintenance")
		}
		c, err := startCollector(ctx, f.tool, server.Env(), args...)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	limited, cancel := context.WithTimeout(ctx, f.lasts)
	defer cancel()
	err = f.send(limited, "three collectors, all that they take", l, all...)
	files, size := sizeBelow(server.Dir)
	f.add("in the bucket", "%d objects, %d bytes", files, size)
	return err
}

// countKills runs the tests that kill collectors.
func (f *fleet) countKills(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=0", "-v", "-run",
		"^(TestKilledAtEachStep|TestTwoAtATime|TestKills)$", "./internal/fleet/collect")
	cmd.Env = append(os.Environ(), "TRACEGEN_SHARE=commands", fmt.Sprint("TRACEGEN_KILLS=", f.kills))
	text, err := cmd.CombinedOutput()
	total := 0
	for _, said := range regexp.MustCompile(`(\d+) kills`).FindAllSubmatch(text, -1) {
		n, _ := strconv.Atoi(string(said[1]))
		total += n
	}
	f.add("kills in all", "%d", total)
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(" kills")) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("---")) {
			_, said, _ := strings.Cut(string(line), ": ")
			f.add("kills", "%s", said)
		}
	}
	if err != nil {
		return fmt.Errorf("%w\n%.2000s", err, text)
	}
	return nil
}
