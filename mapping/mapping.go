package mapping

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/tracegen/tracegen/internal/contract"
)

const (
	// Capacity is the greatest ID that a method can have, and also the number of such IDs.
	Capacity = contract.LastMethodID
	// DispatchID is the ID of the message dispatch (0xFFFFE). Every mapping ends with it, and no method gets it.
	DispatchID = contract.DispatchID
	// Unstamped is the digest in a runtime that no mapping's digest was written to; see [Mapping.Digest].
	Unstamped = "0000000000000000"
)

// matrixRuntime is the runtime class of mappings that Matrix wrote.
const matrixRuntime = contract.MatrixRuntimeClass

// dispatchKey is the key of the dispatch line, which is always the same. If the inputs contain this very method, it
// gets an ID of its own as any other method, because the runtime itself records DispatchID.
const dispatchKey = "android.os.Handler dispatchMessage (Landroid.os.Message;)V"

// Identity identifies a method by class, name and descriptor. All three are MUTF-8 in internal form, as in the
// constant pool: "com/example/Foo", "bar", "(I)V". Descriptor is empty in a mapping that Matrix wrote without
// descriptors.
type Identity struct {
	Class, Name, Descriptor string
}

// Method is a method that is to be traced.
type Method struct {
	Identity
	Access uint16 // access_flags, JVMS 4.6
}

// Entry is one line of a mapping: a method and its ID.
type Entry struct {
	ID uint32 // 1 to Capacity, or DispatchID
	Method
	Retired bool // the method is gone, and no other method gets its ID
}

// Line returns the entry as a line of a mapping file, without the newline: "17,1,com.example.Foo bar (I)V", or "#
// retired 17,1,com.example.Foo bar (I)V" if it is retired.
func (e Entry) Line() string {
	var b []byte
	if e.Retired {
		b = append(b, retiredPrefix...)
	}
	b = strconv.AppendUint(b, uint64(e.ID), 10)
	b = append(b, ',')
	b = strconv.AppendUint(b, uint64(e.Access), 10)
	b = append(b, ',')
	return string(appendKey(b, e.Identity))
}

// FocusAction says what the focus hook does in an Activity.
type FocusAction string

const (
	// FocusAdd means that the method onWindowFocusChanged is added.
	FocusAdd FocusAction = "add"
	// FocusHook means that the call is inserted into the existing method onWindowFocusChanged.
	FocusHook FocusAction = "hook"
)

// Focus is the decision on the focus hook for one Activity.
type Focus struct {
	Class  string // MUTF-8, internal form
	Action FocusAction
}

// record is an Entry as a loaded mapping stores it.
type record struct {
	key    string // "class method descriptor" in canonical text form
	id     uint32
	access uint16
}

// appendKey appends the key of id to dst.
func appendKey(dst []byte, id Identity) []byte {
	dst = append(appendText(dst, id.Class), ' ')
	dst = appendText(dst, id.Name)
	if id.Descriptor != "" {
		dst = appendText(append(dst, ' '), id.Descriptor)
	}
	return dst
}

// appendLine appends the method line of r to dst, with its newline.
func (r *record) appendLine(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(r.id), 10)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(r.access), 10)
	dst = append(dst, ',')
	dst = append(dst, r.key...)
	return append(dst, '\n')
}

// split returns the three fields of a key, in text form.
func split(key string) (class, name, descriptor string) {
	class, name, _ = strings.Cut(key, " ")
	name, descriptor, _ = strings.Cut(name, " ")
	return class, name, descriptor
}

func (r *record) entry(retired bool) Entry {
	// A key is canonical, so that all of its fields can be parsed.
	raw := func(text string) string { s, _ := ParseText(text); return s }
	class, name, descriptor := split(r.key)
	return Entry{
		ID:      r.id,
		Method:  Method{Identity{raw(class), raw(name), raw(descriptor)}, r.access},
		Retired: retired,
	}
}

// Mapping contains the IDs of the methods of a build, and the IDs of methods that are gone. It is immutable. The zero
// value is not useful: see [Assign] and [Load].
type Mapping struct {
	// Methods have indexes: first the living ones by ID, then the retired ones by ID. If the mapping was loaded,
	// records has all of them. If it was assigned, table has the living ones and records the retired ones.
	table   *methodTable
	inTable int // the number of methods in table
	records []record
	living  int

	indexed      sync.Once // guards index if the mapping was assigned; most such mappings are only written
	index        index
	lines        func() [sha256.Size]byte // returns the hash of the living methods, which begins with the digest
	runtime      string
	focus        []Focus
	messages     []uint32     // ascending; see Messages
	fingerprints fingerprints // of the living methods that are Numbered, as far as they are known
}

