package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tracegen/tracegen/mapping"
)

// recordingsCommand measures the cost of reading recordings, and whether memory grows with their size.
const recordingsCommand = "recordings"

// bytesEach is the size of a recording, and tracedMethods the number of methods of its program.
const (
	bytesEach     = 25_000_000
	tracedMethods = 20_000
)

// recordingSizes are total sizes of recordings, in megabytes.
var recordingSizes = []int{100, 1000}

// recordingQuestions are the commands that read the recordings.
var recordingQuestions = []struct {
	name string
	args []string
}{
	{"analyze", []string{"analyze"}},
	{"analyze --format table", []string{"analyze", "--format", "table"}},
	{"analyze --format perfetto", []string{"analyze", "--format", "perfetto", "-o", os.DevNull}},
	{"group", []string{"group"}},
}

// recordingsMain makes recordings of several users and versions, and reads them:
//
//	go run ./bench recordings
func recordingsMain(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(recordingsCommand, flag.ContinueOnError)
	runs := flags.Int("runs", 3, "measured `rounds`")
	most := flags.Int("most", recordingSizes[len(recordingSizes)-1], "leave out sets of more `megabytes`")
	tool := flags.String("tracegen", "", "the tracegen `executable`; empty: built here")
	out := flags.String("o", today(), "`directory` for recordings.md and recordings.tsv")
	scratch := flags.String("scratch", "", "`directory` for 1 GB of recordings; empty: the system's")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w, err := newWorkplace(ctx, *scratch, *tool)
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.dir)
	mappingFile := filepath.Join(w.dir, "methodMapping.txt")
	digest, err := writeRecordedMapping(mappingFile)
	if err != nil {
		return err
	}
	var all []*series
	for _, size := range recordingSizes {
		if size > *most {
			continue
		}
		own := filepath.Join(w.dir, fmt.Sprint(size))
		for n := range size * 1_000_000 / bytesEach {
			if err := writeRecording(filepath.Join(own, fmt.Sprintf("%03d.tgd", n)), digest, uint64(n)); err != nil {
				return err
			}
		}
		for _, q := range recordingQuestions {
			s := &series{row: row{input: fmt.Sprintf("%d MB", size), name: q.name}}
			s.contestant.command = func(job) *exec.Cmd {
				return exec.Command(w.tool, append(append([]string{}, q.args...), own, "--mapping", mappingFile)...)
			}
			all = append(all, s)
		}
	}
	watch := startWatch()
	for n := range *runs {
		fmt.Fprintf(os.Stderr, "bench: recordings: round %d of %d\n", n+1, *runs)
		for _, s := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.once(); s.failed != nil {
				return s.failed
			}
		}
	}
	r := &record{conditions: append(conditions(), watch.conditions()...)}
	for _, s := range all {
		r.rows = append(r.rows, s.row)
	}
	r.printRecordings(os.Stdout)
	if err := writeFile(filepath.Join(*out, "recordings.tsv"), r.writeTo); err != nil {
		return err
	}
	return writeFile(filepath.Join(*out, "recordings.md"), func(w io.Writer) error { r.printRecordings(w); return nil })
}

// printRecordings writes the cost of each command.
func (r *record) printRecordings(w io.Writer) {
	fmt.Fprintf(w, "# What reading recordings costs\n\n")
	if r.disturbed() {
		fmt.Fprintf(w, "%s\n\n", disturbance)
	}
	for _, c := range r.conditions {
		fmt.Fprintf(w, "- %s\n", c)
	}
	fmt.Fprintf(w, "\nRecordings of %d MB each, %d methods, raw records of 8 bytes.\n\n", bytesEach/1_000_000,
		tracedMethods)
	fmt.Fprintf(w, "| recordings | question | wall s | CPU s | CPU ms a million records | peak MB "+
		"|\n|---|---|---|---|---|---|\n")
	for i := range r.rows {
		row := &r.rows[i]
		var size float64
		fmt.Sscan(row.input, &size)
		fmt.Fprintf(w, "| %s | %s | %.2f | %.2f | %.0f | %.0f |\n", row.input, row.name, row.median(wallSeconds),
			row.median(cpuSeconds),
			1000*row.median(cpuSeconds)/(size/8), row.median(peakMB))
	}
}

