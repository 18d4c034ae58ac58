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

	"github.com/tracegen/tracegen/internal/userfile"
)

// File looks up methods in a mapping file without loading it. It returns what [Load] and [Mapping.Find] return, at a
// lower cost:
//
//   - IDs are searched for among the sorted lines, if the pattern has at most a few thousand of them. If every ID of
//     the pattern is found, nothing else is read. This takes some twenty reads for each search, whatever the size of
//     the file.
//   - Otherwise the first pattern is answered by one scan of the whole file, in parallel and with little memory.
//   - For the second such pattern, the mapping is loaded. It is also loaded if the file is not as [Mapping.WriteTo]
//     writes it and the answer may depend on that.
//
// Why the answers are the same: binary search finds a line only if the lines around it are sorted. The search
// therefore only counts if it finds as many entries as there are IDs in the pattern: an ID has one method, so that
// there can be no others in a valid file. If any is missing, it may have no method, or its line may be at a wrong
// place; the whole file is read then. The scan parses all lines with the parser of Load and checks all that Load
// checks, except for the digest and for identities that the pattern does not match. On any doubt the mapping is
// loaded, and the result or the error is Load's.
//
// Unread lines are not checked: a search can answer from a file that is damaged elsewhere, and a scan does not
// notice a wrong digest. A File is not safe for use by several goroutines.
type File struct {
	path      string
	f         *os.File
	size      int64
	whole     bool     // a regular file that ends in a newline: it can be read in parts
	ownFormat bool     // see parser.ownFormat
	chunk     int64    // the size of the parts of a scan
	scanned   bool     // the file was scanned
	loaded    *Mapping // nil until it is needed
}

// Open opens the mapping file at path. It does not check whether the file is a mapping; [File.Find] does.
func Open(path string) (*File, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read mapping: %w; give the mapping file that an earlier run wrote", err)
	}
	file := &File{path: path, f: f, chunk: 1 << 20}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxSize {
		return file, nil // Find loads it, and returns the error
	}
	head := make([]byte, len(byteOrderMark)+len(versionPrefix))
	n, _ := f.ReadAt(head, 0)
	if userfile.IsCompressed(head[:n]) {
		return file, nil // it cannot be searched, and is loaded
	}
	file.size = info.Size()
	file.ownFormat = bytes.HasPrefix(bytes.TrimPrefix(head[:n], []byte(byteOrderMark)), []byte(versionPrefix))
	var last [1]byte
	if _, err := f.ReadAt(last[:], file.size-1); err == nil {
		file.whole = last[0] == '\n'
	}
	return file, nil
}

// Close closes the file. Entries that Find returned remain valid.
func (f *File) Close() error { return f.f.Close() }

