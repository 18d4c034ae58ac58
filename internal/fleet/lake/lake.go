package lake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/analysis"
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
// goroutines.
type Lake struct {
	objects.Store
	// Temp is a local directory for files that are not complete; empty for that of the system.
	Temp string
	// Names returns the names of a build by the digest of its mapping, nil if there are none. It is called by one
	// goroutine at a time. It may be nil.
	Names func(digest string) (*resolve.Names, error)
	// R8 is for the frames of stacks where names have no mapping of R8; it may be nil.
	R8 *r8.Mapping
	// Warn gets what does not prevent the work. It may be called by several goroutines.
	Warn func(error)
	// Now is the clock.
	Now func() time.Time

	naming sync.Mutex // held while Names is called
	stones sync.Map   // tombstones by their names
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

// Check returns an error that wraps [fs.ErrNotExist] if no collector has made the store, and another one if it is of
// another version.
func (l *Lake) Check(ctx context.Context) error {
	data, err := objects.Get(ctx, l.Store, markName, 1<<10)
	if err == nil && string(data) != mark {
		err = fmt.Errorf("%s has the text %q: it is of another version of tracegen", markName, data)
	}
	return err
}

// Init makes sure that the store has the mark of this version.
func (l *Lake) Init(ctx context.Context) error {
	err := l.Check(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		err = l.Put(ctx, markName, []byte(mark))
	}
	return err
}

// AddReports passes the reports in a lake to add, as they are stored, and with the names of methods by o; prefix is as
// for [Lake.Files]. It skips reports whose mapping is not there, and adds their number to absent by the digest of the
// mapping. It also skips stalls of recordings: who wants them reads the recordings.
func (l *Lake) AddReports(ctx context.Context, prefix string, add func(*Row, *analysis.Row) error, o analysis.Options,
	absent map[string]int) error {
	for f, err := range l.Files(ctx, prefix) {
		if err != nil {
			return fmt.Errorf("reports: %w", err)
		}
		err := l.Read(ctx, f.Name, func(stored *Row) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if stored.Report == "" {
				return nil
			}
			r, err := devicereport.Parse(stored.Report)
			if err != nil {
				return err
			}
			names, _, err := o.Mappings.Find("report "+r.ID, r.Mapping, o.Force)
			if errors.As(err, new(*resolve.MismatchError)) {
				if len(r.HotPath) > 0 {
					absent[r.Mapping]++
					return nil
				}
				names, err = resolve.NewNames(nil, nil), nil
			}
			if err != nil {
				return err
			}
			row := analysis.RowOfReport(r, names, o.R8)
			return add(stored, &row)
		})
		// A collector that runs removes files that it has merged; it has read them into others.
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; the collector has merged files meanwhile, run group again", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// HasReports reports whether a directory has the reports of a store, of a package or of a build in it, or a copy of
// them.
func HasReports(dir string) bool {
	return slices.ContainsFunc([]string{"package=*", "mapping=*", "date=*"}, func(level string) bool {
		found, err := fs.Glob(os.DirFS(dir), level)
		return err == nil && len(found) > 0
	})
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

// Compare compares partitions by the names of their files.
func (p Partition) Compare(q Partition) int { return strings.Compare(p.Dir(), q.Dir()) }

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
	return read(ctx, l, name, each)
}

func read[T any](ctx context.Context, l *Lake, name string, each func(*T) error) error {
	f, end, err := objects.Fetch(ctx, l.Store, name, l.Temp)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer end()
	return readFile(f, name, func(r *T) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return each(r)
	})
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