// fingerprint is the fingerprint of the living method with an ID. It is never 0.
type fingerprint struct {
	id    uint32
	value uint64
}

// fingerprints are sorted by ID. No two have the same.
type fingerprints []fingerprint

// of returns the fingerprint of the method with an ID, 0 if there is none.
func (f fingerprints) of(id uint32) uint64 {
	i, found := slices.BinarySearchFunc(f, id, func(a fingerprint, id uint32) int { return cmp.Compare(a.id, id) })
	if !found {
		return 0
	}
	return f[i].value
}

func dispatch() record { return record{key: dispatchKey, id: DispatchID, access: 1} }

// newMapping returns a mapping of records, whose first living ones are alive and which are sorted by ID in both
// parts. If two records have the same key it returns their indexes, and no mapping.
func newMapping(records []record, living int) (m *Mapping, first, second int) {
	m = &Mapping{records: records, living: living}
	// Hashing and indexing each need about a quarter of the time of a load.
	done := make(chan [sha256.Size]byte)
	go func() { done <- m.hashLines() }()
	var x index
	x, first, second = newIndex(m)
	lines := <-done
	m.lines = func() [sha256.Size]byte { return lines }
	if second >= 0 {
		return nil, first, second
	}
	m.index = x
	return m, -1, -1
}

// hashLines returns the hash of the living methods.
func (m *Mapping) hashLines() (sum [sha256.Size]byte) {
	h := sha256.New()
	b := bufio.NewWriterSize(h, 64<<10)
	m.writeLines(b)
	_ = b.Flush() // a hash takes everything
	h.Sum(sum[:0])
	return sum
}

// writeLines writes the lines that the digest is about: those of the living methods, and of the dispatch.
func (m *Mapping) writeLines(b *bufio.Writer) {
	const ahead = 64
	for i := range m.living {
		if m.table != nil && i%ahead == 0 {
			m.table.fetch(i, min(i+ahead, m.living))
		}
		b.Write(m.appendLine(b.AvailableBuffer(), i))
	}
	last := dispatch()
	b.Write(last.appendLine(b.AvailableBuffer()))
}

// size returns the number of methods, living and retired.
func (m *Mapping) size() int { return m.inTable + len(m.records) }

// id returns the ID of method i.
func (m *Mapping) id(i int) uint32 {
	if i >= m.inTable {
		return m.records[i-m.inTable].id
	}
	return m.table.ids[i]
}

// access returns the access flags of method i.
func (m *Mapping) access(i int) uint16 {
	if i >= m.inTable {
		return m.records[i-m.inTable].access
	}
	return m.table.methods[i].access
}

// key returns the key of method i. It may be stored in buf; it is valid until buf is used again.
func (m *Mapping) key(i int, buf *[]byte) string {
	if i >= m.inTable {
		return m.records[i-m.inTable].key
	}
	return m.table.key(i, buf)
}

// has reports whether the key of method i is key.
func (m *Mapping) has(i int, key string) bool {
	if i >= m.inTable {
		return m.records[i-m.inTable].key == key
	}
	return m.table.has(i, key)
}

// record returns method i as a record.
func (m *Mapping) record(i int) record {
	if i >= m.inTable {
		return m.records[i-m.inTable]
	}
	return record{string(m.table.appendKey(nil, i)), m.id(i), m.access(i)}
}

// appendLine appends the method line of method i to dst, with its newline.
func (m *Mapping) appendLine(dst []byte, i int) []byte {
	if i >= m.inTable {
		return m.records[i-m.inTable].appendLine(dst)
	}
	return m.table.appendLine(dst, i)
}

// entryAt returns the entry of method i, or the zero Entry if i is -1.
func (m *Mapping) entryAt(i int) Entry {
	switch {
	case i < 0:
		return Entry{}
	case i >= m.inTable:
		return m.records[i-m.inTable].entry(i >= m.living)
	}
	return m.table.entry(i)
}

