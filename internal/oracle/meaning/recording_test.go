package meaning

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/trace"
)

// recordedProgram has one thread, and does the same in every run.
const recordedProgram = "Xalan transforms"

// TestCorpusRecording runs a real program with the real runtime. The records of its recording, and the number of lost
// ones, must be those that the recorder of the other tests saw in a run of its own, record by record as far as that
// recorder keeps them.
//
// Invariant: A recording of a real program has every record in order, or counts it as lost.
func TestCorpusRecording(t *testing.T) {
	nightly.Only(t, "programs")
	j := oracle.NeedJDK(t, 17)
	recorder := oracle.NeedRecorder(t)
	jars := oracle.NeedRuntime(t)
	k := slices.IndexFunc(programs, func(p program) bool { return p.name == recordedProgram })
	r := newRunner(t, programs[k], j, recorder)
	want := r.original(t)
	all := []string{"-Dtracegen.gate=off", "-Dtracegen.ring=8388608"} // nothing is left out
	for _, row := range []struct {
		name, class string
		runtime     []string
		flags       []string
	}{
		{"own", "", []string{jars.JVM}, append([]string{"-Dtracegen.threads=all", "-Dtracegen.slow=20"}, all...)},
		{"exact times", "", []string{jars.JVM}, append([]string{"-Dtracegen.tick=us"}, all...)},
		{"drop-in", "com/tencent/matrix/trace/core/AppMethodBeat", []string{jars.JVM, jars.Matrix}, nil},
	} {
		t.Run(row.name, func(t *testing.T) { r.recorded(t, row.class, row.runtime, row.flags, want) })
	}
}

// recorded instruments the program and the runtime, and runs it with the runtime and with the other recorder.
func (r *runner) recorded(t *testing.T, class string, runtime, flags []string, want outcome) {
	dir := t.TempDir()
	config := pipeline.Config{
		Filter: filter.New(filter.Options{Trivial: filter.Smart, RuntimeClass: class, MatrixRuntime: class != ""}),
		Inject: inject.Options{Exits: inject.ExitsExact, ConstructorEntry: inject.EntryAfterSuper, RuntimeClass: class},
		Jobs:   2,
	}
	var own, other []string
	for k, in := range slices.Concat(r.instrument, runtime) {
		out := filepath.Join(dir, "jars", strconv.Itoa(k)+"-"+filepath.Base(in))
		config.Inputs = append(config.Inputs, pipeline.Input{Path: in, Output: out})
		own = append(own, out)
		if !slices.Contains(runtime, in) {
			other = append(other, out)
		}
	}
	fixture.Directory(t, filepath.Join(dir, "jars"))
	result, err := pipeline.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Warnings {
		if strings.Contains(w, "module-info") {
			t.Errorf("the runtime's module must not require itself, but: %s", w)
		}
	}
	file := filepath.Join(dir, "recording.tgd")
	got := r.quiet(r.command(t, append(own, r.plain...), append(flags, "-Dtracegen.output="+file)...).run(t))
	compare(t, got, want)
	recording := readRecording(t, file)
	if recording.digest != result.Mapping.Digest() {
		t.Errorf("the recording's mapping is %s, want %s", recording.digest, result.Mapping.Digest())
	}
	if d := recording.damage; !d.Closed || d.LostChunks+d.Malformed+d.SkippedBytes+d.Unknown != 0 {
		t.Errorf("the recording is not whole: %+v", d)
	}
	if class != "" {
		// The other recorder records one name only.
		t.Logf("measured: drop-in: %d records, %d lost, %d bytes", recording.records, recording.overwritten, recording.size)
		return
	}
	r.compareEvents(t, recording, other)
}

// compareEvents compares with the other recorder's numbers, and with a million events of the main thread.
func (r *runner) compareEvents(t *testing.T, recording recording, classes []string) {
	t.Helper()
	dir := t.TempDir()
	summary, events := filepath.Join(dir, "summary.json"), filepath.Join(dir, "events")
	r.command(t, append(classes, r.plain...), oracle.RecorderFlag(summary), oracle.RecorderEventsFlag(events),
		"-Xbootclasspath/a:"+r.recorder).run(t)
	s := oracle.ReadSummary(t, summary)
	if s.Threads != 1 {
		t.Fatalf("%d threads, but events can be compared for one only", s.Threads)
	}
	if uint64(s.Entries+s.Exits) != recording.records+recording.overwritten {
		t.Errorf("%d records and %d lost, want %d events", recording.records, recording.overwritten, s.Entries+s.Exits)
	}
	text := fixture.Read(t, events)
	_, line, _ := strings.Cut(string(text), "\t")
	seen := strings.Fields(line)
	compared := 0
	for k, word := range seen {
		if at, ok := recording.byNumber[uint64(k)]; ok {
			if at != word {
				t.Fatalf("record %d is %s, want %s", k, at, word)
			}
			compared++
		}
	}
	if compared < len(seen)/2 {
		t.Errorf("%d of %d events could be compared", compared, len(seen))
	}
	t.Logf("measured: %s: %d events; %d records in %d bytes (%.2f bytes each), %d lost, %d stalls; the first %d "+
		"compared one by one",
		r.name, s.Entries+s.Exits, recording.records, recording.size, float64(recording.size)/float64(recording.records),
		recording.overwritten, recording.stalls, compared)
}

// A recording is the sum of the chunks of a recording.
type recording struct {
	digest               string
	damage               trace.Damage
	records, overwritten uint64
	size                 int64
	stalls               int
	byNumber             map[uint64]string // the first records, as the other recorder writes them
}

func readRecording(t *testing.T, file string) recording {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := recording{size: info.Size(), byNumber: map[uint64]string{}}
	next := map[uint32]uint64{}
	sum.damage = eachChunk(t, file, func(c trace.Chunk) {
		switch c := c.(type) {
		case *trace.Meta:
			sum.digest = c.MappingID()
		case *trace.Records:
			if want := next[c.Thread] + c.Overwritten; c.First != want {
				t.Errorf("thread %d: records from %d, want %d", c.Thread, c.First, want)
			}
			next[c.Thread] = c.First + uint64(len(c.List))
			sum.add(c)
		case *trace.StallChunk:
			sum.stalls++
		case *trace.End:
			if c.Records != sum.records || c.Overwritten != sum.overwritten {
				t.Errorf("the last chunk says %d records and %d lost, want %d and %d", c.Records, c.Overwritten, sum.records,
					sum.overwritten)
			}
		}
	})
	return sum
}

func (r *recording) add(c *trace.Records) {
	r.records += uint64(len(c.List))
	r.overwritten += c.Overwritten
	const kept = 1_000_000
	for k, record := range c.List {
		number := c.First + uint64(k)
		if number >= kept {
			return
		}
		sign := "-"
		if record.Entry() {
			sign = "+"
		}
		r.byNumber[number] = fmt.Sprintf("%s%d", sign, record.ID())
	}
}
