package group

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
)

// The format of the database's file, see package go.etcd.io/bbolt/internal/common. It has the byte order of the
// processor that wrote it. The file consists of pages: two headers, the list of free pages, and two levels of B+ trees.
// The database itself trusts all pages but the headers and does not return errors but panics, so that a store is read
// by this code before the database opens it.
const (
	pageHeader  = 16 // id, flags, count, number of pages that continue this one
	elementSize = 16 // of both kinds of tree pages
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	metaVersion = 2

	flagBranch   = 1
	flagLeaf     = 2
	flagFreelist = 16

	noFreelist = ^uint64(0)
	maxPage    = 1 << 16 // bytes
	minPage    = 1 << 10
	maxDepth   = 64
)

var order = binary.NativeEndian

// DamageError says what of a store is damaged.
type DamageError struct {
	File   string // the store
	Offset int64  // of the page in it
	What   string // in words
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: the store is damaged at offset %d: %s; remove the file, and make the store again from the "+
		"recordings and reports", e.File, e.Offset, e.What)
}

// errNoStore says that a file has no header of a database.
var errNoStore = errors.New("it has no header of a database")

// pages reads the file of a store. Nothing in it is trusted.
type pages struct {
	path     string
	in       io.ReaderAt
	size     int64
	pageSize int64
	root     uint64
	freelist uint64
	high     uint64 // the number of pages
	headers  int    // how many are whole
	counts   map[string]int64
	found    map[string]int64
	seen     map[uint64]bool // pages that were read
	free     map[uint64]bool // nil if it is not known which pages are free
}

func newPages(path string, in io.ReaderAt, size int64) *pages {
	return &pages{path: path, in: in, size: size, found: map[string]int64{}, seen: map[uint64]bool{}}
}

// read reads all pages, and returns a [DamageError] for the first fault.
func (p *pages) read() error {
	if err := p.readHeaders(); err != nil {
		return err
	}
	if p.headers == 1 {
		return p.damage(0, "one of the two headers is not whole, and the last change may be missing")
	}
	if have := uint64(p.size / p.pageSize); have < p.high {
		return p.damage(p.size, fmt.Sprintf("the file ends after %d of %d pages", have, p.high))
	}
	if err := p.readBuckets(); err != nil {
		return err
	}
	if err := p.readFreelist(); err != nil {
		return err
	}
	for _, bucket := range kept {
		if p.counts != nil && p.counts[string(bucket)] != p.found[string(bucket)] {
			return p.damage(0, fmt.Sprintf("%d of %d entries of %s are there", p.found[string(bucket)],
				p.counts[string(bucket)], bucket))
		}
	}
	return p.checkAllPages()
}

// checkAllPages checks that each page is used or in the list of free pages, as the database leaves it.
func (p *pages) checkAllPages() error {
	if p.free == nil {
		return nil
	}
	for id := uint64(2); id < p.high; id++ {
		if !p.seen[id] && !p.free[id] {
			return p.damage(p.offsetOf(p.freelist), fmt.Sprintf("page %d is not used and not in the list of free pages", id))
		}
	}
	return nil
}

func (p *pages) damage(offset int64, what string) error { return &DamageError{p.path, offset, what} }

// readHeaders finds the newest header that is whole.
func (p *pages) readHeaders() error {
	newest, looksLikeOne := uint64(0), false
	for at := int64(0); at <= maxPage; at = max(minPage, 2*at) {
		b := make([]byte, pageHeader+metaSize)
		if n, _ := p.in.ReadAt(b, at); n < len(b) {
			if n >= pageHeader+4 && order.Uint32(b[pageHeader:]) == metaMagic {
				looksLikeOne = true
			}
			break
		}
		m := b[pageHeader:]
		if order.Uint32(m) != metaMagic {
			continue
		}
		looksLikeOne = true
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		size := int64(order.Uint32(m[8:]))
		if order.Uint32(m[4:]) != metaVersion || order.Uint64(m[metaSize-8:]) != sum.Sum64() ||
			size < minPage || size > maxPage || size&(size-1) != 0 || at != 0 && at != size {
			continue
		}
		p.headers++
		if id := order.Uint64(m[48:]); p.headers == 1 || id > newest {
			newest, p.pageSize = id, size
			p.root, p.freelist, p.high = order.Uint64(m[16:]), order.Uint64(m[32:]), order.Uint64(m[40:])
		}
	}
	switch {
	case p.headers > 0:
		return nil
	case looksLikeOne:
		return p.damage(0, "both headers are damaged")
	}
	return errNoStore
}

