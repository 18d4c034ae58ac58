package tape

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/trace"
)

// TestMake reads what Make writes, chunk by chunk.
func TestMake(t *testing.T) {
	data, err := Make(`
# every kind of chunk
meta mappingId=00112233445566aa slowMillis=700 app="two words"
clock now=1 wall=1700000000000
thread index=3 name="main thread" main=1
records thread=3 first=7 lost=2 list="+1@0 -1@5"
message thread=3 kind=4 sequence=1 count=2 begin=0.5 wall=1 what="a B"
message thread=3 begin=2 cpu=1
sample time=3 thread=3 state=BLOCKED stack="a.B.c(B.java:7) a.B.d(B.java:8)"
sample time=4 thread=3 state=BLOCKED stack="a.B.c(B.java:7)" cpu=1 lock=a.L owner=3
pending thread=3 message=4 available=1
waits due=4 what=-1 target=a.B flags=2
stall thread=3 sequence=4 begin=1 wall=900 first=7 end=9 what="a B" state=WAITING owner="x holds y" gc=5
alive now=3 wall=1700000000002 thread=3 message=4 begin=1 state=BLOCKED what="a B"
suspended begin=1 end=2.5 cause=2
late begin=3 end=4
exit reason=anr trace="a\nb"
dropped thread=0 kind=2 count=5
dropped kind=1 count=6
detectors anr=on frames="not available: needs API 24"
incident number=2 detector=anr kind=lag what="a B" thread=3 begin=1 end=2 first=7 stop=9 scene=x foreground=1
fact limit-millis=2000 limit-of=lag
stack thread=main time=1.5 state=BLOCKED stack="a.B.c(B.java:7)"
incident number=3
end`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var got []trace.Chunk
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	want := []trace.Chunk{
		&trace.Meta{Values: map[string]string{"mappingId": "00112233445566aa", "slowMillis": "700", "app": "two words",
			"tickNanos": "1000000"}},
		&trace.Clock{NanoTime: 1e6, ElapsedRealtime: 1e6, WallMillis: 1700000000000, Zone: "UTC"},
		&trace.Threads{List: []trace.Thread{{Index: 3, ID: 3, Name: "main thread", Main: true}}},
		&trace.Records{Thread: 3, First: 7, Overwritten: 2, List: []trace.Record{1<<63 | 1<<43, 1<<43 | 5}},
		&trace.Messages{Thread: 3, List: []trace.Message{
			{Kind: trace.MessageMerged, Sequence: 1, Count: 2, Begin: 5e5, Wall: 1e6, CPU: -1, Description: "a B"},
			{Count: 1, Begin: 2e6, CPU: 1e6},
		}},
		&trace.StackSample{Nanos: 3e6, Thread: 3, State: 3, CPU: -1, Frames: []string{"a.B.c(B.java:7)", "a.B.d(B.java:8)"}},
		&trace.StackSample{Nanos: 4e6, Thread: 3, State: 3, Frames: []string{"a.B.c(B.java:7)"}, CPU: 1e6,
			Lock: trace.LockWait{Class: "a.L", Owned: true, Owner: 3}},
		&trace.Pending{Thread: 3, Message: 4, Available: true, List: []trace.PendingMessage{{When: 4e6, What: -1,
			Target: "a.B", Barrier: true}}},
		&trace.StallChunk{Thread: 3, Message: 4, Begin: 1e6, Wall: 900e6, CPU: -1, FirstRecord: 7, EndRecord: 9,
			Description: "a B",
			GCCount:     -1, GCMillis: 5, State: 4, LockOwner: "x holds y"},
		&trace.Alive{Nanos: 3e6, WallMillis: 1700000000002, Open: []trace.OpenCall{{Thread: 3, Message: 4, Begin: 1e6,
			State: 3, CPU: -1, Description: "a B"}}},
		&trace.Suspended{List: []trace.Suspension{{Begin: 1e6, End: 25e5, Cause: trace.SuspendedAsleep}}},
		&trace.Late{List: []trace.LateInterval{{Begin: 3e6, End: 4e6}}},
		&trace.Exit{Values: map[string]string{"reason": "anr", "trace": "a\nb"}},
		&trace.Dropped{List: []trace.DroppedCount{{Kind: trace.DroppedSamples, Count: 5}}},
		&trace.Dropped{List: []trace.DroppedCount{{AllThreads: true, Kind: trace.DroppedRecords, Count: 6}}},
		&trace.Detectors{List: []trace.DetectorState{{Name: "anr", State: "on"},
			{Name: "frames", State: "not available: needs API 24"}}},
		&trace.Incident{Number: 2, Detector: "anr", Kind: "lag", What: "a B", Thread: 3, Begin: 1e6, End: 2e6,
			FirstRecord: 7, EndRecord: 9, Scene: "x", Foreground: true,
			Facts:  []trace.IncidentFact{{Key: "limit-millis", Value: "2000"}, {Key: "limit-of", Value: "lag"}},
			Stacks: []trace.ThreadStack{{Thread: "main", Nanos: 15e5, State: 3, Frames: []string{"a.B.c(B.java:7)"}}}},
		&trace.Incident{Number: 3, WholeProcess: true, Facts: []trace.IncidentFact{}, Stacks: []trace.ThreadStack{}},
		&trace.End{Chunks: 24, Records: 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := r.Damage(); d != (trace.Damage{Closed: true}) {
		t.Errorf("damage: %+v", d)
	}
}

func TestMakeRefuses(t *testing.T) {
	for _, text := range []string{"bang", "stall wall=x", "records list=1@2", "sample state=ASLEEP", "meta =1"} {
		if _, err := Make(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
