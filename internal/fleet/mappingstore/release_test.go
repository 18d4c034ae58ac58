package mappingstore

import (
	"strings"
	"testing"
	"time"
)

func TestReleaseNames(t *testing.T) {
	at := time.Date(2026, 11, 22, 16, 34, 24, 123e6, time.UTC)
	for _, version := range []string{"", "1.2", "1.2.3-RC1+7_x", "1.0 (β)~/..", "a=b", "%41", "\x00\n", "..", "CON", "日本",
		strings.Repeat("1", maxNamed)} {
		if err := checkNames(version, ""); err != nil {
			t.Errorf("%q: %v", version, err)
		}
		r := Release{Digest: "0123456789abcdef", Version: version, Variant: "x/y~z", Pushed: at, ID: "00112233445566aa",
			sum: "ffeeddccbbaa9988"}
		path := r.path()
		name := strings.TrimPrefix(path, releases)
		if strings.ContainsAny(name, "/\\:*?\"<>|% ") || len(name) > 255 {
			t.Errorf("%q: the name %q is not one for every file system", version, name)
		}
		if got, ok := parseRelease(path); !ok || got != r {
			t.Errorf("%q: %+v, %v", path, got, ok)
		}
	}
	for _, version := range []string{strings.Repeat("1", maxNamed+1), strings.Repeat("ä", 26), "\xff"} {
		if checkNames(version, "") == nil {
			t.Errorf("%q is accepted", version)
		}
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"format":2,"digest":"0123456789abcdef","files":[{"kind":"mapping","size":1,"sha256":"` +
		strings.Repeat("0", 64) + `","stored":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		if m.File(Mapping) == nil {
			t.Fatal("accepted without a mapping")
		}
		m.id()
	})
}

func TestLocations(t *testing.T) {
	for _, location := range []string{"", "s3://", "s3:///x", "s3://key:secret@b/x", "s3://b?endpoint=http://h"} {
		if _, err := Open(location, nil); err == nil || strings.Contains(err.Error(), "secret@b: ") {
			t.Errorf("%s: %v", location, err)
		}
	}
	for _, endpoint := range []string{"ftp://h", "http://u:p@h"} {
		t.Setenv("AWS_ENDPOINT_URL", endpoint)
		if _, err := Open("s3://b", nil); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// FuzzObject reads any bytes as a file of a release.
func FuzzObject(f *testing.F) {
	text := []byte("a\nb\nc\n")
	data, err := compress(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Add([]byte("x"))
	of := File{Size: int64(len(text)), SHA256: sumOf(text)}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := of.inflate(data); err == nil && string(got) != string(text) {
			t.Fatalf("%q, want %q", got, text)
		}
	})
}

// FuzzNames reads any text as the path of a release.
func FuzzNames(f *testing.F) {
	f.Add("releases/0123456789abcdef~20261122T163424.123Z~00112233445566aa~ffeeddccbbaa9988~1.2~release.json")
	f.Add("releases/0123456789abcdef~20261122T163424.123Z~00112233445566aa~ffeeddccbbaa9988~=20~=7E.json")
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := parseRelease(text); ok && r.path() != text {
			t.Fatalf("%q is read as %q", text, r.path())
		}
	})
}
