package mapping

import (
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
	// Capacity is the largest ID a method can have, and the number of them.
	Capacity = contract.LastMethodID
	// DispatchID is the ID of the message dispatch (0xFFFFE), which every
	// mapping ends with and no method is given.
	DispatchID = contract.DispatchID
	// DefaultRuntime is the runtime class, in internal form, of a mapping that
	// was assigned without naming one.
	DefaultRuntime = contract.RuntimeClass
	// Unstamped is the stamp value of a runtime that was not stamped; see
	// [Mapping.Digest].
	Unstamped = "0000000000000000"
)

// matrixRuntime is the runtime class of the mappings that Matrix writes.
const matrixRuntime = contract.MatrixRuntimeClass

// dispatchKey is the key of the dispatch line. The line is fixed: should the
// inputs hold this very method, it gets an ID of its own like any other, as the
// runtime emits DispatchID itself.
const dispatchKey = "android.os.Handler dispatchMessage (Landroid.os.Message;)V"

// Identity is what tells one method from another: Class, Name and Descriptor,
// all three raw MUTF-8 in internal form, as in the constant pool: "com/example/Foo", "bar", "(I)V".
// Descriptor is empty in a mapping that Matrix wrote without descriptors.
type Identity struct {
	Class, Name, Descriptor string
}

// Method is a method that is to be traced.
type Method struct {
	Identity
	Access uint16 // access_flags, JVMS 4.6
}

// Entry is one line of a mapping.
type Entry struct {
	ID uint32 // 1 to Capacity, or DispatchID
	Method
	Retired bool // the method is gone, only its ID is kept
}

// Line gives the entry as the mapping file has it, without the newline:
// "17,1,com.example.Foo bar (I)V", with "# retired " in front if it is retired.
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

// FocusAction says what is done about onWindowFocusChanged in an Activity.
type FocusAction string

const (
	// FocusAdd means that the method is added.
	FocusAdd FocusAction = "add"
	// FocusHook means that the call is put into the method that is there.
	FocusHook FocusAction = "hook"
)

// Focus is one decision on the focus hook.
type Focus struct {
	Class  string // raw MUTF-8, internal form
	Action FocusAction
}

