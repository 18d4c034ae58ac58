package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// documents returns the files beside the binary, which are copied.
func documents() []string { return []string{"CHANGELOG.md", "LICENSE", "README.md"} }

// licenceFile is the name of the file with the licences of all modules in the binary.
const licenceFile = "LICENSES-OF-MODULES.txt"

// made is the time of all files in archives: the first that a zip archive can have.
func made() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// packed is a file of an archive.
type packed struct {
	name string
	mode os.FileMode
	data []byte
}

// archive writes the archive of a platform.
func (r *release) archive(b *binary, modules []module) error {
	var licences bytes.Buffer
	fmt.Fprintf(&licences, "tracegen %s for %s contains code of these modules.\n\n", r.version, b.platform)
	for _, m := range modules {
		if slices.Contains(m.platforms, b.platform) {
			fmt.Fprintf(&licences, "======== %s %s\n\n%s", m.path, m.version, m.text)
		}
	}
	files := []packed{{licenceFile, 0o644, licences.Bytes()}, {b.name, 0o755, b.data}}
	for _, name := range documents() {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		files = append(files, packed{name, 0o644, data})
	}
	slices.SortFunc(files, func(a, b packed) int { return strings.Compare(a.name, b.name) })
	name := "tracegen-" + r.version + "-" + strings.ReplaceAll(b.platform, "/", "-")
	pack, extension := tarball, ".tar.gz"
	if strings.HasPrefix(b.platform, "windows/") {
		pack, extension = zipped, ".zip"
	}
	data, err := pack(name, files)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return r.write(name+extension, data)
}

// tarball returns a compressed tar archive of the files in a directory.
func tarball(dir string, files []packed) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression) // its header has neither name nor time
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: dir + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)),
			ModTime: made(), Uname: "root", Gname: "root", Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// zipped returns a zip archive of the files in a directory.
func zipped(dir string, files []packed) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: dir + "/" + f.name, Method: zip.Deflate, Modified: made()}
		h.SetMode(f.mode)
		e, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := e.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
