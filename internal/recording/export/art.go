package export

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tracegen/tracegen/trace"
)

func artFormat() Format {
	f := Format{
		Name: "art", Extension: ".trace", Binary: true,
		Summary: "Android's method trace, version 2, for Android Studio, dmtracedump, Perfetto: calls in wall time, at " +
			"most 71 minutes",
		Marks:  "unwound calls as unrolled; the others are only counted",
		Memory: "some 5 bytes for each entry and exit",
	}
	f.start = func(w *bufio.Writer, o Options) exporter { return newART(w, o, false) }
	return f
}

func artDualFormat() Format {
	f := artFormat()
	f.Name = "art-dual"
	f.Summary = "the same, version 3, with CPU time: a message's, spread evenly over it, 0 where it is not known"
	f.start = func(w *bufio.Writer, o Options) exporter { return newART(w, o, true) }
	return f
}

// art is the file that Debug.startMethodTracing writes: a text that names threads and methods, then records of fixed
// size in the order of time.
type art struct {
	w       *bufio.Writer
	program string
	dual    bool
	methods *methods
	of      map[*thread]*artThread
	threads []*artThread
	facts   []fact
	calls   uint64
	last    int64
}

// artThread is a thread. A step is four times the number of a method, and the action.
type artThread struct {
	id   uint16
	name string
	steps
	cpu []burst
}

// burst is a message with its CPU time, and the sum of those before it.
type burst struct{ begin, end, cpu, before int64 }

// The parts of the file.
const (
	artMagic  = 0x574f4c53 // SLOW
	artHeader = 32
	artMicros = math.MaxUint32

	artEnter  = 0
	artExit   = 1
	artUnroll = 2
)

func newART(w *bufio.Writer, o Options, dual bool) *art {
	return &art{w: w, program: o.Program, dual: dual, methods: newMethods(), of: map[*thread]*artThread{}}
}

func (a *art) begin(*recording) error { return nil }

func (a *art) thread(t *thread) error {
	if len(a.threads) == math.MaxUint16 {
		return fmt.Errorf("an ART trace has at most %d threads: export as perfetto", math.MaxUint16)
	}
	name := clean(t.Label)
	if t.of.number > 1 {
		name += " of " + clean(t.of.process())
	}
	a.of[t] = &artThread{id: uint16(len(a.threads) + 1), name: name}
	a.threads = append(a.threads, a.of[t])
	return nil
}

func (a *art) segment(t *thread, s *trace.Segment) error {
	to := a.of[t]
	to.calls(t, s, func(i int, left bool) uint64 {
		c := &s.Calls[i]
		step := uint64(a.methods.of(t.of, c.Method, 0)+1) << 2
		switch {
		case !left:
			a.calls++
			return step | artEnter
		case c.Marks&trace.MarkUnwound != 0:
			return step | artUnroll
		}
		return step | artExit
	})
	if a.last = max(a.last, to.last); a.last/1000 > artMicros {
		return fmt.Errorf("the recording lasts %v, and an ART trace has room for 71 minutes: export as perfetto, or cut "+
			"it in parts", time.Duration(a.last).Round(time.Second))
	}
	return nil
}

func (a *art) event(e *event) error {
	if m := e.message; a.dual && m != nil && m.CPU >= 0 && m.Count == 1 && e.end > e.begin {
		to := a.of[e.thread]
		b := burst{begin: e.begin, end: e.end, cpu: min(m.CPU, e.end-e.begin)}
		if n := len(to.cpu); n > 0 {
			b.before = sum(to.cpu[n-1].before, to.cpu[n-1].cpu)
		}
		to.cpu = append(to.cpu, b)
	}
	return nil
}

func (a *art) end(r *recording) error {
	a.facts = append(a.facts, r.facts()...)
	return nil
}