// writeRecordedMapping writes the mapping of the recordings' program and returns its digest.
func writeRecordedMapping(path string) (string, error) {
	methods := make([]mapping.Method, tracedMethods)
	for i := range methods {
		methods[i] = mapping.Method{Access: 1, Identity: mapping.Identity{
			Class: fmt.Sprintf("com/example/feature%d/Screen%d", i/400, i/20), Name: fmt.Sprintf("method%d", i%20),
			Descriptor: "()V"}}
	}
	m, err := mapping.Assign(methods, mapping.Options{Order: mapping.OrderCompact})
	if err != nil {
		return "", err
	}
	return m.Digest(), writeFile(path, func(w io.Writer) error {
		_, err := m.WriteTo(w)
		return err
	})
}

// writeRecording writes a recording as trace/FORMAT.md describes it: messages on one thread, one in some hundred slow.
func writeRecording(path, digest string, number uint64) error {
	return writeFile(path, func(w io.Writer) error {
		r := recordingWriter{w: bufio.NewWriter(w), rnd: rand.New(rand.NewPCG(number, 1))}
		head := append([]byte("TGD1\x01\x00\x00\x00\x20\x00\x00\x00"), make([]byte, 16)...)
		binary.LittleEndian.PutUint64(head[12:], number+1)
		r.w.Write(binary.LittleEndian.AppendUint32(head, crc32.ChecksumIEEE(head)))
		meta := []byte{5}
		for _, s := range []string{"mappingId", digest, "tickNanos", "1000000", "slowMillis", "700",
			"versionName", fmt.Sprintf("1.%d", number%7), "user", fmt.Sprint("user", number%11)} {
			meta = append(binary.AppendUvarint(meta, uint64(len(s))), s...)
		}
		r.chunk(1, meta)
		r.chunk(2, []byte{0, 0, 0, 0, 3, 'U', 'T', 'C'})
		r.chunk(3, []byte("\x01\x00\x02\x04main\x01"))
		for r.records < bytesEach/8 {
			r.block()
		}
		return r.w.Flush()
	})
}

// recordingWriter makes up the calls of a program.
type recordingWriter struct {
	w       *bufio.Writer
	rnd     *rand.Rand
	chunks  uint32
	records int
	ticks   uint64
	list    []byte
}

func (r *recordingWriter) chunk(kind uint16, payload []byte) {
	head := binary.LittleEndian.AppendUint16([]byte("TGCK"), kind)
	head = binary.LittleEndian.AppendUint16(head, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, r.chunks)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, payload)
	r.w.Write(binary.LittleEndian.AppendUint32(head, sum))
	r.w.Write(payload)
	r.w.Write(make([]byte, -len(payload)&3))
	r.chunks++
}

// block writes a chunk of records: whole messages.
func (r *recordingWriter) block() {
	first := r.records
	r.list = r.list[:0]
	for len(r.list) < 200_000 {
		r.record(1, 0xFFFFE)
		if r.rnd.IntN(400) == 0 {
			r.ticks += 800
		}
		r.calls(0)
		r.record(0, 0xFFFFE)
		r.ticks += uint64(r.rnd.IntN(8))
	}
	payload := binary.AppendUvarint([]byte{0}, uint64(first))
	payload = binary.AppendUvarint(append(payload, 0), uint64(r.records-first))
	r.chunk(5, append(payload, r.list...))
}

// calls makes some calls, which make calls themselves. The called method depends mostly on the depth, so that paths
// repeat.
func (r *recordingWriter) calls(depth int) {
	for range r.rnd.IntN(4) {
		id := uint64(1 + (depth*701+r.rnd.IntN(40))%tracedMethods)
		r.record(1, id)
		if depth < 12 {
			r.calls(depth + 1)
		}
		r.ticks += uint64(r.rnd.IntN(2))
		r.record(0, id)
	}
}

func (r *recordingWriter) record(entry, id uint64) {
	r.list = binary.LittleEndian.AppendUint64(r.list, entry<<63|id<<43|r.ticks)
	r.records++
}
