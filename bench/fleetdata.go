package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/oracle/tape"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping"
)

const (
	fleetApp    = "com.example.app"
	fleetBuilds = 7
	// fleetEpoch is when the first report began; a recording begins each second.
	fleetEpoch = 1_763_000_000_000
)

// writeFleetMappings writes the mappings of the builds to a directory, and returns their digests.
func writeFleetMappings(dir string) (digests []string, err error) {
	for build := range fleetBuilds {
		var b strings.Builder
		for id := 17; id < 1000; id++ {
			fmt.Fprintf(&b, "%d,1,com.example.app.part%d.Class%d method%d (I)V\n", id, id%9, id%60, id)
		}
		fmt.Fprintf(&b, "1000,1,com.example.app.Build%d is ()V\n1048574,1,android.os.Handler dispatchMessage "+
			"(Landroid.os.Message;)V\n", build)
		m, err := mapping.Parse("", b.String()) // without a header, the digest is computed
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("# tracegen-mapping 1\n# digest %s\n# runtime dev.tracegen.runtime.AppMethodBeat\n%s", m.Digest(),
			&b)
		if err := os.WriteFile(filepath.Join(dir, m.Digest()+".txt"), []byte(text), 0o644); err != nil {
			return nil, err
		}
		digests = append(digests, m.Digest())
	}
	return digests, nil
}

// fleetReport makes a report of about 2 KB, as a device sends it: with a hot path, calls, and two stack samples. Each
// recording has 50, each 40th is an ANR.
func fleetReport(digests []string, id int) string {
	var b strings.Builder
	build, recording := id%fleetBuilds, id/50
	kind, letter, facts := "message", 's', ""
	if id%40 == 0 {
		kind, letter, facts = "anr", 'i', `"limit-of":"input","confirmed-by":"waiting-message"`
	}
	fmt.Fprintf(&b, `{"format":"tracegen-report","version":1,"id":"%016x-%c%d-1","kind":%q,"detector":"looper",`+
		`"basic":{"package":%q,"versionName":"4.%d","versionCode":"4%02d","buildId":"b%d","mapping":%q,`+
		`"manufacturer":"maker %d","device":"device %d","abi":"arm64-v8a","sdk":%d,"process":%[5]q,"pid":%[13]d,`+
		`"session":"%016[14]x","user":"u%015[15]x","scene":"Screen%[16]d","foreground":true,"thread":"main",`+
		`"what":"Handler (android.view.Choreographer$FrameHandler) {%[17]x} null: %[18]d"},`, recording, letter, id, kind,
		fleetApp, build, build, build, digests[build], id%5, id%300, 21+id%16, id%30000, recording, id*104729%100_000, id%40,
		id*31, id%9)
	fmt.Fprintf(&b, `"timing":{"wallMillis":%d,"durationMillis":%d.25,"suspendedMillis":0,"cpuMillis":%d,"gcCount":1,`+
		`"gcMillis":%d,"ended":true},"cpu":{"load":%d.5,"processors":8,"memoryAvailable":%d},"stack":{"key":"%016x",`+
		`"hotPath":[1048574,17,%d,%d,%d],"calls":[`, int64(fleetEpoch)+int64(recording)*1000, 700+id%3000, 200+id%500,
		id%90, id%8, id*4096+1, id%500, 97+id%50, 300+id%70, 900+id%90)
	for call := range 12 {
		fmt.Fprintf(&b, `%.*s{"depth":%d,"id":%d,"count":%d,"millis":%d}`, min(call, 1), ",", call, 100*call+id%90, 1+id%5,
			700-40*call)
	}
	b.WriteString(`],"samples":[`)
	for sample := range 2 {
		fmt.Fprintf(&b, `%.*s{"thread":"main","state":"RUNNABLE","nanos":%d,"count":3,"frames":[`, sample, ",",
			sample*100_000_000)
		for frame := range 8 {
			fmt.Fprintf(&b, `%.*s"com.example.app.part%d.Class%d.method%d(Class%d.java:%d)"`, min(frame, 1), ",", frame,
				(id+frame)%60, id%11, (id+frame)%60, 10+id%400)
		}
		b.WriteString("]}")
	}
	fmt.Fprintf(&b, `]},"facts":{%s},"detectors":{"watchdog":"on","frames":"off"},"recording":"%016x"}`, facts, recording)
	return b.String()
}

