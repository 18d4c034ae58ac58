package incremental

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/typecheck"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/zipfile"
)

// hashed is the hash of a file or directory.
type hashed struct {
	key cache.Key
	ok  bool // it could be read, and twice would be the same

	// Of an archive that was read for that, until it is closed.
	zip *zipfile.Archive
	ids []classID // of its entries
}

// hashing is a file or directory that is hashed. Directories are hashed with the names and permissions of what is in
// them.
type hashing struct {
	path string
	kind sumKind // of a file
}

// hashPaths hashes files and directories. What cannot be read, or is neither, has no hash: using it will report why.
// Files that are known are not read; those that are read are known then, and if they are archives, they are left open.
// The error is the context's; then there are no results.
func hashPaths(ctx context.Context, paths []hashing, jobs int, known *knownFiles) ([]hashed, error) {
	h := pathHasher{ctx: ctx, known: known}
	lists := make([][]*file, len(paths))
	results := make([]hashed, len(paths))
	parts := make([][]string, len(paths))
	for i, p := range paths {
		info, err := os.Stat(p.path)
		switch {
		case err != nil:
			continue
		case info.Mode().IsRegular():
			lists[i], parts[i] = []*file{{filePath: filePath(p), result: &results[i]}}, []string{"file"}
		case info.IsDir():
			entries, err := input.List(p.path)
			if err != nil {
				continue
			}
			parts[i] = []string{"directory"}
			for _, e := range entries {
				parts[i] = append(parts[i], fmt.Sprintf("%o %s", e.Mode.Perm(), e.Name))
				if !e.IsDirectory() {
					lists[i] = append(lists[i], &file{filePath: filePath{path: e.File}, result: &results[i]})
				}
			}
		default:
			continue
		}
		results[i].ok = true
		h.files = append(h.files, lists[i]...)
	}
	if err := h.run(jobs); err != nil {
		closeHashed(results)
		return nil, err
	}
	for i, list := range lists {
		for _, f := range list {
			parts[i] = append(parts[i], string(f.sum[:]))
			results[i].ok = results[i].ok && f.err == nil
		}
		results[i].key = cache.KeyOf(parts[i]...)
	}
	return results, nil
}

// closeHashed closes the archives that hashPaths has left open.
func closeHashed(results []hashed) {
	for i := range results {
		if results[i].zip != nil {
			results[i].zip.Close()
			results[i].zip = nil
		}
	}
}

// file is a file that a pathHasher hashes.
type file struct {
	filePath
	result *hashed // of the path that it belongs to
	sum    cache.Key
	err    error
}

// pathHasher hashes files.
type pathHasher struct {
	ctx   context.Context
	known *knownFiles
	files []*file
}

// run hashes the files. The error is the context's.
func (h *pathHasher) run(jobs int) error {
	var next atomic.Int64
	var group errgroup.Group
	inEach := jobs / max(len(h.files), 1) // workers for one file, if there are more of them than files
	for range min(jobs, len(h.files)) {
		group.Go(func() error {
			buffer := make([]byte, bufferSize)
			for h.ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(h.files) {
					return nil
				}
				f := h.files[n]
				f.sum, f.err = h.known.sum(f.filePath, func() (cache.Key, error) { return h.read(f, buffer, inEach) })
			}
			return h.ctx.Err()
		})
	}
	return group.Wait()
}

// read hashes a file that is not known.
func (h *pathHasher) read(f *file, buffer []byte, workers int) (cache.Key, error) {
	if f.kind == archiveSum {
		if zip, err := zipfile.OpenToRead(f.path); err == nil {
			sum, ids, err := sumArchive(h.ctx, zip, workers)
			if err != nil {
				zip.Close()
				return sum, err
			}
			f.result.zip, f.result.ids = zip, ids
			return sum, nil
		}
	}
	return hashFile(f.path, buffer)
}

// bufferSize is the size of buffers that files are read into to hash them.
const bufferSize = 1 << 18

// hashFile returns the hash of a file as bytes.
func hashFile(path string, buffer []byte) (cache.Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return cache.Key{}, err
	}
	defer f.Close()
	h := sha256.New()
	// Hidden from CopyBuffer, the file's own way of copying does not allocate another buffer.
	_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, buffer)
	return cache.KeyOf("file", string(h.Sum(nil))), err
}

// classPathText returns what the type checker depends on: the content of the class path, and which JDK. No byte of the
// JDK reaches an output, and it is several times as big as most apps: so it is identified by its path, and by size and
// time of the files with its classes. The text is empty if something cannot be read.
func classPathText(p typecheck.ClassPath, classPath []hashed) string {
	parts := []string{fmt.Sprint(p.Strict)}
	for _, h := range classPath {
		if !h.ok {
			return ""
		}
		parts = append(parts, h.key.String())
	}
	if p.JDK == "" {
		return cache.KeyOf(parts...).String()
	}
	home, err := filepath.Abs(p.JDK)
	if err != nil {
		return ""
	}
	files := []string{home}
	for _, name := range []string{"release", "lib/modules", "lib/rt.jar", "jre/lib/rt.jar"} {
		files = append(files, filepath.Join(home, filepath.FromSlash(name)))
	}
	for _, dir := range []string{home, filepath.Join(home, "jmods")} {
		list, _ := os.ReadDir(dir) // none has .jmod files, if it is none
		for _, f := range list {
			if filepath.Ext(f.Name()) == ".jmod" {
				files = append(files, filepath.Join(dir, f.Name()))
			}
		}
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			parts = append(parts, file, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		}
	}
	return cache.KeyOf(parts...).String()
}
