package group

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// written makes a store with a history: recordings, reports, and recordings that take over reports. ever has all that
// was in it at any time, as bucket, key and value.
func written(t testing.TB, size int) (path string, ever map[string]bool) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fleet.db")
	s := open(t, path)
	ever = map[string]bool{}
	note := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(ever, entriesOf(t, s))
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	entries := made(rnd, size)
	for i := range entries {
		entries[i].Info.ID = fmt.Sprint("id", i)
		for n := range entries[i].Stalls {
			c := &entries[i].Stalls[n]
			c.ReportID, c.Thread, c.Lasted, c.ReportKind = fmt.Sprintf("id%d-s%d", i, n), "main", c.Wall, "message"
		}
	}
	var reports []Stall
	for i := 0; i < len(entries); i += 3 {
		for _, c := range entries[i].Stalls {
			c.Recording, c.Number = entries[i].Info.ID, 0
			reports = append(reports, c)
		}
	}
	note(s.Add(entries[size/2:]))
	_, err := s.AddReports(reports)
	note(err)
	note(s.Add(entries[:size/2]))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ever
}

func entryText(bucket, key, value []byte) string { return fmt.Sprintf("%s %x %s", bucket, key, value) }

// entriesOf returns all entries of a store.
func entriesOf(t testing.TB, s *Store) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := s.view(func(tx *transaction) error {
		for _, bucket := range kept {
			if err := tx.table(bucket).each(func(key, value []byte) error {
				all[entryText(bucket, key, value)] = true
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// groupsOf returns the groups of a store as JSON.
func groupsOf(t testing.TB, s *Store) (string, error) {
	t.Helper()
	f, err := s.Groups()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = f.WriteJSON(&b, 0)
	return b.String(), err
}

// TestDamagedStore cuts stores and flips their bits. Opening one fails, or it has all that it had. Most can be saved.
//
// Invariant: A damaged store is reported as such, and salvaging adds nothing to it that it never had.
func TestDamagedStore(t *testing.T) {
	path, ever := written(t, 300)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	want, err := groupsOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	all := entriesOf(t, s)
	s.Close()
	used := len(bytes.TrimRight(whole, "\x00"))
	rnd := rand.New(rand.NewPCG(1, 2))
	refused, saved, lost := 0, 0, 0
	const mutants = 120
	for n := range mutants {
		data := bytes.Clone(whole)
		what := ""
		switch n % 4 {
		case 0:
			at := rnd.IntN(used)
			data, what = data[:at], fmt.Sprint("cut at ", at)
		case 1:
			at := rnd.IntN(used/4096)*4096 + rnd.IntN(64) // the head of a page
			data[at] ^= 1 << rnd.IntN(8)
			what = fmt.Sprint("flipped in a head at ", at)
		case 2:
			at := rnd.IntN(used)
			data[at] ^= 1 << rnd.IntN(8)
			what = fmt.Sprint("flipped at ", at)
		default:
			at := rnd.IntN(used/4096) * 4096
			clear(data[at : at+4096])
			what = fmt.Sprint("no page at ", at)
		}
		broken := filepath.Join(t.TempDir(), "broken.db")
		if err := os.WriteFile(broken, data, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(broken)
		if err == nil {
			got, err := groupsOf(t, s)
			if err != nil || got != want {
				t.Errorf("%s: other groups, error %v", what, err)
			}
			s.Close()
		} else if damage := new(DamageError); errors.As(err, &damage) {
			refused++
			if text := err.Error(); !strings.HasPrefix(text, broken+": the store is damaged at offset ") ||
				!strings.Contains(text, "--salvage") || damage.Offset > int64(len(data)) {
				t.Errorf("%s: %v", what, err)
			}
		} else if !strings.Contains(err.Error(), "not a store of tracegen") || len(data) > 2*4096 && n%4 != 3 {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.WriteFile(broken, data, 0o666); err != nil {
			t.Fatal(err)
		}
		fresh := open(t, "")
		result, err := fresh.Salvage(broken)
		if err != nil {
			if !strings.Contains(err.Error(), "not a store of tracegen") {
				t.Errorf("%s: salvage: %v", what, err)
			}
			continue
		}
		got := entriesOf(t, fresh)
		for entry := range got {
			if !ever[entry] {
				t.Errorf("%s: saved what was never there: %s", what, entry)
			}
		}
		if result.Places == 0 && len(got) != len(all) || len(got) < len(all) && !result.Unknown &&
			result.LostRecordings+result.LostStalls == 0 && countOf(got, all, "recordings ", "stalls ") {
			t.Errorf("%s: %+v, but %d of %d entries", what, result, len(got), len(all))
		}
		saved += len(got)
		lost += result.LostRecordings + result.LostStalls
		fresh.Close()
	}
	t.Logf("%d mutants: %d refused, on average %d of %d entries were saved, %d lost recordings and stalls counted",
		mutants, refused, saved/mutants, len(all), lost)
	if refused < mutants/2 || saved/mutants < len(all)/4 {
		t.Error("that is too few")
	}
}

// countOf reports whether one of the kinds of entries is not as often in both.
func countOf(got, all map[string]bool, kinds ...string) bool {
	for _, kind := range kinds {
		n := 0
		for entry := range all {
			if strings.HasPrefix(entry, kind) {
				n++
			}
		}
		for entry := range got {
			if strings.HasPrefix(entry, kind) {
				n--
			}
		}
		if n != 0 {
			return true
		}
	}
	return false
}

// TestShortFreelist shortens the list of free pages: the store is damaged, and what was removed from it is not saved
// as if it had been lost.
func TestShortFreelist(t *testing.T) {
	path, _ := written(t, 60)
	s := open(t, path)
	want := entriesOf(t, s)
	s.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := newPages(bytes.NewReader(data), int64(len(data)))
	p.damaged = func(offset int64, what string) error { return fmt.Errorf("damage at %d: %s", offset, what) }
	if err := p.read(); err != nil {
		t.Fatal(err)
	}
	if len(p.free) < 8 {
		t.Fatalf("only %d pages are free", len(p.free))
	}
	order.PutUint16(data[int64(p.freelist)*p.pageSize+10:], uint16(len(p.free)-8))
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(path); !errors.As(err, new(*DamageError)) {
		t.Errorf("opening it: %v", err)
	}
	fresh := open(t, "")
	result, err := fresh.Salvage(path)
	if err != nil || result.Places != 1 || result.LostRecordings+result.LostStalls != 0 {
		t.Errorf("salvage: %+v, %v", result, err)
	}
	if diff := gocmp.Diff(want, entriesOf(t, fresh)); diff != "" {
		t.Errorf("saved:\n%s", diff)
	}
	fresh.Close()
}

// TestSalvagedRecordings adds lost recordings again: the store has what it had.
func TestSalvagedRecordings(t *testing.T) {
	entries := made(rand.New(rand.NewPCG(3, 3)), 400)
	path := filepath.Join(t.TempDir(), "fleet.db")
	s := open(t, path)
	if err := s.Add(entries); err != nil {
		t.Fatal(err)
	}
	want := entriesOf(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for page := 2; page < len(bytes.TrimRight(whole, "\x00"))/4096; page++ {
		data := bytes.Clone(whole)
		clear(data[page*4096 : (page+1)*4096])
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		fresh := open(t, "")
		if _, err := fresh.Salvage(path); err != nil {
			t.Fatal(err)
		}
		if err := fresh.Add(entries); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, entriesOf(t, fresh)); diff != "" {
			t.Errorf("without page %d:\n%s", page, diff)
		}
		fresh.Close()
	}
}

// TestOldStore opens a store of a program that wrote no checksums.
func TestOldStore(t *testing.T) {
	path, _ := written(t, 40)
	s := open(t, path)
	want := entriesOf(t, s)
	groups, err := groupsOf(t, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	db, err := bolt.Open(path, 0o666, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range kept {
			b := tx.Bucket(name)
			plain := map[string][]byte{}
			if err := b.ForEach(func(key, sealed []byte) error {
				plain[string(key)] = bytes.Clone(sealed[sealSize:])
				return nil
			}); err != nil {
				return err
			}
			for key, value := range plain {
				if err := b.Put([]byte(key), value); err != nil {
					return err
				}
			}
		}
		format := tx.Bucket(bucketFormat)
		return errors.Join(format.Delete(keyCounts), format.Put(keyVersion, []byte("tracegen-stalls 2")))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, "")
	if result, err := fresh.Salvage(path); err != nil || !result.Unknown || result.Places > 0 {
		t.Errorf("salvage: %+v, %v", result, err)
	}
	for range 2 {
		s := open(t, path)
		if diff := gocmp.Diff(want, entriesOf(t, s)); diff != "" {
			t.Error(diff)
		}
		if got, err := groupsOf(t, s); err != nil || got != groups {
			t.Errorf("other groups, error %v", err)
		}
		s.Close()
	}
	if diff := gocmp.Diff(want, entriesOf(t, fresh)); diff != "" {
		t.Errorf("saved:\n%s", diff)
	}
}

// FuzzStore changes bytes of a store and cuts it. Reading it never panics, an entry that is read was there once, and if
// nothing is reported, all entries are there.
func FuzzStore(f *testing.F) {
	path, ever := written(f, 60)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	whole = whole[:(len(bytes.TrimRight(whole, "\x00"))+8191)/4096*4096]
	edit := func(at uint32, by byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, at), by) }
	f.Add([]byte{}, uint32(len(whole)))
	f.Add([]byte{}, uint32(5000))
	for page := range uint32(len(whole) / 4096) {
		f.Add(edit(page*4096, 1), uint32(len(whole)))
		f.Add(append(edit(page*4096+10, 255), edit(page*4096+24, 16)...), uint32(len(whole)))
	}
	f.Add(edit(2*4096+40, 3), uint32(3*4096))
	entries := 0
	read := func(data []byte, yield func(bucket, key, value []byte), damaged func()) error {
		p := newPages(bytes.NewReader(data), int64(len(data)))
		p.yield = func(bucket, key, value []byte) error { yield(bucket, key, value); return nil }
		p.damaged = func(offset int64, what string) error {
			if offset < 0 || offset > int64(len(data)) || what == "" {
				return fmt.Errorf("damage at %d: %q", offset, what)
			}
			damaged()
			return nil
		}
		return errors.Join(p.read(), p.readLost())
	}
	if err := read(whole, func(_, _, _ []byte) { entries++ }, func() { f.Error("the store is damaged") }); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, edits []byte, size uint32) {
		data := bytes.Clone(whole)
		for ; len(edits) >= 5; edits = edits[5:] {
			if at := binary.LittleEndian.Uint32(edits); int64(at) < int64(len(data)) {
				data[at] ^= edits[4]
			}
		}
		data = data[:min(int64(size), int64(len(data)))]
		damage, got := 0, 0
		err := read(data, func(bucket, key, value []byte) {
			got++
			if !ever[entryText(bucket, key, value)] {
				t.Fatalf("was never there: %s %q %q", bucket, key, value)
			}
		}, func() { damage++ })
		if err != nil && !errors.Is(err, errNoStore) {
			t.Fatal(err)
		}
		if err == nil && damage == 0 && got != entries {
			t.Fatalf("%d of %d entries, and nothing is reported", got, entries)
		}
	})
}
