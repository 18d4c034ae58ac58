package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/oracle/golden"
)

const vectors = "testdata/vectors"

func vector(t testing.TB, name string) []byte {
	t.Helper()
	data := fixture.Read(t, filepath.Join(vectors, name))
	return data
}

// readAll returns all chunks, each as text, and what was wrong.
func readAll(t testing.TB, source io.Reader) ([]string, Damage) {
	t.Helper()
	r, err := NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		c, err := r.Next()
		if err == io.EOF {
			return all, r.Damage()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, show(c))
	}
}

// show prints a chunk; of many records the first and last, and a sum of all.
func show(c Chunk) string {
	r, ok := c.(*Records)
	if !ok {
		return fmt.Sprintf("%T %+v", c, c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%T thread %d first %d overwritten %d: %d records", c, r.Thread, r.First, r.Overwritten,
		len(r.List))
	sum := crc32.NewIEEE()
	for k, rec := range r.List {
		binary.Write(sum, binary.LittleEndian, uint64(rec))
		if k < 8 || k >= len(r.List)-2 {
			fmt.Fprintf(&b, " %t/%d@%d", rec.Entry(), rec.ID(), rec.Ticks())
		}
	}
	fmt.Fprintf(&b, ", sum %08x", sum.Sum32())
	return b.String()
}

// TestVectors reads what the Java writer wrote. The golden files were read beside its test.
//
// Invariant: The Go decoder reads what the Java writer writes, as trace/FORMAT.md says.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vectors, "*.tgd"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d vectors, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data := vector(t, filepath.Base(file))
			chunks, damage := readAll(t, bytes.NewReader(data))
			got := strings.Join(chunks, "\n") + fmt.Sprintf("\n%+v\n", damage)
			golden.Compare(t, strings.TrimSuffix(file, ".tgd")+".golden", got)
			slow, slowDamage := readAll(t, iotest.OneByteReader(bytes.NewReader(data)))
			if diff := cmp.Diff(chunks, slow); diff != "" || damage != slowDamage {
				t.Errorf("read byte by byte: %s", diff)
			}
		})
	}
}

// ends returns where each chunk ends, without its padding.
func ends(data []byte) []int {
	var all []int
	for at := headerSize; at < len(data); {
		at += chunkHeader + int(binary.LittleEndian.Uint32(data[at+8:]))
		all = append(all, at)
		at = (at + 3) &^ 3
	}
	return all
}

// TestCutAnywhere cuts recordings at every byte: all chunks before the cut are there, and nothing else.
//
// Invariant: A recording that is cut anywhere still has all chunks before the cut.
func TestCutAnywhere(t *testing.T) {
	for _, name := range []string{"every.tgd", "many.tgd", "open.tgd", "incidents.tgd", "coroutines.tgd",
		"compositions.tgd"} {
		data := vector(t, name)
		whole, _ := readAll(t, bytes.NewReader(data))
		where := ends(data)
		// Strings are not given as chunks.
		given := make([]int, len(where))
		for k, n := 0, 0; k < len(where); k++ {
			start := headerSize
			if k > 0 {
				start = (where[k-1] + 3) &^ 3
			}
			if binary.LittleEndian.Uint16(data[start+4:]) != typeStrings {
				n++
			}
			given[k] = n
		}
		for cut := range data {
			if cut < headerSize {
				if _, err := NewReader(bytes.NewReader(data[:cut])); !errors.Is(err, ErrFormat) {
					t.Fatalf("%s cut at %d: %v", name, cut, err)
				}
				continue
			}
			chunks, damage := readAll(t, bytes.NewReader(data[:cut]))
			k, n := 0, 0
			for k < len(where) && where[k] <= cut {
				n = given[k]
				k++
			}
			if diff := cmp.Diff(whole[:n], chunks, cmpEmpty); diff != "" {
				t.Fatalf("%s cut at %d: %s", name, cut, diff)
			}
			if damage.LostChunks != 0 || damage.Malformed != 0 || damage.Closed && n != len(whole) {
				t.Fatalf("%s cut at %d: %+v", name, cut, damage)
			}
		}
		t.Logf("measured: %s: cut at each of its %d bytes, %d chunks", name, len(data), len(where))
	}
}

