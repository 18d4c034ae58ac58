package zipfile

import (
	"bytes"
	"slices"
	"strings"
)

// manifestName is the entry name of the manifest. The JDK also accepts it in other letter cases.
const manifestName = "META-INF/MANIFEST.MF"

const metaInf = "META-INF/"

// IsManifest reports whether name is the entry name of the manifest, META-INF/MANIFEST.MF, in any letter case.
func IsManifest(name string) bool { return strings.EqualFold(name, manifestName) }

// IsSignature reports whether an entry with this name is part of a jar's signature: a signature
// file, a signature block, or anything else that the JAR specification ("Signed JAR File") reserves
// for them, directly below META-INF/, in any letter case.
func IsSignature(name string) bool {
	if len(name) <= len(metaInf) || !strings.EqualFold(name[:len(metaInf)], metaInf) {
		return false
	}
	base := strings.ToUpper(name[len(metaInf):])
	if strings.Contains(base, "/") {
		return false
	}
	if strings.HasPrefix(base, "SIG-") {
		return true
	}
	for _, suffix := range []string{".SF", ".RSA", ".DSA", ".EC"} {
		if strings.HasSuffix(base, suffix) {
			return true
		}
	}
	return false
}

// MainAttributes returns the attributes of the main section of a jar's manifest, by name in lower case. It is empty if
// there is no manifest, or if it cannot be read.
func (a *Archive) MainAttributes() map[string]string {
	entries := a.Entries()
	i := slices.IndexFunc(entries, func(e Entry) bool { return IsManifest(e.Name) })
	if i < 0 {
		return nil
	}
	manifest, err := new(Codec).Read(&entries[i], nil)
	if err != nil {
		return nil
	}
	return mainAttributes(string(manifest[:nextSection(manifest, 0)]))
}

// mainAttributes returns the attributes of a section. A line that begins with a blank continues the line before.
func mainAttributes(section string) map[string]string {
	attributes := map[string]string{}
	section = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(section)
	for line := range strings.SplitSeq(strings.ReplaceAll(section, "\n ", ""), "\n") {
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		attributes[strings.ToLower(name)] = strings.TrimPrefix(value, " ")
	}
	return attributes
}

// StripDigests removes the digests that signing added to the per-entry sections of a manifest: those of changed
// classes are wrong, and without a signature none is used. A section that has nothing left but the entry's name is
// removed. All other bytes are kept: the main section, other attributes, line ends, folding. count is the number of
// attributes that were removed; if it is 0, the result is manifest itself, else a new slice.
func StripDigests(manifest []byte) (stripped []byte, count int) {
	var out []byte
	copied := 0 // manifest[:copied] has been copied to out or dropped
	drop := func(from, to int) {
		out = append(out, manifest[copied:from]...)
		copied = to
		if bytes.HasSuffix(out, []byte("\r")) && to < len(manifest) && manifest[to] == '\n' {
			// The line before ends in CR and an empty line in LF follows. Side by side they would be one line end, and
			// the section would go on: the line before gets the LF of the line that is removed.
			out = out[:len(out)-1]
			copied = to - 1
		}
	}
	// The main section has no digests of entries, even if its attributes have such names.
	for at := nextSection(manifest, 0); at < len(manifest); {
		next := nextSection(manifest, at)
		count += stripSection(manifest, at, next, drop)
		at = next
	}
	if count == 0 {
		return manifest, 0
	}
	return append(out, manifest[copied:]...), count
}

// stripSection calls drop for the parts of the section manifest[at:next] that must be removed, and returns the
// number of digests in it. A section that does not begin with Name is not about an entry and is kept.
func stripSection(manifest []byte, at, next int, drop func(from, to int)) int {
	type attribute struct{ from, to int }
	var digests []attribute
	others := 0
	first := true
	for pos := at; pos < next; {
		from := pos
		line := manifest[pos:next]
		n, text := cutLine(line)
		if len(text) == 0 {
			break
		}
		pos += n
		for pos < next && manifest[pos] == ' ' {
			n, _ := cutLine(manifest[pos:next])
			pos += n
		}
		name, _, _ := bytes.Cut(text, []byte(":"))
		switch {
		case first && !bytes.EqualFold(name, []byte("Name")):
			return 0
		case isDigest(string(name)):
			digests = append(digests, attribute{from, pos})
		case !first:
			others++
		}
		first = false
	}
	switch {
	case len(digests) == 0:
	case others == 0:
		drop(at, next)
	default:
		for _, d := range digests {
			drop(d.from, d.to)
		}
	}
	return len(digests)
}

// isDigest reports whether an attribute is one of those that jarsigner and older tools write into sections of
// entries: x-Digest, x-Digest-language, Digest-Algorithms.
func isDigest(attribute string) bool {
	name := strings.ToLower(attribute)
	return strings.HasSuffix(name, "-digest") || strings.Contains(name, "-digest-") || name == "digest-algorithms"
}

// nextSection returns the start of the section that follows the one at position at: it begins after the lines of
// that one and the empty lines behind them.
func nextSection(manifest []byte, at int) int {
	inside := true
	for at < len(manifest) {
		n, text := cutLine(manifest[at:])
		if len(text) == 0 {
			inside = false
		} else if !inside {
			break
		}
		at += n
	}
	return at
}

// cutLine returns the length of the first line of b, line end (CR LF, LF or CR) included, and its text without the
// line end.
func cutLine(b []byte) (n int, text []byte) {
	i := bytes.IndexAny(b, "\r\n")
	if i < 0 {
		return len(b), b
	}
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return i + 2, b[:i]
	}
	return i + 1, b[:i]
}