// offsetOf returns the offset of a page for messages: the end of the file if it has no such page.
func (p *pages) offsetOf(id uint64) int64 {
	if id >= uint64(p.size/p.pageSize) {
		return p.size
	}
	return int64(id) * p.pageSize
}

// page is a page, or a bucket's that lies in the value of another.
type page struct {
	data   []byte
	offset int64
	flags  uint16
	count  int
}

// readPage reads a page and those that continue it.
func (p *pages) readPage(id uint64) (page, error) {
	if id < 2 || id >= p.high {
		return page{}, fmt.Errorf("page %d of %d is named", id, p.high)
	}
	if p.seen[id] {
		return page{}, fmt.Errorf("page %d is used twice", id)
	}
	offset := int64(id) * p.pageSize
	if offset/p.pageSize != int64(id) || offset+p.pageSize > p.size {
		return page{}, fmt.Errorf("page %d is behind the end of the file", id)
	}
	p.seen[id] = true
	head := make([]byte, pageHeader)
	if _, err := p.in.ReadAt(head, offset); err != nil {
		return page{}, err
	}
	if own := order.Uint64(head); own != id {
		return page{}, fmt.Errorf("page %d says that it is page %d", id, own)
	}
	more := uint64(order.Uint32(head[12:]))
	if more >= p.high-id || offset+int64(more+1)*p.pageSize > p.size {
		return page{}, fmt.Errorf("page %d is continued by %d others, which are not there", id, more)
	}
	for k := range more {
		if p.seen[id+1+k] {
			return page{}, fmt.Errorf("page %d is used twice", id+1+k)
		}
	}
	for k := range more {
		p.seen[id+1+k] = true
	}
	data := make([]byte, int64(more+1)*p.pageSize)
	if _, err := p.in.ReadAt(data, offset); err != nil {
		return page{}, err
	}
	return newPage(data, offset), nil
}

func newPage(data []byte, offset int64) page {
	return page{data, offset, order.Uint16(data[8:]), int(order.Uint16(data[10:]))}
}

// element is an entry of a tree page.
type element struct {
	key, value []byte
	flags      uint32
	child      uint64
}

// elements returns the elements of a tree page. Their keys are sorted, and from the first to before the second bound;
// a bound may be nil.
func (g page) elements(from, before []byte) ([]element, error) {
	if g.flags != flagBranch && g.flags != flagLeaf {
		return nil, fmt.Errorf("a page has the flags %#x", g.flags)
	}
	if pageHeader+g.count*elementSize > len(g.data) {
		return nil, fmt.Errorf("a page has %d entries", g.count)
	}
	list := make([]element, g.count)
	for i := range list {
		at := pageHeader + i*elementSize
		e := g.data[at:]
		var pos, keys, values uint64
		if g.flags == flagBranch {
			pos, keys = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
			list[i].child = order.Uint64(e[8:])
		} else {
			list[i].flags = order.Uint32(e)
			pos, keys, values = uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		}
		start := uint64(at) + pos
		if start+keys+values > uint64(len(g.data)) {
			return nil, fmt.Errorf("entry %d of a page leads out of it", i)
		}
		list[i].key, list[i].value = g.data[start:start+keys], g.data[start+keys:start+keys+values]
		if i > 0 && bytes.Compare(list[i-1].key, list[i].key) >= 0 {
			return nil, fmt.Errorf("the keys of a page are not sorted")
		}
	}
	if n := len(list); n > 0 && (bytes.Compare(list[0].key, from) < 0 ||
		before != nil && bytes.Compare(list[n-1].key, before) >= 0) {
		return nil, fmt.Errorf("the keys of a page are not where they are looked for")
	}
	return list, nil
}