var cmpEmpty = cmp.Transformer("empty", func(s []string) string { return strings.Join(s, "\n") })

// TestDamageCostsOneChunk changes every byte in turn: one chunk is lost at most, and reported.
//
// Invariant: Damage costs one chunk at most, and is reported.
func TestDamageCostsOneChunk(t *testing.T) {
	data := vector(t, "every.tgd")
	whole, _ := readAll(t, bytes.NewReader(data))
	where := ends(data)
	for at := headerSize; at < len(data); at++ {
		hurt := bytes.Clone(data)
		hurt[at] ^= 0x20
		chunks, damage := readAll(t, bytes.NewReader(hurt))
		padding := true
		for k := range where {
			start := headerSize
			if k > 0 {
				start = (where[k-1] + 3) &^ 3
			}
			padding = padding && (at < start || at >= where[k])
		}
		last := at >= (where[len(where)-2]+3)&^3
		switch {
		case padding:
			if len(chunks) != len(whole) {
				t.Errorf("padding at %d: %d chunks of %d", at, len(chunks), len(whole))
			}
		case len(chunks) < len(whole)-1 || damage.SkippedBytes == 0 || damage.LostChunks != 1 && !last:
			t.Errorf("byte %d: %d chunks of %d, %+v", at, len(chunks), len(whole), damage)
		}
	}
}

