package mappingstore

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/glob"
)

// Kind is a kind of file of a release.
type Kind string

// The kinds of files.
const (
	Mapping Kind = "mapping" // the method mapping
	R8      Kind = "r8"      // the mapping of R8 or ProGuard
	Lines   Kind = "lines"   // lines.tsv of instrument --reports
)

// Kinds returns all kinds, in the order in which lists show them.
func Kinds() []Kind { return []Kind{Mapping, R8, Lines} }

// Release is one entry of an archive, as its name describes it.
type Release struct {
	Digest  string    // of the mapping, 16 hexadecimal digits
	Version string    // "" if none was given
	Variant string    // likewise
	Pushed  time.Time // UTC, with a precision of milliseconds
	// ID identifies what was pushed: the content of the files, version and variant.
	ID  string
	sum string // the begin of the SHA-256 of the JSON
}

// Details are what the file of a release contains beyond its name.
type Details struct {
	// Format is the version of the JSON. Digest, Version and Variant are as in the name of the release. Commit is what
	// earlier versions of tracegen kept; it is a part of the ID of their releases.
	Format  int    `json:"format"`
	Digest  string `json:"digest"`
	Version string `json:"version"`
	Variant string `json:"variant"`
	Commit  string `json:"commit,omitempty"`
	// Files are in the order of Kinds.
	Files []File `json:"files"`
}

// File is a file of a release.
type File struct {
	// Kind says whether it is the mapping, or what belongs to it. Size is in bytes, uncompressed.
	Kind   Kind  `json:"kind"`
	Size   int64 `json:"size"`
	SHA256 Sum   `json:"sha256"`
	// Stored is the number of bytes of the object with the file.
	Stored int64  `json:"stored"`
	object string // the name of the object; set by Archive.Details
}

// Sum is a SHA-256.
type Sum [sha256.Size]byte

func sumOf(data []byte) Sum { return sha256.Sum256(data) }

// String returns the sum in hexadecimal.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(text []byte) error {
	if len(text) != 2*len(s) {
		return errors.New("a SHA-256 has 64 digits")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

const (
	// maxFile is the size in bytes up to which files are stored. It is that of a mapping (package mapping).
	maxFile        = 1 << 30
	manifestFormat = 2
	maxManifest    = 1 << 20
	releases       = "releases/"
	objectsDir     = "objects/"
	releaseSuffix  = ".json"
	timeLayout     = "20060102T150405.000Z"
	// maxNamed is the length in bytes of version and variant together, as they are written in a name. File systems limit
	// names to 255 bytes.
	maxNamed = 150
	idLength = 16
)

// object returns the name in the store of a file of the release.
func (r *Release) object(kind Kind) string { return objectsDir + r.ID + "." + string(kind) + ".zst" }

// File returns the entry of a kind, or nil.
func (m *Details) File(kind Kind) *File {
	for i := range m.Files {
		if m.Files[i].Kind == kind {
			return &m.Files[i]
		}
	}
	return nil
}

// id returns the ID of the release.
func (m *Details) id() string {
	type content struct {
		Kind   Kind
		SHA256 Sum
	}
	var files []content
	for _, f := range m.Files {
		files = append(files, content{f.Kind, f.SHA256})
	}
	// Strings cannot fail.
	data, _ := json.Marshal([]any{m.Digest, m.Version, m.Variant, m.Commit, files})
	return sumOf(data).String()[:idLength]
}

var (
	hexDigits = glob.Regexp(`^[0-9a-f]{16}$`)
	hexPrefix = glob.Regexp(`^[0-9a-f]{4,16}$`)
)

// check returns an error if the JSON is not what Push writes.
func (m *Details) check() error {
	if m.Format != manifestFormat {
		return fmt.Errorf("it has format %d: it is of another version of tracegen; use that version", m.Format)
	}
	if !hexDigits().MatchString(m.Digest) || m.File(Mapping) == nil {
		return errors.New("it has no mapping")
	}
	seen := map[Kind]bool{}
	for _, f := range m.Files {
		if seen[f.Kind] || f.Size < 0 || f.Size > maxFile || !slices.Contains(Kinds(), f.Kind) {
			return fmt.Errorf("the entry of the file %q is not valid", f.Kind)
		}
		seen[f.Kind] = true
	}
	return nil
}

// parseManifest parses and checks the content of a release.
func parseManifest(data []byte) (*Details, error) {
	if len(data) > maxManifest {
		return nil, errors.New("it is larger than 1 MiB")
	}
	m := new(Details)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, err
	}
	return m, m.check()
}