// walk calls leaf with the elements of all leaf pages below a page.
func (p *pages) walk(id uint64, from, before []byte, depth int, leaf func(page, []element) error) error {
	g, err := p.readPage(id)
	offset := p.offsetOf(id)
	if err == nil && depth > maxDepth {
		err = errors.New("the tree has too many levels")
	}
	var list []element
	if err == nil {
		list, err = g.elements(from, before)
	}
	if err == nil && g.flags == flagBranch && len(list) == 0 {
		err = errors.New("a branch page is empty")
	}
	if err != nil {
		return p.damage(offset, err.Error())
	}
	if g.flags == flagLeaf {
		return leaf(g, list)
	}
	for i, e := range list {
		end := before
		if i+1 < len(list) {
			end = list[i+1].key
		}
		if err := p.walk(e.child, e.key, end, depth+1, leaf); err != nil {
			return err
		}
	}
	return nil
}

// readBuckets reads the buckets and what is in them.
func (p *pages) readBuckets() error {
	return p.walk(p.root, nil, nil, 0, func(g page, list []element) error {
		for _, e := range list {
			known := bytes.Equal(e.key, bucketFormat) ||
				slices.ContainsFunc(kept, func(name []byte) bool { return bytes.Equal(name, e.key) })
			if !known || e.flags != 1 || len(e.value) < 16 {
				return p.damage(g.offset, fmt.Sprintf("there is an unknown bucket %q", e.key))
			}
			if err := p.readBucket(g.offset, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// readBucket reads a bucket, whose only page may lie in the value.
func (p *pages) readBucket(offset int64, e element) error {
	entries := func(g page, list []element) error {
		for _, entry := range list {
			if err := p.entry(e.key, entry, g.offset); err != nil {
				return err
			}
		}
		return nil
	}
	if root := order.Uint64(e.value); root != 0 {
		return p.walk(root, nil, nil, 1, entries)
	}
	if len(e.value) < 16+pageHeader {
		return p.damage(offset, fmt.Sprintf("the bucket %s has no page", e.key))
	}
	// An empty page has no room for an element.
	g := newPage(e.value[16:], offset)
	list, err := g.elements(nil, nil)
	if err == nil && g.flags != flagLeaf {
		err = errors.New("a page in another is no leaf")
	}
	if err != nil {
		return p.damage(offset, err.Error())
	}
	return entries(g, list)
}

// entry checks and counts an entry.
func (p *pages) entry(bucket []byte, e element, offset int64) error {
	if e.flags != 0 {
		return p.damage(offset, fmt.Sprintf("an entry of %s is a bucket", bucket))
	}
	if bytes.Equal(bucket, bucketFormat) && bytes.Equal(e.key, keyVersion) {
		return nil
	}
	value, ok := unseal(bucket, e.key, e.value)
	if !ok {
		return p.damage(offset, fmt.Sprintf("an entry of %s has another checksum", bucket))
	}
	if bytes.Equal(bucket, bucketFormat) {
		p.counts = map[string]int64{}
		if json.Unmarshal(value, &p.counts) != nil {
			p.counts = nil
		}
		return nil
	}
	p.found[string(bucket)]++
	return nil
}

// readFreelist checks the list of free pages: the database would write over one that is in use.
func (p *pages) readFreelist() error {
	if p.freelist == noFreelist {
		return nil
	}
	g, err := p.readPage(p.freelist)
	ids := g.data
	count := uint64(g.count)
	if err == nil {
		ids = g.data[pageHeader:]
		if count == 0xFFFF && len(ids) >= 8 {
			count, ids = order.Uint64(ids), ids[8:]
		}
		if g.flags != flagFreelist || count > uint64(len(ids)/8) {
			err = errors.New("the list of free pages is none")
		}
	}
	free := map[uint64]bool{}
	for i := uint64(0); err == nil && i < count; i++ {
		id := order.Uint64(ids[8*i:])
		if id < 2 || id >= p.high || p.seen[id] || free[id] {
			err = fmt.Errorf("page %d is in the list of free pages", id)
		}
		free[id] = true
	}
	if err != nil {
		return p.damage(p.offsetOf(p.freelist), err.Error())
	}
	p.free = free
	return nil
}
