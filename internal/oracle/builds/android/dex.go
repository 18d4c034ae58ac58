package android

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
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
}

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
	n := 0
	for _, f := range z.File {
		if path.Ext(f.Name) != ".dex" {
			continue
		}
		n++
		file := filepath.Join(tmp, fmt.Sprintf("%d.dex", n))
		if err := extract(f, file); err != nil {
			return d, err
		}
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
	}
	if n == 0 {
		return d, fmt.Errorf("%s has no dex file", archive)
	}
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

func extract(f *zip.File, to string) error {
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
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