// Find returns the entries that p matches, in the order of [Mapping.Find]. For errors see [Load].
func (f *File) Find(p *Pattern) (iter.Seq[Entry], error) {
	if f.loaded == nil {
		part := f.search(p)
		if part == nil && !f.scanned {
			part, f.scanned = f.scan(p), true
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

// partialMapping returns a mapping of only the records that a pattern may match, so that part and whole are searched
// by the same code. It returns nil if a method has two IDs. The mapping has no digest, runtime or focus lines.
func partialMapping(living, retired []record) *Mapping {
	id := func(r *record) uint32 { return r.id }
	m := &Mapping{records: append(sortByID(living, id), sortByID(retired, id)...), living: len(living)}
	second := -1
	if m.index, _, second = newIndex(m); second >= 0 {
		return nil
	}
	return m
}

// The rank of a line determines its place in the file. The rank of a living method is its ID.
const (
	focusRank   = DispatchID + 1 // of focus and numbered lines
	retiredRank = 1 << 21        // plus the ID, of retired lines
)

const (
	// maxSearched is the number of IDs up to which a search is used. For more, a scan is faster.
	maxSearched = 1 << 12
	// maxSkipped is the number of bytes that a search reads at most to find a line that has a rank.
	maxSkipped = 1 << 16
)

// search looks up IDs by binary search over the offsets of the file. It returns nil if the whole file may have
// another result: if an ID is not found, its line may be at a wrong place.
func (f *File) search(p *Pattern) *Mapping {
	if p.to == 0 || p.to-p.from >= maxSearched || !f.ownFormat || !f.whole {
		return nil
	}
	want := int(p.to-p.from) + 1
	if p.to == DispatchID {
		want-- // every mapping has the dispatch, and its line is not needed
	}
	s := searcher{file: f, lines: bufio.NewReaderSize(nil, 2048), parser: parser{ownFormat: true}}
	living := s.run(p.from, p.to)
	var retired []record
	if len(living) < want {
		retired = s.run(retiredRank+p.from, retiredRank+min(p.to, Capacity))
	}
	if s.err != nil || len(living)+len(retired) != want {
		return nil
	}
	return partialMapping(living, retired)
}

// searcher reads lines at any offset of a file.
type searcher struct {
	file   *File
	lines  *bufio.Reader
	parser parser
	err    error // the first error; results after it are not valid
}

// rankedLine is a line and its rank.
type rankedLine struct {
	record
	rank uint32 // 0 if no further line has a rank
	end  int64  // the offset of the next line
}

// run returns the records of the lines whose ranks are from first to last. Binary search finds the first of them: it
// halves the range of offsets until it finds the lowest offset at which the next line's rank is not below first. From
// there it reads line by line.
func (s *searcher) run(first, last uint32) []record {
	low, high := int64(0), s.file.size
	for low < high && s.err == nil {
		middle := low + (high-low)/2
		if line := s.at(middle); line.rank != 0 && line.rank < first {
			low = line.end
		} else {
			high = middle
		}
	}
	var found []record
	for line := s.at(low); s.err == nil && line.rank >= first && line.rank <= last; line = s.at(line.end) {
		if line.key != "" { // the dispatch line has none
			found = append(found, line.record)
		}
	}
	return found
}

// at returns the first line with a rank that begins at offset or later.
func (s *searcher) at(offset int64) rankedLine {
	from := offset
	if from > 0 {
		from-- // if the byte before offset is a newline, a line begins at offset
	}
	s.lines.Reset(io.NewSectionReader(s.file.f, from, min(s.file.size-from, maxSkipped)))
	for at := from; s.err == nil; {
		line, err := s.lines.ReadString('\n')
		whole := at >= offset
		at += int64(len(line))
		switch {
		case err == io.EOF && at == s.file.size && line == "":
			return rankedLine{}
		case err != nil:
			s.err = errors.New("no line with a rank near the offset")
		case whole:
			r, rank, err := s.rank(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
			if s.err = err; rank != 0 {
				return rankedLine{r, rank, at}
			}
		}
	}
	return rankedLine{}
}

// rank parses a line and returns its rank, 0 for a comment.
func (s *searcher) rank(line string) (r record, rank uint32, err error) {
	switch {
	case strings.HasPrefix(line, dispatchPrefix):
		return r, DispatchID, nil
	case strings.HasPrefix(line, focusPrefix), strings.HasPrefix(line, numberedPrefix):
		return r, focusRank, nil
	case strings.HasPrefix(line, retiredPrefix):
		r, err = s.parser.record(line[len(retiredPrefix):])
		return r, retiredRank + r.id, err
	case line == "" || line[0] == '#' || strings.HasPrefix(line, byteOrderMark):
		return r, 0, nil
	}
	r, err = s.parser.record(line)
	return r, r.id, err
}

// scan looks p up by one scan of the file, with all processors and little memory. It returns nil if the file contains
// anything that [Load] might refuse.
func (f *File) scan(p *Pattern) *Mapping {
	if !f.whole {
		return nil
	}
	var next atomic.Int64 // the next chunk to be read
	workers := make([]scanWorker, max(1, min(runtime.GOMAXPROCS(0), int(f.size/f.chunk))))
	var all sync.WaitGroup
	for i := range workers {
		workers[i].parser.ownFormat = f.ownFormat
		all.Go(func() {
			for workers[i].err == nil {
				from := (next.Add(1) - 1) * f.chunk
				if from >= f.size {
					return
				}
				workers[i].err = workers[i].read(f, from, p)
			}
		})
	}
	all.Wait()
	sum := &workers[0]
	for i := range workers[1:] {
		sum.merge(&workers[i+1])
	}
	if sum.err != nil || sum.parser.checkComplete(sum.living, sum.retired) != nil {
		return nil
	}
	if _, err := sortFocus(sum.parser.focus); err != nil {
		return nil
	}
	return partialMapping(sum.foundLiving, sum.foundRetired)
}

// scanWorker is the part of a scan that one goroutine does. It reads one chunk after the other.
type scanWorker struct {
	parser                    parser
	buf                       []byte
	living, retired           int // lines read
	foundLiving, foundRetired []record
	err                       error
}

// read reads the lines that begin in the chunk at from.
func (c *scanWorker) read(f *File, from int64, p *Pattern) error {
	text, err := c.lines(f, from)
	if err != nil {
		return err
	}
	q := &c.parser
	q.line = 1 // not the first line of the file; only that may be a header
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
	// These are views into the buffer, which is used again.
	q.digest, q.runtime, q.counts = strings.Clone(q.digest), strings.Clone(q.runtime), strings.Clone(q.counts)
	return nil
}

// lines returns the lines that begin in the chunk at from. They are valid until the next call.
func (c *scanWorker) lines(f *File, from int64) (string, error) {
	start, end := from, min(from+f.chunk, f.size)
	if start > 0 {
		start-- // if the byte before the chunk is a newline, a line begins with the chunk
	}
	c.buf = slices.Grow(c.buf[:0], int(end-start)+1024)[:end-start]
	if _, err := f.f.ReadAt(c.buf, start); err != nil {
		return "", err
	}
	skip := 0
	if from > 0 {
		skip = bytes.IndexByte(c.buf, '\n') + 1
		if skip == 0 || skip == len(c.buf) {
			return "", nil // no line begins in this chunk
		}
	}
	// Read on to the end of the last line. The file ends in a newline.
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
	// Keys will be views into the buffer; appendFound copies the keys that are kept.
	return view(c.buf[skip:]), nil
}

// appendFound appends copies of the records that p matches.
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

// merge adds the results of another worker on the same file.
func (c *scanWorker) merge(d *scanWorker) {
	p, q := &c.parser, &d.parser
	c.err = cmp.Or(c.err, d.err)
	for i := range p.usedIDs {
		if p.usedIDs[i]&q.usedIDs[i] != 0 {
			c.err = errors.New("an ID has two methods")
		}
		p.usedIDs[i] |= q.usedIDs[i]
		p.retiredIDs[i] |= q.retiredIDs[i]
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
	for id, fingerprint := range q.fingerprints {
		if p.fingerprints[id] != 0 {
			c.err = errors.New("two numbered lines for one ID")
		}
		if p.fingerprints == nil {
			p.fingerprints = make(map[uint32]uint64)
		}
		p.fingerprints[id] = fingerprint
	}
	c.living += d.living
	c.retired += d.retired
	c.foundLiving = append(c.foundLiving, d.foundLiving...)
	c.foundRetired = append(c.foundRetired, d.foundRetired...)
}
