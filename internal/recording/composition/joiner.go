package composition

import (
	"sort"
	"strings"
	"time"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// mostKept is how many executions of a thread are kept for its stalls.
const mostKept = 1 << 19

// Joiner takes the chunks and segments of a recording, in their order. Its zero value is ready but for Names.
type Joiner struct {
	// Names has the names of methods.
	Names   trace.Names
	threads map[uint32]*thread
	sums    map[string]*Composable
	lost    uint64
	// of has the names of the composables that methods are, "" for other methods.
	of    map[trace.Method]string
	calls map[string]uint64
}

// thread is what a thread has executed: of list, those from next on are not summed up yet.
type thread struct {
	list []trace.Composition
	next int
}

// Chunk takes a chunk.
func (j *Joiner) Chunk(c trace.Chunk) {
	if all, ok := c.(*trace.Completeness); ok {
		j.complete(all)
	}
	compositions, ok := c.(*trace.Compositions)
	if !ok {
		return
	}
	if j.threads == nil {
		j.threads, j.sums = map[uint32]*thread{}, map[string]*Composable{}
	}
	t := j.threads[compositions.Thread]
	if t == nil {
		t = &thread{}
		j.threads[compositions.Thread] = t
	}
	if len(t.list) > mostKept {
		drop := min(t.next, len(t.list)-mostKept/2)
		t.list = append([]trace.Composition(nil), t.list[drop:]...)
		t.next -= drop
	}
	t.list = append(t.list, compositions.List...)
	j.lost += compositions.Lost
}

// Segment takes calls: the executions in them have come.
func (j *Joiner) Segment(s *trace.Segment) {
	j.count(s)
	t := j.threads[s.Thread]
	if t == nil || s.EndRecord == 0 {
		return
	}
	end := t.next
	for end < len(t.list) && t.list[end].Record < s.EndRecord {
		end++
	}
	sum(t.list[t.next:end], j.sums)
	t.next = end
}

// count counts calls of composables.
func (j *Joiner) count(s *trace.Segment) {
	for i := range s.Calls {
		c := &s.Calls[i]
		name, known := j.of[c.Method]
		if !known {
			name = j.composable(c.Method)
			if j.of == nil {
				j.of, j.calls = map[trace.Method]string{}, map[string]uint64{}
			}
			j.of[c.Method] = name
		}
		if name != "" && c.Marks&trace.MarkResumed == 0 {
			j.calls[name] += uint64(c.Count)
		}
	}
}

// composable returns the name of a method as Compose's compiler writes it; empty if it is no composable, or one of
// which the name does not say the function.
func (j *Joiner) composable(m trace.Method) string {
	if j.Names == nil {
		return ""
	}
	n, ok := j.Names.Name(m)
	if _, is := mapping.WithoutComposer(n.Descriptor); !ok || !is || strings.ContainsRune(n.Method, '$') {
		return ""
	}
	method, _, _ := strings.Cut(n.Method, "-")
	class := strings.ReplaceAll(n.Class, "$", ".")
	if strings.HasSuffix(class, "Kt") { // of a file
		class = class[:max(0, strings.LastIndexByte(class, '.'))]
	}
	return strings.TrimPrefix(class+"."+method, ".")
}

// complete forgets the calls of composables of which some are missing.
func (j *Joiner) complete(c *trace.Completeness) {
	if c.Lost > 0 || c.Windows > 0 {
		j.calls = nil
	}
	for i := range c.Gated {
		delete(j.calls, j.composable(c.Gated[i].Method))
	}
}

// Executed returns what a thread executed between two of its records, that with the most own time first.
func (j *Joiner) Executed(thread uint32, first, end uint64) []Composable {
	t := j.threads[thread]
	if t == nil {
		return nil
	}
	var in []trace.Composition
	from := sort.Search(len(t.list), func(i int) bool { return t.list[i].Record+t.list[i].Records >= first })
	for _, e := range t.list[from:] {
		if e.Record+e.Records > end {
			break
		}
		if e.Record >= first {
			in = append(in, e)
		}
	}
	by := map[string]*Composable{}
	sum(in, by)
	return sorted(by)
}

// Most returns the composable that a thread executed most often between two of its records, of those whose executions,
// several, took half of the time that it ran; nil if there is none.
func (j *Joiner) Most(thread uint32, first, end uint64, ran time.Duration) *Composable {
	var most *Composable
	list := j.Executed(thread, first, end)
	for i := range list {
		c := &list[i]
		if c.Executed > 1 && 2*c.Total >= ran && (most == nil || c.Executed > most.Executed ||
			c.Executed == most.Executed && c.Total > most.Total) {
			most = c
		}
	}
	return most
}

// Join returns what the recording shows; nil if it shows nothing. To be called once, behind all else.
func (j *Joiner) Join() *Compositions {
	if j.threads == nil {
		return nil
	}
	for _, t := range j.threads {
		sum(t.list[t.next:], j.sums)
		t.next = len(t.list)
	}
	return &Compositions{List: sorted(j.sums), Lost: j.lost, calls: j.calls}
}
