package zipfile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIsSignature(t *testing.T) {
	for name, want := range map[string]bool{
		"META-INF/CERT.SF": true, "META-INF/CERT.RSA": true, "META-INF/CERT.DSA": true, "META-INF/CERT.EC": true,
		"meta-inf/cert.sf": true, "Meta-Inf/x.Ec": true, "META-INF/.SF": true, "META-INF/SIG-X": true,
		"META-INF/sig-a.b":     true,
		"META-INF/MANIFEST.MF": false, "META-INF/sub/CERT.SF": false, "META-INF/CERT.SF/": false, "META-INF/SF": false,
		"META-INF/CERTSF": false, "META-INF/": false, "META-INF": false, "CERT.SF": false, "x/META-INF/CERT.SF": false,
		"META-INF/SIGNATURE": false, "META-INF\\CERT.SF": false, "": false, "META-INF/ecj.ECJ": false,
	} {
		if got := IsSignature(name); got != want {
			t.Errorf("IsSignature(%q) = %v", name, got)
		}
	}
}

func TestIsManifest(t *testing.T) {
	for name, want := range map[string]bool{"META-INF/MANIFEST.MF": true, "meta-inf/manifest.mf": true,
		"META-INF/MANIFEST.MF/": false, "MANIFEST.MF": false} {
		if got := IsManifest(name); got != want {
			t.Errorf("IsManifest(%q) = %v", name, got)
		}
	}
}

// manifests are written with \n; the test runs each with all three line ends.
var manifests = []struct {
	name  string
	in    string
	want  string
	count int
}{
	{"empty", "", "", 0},
	{"main section only", "Manifest-Version: 1.0\nSHA-256-Digest: main\n\n",
		"Manifest-Version: 1.0\nSHA-256-Digest: main\n\n", 0},
	{"one section goes", "Manifest-Version: 1.0\n\nName: a\nSHA-256-Digest: x=\n\n", "Manifest-Version: 1.0\n\n", 1},
	{"no empty line at the end", "Manifest-Version: 1.0\n\nName: a\nSHA-256-Digest: x=\n", "Manifest-Version: 1.0\n\n",
		1},
	{"no line end at the end", "Manifest-Version: 1.0\n\nName: a\nSHA-256-Digest: x=", "Manifest-Version: 1.0\n\n", 1},
	{"several, one with more to say",
		"Main: x\n\nName: a\nSHA1-Digest: x=\nMD5-Digest: y=\n\nName: pkg/\nSHA1-Digest: x=\n" +
			"Sealed: true\n\nName: c\nSHA1-Digest: z=\n\n",
		"Main: x\n\nName: pkg/\nSealed: true\n\n", 4},
	{"order inside a section", "M: x\n\nName: pkg/\nA: 1\nSHA1-Digest: x\nB: 2\n\n",
		"M: x\n\nName: pkg/\nA: 1\nB: 2\n\n", 1},
	{"folded name and digest",
		"M: x\n\nName: a/very/long/na\n me\nSHA-512-Digest: 0123456\n 789abcdef\n ghi\n\n" +
			"Name: kept/very/lo\n ng\nSHA-512-Digest: 01\n 23\nX: y\n z\n\n",
		"M: x\n\nName: kept/very/lo\n ng\nX: y\n z\n\n", 2},
	{"section that only names", "M: x\n\nName: a\n\nName: b\nSHA1-Digest: x\n\n", "M: x\n\nName: a\n\n", 1},
	{"many empty lines", "M: x\n\n\n\nName: a\nSHA1-Digest: x\n\n\nName: b\nX: y\n\n\n",
		"M: x\n\n\n\nName: b\nX: y\n\n\n", 1},
	{"empty lines first", "\n\nM: x\n\nName: a\nSHA1-Digest: x\n", "\n\nM: x\n\n", 1},
	{"letter case, languages, old Netscape",
		"M: x\n\nname: a\nsha1-DIGEST: x\nSHA1-Digest-de: y\nDigest-Algorithms: SHA1 MD5\n\n", "M: x\n\n", 3},
	{"not a digest", "M: x\n\nName: a\nDigest: x\nMy-Digestion: y\nDigested-By: z\n\n",
		"M: x\n\nName: a\nDigest: x\nMy-Digestion: y\nDigested-By: z\n\n", 0},
	{"not of an entry", "M: x\n\nFoo: a\nSHA1-Digest: x\n\n", "M: x\n\nFoo: a\nSHA1-Digest: x\n\n", 0},
	{"without a colon", "M: x\n\nName: a\nnonsense\nSHA1-Digest: x\n\n", "M: x\n\nName: a\nnonsense\n\n", 1},
	{"starts with a continuation", "M: x\n\n Name: a\nSHA1-Digest: x\n", "M: x\n\n Name: a\nSHA1-Digest: x\n", 0},
}

func TestStripDigests(t *testing.T) {
	for _, test := range manifests {
		for end, eol := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
			t.Run(test.name+"/"+end, func(t *testing.T) {
				in, want := strings.ReplaceAll(test.in, "\n", eol), strings.ReplaceAll(test.want, "\n", eol)
				given := []byte(in)
				got, count := StripDigests(given)
				if diff := cmp.Diff(want, string(got)); diff != "" || count != test.count {
					t.Errorf("%d attributes, want %d\n%s", count, test.count, diff)
				}
				if string(given) != in {
					t.Error("the input was changed")
				}
			})
		}
	}
}

// mixedLineEnds is a manifest in which the line before a digest ends in CR, and the one behind it is empty.
const mixedLineEnds = "\n\nName: a\nKept: x\rMD5-Digest: y=\nSHA-Digest: z=\n\nName: b\nKept: y\n\n"

// TestStripDigestsKeepsEmptyLine removes digests between CR and LF: side by side these were one line end, and two
// sections became one.
func TestStripDigestsKeepsEmptyLine(t *testing.T) {
	const want = "\n\nName: a\nKept: x\n\nName: b\nKept: y\n\n"
	got, count := StripDigests([]byte(mixedLineEnds))
	if diff := cmp.Diff(want, string(got)); diff != "" || count != 2 {
		t.Errorf("%d attributes, want 2\n%s", count, diff)
	}
}

func FuzzStripDigests(f *testing.F) {
	for _, m := range manifests {
		f.Add([]byte(m.in))
		f.Add([]byte(strings.ReplaceAll(m.in, "\n", "\r\n")))
	}
	f.Add([]byte(mixedLineEnds))
	f.Fuzz(func(t *testing.T, in []byte) {
		given := bytes.Clone(in)
		got, count := StripDigests(in)
		if !bytes.Equal(given, in) {
			t.Fatal("the input was changed")
		}
		if count == 0 {
			if !bytes.Equal(got, in) {
				t.Fatal("nothing to strip, and other bytes")
			}
			return
		}
		if len(got) >= len(in) || !isSubsequence(got, in) {
			t.Fatalf("%q became %q", in, got)
		}
		if again, n := StripDigests(got); n != 0 {
			t.Fatalf("%q became %q, and that %q", in, got, again)
		}
		if main := nextSection(in, 0); !bytes.HasPrefix(got, in[:main]) {
			t.Fatal("the main section was changed")
		}
	})
}

func isSubsequence(short, long []byte) bool {
	for _, c := range short {
		i := bytes.IndexByte(long, c)
		if i < 0 {
			return false
		}
		long = long[i+1:]
	}
	return true
}
