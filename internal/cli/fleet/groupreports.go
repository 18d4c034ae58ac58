package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/console"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/fleet/lake"
	"github.com/tracegen/tracegen/internal/fleet/objects"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/userfile"
)

// reports are those of a store, or of a copy of its directory reports.
type reports struct {
	*lake.Lake
	location string
	prefix   string // of the names of files with reports
	copies   string // the directory with copies of recordings; empty if there are none
}

// collected replaces arguments that are stores of tracegen collect by their recordings, and returns their reports. A
// directory that has reports alone may be a copy. Recordings of a bucket are copied to the directory temp.
func collected(ctx context.Context, args []string, temp string) (recordings []string, found []reports, err error) {
	var named []string
	for _, arg := range args {
		if arg == cli.StandardInput {
			return nil, nil, cli.Misuse("group reads files and directories, not standard input")
		}
		if _, err := os.Stat(arg); err == nil || !userfile.IsPattern(arg) {
			named = append(named, arg)
			continue
		}
		matching, err := userfile.Expand(arg)
		if err != nil {
			return nil, nil, fmt.Errorf("recording: %w", err)
		}
		named = append(named, matching...)
	}
	for _, arg := range named {
		isStore, err := lake.IsStore(arg)
		if err != nil {
			return nil, nil, err
		}
		l, err := lake.Open(arg)
		if err != nil {
			return nil, nil, err
		}
		below := filepath.Join(arg, lake.Recordings)
		switch {
		case objects.IsRemote(arg):
			l.Temp = temp
			if below, err = copyRecordings(ctx, l, temp); err != nil {
				return nil, nil, fmt.Errorf("store %s: %w", arg, err)
			}
			found = append(found, reports{l, arg, lake.Reports, below})
		case isStore:
			found = append(found, reports{l, filepath.Join(arg, lake.Reports), lake.Reports, ""})
		case lake.HasReports(arg):
			found = append(found, reports{l, arg, "", ""})
			continue
		default:
			recordings = append(recordings, arg)
			continue
		}
		files, err := cli.RecordingsBelow(below)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		if len(files) > 0 {
			recordings = append(recordings, below)
		}
	}
	return recordings, found, nil
}

// showAsStored names the recordings that were copied to temp as they are named in their store.
func showAsStored(recordings []cli.Recording, all []reports) {
	for i := range recordings {
		for _, r := range all {
			if name, ok := strings.CutPrefix(recordings[i].Name, r.copies); ok && r.copies != "" {
				recordings[i].Shown = strings.TrimSuffix(r.location, "/") + filepath.ToSlash(name)
			}
		}
	}
}

// copyRecordings copies the recordings of a store to a new directory below temp.
func copyRecordings(ctx context.Context, l *lake.Lake, temp string) (string, error) {
	dir, err := os.MkdirTemp(temp, "recordings-")
	if err != nil {
		return "", err
	}
	for o, err := range l.List(ctx, lake.Recordings) {
		if err != nil {
			return "", err
		}
		f, end, err := objects.Fetch(ctx, l.Store, o.Name, temp)
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, filepath.FromSlash(o.Name))
		err = os.MkdirAll(filepath.Dir(to), 0o700)
		if err == nil {
			err = os.Link(f.Name(), to)
		}
		if end(); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// readReports adds the reports of stores. It skips those whose mapping is not there, and warns once for each such
// mapping.
func (g *grouping) readReports(ctx context.Context, stalls *group.Stalls, all []reports) error {
	if len(all) == 0 {
		return nil
	}
	o, err := g.naming.OpenAll(ctx, g.con)
	if err = errors.Join(err, o.Missing); err != nil {
		return err
	}
	add := func(stored *lake.Row, row *analysis.Row) error {
		stalls.AddReport(row)
		if g.table == nil {
			return nil
		}
		stored.Rename(row)
		return g.table.Add(stored)
	}
	absent := map[string]int{}
	for _, r := range all {
		if err = r.AddReports(ctx, r.prefix, add, o, absent); err != nil {
			break
		}
	}
	g.leftReports = warnAbsent(g.con, absent, g.naming.Mapping)
	return err
}

// warnAbsent warns about reports that were skipped, and returns their number.
func warnAbsent(con *console.Console, absent map[string]int, mappings string) (skipped int) {
	for _, digest := range slices.Sorted(maps.Keys(absent)) {
		skipped += absent[digest]
		con.Warn("skipped: %d reports of mapping %s, which is not in %s; add the mapping of their build, or use "+
			"--force to show IDs", absent[digest], digest, mappings)
	}
	return skipped
}
