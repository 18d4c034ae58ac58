package android

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/oracle"
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

// ReadDex returns the calls in the dex files of an archive. The runtime's class must have its name. The error wraps
// [oracle.ErrMissing] if there is no dexdump.
func ReadDex(ctx context.Context, archive string) (Dex, error) {
	var d Dex
	dexdump, err := exec.LookPath("dexdump")
	if err != nil {
		return d, fmt.Errorf("no dexdump on PATH: %w", oracle.ErrMissing)
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		return d, err
	}
	defer z.Close()
	tmp, err := os.MkdirTemp("", "dex-")
	if err != nil {
		return d, err
	}
	defer os.RemoveAll(tmp)
	d.ByFile = map[string]int{}
	sum := sha256.New()
	files := slices.SortedFunc(slices.Values(z.File), func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		if path.Ext(f.Name) != ".dex" {
			continue
		}
		file := filepath.Join(tmp, fmt.Sprintf("%d.dex", len(d.ByFile)))
		if err := extract(f, sum, file); err != nil {
			return d, err
		}
		before := d.Entries
		cmd := exec.CommandContext(ctx, dexdump, "-d", file)
		out, err := cmd.StdoutPipe()
		if err != nil {
			return d, err
		}
		if err := cmd.Start(); err != nil {
			return d, err
		}
		d.read(out)
		if err := cmd.Wait(); err != nil {
			return d, fmt.Errorf("dexdump of %s: %w", f.Name, err)
		}
		d.ByFile[f.Name] = d.Entries - before
	}
	if len(d.ByFile) == 0 {
		return d, fmt.Errorf("%s has no dex file", archive)
	}
	d.Hash = hex.EncodeToString(sum.Sum(nil))
	return d, nil
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

// extract writes an entry to the file to, and its content to also.
func extract(f *zip.File, also io.Writer, to string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(io.MultiWriter(out, also), in); err != nil {
		return err
	}
	return out.Close()
}