// record is an Entry in its stored form.
type record struct {
	key    string // "class method descriptor" in text form; canonical
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

// split gives the three fields of a key, still in text form.
func split(key string) (class, name, descriptor string) {
	class, name, _ = strings.Cut(key, " ")
	name, descriptor, _ = strings.Cut(name, " ")
	return class, name, descriptor
}

func (r *record) entry(retired bool) Entry {
	// A key is canonical, so that none of its fields can fail to parse.
	raw := func(text string) string { s, _ := ParseText(text); return s }
	class, name, descriptor := split(r.key)
	return Entry{
		ID:      r.id,
		Method:  Method{Identity{raw(class), raw(name), raw(descriptor)}, r.access},
		Retired: retired,
	}
}

// Mapping holds the IDs of the methods of a build, and those of methods that
// are gone. It is immutable. The zero value is not useful: see [Assign], [Load].
type Mapping struct {
	// Its methods are numbered: the living by ID, then the retired by ID. Of a mapping that was read, records has all of
	// them; of one that was assigned, given has the living and records the retired.
	given    *given
	assigned int // how many given has
	records  []record
	living   int

	indexed sync.Once // of one that was assigned: mostly it is only written
	index   index
	digest  string
	runtime string
	focus   []Focus
	bodies  map[uint32]uint64 // by ID of a living method that is Numbered, if it is known; never 0
}

func dispatch() record { return record{key: dispatchKey, id: DispatchID, access: 1} }

// newMapping takes over records, the first living of which are alive, and which
// are sorted by ID in both parts. If two have one key it returns their indexes,
// and no mapping.
func newMapping(records []record, living int) (m *Mapping, first, second int) {
	m = &Mapping{records: records, living: living}
	// Hashing and indexing each need about a quarter of the time of a load.
	done := make(chan string)
	go func() { done <- m.sum() }()
	var x index
	x, first, second = newIndex(m)
	m.digest = <-done
	if second >= 0 {
		return nil, first, second
	}
	m.index = x
	return m, -1, -1
}

// sum computes the digest of the living methods.
func (m *Mapping) sum() string {
	h := sha256.New()
	buf := make([]byte, 0, 64<<10)
	for i := range m.living {
		buf = m.appendLine(buf, i)
		if len(buf) > 60<<10 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	last := dispatch()
	h.Write(last.appendLine(buf))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// size gives the number of methods, living and retired.
func (m *Mapping) size() int { return m.assigned + len(m.records) }

// id gives the ID of method i.
func (m *Mapping) id(i int) uint32 {
	if i >= m.assigned {
		return m.records[i-m.assigned].id
	}
	return m.given.ids[i]
}

// access gives the access flags of method i.
func (m *Mapping) access(i int) uint16 {
	if i >= m.assigned {
		return m.records[i-m.assigned].access
	}
	return m.given.methods[i].access
}

// key gives the key of method i. It may lie in buf, and is valid until that is used again.
func (m *Mapping) key(i int, buf *[]byte) string {
	if i >= m.assigned {
		return m.records[i-m.assigned].key
	}
	return m.given.key(i, buf)
}

// has reports whether the key of method i is key.
func (m *Mapping) has(i int, key string) bool {
	if i >= m.assigned {
		return m.records[i-m.assigned].key == key
	}
	return m.given.has(i, key)
}

// record gives method i as a record.
func (m *Mapping) record(i int) record {
	if i >= m.assigned {
		return m.records[i-m.assigned]
	}
	return record{string(m.given.appendKey(nil, i)), m.id(i), m.access(i)}
}

// appendLine appends the method line of method i to dst, with its newline.
func (m *Mapping) appendLine(dst []byte, i int) []byte {
	if i >= m.assigned {
		return m.records[i-m.assigned].appendLine(dst)
	}
	return m.given.appendLine(dst, i)
}

// entryAt gives the entry of method i, the zero one if that is -1.
func (m *Mapping) entryAt(i int) Entry {
	switch {
	case i < 0:
		return Entry{}
	case i >= m.assigned:
		return m.records[i-m.assigned].entry(i >= m.living)
	}
	return m.given.entry(i)
}

// find gives the number of the method with the key, or -1.
func (m *Mapping) find(key string) int {
	if m.given != nil {
		m.indexed.Do(func() { m.index, _, _ = newIndex(m) })
	}
	return m.index.find(m, key)
}

// Len gives the number of living methods, the dispatch not counted.
func (m *Mapping) Len() int { return m.living }

// Headroom gives the number of IDs that are neither in use nor retired.
func (m *Mapping) Headroom() int { return Capacity - m.size() }

// Freed gives the number of IDs that base has, in use or retired, and m has not
// for the same method: those that [Options.Prune] gave up, if m was assigned on
// that base.
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

// Digest gives the digest of the mapping, 16 lower-case hexadecimal digits. It
// is what the runtime is stamped with and what every recording carries.
func (m *Mapping) Digest() string { return m.digest }

// Body gives what the code of a living method whose name is [Numbered] is told by; 0 for others, and where it is
// not known. The same number in two mappings means the same code, see [AssignEach].
func (m *Mapping) Body(id uint32) uint64 { return m.bodies[id] }

// Runtime gives the runtime class that the methods report to, in internal form.
func (m *Mapping) Runtime() string { return m.runtime }

// Focus gives the decisions on the focus hook, sorted by class.
func (m *Mapping) Focus() []Focus { return slices.Clone(m.focus) }

// All gives the living methods, sorted by ID, without the dispatch.
func (m *Mapping) All() iter.Seq[Entry] { return m.entries(0, m.living) }

// Retired gives the methods that are gone and whose IDs are kept, sorted by ID.
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

// ByID gives the entry that has an ID: a living method, a retired one, or the
// dispatch.
func (m *Mapping) ByID(id uint32) (Entry, bool) {
	if id == DispatchID {
		d := dispatch()
		return d.entry(false), true
	}
	if i := m.position(id); i >= 0 {
		return m.entryAt(i), true
	}
	return Entry{}, false
}

// position gives the number of the method that has an ID, living or retired, or -1.
func (m *Mapping) position(id uint32) int {
	for _, part := range [][2]int{{0, m.living}, {m.living, m.size()}} {
		if i := m.seek(part[0], part[1], id); i < part[1] && m.id(i) == id {
			return i
		}
	}
	return -1
}

// seek gives the first method of [from, to) whose ID is not below id, or to.
func (m *Mapping) seek(from, to int, id uint32) int {
	return from + sort.Search(to-from, func(i int) bool { return m.id(from+i) >= id })
}

// ByIdentity gives the entry that a method has, living or retired.
func (m *Mapping) ByIdentity(method Identity) (Entry, bool) {
	var buf [256]byte
	i := m.find(view(appendKey(buf[:0], method)))
	return m.entryAt(i), i >= 0
}

// ByMethod gives the ID of a living method.
func (m *Mapping) ByMethod(method Identity) (id uint32, ok bool) {
	var buf [256]byte
	i := m.find(view(appendKey(buf[:0], method)))
	if i < 0 || i >= m.living {
		return 0, false
	}
	return m.id(i), true
}
