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

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/input"
	"github.com/tracegen/tracegen/internal/typecheck"
)

// hashed is the hash of a file or directory.
type hashed struct {
	key cache.Key
	ok  bool // it could be read, and twice would be the same
}

// hashPaths hashes files, and directories with the names and permissions of what is in them. What cannot be read, or is
// neither, has no hash: using it will report why. Files that are known are not read; those that are read are known
// then. The error is the context's.
func hashPaths(ctx context.Context, paths []string, jobs int, known *knownFiles) ([]hashed, error) {
	type file struct {
		path string
		sum  cache.Key
		err  error
	}
	var files []*file
	lists := make([][]*file, len(paths))
	results := make([]hashed, len(paths))
	parts := make([][]string, len(paths))
	for i, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case info.Mode().IsRegular():
			lists[i], parts[i] = []*file{{path: path}}, []string{"file"}
		case info.IsDir():
			entries, err := input.List(path)
			if err != nil {
				continue
			}
			parts[i] = []string{"directory"}
			for _, e := range entries {
				parts[i] = append(parts[i], fmt.Sprintf("%o %s", e.Mode.Perm(), e.Name))
				if !e.IsDirectory() {
					lists[i] = append(lists[i], &file{path: e.File})
				}
			}
		default:
			continue
		}
		results[i].ok = true
		files = append(files, lists[i]...)
	}
	var next atomic.Int64
	var group errgroup.Group
	for range min(jobs, len(files)) {
		group.Go(func() error {
			buffer := make([]byte, 1<<18)
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(files) {
					return nil
				}
				files[n].sum, files[n].err = known.hash(files[n].path, buffer)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
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

// hashFile returns the SHA-256 of a file and its length.
func hashFile(path string, buffer []byte) (sum cache.Key, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, 0, err
	}
	defer f.Close()
	h := sha256.New()
	// Hidden from CopyBuffer, the file's own way of copying does not allocate another buffer.
	size, err = io.CopyBuffer(h, struct{ io.Reader }{f}, buffer)
	return cache.Key(h.Sum(nil)), size, err
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
