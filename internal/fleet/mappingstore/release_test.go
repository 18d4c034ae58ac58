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
	f.Add([]byte(`{"format":1,"digest":"0123456789abcdef","files":[{"kind":"mapping","size":1,"sha256":"` +
		strings.Repeat("0", 64) + `","stored":1,"objects":[{"name":"` + strings.Repeat("1", 64) + `","size":1}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		if m.file(Mapping) == nil || len(m.file(Mapping).Objects) == 0 {
			t.Fatal("accepted without a mapping")
		}
		m.id()
	})
}

func TestReferences(t *testing.T) {
	t.Setenv(Variable, "s3://builds/app?region=eu-west-1")
	for text, want := range map[string]string{
		"s3://b/p":                                "s3://b/p",
		"s3://b/p?latest":                         "s3://b/p selects",
		"s3://b/p?version=1.2&variant=release":    "s3://b/p selects version 1.2, variant release",
		"s3://b/p?version=1%2B2%261&label=app=x":  "s3://b/p selects version 1+2&1, label app=x",
		"s3://b?endpoint=http://h:1&digest=0123a": "s3://b?endpoint=http%3A%2F%2Fh%3A1 selects digest 0123a",
		"archive:dir/x?variant=r&optional":        "dir/x selects variant r optional",
		"archive:s3://b/p?latest":                 "s3://b/p selects",
		"archive:":                                "s3://builds/app?region=eu-west-1",
		"archive:?variant=r":                      "s3://builds/app?region=eu-west-1 selects variant r",
	} {
		r, err := ParseReference(text)
		got := r.Location
		if r.Selects {
			got += strings.TrimRight(" selects "+r.Selector.String(), " ")
		}
		if r.Optional {
			got += " optional"
		}
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"mapping.txt":                      "does not begin with",
		"s3://b?versoin=1":                 "unknown key",
		"s3://b?digest=xyz":                "hexadecimal",
		"s3://b?version=1&version=2":       "2 times",
		"s3://b?label=x":                   "KEY=VALUE",
		"archive:dir?region=x":             "s3:// alone",
		"s3://b?version=%zz":               "%zz",
		"s3://b?endpoint=http://u:p@h&x=1": "unknown key",
	} {
		_, err := ParseReference(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%v has the password", err)
		}
	}
	for _, location := range []string{"s3://", "s3:///x", "s3://key:secret@b/x", "s3://b?endpoint=ftp://h",
		"s3://b?endpoint=http://u:p@h"} {
		_, err := Open(t.Context(), location, Options{})
		if err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", location, err)
		}
	}
	t.Setenv(Variable, "")
	if _, err := ParseReference("archive:?latest"); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("without the variable: %v", err)
	}
}

// FuzzNames reads any text as the path of a release and as a reference.
func FuzzNames(f *testing.F) {
	f.Add("releases/0123456789abcdef~20261122T163424.123Z~00112233445566aa~ffeeddccbbaa9988~1.2~release.json")
	f.Add("releases/0123456789abcdef~20261122T163424.123Z~00112233445566aa~ffeeddccbbaa9988~=20~=7E.json")
	f.Add("s3://b/p?version=1.2&variant=release&label=a=b")
	f.Add("archive:x?optional")
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := parseRelease(text); ok && r.path() != text {
			t.Fatalf("%q is read as %q", text, r.path())
		}
		if r, err := ParseReference(text); err == nil && (r.Location == "" || r.Selector.check() != nil) {
			t.Fatalf("%q: %+v", text, r)
		}
	})
}