// find returns the index of the method with the key, or -1.
func (m *Mapping) find(key string) int {
	if m.table != nil {
		m.indexed.Do(func() { m.index, _, _ = newIndex(m) })
	}
	return m.index.find(m, key)
}

// Messages returns the IDs of the methods whose calls are messages, in ascending order; see [Options].
func (m *Mapping) Messages() []uint32 { return m.messages }

// findMessages sets the methods whose calls are messages.
func (m *Mapping) findMessages(match func(Identity) bool) {
	if match == nil {
		return
	}
	for e := range m.All() {
		if match(e.Identity) {
			m.messages = append(m.messages, e.ID)
		}
	}
}

// Len returns the number of living methods, without the dispatch.
func (m *Mapping) Len() int { return m.living }

// Headroom returns the number of IDs that neither a living nor a retired method has.
func (m *Mapping) Headroom() int { return Capacity - m.size() }

// Freed returns the number of IDs that base has, for a living or a retired method, and that m does not have for the
// same method. If m was assigned with base as the base mapping, these are the IDs that [Options.Prune] freed.
func (m *Mapping) Freed(base *Mapping) int {
	freed := 0
	var buf []byte
	for i := range base.size() {
		if j := m.find(base.key(i, &buf)); j < 0 || m.id(j) != base.id(i) {
			freed++
		}
	}
	return freed
}

// Kept returns the number of methods that are living in both mappings, with the same ID.
func (m *Mapping) Kept(base *Mapping) int {
	kept := 0
	var buf []byte
	for i := range base.living {
		if j := m.find(base.key(i, &buf)); j >= 0 && j < m.living && m.id(j) == base.id(i) {
			kept++
		}
	}
	return kept
}

// Digest returns the digest of the mapping: 16 lower-case hexadecimal digits. It is written into the runtime, and
// every recording contains it.
func (m *Mapping) Digest() string {
	lines := m.lines()
	return hex.EncodeToString(lines[:8])
}

// Runtime returns the runtime class that the methods call, in internal form.
func (m *Mapping) Runtime() string { return m.runtime }

// Focus returns the decisions on the focus hook, sorted by class.
func (m *Mapping) Focus() []Focus { return slices.Clone(m.focus) }

// All yields the living methods, sorted by ID, without the dispatch.
func (m *Mapping) All() iter.Seq[Entry] { return m.entries(0, m.living) }

// Retired yields the methods that are gone and whose IDs are kept, sorted by ID.
func (m *Mapping) Retired() iter.Seq[Entry] { return m.entries(m.living, m.size()) }

func (m *Mapping) entries(from, to int) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := from; i < to; i++ {
			if !yield(m.entryAt(i)) {
				return
			}
		}
	}
}

// ByID returns the entry that has an ID: a living method, a retired one, or the dispatch. ok is false if there is
// none.
func (m *Mapping) ByID(id uint32) (e Entry, ok bool) {
	if id == DispatchID {
		d := dispatch()
		return d.entry(false), true
	}
	if i := m.position(id); i >= 0 {
		return m.entryAt(i), true
	}
	return Entry{}, false
}

// position returns the index of the method that has an ID, living or retired, or -1.
func (m *Mapping) position(id uint32) int {
	for _, part := range [][2]int{{0, m.living}, {m.living, m.size()}} {
		if i := m.seek(part[0], part[1], id); i < part[1] && m.id(i) == id {
			return i
		}
	}
	return -1
}

// seek returns the index of the first method of [from, to) whose ID is not below id, or to.
func (m *Mapping) seek(from, to int, id uint32) int {
	return from + sort.Search(to-from, func(i int) bool { return m.id(from+i) >= id })
}

// ByIdentity returns the entry of a method, living or retired. ok is false if there is none.
func (m *Mapping) ByIdentity(method Identity) (e Entry, ok bool) {
	var buf [256]byte
	i := m.find(view(appendKey(buf[:0], method)))
	return m.entryAt(i), i >= 0
}

// ByMethod returns the ID of a living method. ok is false if the method is not in the mapping or is retired.
func (m *Mapping) ByMethod(method Identity) (id uint32, ok bool) {
	var buf [256]byte
	i := m.find(view(appendKey(buf[:0], method)))
	if i < 0 || i >= m.living {
		return 0, false
	}
	return m.id(i), true
}
