package pipeline

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/build/input"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/build/wire"
	"github.com/tracegen/tracegen/internal/cache"
)

// The keys of everything in the cache are made here. The key of a result is the hash of all that it depends on: the
// content of inputs, the options that decide, and the running executable, which stands for the form of the result too.

// runKey is what keys depend on besides the content of inputs, the decisions, and the options in Incremental.
type runKey struct {
	inputs    []string // paths
	classPath ClassPath
	types     bool   // rewritten classes are checked by the class path
	scans     bool   // classes are scanned
	lines     bool   // the facts have source files and lines
	flat      bool   // no nested archives are opened
	sliced    bool   // the decisions are those of a slice
	merged    bool   // all inputs have one output
	disabled  bool   // everything is copied
	dryRun    bool   // nothing is written, and nothing stored
	runtime   string // the runtime class as the inputs call it
	workers   int
}

// factsKey is the key of the facts about an input with this content.
func (r *results) factsKey(content cache.Key) cache.Key {
	return cache.KeyOf("facts", r.Tool, r.ScanKey, fmt.Sprint(r.run.lines, r.run.flat), content.String())
}

// outputKey is the key of an output: of the content of its inputs, and of what is decided about their classes, IDs
// included. Without a cache it identifies an output within the run.
func (r *results) outputKey(job *outputJob, set *input.Set, by plan.Decisions) cache.Key {
	parts := []string{"output", fmt.Sprint(job.Kind == input.Directory)}
	if r.Incremental != nil {
		parts = append(parts, r.Tool, r.WriteKey, r.checked, r.run.runtime,
			fmt.Sprint(r.run.disabled, r.run.sliced, r.run.merged))
	}
	k := wire.NewPacker()
	task := plan.Task{}
	for _, i := range job.Inputs {
		if r.Incremental != nil {
			parts = append(parts, r.contents[i].String())
		}
		first, end := set.ClassesOf(i)
		classes := end - first
		wire.Number(k, &classes, math.MaxInt32)
		for n := first; n < end; n++ {
			task = by.Task(n, task.Request.Methods[:0])
			task.Pack(k)
		}
	}
	return cache.KeyOf(append(parts, string(k.Bytes()))...)
}

// bytesKey is the key of the bytes of an output that is a file.
func bytesKey(output cache.Key) cache.Key { return cache.KeyOf("bytes", output.String()) }

// sumKey is the key of the sum of the contents of files that are in the state that they are in now: size, times, and
// inode. ok is false if a file might be changed without another state: it has none, or was written just now, so that
// the clock of the file system has not moved on.
func sumKey(what string, files []string) (key cache.Key, ok bool) {
	parts := []string{"sum 1", what}
	for _, path := range files {
		now := time.Now()
		info, err := os.Stat(path)
		if err != nil {
			return key, false
		}
		if info.IsDir() {
			continue
		}
		at, err := filepath.Abs(path)
		id, age := atomicfile.IDOf(info), now.Sub(info.ModTime())
		if err != nil || !info.Mode().IsRegular() || id == (atomicfile.ID{}) ||
			age <= coarse && (age <= fine || info.ModTime().Nanosecond() == 0) {
			return key, false
		}
		parts = append(parts, at, fmt.Sprint(info.Size(), info.ModTime().UnixNano(), id))
	}
	return cache.KeyOf(parts...), true
}

const (
	// coarse and fine bound the steps of a file system's clock: of one that keeps whole seconds, and of one that keeps
	// fractions.
	coarse = 2 * time.Second
	fine   = 100 * time.Millisecond
)

const classExtension = ".class"

// inputKey returns what identifies the content of an input: its hash, and what makes a difference between the same
// bytes under one name and under another.
func inputKey(path string, content cache.Key) cache.Key {
	kind := ""
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case classExtension:
		kind = filepath.Base(path) // the name of the only entry
	case ".aar":
		kind = extension
	}
	return cache.KeyOf("input", kind, content.String())
}

// builtInKey is inputKey for the built-in runtime.
func builtInKey(data []byte) cache.Key {
	sum := sha256.Sum256(data)
	return cache.KeyOf("built in", string(sum[:]))
}

// checkedKey returns what the type checker depends on: the content of the class path, by its hashes, and which JDK. No
// byte of the JDK reaches an output, and it is several times as big as most apps: so it is identified by its path, and
// by size and time of the files with its classes. The text is empty if something cannot be read.
func checkedKey(p ClassPath, contents []cache.Key) string {
	parts := []string{fmt.Sprint(p.Strict)}
	for _, content := range contents {
		if content == (cache.Key{}) {
			return ""
		}
		parts = append(parts, content.String())
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
