package toolchain

import (
	"encoding/binary"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// The offsets of values in the header of a dex file.
const (
	dexFileSize  = 32
	dexMethodIDs = 88
	dexClassDefs = 96
	dexHeader    = 112
)

// DexSize sums up the headers of dex files.
type DexSize struct {
	// Bytes is the sum of file_size, Methods that of method_ids_size, Classes that of class_defs_size.
	Bytes, Methods, Classes int64
}

// ReadDexSize returns the size of the dex files in a directory.
func ReadDexSize(t testing.TB, dir string) (size DexSize) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.dex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no dex file: %v", dir, err)
	}
	for _, file := range files {
		data := fixture.Read(t, file)
		if len(data) < dexHeader {
			t.Fatalf("%s: %d bytes are no dex file", file, len(data))
		}
		size.Bytes += int64(binary.LittleEndian.Uint32(data[dexFileSize:]))
		size.Methods += int64(binary.LittleEndian.Uint32(data[dexMethodIDs:]))
		size.Classes += int64(binary.LittleEndian.Uint32(data[dexClassDefs:]))
	}
	return size
}

// Inlined is what R8 wrote into its mapping about where methods are.
type Inlined struct {
	// Away has the methods that exist only in the code of others, Own those that are methods of their own, by their
	// original names with parameters.
	Away, Own map[string]bool
}

// AsBefore returns how many methods R8 had inlined away without tracegen, and how many of these are still no methods of
// their own.
func (in Inlined) AsBefore(plain Inlined) (kept, all int) {
	for name := range plain.Away {
		if !in.Own[name] {
			kept++
		}
	}
	return kept, len(plain.Away)
}

// methodLine is a line of a method in R8's mapping: its residual lines, its original name and parameters, and its
// residual name.
var methodLine = regexp.MustCompile(`^\s+(?:(\d+:\d+):)?\S+ ([^\s(]+\([^)]*\))[\d:]* -> (\S+)$`)

// ReadInlined reads R8's mapping. Of consecutive lines with the same residual lines and name, the last one is the
// method itself, and those before it are inlined into it.
func ReadInlined(t testing.TB, mapping string) Inlined {
	t.Helper()
	in := Inlined{Away: map[string]bool{}, Own: map[string]bool{}}
	frames := map[string]bool{} // all that are inlined somewhere
	var class, name, place string
	end := func(next string) {
		switch {
		case name == "":
		case next != "" && next == place:
			frames[name] = true
		default:
			in.Own[name] = true
		}
	}
	for line := range strings.Lines(fixture.Text(t, mapping)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		m := methodLine.FindStringSubmatch(line)
		next := ""
		if m != nil && m[1] != "" {
			next = m[1] + m[3]
		}
		end(next)
		name, place = "", next
		if m == nil {
			if !strings.HasPrefix(line, " ") {
				class, _, _ = strings.Cut(line, " -> ")
			}
			continue
		}
		if name = m[2]; !strings.Contains(name[:strings.IndexByte(name, '(')], ".") {
			name = class + "." + name
		}
	}
	end("")
	for name := range frames {
		if !in.Own[name] {
			in.Away[name] = true
		}
	}
	return in
}