// chunkOf frames a payload.
func chunkOf(kind, flags uint16, number uint32, body []byte) []byte {
	b := []byte(syncMark)
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, number)
	sum := crc32.Update(crc32.ChecksumIEEE(b[4:]), crc32.IEEETable, body)
	b = append(binary.LittleEndian.AppendUint32(b, sum), body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func file(t testing.TB, chunks ...[]byte) []byte {
	return append(bytes.Clone(vector(t, "open.tgd")[:headerSize]), bytes.Join(chunks, nil)...)
}

// TestOddFiles has what no writer of ours makes.
func TestOddFiles(t *testing.T) {
	end := chunkOf(typeEnd, 0, 9, []byte{1, 2, 3})
	for _, row := range []struct {
		name string
		data []byte
		want []string
		how  Damage
	}{
		{"nothing but a header", file(t), nil, Damage{}},
		{"a type of the future", file(t, chunkOf(99, 0, 0, []byte("x"))), nil, Damage{Unknown: 1}},
		{"chunks lost", file(t, end), []string{"*trace.End &{Chunks:1 Records:2 Overwritten:3 More:false}"},
			Damage{LostChunks: 9, Closed: true}},
		{"rubbish between", file(t, []byte("rubbish TGCK TGC"), chunkOf(99, 0, 0, nil)), nil,
			Damage{SkippedBytes: 16, Unknown: 1}},
		{"a chunk that ends too early", file(t, chunkOf(typeClock, 0, 0, []byte{2})), nil, Damage{Malformed: 1}},
		{"a bomb", file(t, chunkOf(typeMeta, flagDeflate, 0, []byte{0, 0, 0, 1, 3, 0})), nil, Damage{Malformed: 1}},
		{"more than announced", file(t, chunkOf(typeMeta, flagDeflate, 0, []byte{1, 0, 0, 0, 1, 2, 0, 253, 255, 0, 0})),
			nil, Damage{Malformed: 1}},
		{"a count of what is not there", file(t, chunkOf(typeMeta, 0, 0, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xF})), nil,
			Damage{Malformed: 1}},
		{"a string that is lost", file(t, chunkOf(typeSamples, 0, 0, []byte{2, 0, 3, 1, 8})),
			[]string{"*trace.StackSample &{Nanos:1 Thread:0 State:BLOCKED Frames:[(string 8 is lost)] CPU:-1 " +
				"Lock:{Class: Identity:0 Owned:false Owner:0}}"}, Damage{}},
		{"raw records", file(t, chunkOf(typeRecords, 0, 0, []byte{0, 0, 0, 1, 7, 0, 0, 0, 0, 8, 0, 0x80})),
			[]string{"*trace.Records thread 0 first 0 overwritten 0: 1 records true/1@7, sum 8c4c04e8"}, Damage{}},
		{"suspended", file(t, chunkOf(typeSuspended, 0, 0, []byte{2, 2, 4, 1, 1, 6, 9})),
			[]string{"*trace.Suspended &{List:[{Begin:1 End:2 Cause:1} {Begin:-1 End:3 Cause:9}]}"}, Damage{}},
		{"suspended, cut", file(t, chunkOf(typeSuspended, 0, 0, []byte{1, 2, 4})), nil, Damage{Malformed: 1}},
		{"late", file(t, chunkOf(typeLate, 0, 0, []byte{2, 2, 4, 6, 2})),
			[]string{"*trace.Late &{List:[{Begin:1 End:2} {Begin:3 End:1}]}"}, Damage{}},
		{"late, of more than there is", file(t, chunkOf(typeLate, 0, 0, []byte{3, 2, 4, 6, 2})), nil, Damage{Malformed: 1}},
		{"how the process ended", file(t, chunkOf(typeExit, 0, 0, []byte("\x01\x06reason\x03anr"))),
			[]string{"*trace.Exit &{Values:map[reason:anr]}"}, Damage{}},
		{"how the process ended, cut", file(t, chunkOf(typeExit, 0, 0, []byte("\x02\x06reason\x03anr"))), nil,
			Damage{Malformed: 1}},
		{"dropped", file(t, chunkOf(typeDropped, 0, 0, []byte{2, 0, 1, 7, 3, 99, 1})),
			[]string{"*trace.Dropped &{List:[{Thread:0 AllThreads:true Kind:1 Count:7} " +
				"{Thread:2 AllThreads:false Kind:99 Count:1}]}"}, Damage{}},
		{"dropped by no thread", file(t, chunkOf(typeDropped, 0, 0, []byte{1, 0x81, 0x80, 0x80, 0x80, 0x10, 1, 7})), nil,
			Damage{Malformed: 1}},
		{"an incident", file(t, chunkOf(typeIncident, 0, 0, []byte("\x07\x00\x00\x00\x03\x04\x00\x05\x09\x00\x01"+
			"\x01\x00\x01x\x01\x00\x06\x04\x01\x00"))),
			[]string{"*trace.Incident &{Number:7 Detector: Kind: What: Thread:2 WholeProcess:false Begin:2 End:0 " +
				"FirstRecord:5 EndRecord:9 Scene: Foreground:true Facts:[{Key: Value:x}] " +
				"Stacks:[{Thread: Nanos:3 State:WAITING Frames:[]}]}"}, Damage{}},
		{"an incident of no thread", file(t, chunkOf(typeIncident, 0, 0,
			[]byte{7, 0, 0, 0, 0x81, 0x80, 0x80, 0x80, 0x10, 4, 0, 5, 9, 0, 1, 0, 0})), nil, Damage{Malformed: 1}},
		{"an incident, cut", file(t, chunkOf(typeIncident, 0, 0, []byte{7, 0, 0, 0, 3, 4, 0, 5, 9, 0, 1, 0})), nil,
			Damage{Malformed: 1}},
		{"detectors", file(t, chunkOf(typeDetectors, 0, 0, []byte("\x01\x03anr\x02on"))),
			[]string{"*trace.Detectors &{List:[{Name:anr State:on}]}"}, Damage{}},
		{"detectors, of more than there are", file(t, chunkOf(typeDetectors, 0, 0, []byte("\x02\x03anr\x02on"))), nil,
			Damage{Malformed: 1}},
		{"the state of the machine", file(t, chunkOf(typeMachine, 0, 0, []byte("\x02\x09\x0a\x01\x00\x0220"))),
			[]string{"*trace.Machine &{Thread:2 Message:9 Nanos:5 Facts:[{Key: Value:20}]}"}, Damage{}},
		{"the state of the machine, cut", file(t, chunkOf(typeMachine, 0, 0, []byte("\x02\x09\x0a\x01\x00\x022"))),
			nil, Damage{Malformed: 1}},
		{"an ID below zero", file(t, chunkOf(typeRecords, flagDelta, 0, []byte{0, 0, 0, 1, 1 << 2})), nil,
			Damage{Malformed: 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			chunks, damage := readAll(t, bytes.NewReader(row.data))
			if diff := cmp.Diff(row.want, chunks, cmpEmpty); diff != "" || damage != row.how {
				t.Errorf("%s\n%+v, want %+v", diff, damage, row.how)
			}
		})
	}
}

