package build

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/tracegen/tracegen/internal/build/output"
	"github.com/tracegen/tracegen/internal/build/pipeline"
	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/cli"
)

// caching holds the options of the cache.
type caching struct {
	directory string
	size      cli.ByteSize
}

// defaultCacheSize is enough for several builds of a big app.
const defaultCacheSize cli.ByteSize = 2 << 30

// incremental opens the cache; it returns nil if there is none. If the cache cannot be opened, it prints a warning and
// the run goes on without it.
func (i *settings) incremental() (*pipeline.Incremental, error) {
	if i.caching.directory == "" {
		return nil, nil
	}
	if info, err := os.Stat(i.caching.directory); err == nil && !info.IsDir() {
		return nil, cli.Misuse("--cache: %s is a file; give a directory", i.caching.directory)
	}
	if err := i.checkCacheDirectory(); err != nil {
		return nil, err
	}
	if i.dryRun && !cli.IsDirectory(i.caching.directory) {
		return nil, nil // a dry run must not create the directory
	}
	kept, err := cache.Open(i.caching.directory, int64(i.caching.size))
	if errors.Is(err, cache.ErrForeign) {
		return nil, fmt.Errorf("--cache: %w", err)
	}
	if err != nil {
		i.con.Warn("--cache: %v; continuing without a cache", err)
		return nil, nil
	}
	tool, err := executableSum(kept)
	if err != nil {
		i.con.Warn("--cache: %v; continuing without a cache", err)
		return nil, nil
	}
	return &pipeline.Incremental{
		Cache: kept, Tool: tool, ScanKey: i.scanKey(), WriteKey: i.writeKey(),
		Detail: func(message string) { i.con.Detail("%s", message) },
		Warn:   func(message string) { i.con.Warn("--cache: %s", message) },
	}, nil
}

// checkCacheDirectory refuses a cache directory that lies in an input or output, or that one of them lies in: the files
// of the cache would be taken for inputs.
func (i *settings) checkCacheDirectory() error {
	kept, err := cli.Resolved(i.caching.directory)
	if err != nil {
		return fmt.Errorf("--cache: %w", err)
	}
	others := i.destination.outputs()
	for _, in := range i.destination.inputs {
		others = append(others, cli.Target{What: "the input", Path: in.Path})
	}
	for _, path := range i.classPath.files {
		others = append(others, cli.Target{What: "--classpath", Path: path})
	}
	for _, t := range slices.Concat(others, i.sideFiles()) {
		at, err := cli.Resolved(t.Path)
		if err != nil {
			return fmt.Errorf("%s: %w", t.What, err)
		}
		if output.Below(at, kept) || output.Below(kept, at) {
			return cli.Misuse("--cache %s and %s (%s) contain each other; choose another directory", i.caching.directory,
				t.Path, t.What)
		}
	}
	return nil
}
