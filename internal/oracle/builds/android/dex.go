package android

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// Dex is what dexdump found in the dex files of an APK or an app bundle.
type Dex struct {
	// Entries and Exits count the calls of the runtime.
	Entries, Exits int
	// Digest is the string that MappingInfo.digest returns, or empty if there is no such method. R8 may have put the
	// string into the callers.
	Digest string
	// Strings are all strings that a method loads and that look like a digest.
	Strings []string
	// ByFile counts the entry calls of each dex file, by its name in the archive.
	ByFile map[string]int
	// Hash is a SHA-256 of the dex files, in hexadecimal digits.
	Hash string
}

// matrixTwin is the class of the no-op runtime that forwards the calls of apps made for Matrix.
const matrixTwin = " com.tencent.matrix.trace.core.AppMethodBeat."

var hexDigest = regexp.MustCompile(`const-string v\d+, "([0-9a-f]{16})"`)

// ReadDex returns the calls in the dex files of an archive. The runtime's class must have its name. The test cannot go
// on without dexdump.
func ReadDex(t testing.TB, archive string) Dex {
	t.Helper()
	dexdump, err := exec.LookPath("dexdump")
	if err != nil {
		oracle.Require(t, fmt.Errorf("no dexdump on PATH: %w", oracle.ErrMissing))
	}
	d := Dex{ByFile: map[string]int{}}
	sum := sha256.New()
	entries := fixture.Unpack(t, fixture.Read(t, archive))
	slices.SortFunc(entries, func(a, b fixture.Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if path.Ext(e.Name) != ".dex" {
			continue
		}
		sum.Write([]byte(e.Data))
		before := d.Entries
		cmd := exec.CommandContext(t.Context(), dexdump, "-d", fixture.Write(t, filepath.Join(t.TempDir(), "a.dex"), e.Data))
		out, err := cmd.StdoutPipe()
		oracle.Require(t, err)
		oracle.Require(t, cmd.Start())
		d.read(out)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("dexdump of %s: %v", e.Name, err)
		}
		d.ByFile[e.Name] = d.Entries - before
	}
	if len(d.ByFile) == 0 {
		t.Fatalf("%s has no dex file", archive)
	}
	d.Hash = hex.EncodeToString(sum.Sum(nil))
	return d
}

func (d *Dex) read(from io.Reader) {
	s := bufio.NewScanner(from)
	s.Buffer(nil, 1<<20)
	method := ""
	for s.Scan() {
		line := s.Text()
		if _, name, ok := strings.Cut(line, "|["); ok {
			method = name
		}
		switch {
		case strings.Contains(method, matrixTwin):
		case strings.Contains(line, "Ldev/tracegen/runtime/AppMethodBeat;.i:(I)V"):
			d.Entries++
		case strings.Contains(line, "Ldev/tracegen/runtime/AppMethodBeat;.o:(I)V"):
			d.Exits++
		default:
			if m := hexDigest.FindStringSubmatch(line); m != nil {
				d.Strings = append(d.Strings, m[1])
				if strings.Contains(method, "MappingInfo.digest") {
					d.Digest = m[1]
				}
			}
		}
	}
}