// TestRefused has files that are not read at all.
func TestRefused(t *testing.T) {
	later := vector(t, "open.tgd")
	later[4] = 2
	for _, row := range []struct{ name, data, want string }{
		{"empty", "", "it is empty; the program ended before the recorder had written anything"},
		{"something else", strings.Repeat("PK\x03\x04", 20), "does not begin"},
		{"another version", string(later), "of version 2"},
	} {
		_, err := NewReader(strings.NewReader(row.data))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	broken := errors.New("broken disk")
	r, err := NewReader(io.MultiReader(bytes.NewReader(vector(t, "open.tgd")), iotest.ErrReader(broken)))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, broken) {
		t.Errorf("Next: %v, want the source's error", err)
	}
}

// TestFalseBeginnings reads a file full of what looks like the beginning of a long chunk: the work follows its size.
//
// Invariant: No bytes make the decoder panic or hang, or allocate more than a fixed multiple of their size.
func TestFalseBeginnings(t *testing.T) {
	begin := chunkOf(typeMeta, 0, 0, nil)
	binary.LittleEndian.PutUint32(begin[8:], 8<<20)
	data := file(t, bytes.Repeat(begin, 10<<20/len(begin)), chunkOf(typeEnd, 0, 0, []byte{0, 0, 0}))
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	if limit := uint64(wasteLimit + maxPayload + wasteFactor*len(data)); r.wasted > limit {
		t.Errorf("%d bytes were summed up in vain, want %d at most", r.wasted, limit)
	}
}

// TestModestMemory allocates no more than a fixed multiple of what is there, however much is announced.
//
// Invariant: No bytes make the decoder panic or hang, or allocate more than a fixed multiple of their size.
func TestModestMemory(t *testing.T) {
	for _, data := range [][]byte{
		file(t, chunkOf(typeStrings, 0, 0, append([]byte{0, 0xFF, 0x7F}, make([]byte, 16383)...))),
		file(t, chunkOf(typeRecords, flagDelta, 0, append([]byte{0, 0, 0, 0x80, 0x80, 4}, make([]byte, 65536)...))),
		file(t, []byte("TGCK\x05\x00\x00\x00\xff\xff\xff\x00")),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(t, bytes.NewReader(data))
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		if limit := uint64(4*readStep + 128*len(data)); got > limit {
			t.Errorf("%d bytes were allocated for %d, want %d at most", got, len(data), limit)
		}
	}
}

// FuzzReader reads anything. What it takes it must take the same way byte by byte.
//
// Invariant: No bytes make the decoder panic or hang, or allocate more than a fixed multiple of their size.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"every.tgd", "many.tgd", "open.tgd", "incidents.tgd", "coroutines.tgd",
		"compositions.tgd"} {
		f.Add(vector(f, name))
	}
	f.Add([]byte{0x1F, 0x8B, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := NewReader(bytes.NewReader(data)); err != nil {
			return
		}
		chunks, damage := readAll(t, bytes.NewReader(data))
		again, damageAgain := readAll(t, iotest.HalfReader(bytes.NewReader(data)))
		if diff := cmp.Diff(chunks, again); diff != "" || damage != damageAgain {
			t.Errorf("%s\n%+v, then %+v", diff, damage, damageAgain)
		}
		if damage.SkippedBytes > uint64(len(data)) {
			t.Errorf("%d bytes of %d skipped", damage.SkippedBytes, len(data))
		}
	})
}

// FuzzPayload reads anything as a chunk of any type, with the checksum right.
//
// Invariant: No bytes make the decoder panic or hang, or allocate more than a fixed multiple of their size.
func FuzzPayload(f *testing.F) {
	for k := range uint16(typeCompositions + 1) {
		f.Add(k, uint16(0), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	}
	f.Fuzz(func(t *testing.T, kind, flags uint16, body []byte) {
		readAll(t, bytes.NewReader(file(t, chunkOf(kind, flags, 0, body))))
	})
}
