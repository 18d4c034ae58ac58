package lake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// What the name of a file says of it, at its end; that of a segment of a collector says nothing.
const (
	merged    = "-merged"
	unnamed   = "-unnamed"   // merged, when the mapping was missing
	forgotten = "-forgotten" // some rows were forgotten
)

const (
	// ManyFiles is how many files of segments a partition of the current day may have before they are merged.
	ManyFiles = 60
	// mergedBytes is how large a file becomes by merging.
	mergedBytes = 1 << 30
)

// NewName returns a name that is not used again. Names are in the order of time.
func NewName(now time.Time) string { return fmt.Sprintf("%013d-%s", now.UnixMilli(), rand.Text()) }

// kindOf returns the end of the name of a file.
func kindOf(name string) string {
	base := strings.TrimSuffix(path.Base(name), suffix)
	for _, kind := range []string{merged, unnamed, forgotten} {
		if strings.HasSuffix(base, kind) {
			return kind
		}
	}
	return ""
}

// Compact replaces the files of each day that has passed by one, also a single one of a segment, whose mapping may have
// come meanwhile; and those of segments of the current day if there are many.
func (l *Lake) Compact(ctx context.Context, many int) (replaced int, err error) {
	partitions := map[Partition][]File{}
	for f, err := range l.Files(ctx, Reports) {
		if err != nil {
			return 0, err
		}
		partitions[f.Partition] = append(partitions[f.Partition], f)
	}
	for _, p := range slices.SortedFunc(maps.Keys(partitions), Partition.Compare) {
		for _, sources := range l.due(p, partitions[p], many) {
			err := l.replace(ctx, sources, "", nil)
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process has replaced it
			}
			if err != nil {
				return replaced, err
			}
			replaced += len(sources)
		}
	}
	return replaced, nil
}

// due returns which files of a partition are to be merged into one, each time.
//
// All files are if rows of one were forgotten: a process that was killed while it merged them may have left a file that
// has these rows still. For the same reason, a partition never becomes empty by merging or forgetting.
func (l *Lake) due(p Partition, files []File, many int) (all [][]File) {
	kinds := map[string]int{}
	var segments []File
	for _, f := range files {
		kinds[kindOf(f.Name)]++
		if kindOf(f.Name) == "" {
			segments = append(segments, f)
		}
	}
	if kinds[forgotten] == 0 && p.Date >= l.Now().UTC().Format(time.DateOnly) {
		if len(segments) >= many {
			all = append(all, segments)
		}
		return all // the merged files of this day grow large; they are merged once when it has passed
	}
	named := kinds[unnamed] > 0 && l.Naming(p.Mapping).Found
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	var some []File
	var size int64
	take := func() {
		kind := ""
		if len(some) == 1 {
			kind = kindOf(some[0].Name)
		}
		if len(some) > 0 && (kind == "" || kinds[forgotten] > 0 || kind == unnamed && named) {
			all = append(all, some)
		}
		some, size = nil, 0
	}
	for _, f := range files {
		some = append(some, f)
		if size += f.Size; size >= mergedBytes {
			take()
		}
	}
	take()
	return all
}

// replace replaces files of a partition by one, with the names that are known now, without rows that are forgotten or
// that drop returns, and with those of equal ID once, if they are near each other. kind is the end of the file's name;
// empty for that of merged files.
//
// The file has its rows before the others are removed. If the process is killed in between, rows are there twice, which
// the views of the table and a later merge make good. Its name comes behind those of the others: a reader that lists
// the partition meanwhile finds the one or the others.
func (l *Lake) replace(ctx context.Context, sources []File, kind string, drop func(*Row) bool) error {
	p := sources[0].Partition
	naming := l.Naming(p.Mapping)
	if kind == "" {
		if kind = merged; !naming.Found {
			kind = unnamed
		}
	}
	target := p.Dir() + nameBehind(sources, l.Now()) + kind + suffix
	from := sources
	err := l.UntilStable(ctx, func(f *Forgotten) error {
		var seen Window
		_, err := l.Write(ctx, target, func(add func(*Row) error) error {
			for _, s := range from {
				err := l.Read(ctx, s.Name, func(r *Row) error {
					id := HashID(r.ID)
					if seen.Has(id) || f.Has(r) || drop != nil && drop(r) {
						return nil
					}
					seen.Add(id)
					if !r.Named && naming.Found {
						again, err := naming.Row(r.Report, r.Received)
						if err != nil {
							return err
						}
						r = &again
					}
					return add(r)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		// The sources may be gone when it is written again.
		from = []File{{Partition: p}}
		from[0].Name = target
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range sources {
		if err := l.Remove(ctx, s.Name); err != nil {
			return err
		}
	}
	return nil
}

// nameBehind returns a new name that comes behind those of files in the order of names.
func nameBehind(files []File, now time.Time) string {
	last := now.UnixMilli()
	for _, f := range files {
		digits, _, _ := strings.Cut(path.Base(f.Name), "-")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			last = max(last, n+1)
		}
	}
	return NewName(time.UnixMilli(last))
}

// Naming has the names of a build.
type Naming struct {
	// Found is false if the mapping is not there or damaged, but may come later: rows have IDs of methods then.
	Found bool
	names *resolve.Names
	r8    *r8.Mapping
}

// Naming returns the names of the build with a mapping.
func (l *Lake) Naming(mapping string) *Naming {
	n := &Naming{mapping == None, resolve.NewNames(nil, nil), l.R8}
	if mapping == None || mapping == Others || l.Names == nil {
		return n
	}
	l.naming.Lock()
	defer l.naming.Unlock()
	names, err := l.Names(mapping)
	if err != nil {
		l.Warn(fmt.Errorf("mapping %s cannot be read, and reports of its build get no names: %w", mapping, err))
	} else if names != nil {
		n.Found, n.names = true, names
	}
	return n
}

// Row makes the row of a report, of which line is the text.
func (n *Naming) Row(line string, received int64) (Row, error) {
	r, err := devicereport.Parse(line)
	if err != nil {
		return Row{}, fmt.Errorf("a stored report is damaged: %w", err)
	}
	return ReportRow(r, line, received, n.names, n.Found, n.r8), nil
}
