package mapping

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// File is a mapping file that is asked without being loaded. It gives the
// answers that [Load] and [Mapping.Find] give, for less:
//
//   - IDs, of which there are not many, are searched for among the sorted lines.
//     If all are found that can be, nothing else is read.
//   - A first other question is answered from one pass over the file.
//   - At the second, or if the file is not as [Mapping.WriteTo] writes it and the
//     answer may depend on that, the mapping is loaded.
//
// What is not read is not verified. A search takes the lines that it finds for
// what they are, in a file that may be damaged elsewhere. A pass finds all
// damage that Load finds, but for a digest that is not that of the lines and for
// a method with two IDs that was not asked for. A File is for one goroutine.
type File struct {
	path   string
	f      *os.File
	size   int64
	whole  bool // a regular file that ends in a whole line: it can be read in parts
	native bool // see parser
	chunk  int64
	passed bool     // the one pass was made
	loaded *Mapping // nil until it is needed
}

// Open opens the mapping file at path. Whether it is one shows when it is asked.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read mapping: %w; give the mapping file that an earlier run wrote", err)
	}
	file := &File{path: path, f: f, chunk: 1 << 20}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxSize {
		return file, nil // for Find to judge
	}
	file.size = info.Size()
	head := make([]byte, len(byteOrderMark)+len(versionPrefix))
	n, _ := f.ReadAt(head, 0)
	file.native = bytes.HasPrefix(bytes.TrimPrefix(head[:n], []byte(byteOrderMark)), []byte(versionPrefix))
	var last [1]byte
	if _, err := f.ReadAt(last[:], file.size-1); err == nil {
		file.whole = last[0] == '\n'
	}
	return file, nil
}

// Close releases the file. The entries that it gave stay as they are.
func (f *File) Close() error { return f.f.Close() }

// Find gives the entries that p asks for, in the order of [Mapping.Find]. For
// errors see [Load].
func (f *File) Find(p *Pattern) (iter.Seq[Entry], error) {
	if f.loaded == nil {
		part := f.search(p)
		if part == nil && !f.passed {
			part, f.passed = f.scan(p), true
		}
		if part != nil {
			return part.Find(p), nil
		}
		var err error
		if _, err = f.f.Seek(0, io.SeekStart); err != nil && f.size > 0 {
			return nil, fmt.Errorf("cannot read mapping: %w", err)
		}
		if f.loaded, err = read(f.f, f.path); err != nil {
			return nil, err
		}
	}
	return f.loaded.Find(p), nil
}

// newPart makes a mapping of those records that a question asks for, so that a
// part and the whole answer by the same code. It is nil if a method has two IDs.
// It has no digest, runtime or focus lines.
func newPart(living, retired []record) *Mapping {
	id := func(r *record) uint32 { return r.id }
	m := &Mapping{records: append(sortByID(living, id), sortByID(retired, id)...), living: len(living)}
	second := -1
	if m.index, _, second = newIndex(m); second >= 0 {
		return nil
	}
	return m
}

// The place of a line among the sorted ones: that of a living method is its ID.
const (
	focusPlace   = DispatchID + 1 // of numbered lines too
	retiredPlace = 1 << 21        // and the ID
)

const (
	// maxSearched is how many IDs are searched for; for more a pass is better.
	maxSearched = 1 << 12
	// maxSkipped is how far a search reads on for a line that has a place.
	maxSkipped = 1 << 16
)

// search answers a question for IDs by binary search. It is nil if that is not
// sure to be the answer of the whole file: if an ID is not found, a line may
// stand where it does not belong.
func (f *File) search(p *Pattern) *Mapping {
	if p.to == 0 || p.to-p.from >= maxSearched || !f.native || !f.whole {
		return nil
	}
	want := int(p.to-p.from) + 1
	if p.to == DispatchID {
		want-- // it is in every mapping, or [Load] refuses it
	}
	s := searcher{file: f, lines: bufio.NewReaderSize(nil, 2048), parser: parser{native: true}}
	living := s.run(p.from, p.to)
	var retired []record
	if len(living) < want {
		retired = s.run(retiredPlace+p.from, retiredPlace+min(p.to, Capacity))
	}
	if s.err != nil || len(living)+len(retired) != want {
		return nil
	}
	return newPart(living, retired)
}

