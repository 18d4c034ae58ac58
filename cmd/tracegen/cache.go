package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
)

// caching holds the options of the cache.
type caching struct {
	directory string
	size      byteSize
}

// defaultCacheSize is enough for several builds of a big app.
const defaultCacheSize byteSize = 2 << 30

// byteSize is a flag whose value is a number of bytes.
type byteSize int64

// byteUnits are in descending order: String takes the first that divides the number.
var byteUnits = []named[int64]{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20},
	{"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1}}

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
	return errors.New("must be a number with a unit, such as 500MB or 2GiB")
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

// Type implements pflag.Value. The help shows it behind the flag's name.
func (s *byteSize) Type() string { return "SIZE" }

// incremental opens the cache; it returns nil if there is none. If the cache cannot be opened, it prints a warning and
// the run goes on without it.
func (i *instrument) incremental(argfiles []string) (*pipeline.Incremental, error) {
	if i.caching.directory == "" {
		return nil, nil
	}
	if info, err := os.Stat(i.caching.directory); err == nil && !info.IsDir() {
		return nil, misuse("--cache: %s is a file; give a directory", i.caching.directory)
	}
	if err := i.checkCacheDirectory(); err != nil {
		return nil, err
	}
	if i.dryRun && !isDirectory(i.caching.directory) {
		return nil, nil // a dry run must not create the directory
	}
	kept, err := cache.Open(i.caching.directory, int64(i.caching.size))
	if errors.Is(err, cache.ErrForeign) {
		return nil, fmt.Errorf("--cache: %w", err)
	}
	if err != nil {
		i.con.warn("--cache: %v; continuing without a cache", err)
		return nil, nil
	}
	tool, err := executableSum(kept)
	if err != nil {
		i.con.warn("--cache: %v; continuing without a cache", err)
		return nil, nil
	}
	spare := slices.Concat(i.readFiles(argfiles), i.rows.files(fileReplaced, fileSearched, fileBeside))
	return &pipeline.Incremental{
		Cache: kept, Tool: tool, ScanKey: i.scanKey(), WriteKey: i.writeKey(), Directory: i.destination.directory,
		Spare:  spare,
		Known:  i.con.pacer.relax,
		Detail: func(message string) { i.con.detail("%s", message) },
		Warn:   func(message string) { i.con.warn("--cache: %s", message) },
	}, nil
}

// checkCacheDirectory refuses a cache directory that lies in an input or output, or that one of them lies in: the files
// of the cache would be taken for inputs.
func (i *instrument) checkCacheDirectory() error {
	kept, err := resolved(i.caching.directory)
	if err != nil {
		return fmt.Errorf("--cache: %w", err)
	}
	others := i.destination.outputs()
	for _, in := range i.destination.inputs {
		others = append(others, target{"the input", in.Path})
	}
	for _, path := range i.classPath.files() {
		others = append(others, target{"--classpath", path})
	}
	if i.destination.directory != "" {
		others = append(others, target{"--output", i.destination.directory})
	}
	for _, t := range slices.Concat(others, i.sideFiles()) {
		at, err := resolved(t.path)
		if err != nil {
			return fmt.Errorf("%s: %w", t.what, err)
		}
		if output.Below(at, kept) || output.Below(kept, at) {
			return misuse("--cache %s and %s (%s) contain each other; choose another directory", i.caching.directory,
				t.path, t.what)
		}
	}
	return nil
}
