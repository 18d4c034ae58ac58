package jar

import (
	"bytes"
	"strings"
)

// ManifestName is the manifest's entry name. The JDK also accepts other letter cases.
const ManifestName = "META-INF/MANIFEST.MF"

const metaInf = "META-INF/"

// IsManifest reports whether name is the manifest's, in any letter case.
func IsManifest(name string) bool { return strings.EqualFold(name, ManifestName) }

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

// StripDigests takes the digests that signing left in a manifest out of its per-entry sections: a
// class that was changed no longer matches its own, and a signature that goes leaves them without a
// meaning. A section which then names an entry and says nothing about it goes as a whole. All other
// bytes stay as they were: the main section, other attributes, line ends, folding. It returns how
// many attributes went; with 0 the result is manifest itself, else a new slice.
func StripDigests(manifest []byte) (stripped []byte, count int) {
	var out []byte
	copied := 0 // manifest[:copied] is in out, or was dropped
	drop := func(from, to int) {
		out = append(out, manifest[copied:from]...)
		copied = to
	}
	// The main section has no digests of entries, whatever its attributes are called.
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

// stripSection calls drop for what has to go from the section manifest[at:next], and returns the
// number of digests in it. A section that does not begin with Name is none of an entry's.
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

// isDigest knows the attributes that jarsigner and its forerunners write into sections of entries:
// x-Digest, x-Digest-language, Digest-Algorithms.
func isDigest(attribute string) bool {
	name := strings.ToLower(attribute)
	return strings.HasSuffix(name, "-digest") || strings.Contains(name, "-digest-") || name == "digest-algorithms"
}

// nextSection returns where the section behind the one that starts at at begins: after the lines of
// this one and the empty lines that close it.
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

// cutLine returns the length of the first line of b with its end (CR LF, LF or CR) and its text
// without.
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