// cpuAt is the thread's CPU time at a time.
func (t *artThread) cpuAt(at int64) int64 {
	k, _ := slices.BinarySearchFunc(t.cpu, at, func(b burst, at int64) int { return cmp.Compare(b.begin, at) })
	if k == len(t.cpu) || t.cpu[k].begin > at {
		k--
	}
	if k < 0 {
		return 0
	}
	b := t.cpu[k]
	part := float64(min(at, b.end)-b.begin) / float64(b.end-b.begin)
	return b.before + int64(part*float64(b.cpu))
}

func (a *art) close() error {
	version, clock := "2", "wall"
	if a.dual {
		version, clock = "3", "dual"
	}
	a.w.WriteString("*version\n" + version + "\ndata-file-overflow=false\nclock=" + clock + "\nelapsed-time-usec=" +
		strconv.FormatInt(a.last/1000, 10) + "\nnum-method-calls=" + strconv.FormatUint(a.calls, 10) +
		"\nclock-call-overhead-nsec=0\nvm=" +
		clean(a.program) + "\n")
	for _, f := range a.facts {
		a.w.WriteString("tracegen." + clean(f.key) + "=" + clean(f.text()) + "\n")
	}
	a.w.WriteString("*threads\n")
	for _, t := range a.threads {
		a.w.WriteString(strconv.Itoa(int(t.id)) + "\t" + t.name + "\n")
	}
	a.w.WriteString("*methods\n")
	for k := range a.methods.list {
		f := &a.methods.list[k]
		class, method := clean(f.Class), clean(f.Method)
		if f.Class == "" {
			class = "(no class)"
		}
		fmt.Fprintf(a.w, "%#x\t%s\t%s\t%s\t%s\t%d\n", (k+1)<<2, class, method, cleanOr(f.Descriptor, "()"),
			cleanOr(f.File, "?"), f.Line)
	}
	a.w.WriteString("*end\n")
	return a.records()
}

// cleanOr is s, or what stands for it if it is empty.
func cleanOr(s, empty string) string {
	if s == "" {
		return empty
	}
	return clean(s)
}

// records writes the threads' steps in the order of time.
func (a *art) records() error {
	version, size := uint16(2), uint16(10)
	if a.dual {
		version, size = 3, 14
	}
	head := binary.LittleEndian.AppendUint32(nil, artMagic)
	head = binary.LittleEndian.AppendUint16(head, version)
	head = binary.LittleEndian.AppendUint16(head, artHeader)
	head = binary.LittleEndian.AppendUint64(head, 0)
	head = binary.LittleEndian.AppendUint16(head, size)
	_, err := a.w.Write(append(head, make([]byte, artHeader-len(head))...))
	var b []byte
	for t, s := range merged(a.threads) {
		b = binary.LittleEndian.AppendUint16(b[:0], t.id)
		b = binary.LittleEndian.AppendUint32(b, uint32(s.what))
		if a.dual {
			b = binary.LittleEndian.AppendUint32(b, uint32(t.cpuAt(s.at)/1000))
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(s.at/1000))
		if _, err = a.w.Write(b); err != nil {
			return err
		}
	}
	return err
}

// merged returns the steps of all threads in the order of time; at the same time those of the thread that came first.
func merged(threads []*artThread) iter.Seq2[*artThread, *cursor] {
	return func(yield func(*artThread, *cursor) bool) {
		type row struct {
			*artThread
			cursor
		}
		var open []*row
		for _, t := range threads {
			if r := (&row{t, t.steps.cursor()}); r.next() {
				open = append(open, r)
			}
		}
		for len(open) > 0 {
			k := 0
			for i, r := range open {
				if r.at < open[k].at {
					k = i
				}
			}
			// Until another thread is earlier there is no need to look again.
			until := int64(math.MaxInt64)
			for i, r := range open {
				if i != k {
					until = min(until, r.at)
				}
			}
			r, more := open[k], true
			for first := true; more && (first || r.at < until); first = false {
				if !yield(r.artThread, &r.cursor) {
					return
				}
				more = r.next()
			}
			if !more {
				open = slices.Delete(open, k, k+1)
			}
		}
	}
}