// fillStore puts reports into the store in a directory by the code of the collector, without HTTP, as if they had come
// within some days before today.
func fillStore(dir, mappings string, digests []string, reports, days int) error {
	var at atomic.Int64
	begin := time.Now().AddDate(0, 0, -days)
	at.Store(begin.UnixMilli())
	o := collect.Options{NoMaintenance: true, Every: 1 << 62, Now: func() time.Time { return time.UnixMilli(at.Load()) },
		Names: func(digest string) (*resolve.Names, error) {
			m, err := mapping.Load(filepath.Join(mappings, digest+".txt"))
			return resolve.NewNames(m, nil), err
		}}
	s, err := collect.Open(dir, o)
	if err != nil {
		return err
	}
	const batch = 1000
	for first := 0; first < reports; first += batch {
		var some []collect.Accepted
		for id := first; id < min(reports, first+batch); id++ {
			line := fleetReport(digests, id)
			reportID, _, _ := strings.Cut(line[len(`{"format":"tracegen-report","version":1,"id":"`):], `"`)
			some = append(some, collect.Accepted{ID: reportID, Package: fleetApp, Mapping: digests[id%fleetBuilds], Line: line})
		}
		at.Store(begin.Add(time.Duration(days) * 24 * time.Hour / time.Duration(reports) * time.Duration(first)).UnixMilli())
		if _, err := s.Add(some); err != nil {
			return err
		}
	}
	// Close stops writing files after some seconds.
	for {
		if err := waitForSegments(dir, 1); err != nil {
			return err
		}
		if err := s.Close(); err != nil || !s.Unfinished() {
			return err
		}
		if s, err = collect.Open(dir, o); err != nil {
			return err
		}
		if err := waitForSegments(dir, 0); err != nil {
			return err
		}
	}
}

// copyReports writes the reports of a store again, as those of other recordings. It takes a quarter of the time, and
// the files are as large.
func copyReports(ctx context.Context, dir string, times int) error {
	l, err := lake.Open(dir)
	if err != nil {
		return err
	}
	var files []lake.File
	for f, err := range l.Files(ctx, lake.Reports) {
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	for _, f := range files {
		for k := range times {
			name := f.Dir() + lake.NewName(time.Now()) + ".parquet"
			_, err := l.Write(ctx, name, func(add func(*lake.Row) error) error {
				return l.Read(ctx, f.Name, func(r *lake.Row) error {
					other := fmt.Sprintf("%02x%s", k+1, r.Recording[2:]) // also the session's
					r.ID = strings.Replace(r.ID, r.Recording, other, 1)
					r.Report = strings.ReplaceAll(r.Report, r.Recording, other)
					r.Recording, r.Session = other, &other
					return add(r)
				})
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// waitForSegments waits until so few segments are left in the log of a store.
func waitForSegments(dir string, few int) error {
	for {
		left, err := filepath.Glob(filepath.Join(dir, "wal", "*.wal"))
		if err != nil || len(left) <= few {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// writeFleetRecordings writes recordings with three stalls each below a directory, as a collector does.
func writeFleetRecordings(dir string, digests []string, recordings int) error {
	for k := range recordings {
		build := k % fleetBuilds
		var b strings.Builder
		fmt.Fprintf(&b, "header minor=4\nmeta slowMillis=700 records=all mappingId=%s package=%s device=\"device %d\" "+
			"versionName=4.%d versionCode=4%02[4]d sdk=%d recordingId=%016x user=u%015x\nclock now=0 wall=%d\n"+
			"thread index=1 name=main main=1\n", digests[build], fleetApp, k%300, build, 21+k%16, k, k*104729%100_000,
			int64(fleetEpoch)+int64(k)*1000)
		for stall := range 3 {
			at, wall := stall*5000, 700+(k+stall)%3000
			fmt.Fprintf(&b, "records thread=1 first=%d list=\"+1048574@%d +17@%[2]d +%d@%[2]d -%[3]d@%d -17@%[4]d "+
				"-1048574@%[4]d\"\nstall thread=1 sequence=%d begin=%[2]d wall=%[6]d first=%[1]d end=%[7]d scene=Screen%d\n",
				stall*6, at, 97+(k+stall)%50, at+wall, 1+stall, wall, stall*6+6, k%40)
		}
		data, err := tape.Make(b.String() + "end\n")
		if err != nil {
			return err
		}
		to := filepath.Join(dir, digests[build], fmt.Sprintf("%016x.part1.tgd", k))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