// encode returns the JSON.
func (m *Details) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// path returns the name of the release in the store.
func (r *Release) path() string {
	return releases + strings.Join([]string{r.Digest, r.Pushed.UTC().Format(timeLayout), r.ID, r.sum,
		escape(r.Version), escape(r.Variant)}, "~") + releaseSuffix
}

// parseRelease parses the name of a release; ok is false for other files.
func parseRelease(path string) (r Release, ok bool) {
	name, isRelease := strings.CutPrefix(path, releases)
	name, isJSON := strings.CutSuffix(name, releaseSuffix)
	parts := strings.Split(name, "~")
	if !isRelease || !isJSON || len(parts) != 6 {
		return r, false
	}
	at, err := time.Parse(timeLayout, parts[1])
	version, ok1 := unescape(parts[4])
	variant, ok2 := unescape(parts[5])
	r = Release{Digest: parts[0], Version: version, Variant: variant, Pushed: at, ID: parts[2], sum: parts[3]}
	return r, err == nil && ok1 && ok2 && hexDigits().MatchString(r.Digest) && hexDigits().MatchString(r.ID) &&
		hexDigits().MatchString(r.sum) && r.path() == path
}

// plain reports whether a byte of a version or variant stands for itself in a name.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(".-_+", c) >= 0
}

const digits = "0123456789ABCDEF"

func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'=', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// unescape is the inverse of escape; it accepts nothing that escape does not return.
func unescape(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '=' {
			if i+2 >= len(text) {
				return "", false
			}
			high, low := strings.IndexByte(digits, text[i+1]), strings.IndexByte(digits, text[i+2])
			if high < 0 || low < 0 || plain(byte(high<<4|low)) {
				return "", false
			}
			c, i = byte(high<<4|low), i+2
		} else if !plain(c) {
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// checkNames returns an error if version and variant cannot stand in a name.
func checkNames(version, variant string) error {
	if !utf8.ValidString(version) || !utf8.ValidString(variant) {
		return errors.New("version and variant must be UTF-8")
	}
	if n := len(escape(version)) + len(escape(variant)); n > maxNamed {
		return fmt.Errorf("version and variant have %d bytes together, in which bytes other than letters, digits and .-_+ "+
			"count three times; at most %d are possible: shorten them", n, maxNamed)
	}
	return nil
}

// Selector selects releases. An empty field selects all.
type Selector struct {
	Digest  string // or its begin, of at least 4 digits
	Version string
	Variant string
}

func (s *Selector) check() error {
	if s.Digest != "" && !hexPrefix().MatchString(s.Digest) {
		return fmt.Errorf("digest %q: must have 16 hexadecimal digits in lower case, or be the begin of such a digest with "+
			"at least 4", s.Digest)
	}
	return nil
}

// String returns the selector for messages: "version 1.2, variant release".
func (s Selector) String() string {
	var parts []string
	for _, p := range [][2]string{{"digest", s.Digest}, {"version", s.Version}, {"variant", s.Variant}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	return strings.Join(parts, ", ")
}

// names reports whether the selector selects the release.
func (s *Selector) names(r *Release) bool {
	return strings.HasPrefix(r.Digest, s.Digest) && (s.Version == "" || s.Version == r.Version) &&
		(s.Variant == "" || s.Variant == r.Variant)
}

// compareReleases orders releases from the latest to the first.
func compareReleases(a, b Release) int {
	return cmp.Or(b.Pushed.Compare(a.Pushed), strings.Compare(a.path(), b.path()))
}
