package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/filter"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/incremental"
	"github.com/tracegen/tracegen/internal/jar"
	"github.com/tracegen/tracegen/internal/pipeline"
)

// caching are the flags that say what is kept for the next run.
type caching struct {
	directory string
	size      byteSize
	room      []byte // see relaxCollector
}

// defaultCacheSize is room for some builds of a big app.
const defaultCacheSize byteSize = 2 << 30

// byteSize is a flag whose value is a number of bytes.
type byteSize int64

// byteUnits are from the biggest down: String takes the first that divides.
var byteUnits = []named[int64]{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1}}

// Set implements pflag.Value.
func (s *byteSize) Set(text string) error {
	number := strings.TrimRight(text, "TGMKiB")
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	for _, u := range byteUnits {
		if err == nil && n > 0 && text[len(number):] == u.name && n <= (1<<62)/u.value {
			*s = byteSize(n * u.value)
			return nil
		}
	}
	return errors.New("must be a number with a unit, as 500MB or 2GiB")
}

// String implements pflag.Value.
func (s *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*s); n != 0 && n%u.value == 0 {
			return fmt.Sprint(n/u.value, u.name)
		}
	}
	return "0"
}

// Type implements pflag.Value. It is what help shows behind the flag's name.
func (s *byteSize) Type() string { return "SIZE" }

// incremental opens the cache, nil without one. A cache that cannot be opened keeps nobody from building.
func (i *instrument) incremental(argfiles []string) (*pipeline.Incremental, error) {
	if i.caching.directory == "" {
		return nil, nil
	}
	if info, err := os.Stat(i.caching.directory); err == nil && !info.IsDir() {
		return nil, misuse("--cache: %s is a file; name a directory", i.caching.directory)
	}
	if err := i.checkCachePlace(); err != nil {
		return nil, err
	}
	if i.dryRun && !isDirectory(i.caching.directory) {
		return nil, nil // which would be something written
	}
	tool, err := executableSum()
	if err != nil {
		i.con.warn("--cache: %v; it goes on without a cache", err)
		return nil, nil
	}
	kept, err := cache.Open(i.caching.directory, int64(i.caching.size))
	if errors.Is(err, cache.ErrForeign) {
		return nil, fmt.Errorf("--cache: %w", err)
	}
	if err != nil {
		i.con.warn("--cache: %v; it goes on without a cache", err)
		return nil, nil
	}
	spare := append(i.readFiles(argfiles), i.around.files()...)
	for _, side := range i.sideFiles() {
		spare = append(spare, side.path)
	}
	if i.base != "" {
		spare = append(spare, i.base)
	}
	return &pipeline.Incremental{
		Cache: kept, Tool: tool, ScanKey: i.scanKey(), WriteKey: i.writeKey(), Directory: i.destination.directory, Spare: spare,
		Known:  func(known, inputs int) { i.caching.room = relaxCollector(known, inputs) },
		Detail: func(message string) { i.con.detail("%s", message) },
		Warn:   func(message string) { i.con.warn("--cache: %s", message) },
	}, nil
}

// scanKey returns all options that shape what a scan finds out.
func (i *instrument) scanKey() string {
	return scanKeyOf(i.filterOptions(), i.injectOptions(), i.r8Digest, i.focus, i.lines != "")
}

// writeKey returns all options that shape what is written by given decisions.
func (i *instrument) writeKey() string {
	return writeKeyOf(i.injectOptions(), i.addRequires, i.level, i.verify)
}

// scanKeyOf has each field of the options by itself: r8Digest stands for the content of the R8 mapping.
func scanKeyOf(f filter.Options, o inject.Options, r8Digest string, focusHooks, lines bool) string {
	f.R8 = nil
	return incremental.Text(f, o, r8Digest, focusHooks, lines)
}

func writeKeyOf(o inject.Options, addRequires string, level jar.Level, verify pipeline.VerifyLevel) string {
	o.RuntimeClass = "" // the pipeline adds it, as the inputs call it
	return incremental.Text(o, addRequires, level, verify)
}

// executableSum tells this build of the program from every other one: a version does not, while somebody works on it.
func executableSum() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	// Where the system shows the file that runs, and not the one that has taken its name since.
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		if f, err = os.Open(name); err != nil {
			return "", err
		}
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// checkCachePlace refuses a cache among what is read or written: it would be taken for a part of it.
func (i *instrument) checkCachePlace() error {
	kept, err := place(i.caching.directory)
	if err != nil {
		return fmt.Errorf("--cache: %w", err)
	}
	around := i.destination.outputs()
	for _, in := range i.destination.inputs {
		around = append(around, target{"the input", in.Path})
	}
	for _, path := range i.around.files() {
		around = append(around, target{"--classpath", path})
	}
	if i.destination.directory != "" {
		around = append(around, target{"--output", i.destination.directory})
	}
	for _, t := range slices.Concat(around, i.sideFiles()) {
		at, err := place(t.path)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		if isBelow(kept, at) || isBelow(at, kept) {
			return misuse("--cache %s and %s (%s) lie in each other; choose another directory", i.caching.directory, t.path, t.what)
		}
	}
	return nil
}

// isBelow says whether a path is another one or lies in it, both being absolute and without links.
func isBelow(path, dir string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

// place gives a path that others can be compared with: absolute, without links as far as it exists.
func place(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	missing := ""
	for at := absolute; ; at, missing = filepath.Dir(at), filepath.Join(filepath.Base(at), missing) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, missing), nil
		}
		if at == filepath.Dir(at) {
			return absolute, nil
		}
	}
}
