package artifact

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// plainBundle is of examples/android-feature without tracegen, as Android's plugin 8.13.2 made it, but for the feature,
// resources, and the mapping of libraries.
const plainBundle = "testdata/plain.aab"

const baseDex = "base/dex/classes.dex"

// entries returns the entries of the bundle by name.
func entries(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range fixture.Unpack(t, fixture.Read(t, plainBundle)) {
		all[e.Name] = e.Data
	}
	return all
}

// bundle writes a bundle of entries and returns its file.
func bundle(t testing.TB, of map[string]string) string {
	t.Helper()
	return fixture.Write(t, filepath.Join(t.TempDir(), "app.aab"), fixture.ZipOf(t, of))
}

func mustRead(t testing.TB, file string) *Artifact {
	t.Helper()
	a, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// profileOf writes a profile as Android's plugin does. Methods with odd numbers are hot, others are used at the start,
// or later if their number is a multiple of four.
func profileOf(t testing.TB, checksum uint32, references, classes int, methods ...uint16) string {
	t.Helper()
	le := binary.LittleEndian
	var hot []byte
	bits := make([]byte, (2*references+7)/8)
	last := uint16(0)
	for _, m := range methods {
		bit := int(m)
		switch {
		case m%2 == 1:
			hot = le.AppendUint16(le.AppendUint16(hot, m-last), 0)
			last = m
			continue
		case m%4 == 0:
			bit += references
		}
		bits[bit/8] |= 1 << (bit % 8)
	}
	body := le.AppendUint16(nil, uint16(len("classes.dex")))
	body = le.AppendUint16(body, uint16(classes))
	body = le.AppendUint32(body, uint32(len(hot)))
	body = le.AppendUint32(body, checksum)
	body = le.AppendUint32(body, uint32(references))
	body = append(append(body, "classes.dex"...), hot...)
	for i := range classes {
		body = le.AppendUint16(body, uint16(min(i, 1)))
	}
	body = append(body, bits...)
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	head := append([]byte(profileHead), 1)
	head = le.AppendUint32(head, uint32(len(body)))
	head = le.AppendUint32(head, uint32(deflated.Len()))
	return string(head) + deflated.String()
}

// TestRead reads what dexdump and unzip show of the same bundle.
func TestRead(t *testing.T) {
	a := mustRead(t, plainBundle)
	if a.DexFiles != 1 || a.DexBytes != 2844 || a.Classes != 6 || a.Methods != 12 || a.References != 27 {
		t.Errorf("dex files: %+v", a)
	}
	if s := a.Shares; s == nil || *s != (Shares{Optimized: 95.87, Shrunk: 95.87, Obfuscated: 95.87}) {
		t.Errorf("shares: %+v", s)
	}
	if p := a.Profile; p == nil || p.Bytes != 71 || p.Methods != 4 || p.Classes != 3 {
		t.Errorf("profile: %+v", p)
	}
}

// TestLost compares the profile of the bundle with others: of the same, of one that has no rules any more, of one whose
// mapping knows a method by another name, and of another dex file.
func TestLost(t *testing.T) {
	plain := mustRead(t, plainBundle)
	var checksum uint32
	for checksum = range plain.byChecks {
	}
	methods := func(a *Artifact) (numbers []uint16) {
		for i, is := range a.Profile.lines[0].methods {
			if is {
				numbers = append(numbers, uint16(i))
			}
		}
		return numbers
	}
	all := methods(plain)
	for _, c := range []struct {
		name    string
		change  func(of map[string]string)
		unnamed []string
		gone    int
		unknown bool
	}{
		{"the same", func(map[string]string) {}, nil, 0, false},
		{"the same, written here", func(of map[string]string) {
			of[bundleProfile] = profileOf(t, checksum, 27, 3, all...)
		}, nil, 0, false},
		{"one method less", func(of map[string]string) {
			of[bundleProfile] = profileOf(t, checksum, 27, 3, all[:3]...)
		}, []string{"MainActivity lambda$onCreate$0"}, 0, false},
		{"no profile", func(of map[string]string) { delete(of, bundleProfile) },
			[]string{"MainActivity <init>", "MainActivity lambda$onCreate$0", "MainActivity onCreate"}, 0, false},
		{"another name", func(of map[string]string) {
			of[r8Mapping] = strings.ReplaceAll(of[r8Mapping], "void onCreate(android", "void started(android")
		}, nil, 1, false},
		{"no mapping", func(of map[string]string) { delete(of, r8Mapping) }, nil, 0, true},
		{"a profile of another dex file", func(of map[string]string) {
			of[bundleProfile] = profileOf(t, checksum+1, 27, 3, all...)
		}, nil, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := entries(t)
			c.change(of)
			loss, err := mustRead(t, bundle(t, of)).Lost(plain)
			if c.unknown {
				if !errors.Is(err, ErrNoNames) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var unnamed []string
			for _, m := range loss.Unnamed {
				unnamed = append(unnamed, m.Class[strings.LastIndex(m.Class, "/")+1:]+" "+m.Name)
			}
			if !slices.Equal(unnamed, c.unnamed) || loss.Gone != c.gone {
				t.Errorf("unnamed %q and %d gone, want %q and %d", unnamed, loss.Gone, c.unnamed, c.gone)
			}
		})
	}
}

// TestDamaged reads every part of a dex file and of a profile: each is an error, and none a panic. What is wrong inside
// is found too.
func TestDamaged(t *testing.T) {
	of := entries(t)
	for n := range len(of[bundleProfile]) {
		if _, err := parseProfile(of[bundleProfile][:n]); !errors.Is(err, errProfile) {
			t.Errorf("%d bytes of a profile: %v", n, err)
		}
	}
	for n := range len(of[baseDex]) {
		d, err := parseDex(of[baseDex][:n])
		for i := 0; err == nil && i < d.methods.count; i++ {
			_, err = d.method(i)
		}
		if err != nil && !errors.Is(err, errDex) {
			t.Errorf("%d bytes of a dex file: %v", n, err)
		}
	}
	for _, c := range []struct{ name, data, text string }{
		{"a new version", strings.Replace(of[baseDex], "dex\n035", "dex\n041", 1), `version "041"`},
		{"a table beyond the end", of[baseDex][:0x58] + "\xFF\xFF\xFF\xFF" + of[baseDex][0x5C:], "beyond its end"},
		{"no dex file", strings.Repeat("x", dexHeader), "does not begin as one"},
	} {
		if _, err := parseDex(c.data); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct{ name, entry, content, text string }{
		{"no dex file", "", "", "give an app bundle or an APK"},
		{"metadata", r8Metadata, "{", r8Metadata},
		{"mapping", r8Mapping, "x", r8Mapping},
		{"profile", apkProfile, "x", apkProfile},
	} {
		all := map[string]string{"a": "a"}
		if c.entry != "" {
			all[baseDex], all[c.entry] = of[baseDex], c.content
		}
		file := bundle(t, all)
		if _, err := Read(file); err == nil || !strings.Contains(err.Error(), c.text) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if a := mustRead(t, bundle(t, map[string]string{baseDex: of[baseDex], r8Metadata: `{"version": "8.9.1"}`,
		"assets/x.dex": "no code"})); a.Shares != nil || a.DexFiles != 2 {
		t.Errorf("metadata without shares, and data that ends in .dex: %+v", a)
	}
}

// TestRepeatedNames: a dex file in which all methods have the same long name takes no more memory than others.
func TestRepeatedNames(t *testing.T) {
	d, err := parseDex(entries(t)[baseDex])
	if err != nil {
		t.Fatal(err)
	}
	d.names = d.highestNames
	if _, err := d.method(0); err == nil || !strings.Contains(err.Error(), "longer than the file") {
		t.Errorf("error %v", err)
	}
}

// FuzzRead reads any archive. What is counted must fit into the file, and comparing a file with itself loses nothing.
func FuzzRead(f *testing.F) {
	data := fixture.Read(f, plainBundle)
	of := entries(f)
	f.Add(data, []byte(of[baseDex]), []byte(of[bundleProfile]))
	f.Add(data[:100], []byte(of[baseDex])[:500], []byte(profileOf(f, 1, 9, 2, 1, 2, 8)))
	f.Fuzz(func(t *testing.T, archived, code, profile []byte) {
		if archive, err := zipfile.New("app.aab", archived); err == nil {
			if a, err := read(archive); err == nil {
				if loss, err := a.Lost(a); err == nil && (loss.Gone != 0 || len(loss.Unnamed) != 0) {
					t.Errorf("a file has lost %+v of itself", loss)
				}
			}
		}
		if d, err := parseDex(string(code)); err == nil {
			if d.count() > d.methods.count || 8*d.methods.count > len(code) {
				t.Errorf("%d bytes define %d of %d methods", len(code), d.count(), d.methods.count)
			}
			for i := range d.methods.count {
				if m, err := d.method(i); err == nil && len(m.Class)+len(m.Name) > d.highestNames {
					t.Errorf("method %d has a name of %d bytes", i, len(m.Class)+len(m.Name))
				}
			}
		}
		if p, err := parseProfile(string(profile)); err == nil && p.Methods > 255<<16 {
			t.Errorf("a profile names %d methods", p.Methods)
		}
	})
}
