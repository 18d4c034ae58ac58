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

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// written makes a store with a history: recordings, reports, and recordings that take over reports.
func written(t testing.TB, size int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fleet.db")
	s := open(t, path)
	rnd := rand.New(rand.NewPCG(7, 7))
	entries := made(rnd, size)
	for i := range entries {
		entries[i].Info.ID = fmt.Sprint("id", i)
		for n := range entries[i].Stalls {
			c := &entries[i].Stalls[n]
			c.ReportID, c.Thread, c.Lasted, c.ReportKind = fmt.Sprintf("id%d-s%d", i, n), "main", c.Wall, "message"
		}
	}
	var reports []analysis.Row
	for i := 0; i < len(entries); i += 3 {
		for _, c := range entries[i].Stalls {
			c.Recording, c.Number = entries[i].Info.ID, 0
			reports = append(reports, c)
		}
	}
	err := s.Add(entries[size/2:])
	if err == nil {
		_, err = s.AddReports(reports)
	}
	if err = errors.Join(err, s.Add(entries[:size/2]), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
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

// TestDamagedStore cuts stores and flips their bits. Opening one fails, or it has all that it had.
//
// Invariant: A damaged store is reported as such, and nothing is read from it.
func TestDamagedStore(t *testing.T) {
	path := written(t, 300)
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
	refused := 0
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
			if diff := gocmp.Diff(all, entriesOf(t, s)); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
			s.Close()
		} else if damage := new(DamageError); errors.As(err, &damage) {
			refused++
			if text := err.Error(); !strings.HasPrefix(text, broken+": the store is damaged at offset ") ||
				!strings.Contains(text, "make the store again") || damage.Offset > int64(len(data)) {
				t.Errorf("%s: %v", what, err)
			}
		} else if !strings.Contains(err.Error(), "not a store of tracegen") || len(data) > 2*4096 && n%4 != 3 {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Logf("%d of %d mutants are refused", refused, mutants)
	if refused < mutants/2 {
		t.Error("that is too few")
	}
}

// TestShortFreelist shortens the list of free pages: the store is damaged.
func TestShortFreelist(t *testing.T) {
	path := written(t, 60)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := newPages(path, bytes.NewReader(data), int64(len(data)))
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
}

// FuzzStore changes bytes of a store and cuts it. Reading it never panics, and if nothing is reported, all entries are
// there.
func FuzzStore(f *testing.F) {
	path := written(f, 60)
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
	read := func(data []byte) (map[string]int64, error) {
		p := newPages(path, bytes.NewReader(data), int64(len(data)))
		return p.found, p.read()
	}
	entries, err := read(whole)
	if err != nil || len(entries) == 0 {
		f.Fatal(entries, err)
	}
	f.Fuzz(func(t *testing.T, edits []byte, size uint32) {
		data := bytes.Clone(whole)
		for ; len(edits) >= 5; edits = edits[5:] {
			if at := binary.LittleEndian.Uint32(edits); int64(at) < int64(len(data)) {
				data[at] ^= edits[4]
			}
		}
		data = data[:min(int64(size), int64(len(data)))]
		got, err := read(data)
		damage := new(DamageError)
		switch {
		case errors.As(err, &damage):
			if damage.Offset < 0 || damage.Offset > int64(len(data)) || damage.What == "" {
				t.Fatalf("damage at %d: %q", damage.Offset, damage.What)
			}
		case err != nil && !errors.Is(err, errNoStore):
			t.Fatal(err)
		case err == nil && !maps.Equal(got, entries):
			t.Fatalf("%v of %v entries, and nothing is reported", got, entries)
		}
	})
}