// searcher reads lines at any offset of a file.
type searcher struct {
	file   *File
	lines  *bufio.Reader
	parser parser
	err    error // the first; nothing is right after it
}

// placed is a line and its place.
type placed struct {
	record
	place uint32 // 0 if there is no further line that has one
	end   int64  // where the next line begins
}

// run gives the records of the lines whose places are from first to last.
func (s *searcher) run(first, last uint32) []record {
	low, high := int64(0), s.file.size
	for low < high && s.err == nil {
		middle := low + (high-low)/2
		if line := s.at(middle); line.place != 0 && line.place < first {
			low = line.end
		} else {
			high = middle
		}
	}
	var found []record
	for line := s.at(low); s.err == nil && line.place >= first && line.place <= last; line = s.at(line.end) {
		if line.key != "" { // the dispatch line has none
			found = append(found, line.record)
		}
	}
	return found
}

// at gives the first line with a place that begins at offset or behind it.
func (s *searcher) at(offset int64) placed {
	from := offset
	if from > 0 {
		from-- // if the line feed is there, a line begins at offset
	}
	s.lines.Reset(io.NewSectionReader(s.file.f, from, min(s.file.size-from, maxSkipped)))
	for at := from; s.err == nil; {
		line, err := s.lines.ReadString('\n')
		whole := at >= offset
		at += int64(len(line))
		switch {
		case err == io.EOF && at == s.file.size && line == "":
			return placed{}
		case err != nil:
			s.err = errors.New("no line with a place within reach")
		case whole:
			r, place, err := s.place(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
			if s.err = err; place != 0 {
				return placed{r, place, at}
			}
		}
	}
	return placed{}
}

// place reads a line and tells its place, 0 for a comment.
func (s *searcher) place(line string) (r record, place uint32, err error) {
	switch {
	case strings.HasPrefix(line, dispatchPrefix):
		return r, DispatchID, nil
	case strings.HasPrefix(line, focusPrefix), strings.HasPrefix(line, numberedPrefix):
		return r, focusPlace, nil
	case strings.HasPrefix(line, retiredPrefix):
		r, err = s.parser.record(line[len(retiredPrefix):])
		return r, retiredPlace + r.id, err
	case line == "" || line[0] == '#' || strings.HasPrefix(line, byteOrderMark):
		return r, 0, nil
	}
	r, err = s.parser.record(line)
	return r, r.id, err
}

// scan answers p from one pass over the file, on all processors and in little
// memory. It is nil if there is anything in the file that [Load] may refuse.
func (f *File) scan(p *Pattern) *Mapping {
	if !f.whole {
		return nil
	}
	var next atomic.Int64 // chunk to be read
	passes := make([]pass, max(1, min(runtime.GOMAXPROCS(0), int(f.size/f.chunk))))
	var all sync.WaitGroup
	for i := range passes {
		passes[i].parser.native = f.native
		all.Go(func() {
			for passes[i].err == nil {
				from := (next.Add(1) - 1) * f.chunk
				if from >= f.size {
					return
				}
				passes[i].err = passes[i].read(f, from, p)
			}
		})
	}
	all.Wait()
	sum := &passes[0]
	for i := range passes[1:] {
		sum.join(&passes[i+1])
	}
	if sum.err != nil || sum.parser.checkWhole(sum.living, sum.retired) != nil {
		return nil
	}
	if _, err := sortFocus(sum.parser.focus); err != nil {
		return nil
	}
	return newPart(sum.foundLiving, sum.foundRetired)
}

// pass is what one goroutine reads of the file, a chunk at a time.
type pass struct {
	parser                    parser
	buf                       []byte
	living, retired           int // lines read
	foundLiving, foundRetired []record
	err                       error
}

// read reads the lines that begin in the chunk at from.
func (c *pass) read(f *File, from int64, p *Pattern) error {
	text, err := c.lines(f, from)
	if err != nil {
		return err
	}
	q := &c.parser
	q.line = 1 // not the first of the file, where alone a header may stand
	if from == 0 {
		text, q.line = strings.TrimPrefix(text, byteOrderMark), 0
	}
	if err := q.parseLines(text); err != nil {
		return err
	}
	c.living += len(q.living.records)
	c.retired += len(q.retired.records)
	c.foundLiving = p.appendFound(c.foundLiving, q.living.records)
	c.foundRetired = p.appendFound(c.foundRetired, q.retired.records)
	for _, s := range []*section{&q.living, &q.retired} {
		s.records, s.lines = s.records[:0], s.lines[:0]
	}
	// The buffer is used again.
	q.digest, q.runtime, q.counts = strings.Clone(q.digest), strings.Clone(q.runtime), strings.Clone(q.counts)
	return nil
}

// lines gives the lines that begin in the chunk at from, valid until the next call.
func (c *pass) lines(f *File, from int64) (string, error) {
	start, end := from, min(from+f.chunk, f.size)
	if start > 0 {
		start-- // if a line feed is there, a line begins with the chunk
	}
	c.buf = slices.Grow(c.buf[:0], int(end-start)+1024)[:end-start]
	if _, err := f.f.ReadAt(c.buf, start); err != nil {
		return "", err
	}
	skip := 0
	if from > 0 {
		skip = bytes.IndexByte(c.buf, '\n') + 1
		if skip == 0 || skip == len(c.buf) {
			return "", nil // the line began earlier; or the next begins behind
		}
	}
	// The last line may go on behind the chunk, which is whole in the end.
	for step := 512; c.buf[len(c.buf)-1] != '\n'; step *= 2 {
		have := len(c.buf)
		c.buf = slices.Grow(c.buf, step)[:have+int(min(int64(step), f.size-end))]
		n, err := f.f.ReadAt(c.buf[have:], end)
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(c.buf[have:], '\n'); i >= 0 {
			c.buf = c.buf[:have+i+1]
		}
		end += int64(n)
	}
	// A view, as keys are views of the text; what is kept of them is copied.
	return view(c.buf[skip:]), nil
}

// appendFound appends copies of the records that p asks for.
func (p *Pattern) appendFound(found, records []record) []record {
	for _, r := range records {
		if p.to != 0 && (r.id < p.from || r.id > p.to) || p.to == 0 && !p.match(r.key) {
			continue
		}
		r.key = strings.Clone(r.key)
		found = append(found, r)
	}
	return found
}

// join adds what another pass read of the same file.
func (c *pass) join(d *pass) {
	p, q := &c.parser, &d.parser
	c.err = cmp.Or(c.err, d.err)
	for i := range p.taken {
		if p.taken[i]&q.taken[i] != 0 {
			c.err = errors.New("an ID has two methods")
		}
		p.taken[i] |= q.taken[i]
		p.gone[i] |= q.gone[i]
	}
	for _, field := range [][2]*string{{&p.digest, &q.digest}, {&p.runtime, &q.runtime}, {&p.counts, &q.counts}} {
		if *field[0] != "" && *field[1] != "" {
			c.err = errors.New("a header line is there twice")
		}
		*field[0] += *field[1]
	}
	if p.dispatch && q.dispatch {
		c.err = errors.New("two lines for the message dispatch")
	}
	p.dispatch = p.dispatch || q.dispatch
	p.focus = append(p.focus, q.focus...)
	for id, body := range q.bodies {
		if p.bodies[id] != 0 {
			c.err = errors.New("two numbered lines for one ID")
		}
		if p.bodies == nil {
			p.bodies = make(map[uint32]uint64)
		}
		p.bodies[id] = body
	}
	c.living += d.living
	c.retired += d.retired
	c.foundLiving = append(c.foundLiving, d.foundLiving...)
	c.foundRetired = append(c.foundRetired, d.foundRetired...)
}
