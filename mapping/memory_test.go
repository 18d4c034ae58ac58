package mapping

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"
)

// remembering is a Memory.
type remembering struct {
	byKey map[[sha256.Size]byte][]byte
	found int
}

func (r *remembering) Assigned(key [sha256.Size]byte) []byte {
	if r.byKey[key] != nil {
		r.found++
	}
	return r.byKey[key]
}

func (r *remembering) KeepAssigned(key [sha256.Size]byte, data []byte) { r.byKey[key] = data }

type printed struct {
	Method
	fingerprint uint64
}

func each(list []printed) iter.Seq2[Method, Facts] {
	return func(yield func(Method, Facts) bool) {
		for _, p := range list {
			if !yield(p.Method, Facts{Fingerprint: p.fingerprint}) {
				return
			}
		}
	}
}

// randomMethods returns methods of which some are there twice, also with other access flags.
func randomMethods(random *rand.Rand, n int) []printed {
	list := make([]printed, n)
	for i := range list {
		m := Method{Identity{fmt.Sprint("a/C$", random.IntN(1+n/4)), fmt.Sprint("m", random.IntN(3)), "()V"},
			uint16(random.IntN(3))}
		list[i] = printed{m, uint64(random.IntN(3))}
	}
	return list
}

// TestRememberedAssignment compares assignments that use those of earlier ones with such that do not: of the same
// methods, and of methods of which one is different.
//
// Invariant: A mapping does not depend on what is remembered of earlier assignments.
func TestRememberedAssignment(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	memory := &remembering{byKey: map[[sha256.Size]byte][]byte{}}
	compare := func(what string, list []printed, order Order) {
		t.Helper()
		o := Options{Order: order, Focus: []Focus{{"a/C$1", FocusAdd}},
			Messages: func(m Identity) bool { return m.Name == "m1" }}
		want, wantIDs, err := AssignEach(Counts{Methods: len(list)}, each(list), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Memory = memory
		got, ids, err := AssignEach(Counts{Methods: len(list)}, each(list), o)
		if err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		want.WriteTo(&a)
		got.WriteTo(&b)
		if !bytes.Equal(a.Bytes(), b.Bytes()) || !reflect.DeepEqual(ids, wantIDs) {
			t.Fatalf("%s: %s%v, without memory %s%v", what, &b, ids, &a, wantIDs)
		}
	}
	for n := range 60 {
		list := randomMethods(random, n)
		for _, order := range []Order{OrderHash, OrderCompact} {
			compare("first", list, order)
			found := memory.found
			if compare("again", list, order); memory.found != found+1 {
				t.Fatalf("%d methods: nothing is remembered", n)
			}
			if n == 0 {
				continue
			}
			for what, change := range map[string]func(p *printed){
				"access":      func(p *printed) { p.Access += 3 },
				"name":        func(p *printed) { p.Name += "x" },
				"descriptor":  func(p *printed) { p.Descriptor = "(I)V" },
				"class":       func(p *printed) { p.Class += "1" },
				"fingerprint": func(p *printed) { p.fingerprint += 7 },
			} {
				changed := append([]printed(nil), list...)
				change(&changed[random.IntN(n)])
				compare(what, changed, order)
			}
			random.Shuffle(n, func(i, k int) { list[i], list[k] = list[k], list[i] })
			compare("shuffled", list, order)
			compare("one less", list[1:], order)
		}
	}
}

// FuzzAssigned reads any bytes as the IDs that an earlier assignment has made.
//
// Invariant: In what is remembered of an assignment no two methods have one ID, and no bytes make its reader panic.
func FuzzAssigned(f *testing.F) {
	t, err := newMethodTable(Counts{}, each(randomMethods(rand.New(rand.NewPCG(7, 8)), 5)))
	if err != nil {
		f.Fatal(err)
	}
	a, err := t.assign(Options{}, &Mapping{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.pack([sha256.Size]byte{1}))
	f.Add(make([]byte, sha256.Size+20))
	f.Fuzz(func(tt *testing.T, data []byte) {
		a := t.readAssigned(data)
		if a == nil {
			return
		}
		if packed := a.pack(a.lines); !bytes.Equal(packed, data) {
			tt.Errorf("%x is written as %x", data, packed)
		}
		for i, id := range a.ids {
			if id == 0 || id > Capacity {
				tt.Errorf("method %d has the ID %d", i, id)
			}
		}
	})
}
