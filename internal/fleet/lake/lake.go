package lake

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// The objects of a store.
const (
	// Reports and Recordings begin the names of objects with rows, and of recordings.
	Reports, Recordings = "reports/", "recordings/"
	// None stands for a package or mapping that a report does not name, Others for those of a segment that has reports of
	// too many.
	None, Others = "none", "others"

	markName = "tracegen-collect"
	mark     = "tracegen-collect 2\n"
	suffix   = ".parquet"
	// oldDatabase is what stores of earlier versions have instead of the mark.
	oldDatabase = "collect.db"
)

// Lake is the table and the recordings in a store. Its fields are set before it is used; then it is safe for several
// goroutines, if Names and Warn are.
type Lake struct {
	objects.Store
	// Temp is a local directory for files that are not complete; empty for that of the system.
	Temp string
	// Names returns the names of a build by the digest of its mapping, nil if there are none. It may be nil.
	Names func(digest string) (*resolve.Names, error)
	// R8 is for the frames of stacks where names have no mapping of R8; it may be nil.
	R8 *r8.Mapping
	// Warn gets what does not prevent the work.
	Warn func(error)
	// Now is the clock.
	Now func() time.Time
}

// Open opens the lake in a directory or at s3://BUCKET/PREFIX. It accesses no network.
func Open(location string) (*Lake, error) {
	s, err := objects.Open(location)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", location, err)
	}
	return &Lake{Store: s, Warn: func(error) {}, Now: time.Now}, nil
}

// IsStore reports whether a directory is a store of tracegen collect. It returns an error for one of an earlier
// version.
func IsStore(dir string) (bool, error) {
	if info, err := os.Stat(filepath.Join(dir, oldDatabase)); err == nil && info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is a store of an earlier version, with %s; have that version of tracegen collect "+
			"start and stop on it once, which writes all reports as Parquet, and remove %[2]s", dir, oldDatabase)
	}
	data, err := os.ReadFile(filepath.Join(dir, markName))
	return err == nil && strings.HasPrefix(string(data), "tracegen-collect "), nil
}

// HasReports reports whether a directory is one with the reports of a store, or a copy of it.
func HasReports(dir string) bool {
	found, err := fs.Glob(os.DirFS(dir), "package=*")
	return err == nil && len(found) > 0
}

// Partition is what the rows of one file have in common. Each field is safe as a part of a name.
type Partition struct {
	// App is the package, Mapping the digest of the mapping, Date the day on which they were received.
	App, Mapping, Date string
}

// Dir returns the begin of the names of the partition's files.
func (p Partition) Dir() string {
	return Reports + "package=" + p.App + "/mapping=" + p.Mapping + "/date=" + p.Date + "/"
}

// File is a file of the table.
type File struct {
	objects.Object
	Partition
}

// Files returns the files of the table whose names begin with a prefix: [Reports], or "" where a lake is a copy of the
// directory with reports alone. Files that are complete appear meanwhile, and others disappear whose rows they have.
func (l *Lake) Files(ctx context.Context, prefix string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for o, err := range l.List(ctx, prefix) {
			if err != nil {
				yield(File{}, err)
				return
			}
			if path.Ext(o.Name) == suffix && !yield(File{o, partitionOf(o.Name)}, nil) {
				return
			}
		}
	}
}

// partitionOf returns the partition of a file; its fields are empty where the directories do not say it.
func partitionOf(name string) (p Partition) {
	for _, part := range strings.Split(name, "/") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "package":
			p.App = value
		case "mapping":
			p.Mapping = value
		case "date":
			p.Date = value
		}
	}
	return p
}

// Read calls each with every row of a file.
func (l *Lake) Read(ctx context.Context, name string, each func(*Row) error) error {
	f, end, err := objects.Fetch(ctx, l.Store, name, l.Temp)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer end()
	return ReadRows(f, name, each)
}

// Write writes a file of the table, with the rows that write passes to add.
func (l *Lake) Write(ctx context.Context, name string, write func(add func(*Row) error) error) (size int64, err error) {
	f, err := objects.CreateTemp(l.Temp, suffix)
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	w := NewWriter(f)
	if err := write(w.Add); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	return info.Size(), l.PutFile(ctx, name, f.Name())
}
