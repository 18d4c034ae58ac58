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

	"github.com/tracegen/tracegen/internal/cli"
	"github.com/tracegen/tracegen/internal/fleet/collect"
	"github.com/tracegen/tracegen/internal/fleet/group"
	"github.com/tracegen/tracegen/internal/userfile"
)

// collected replaces arguments that are directories of tracegen collect by their recordings, and returns their
// directories with reports. A directory that has reports alone may be a copy.
func collected(args []string) (recordings, reports []string, err error) {
	var named []string
	for _, arg := range args {
		if arg == cli.StandardInput {
			return nil, nil, cli.Misuse("group reads files and directories, not standard input")
		}
		if _, err := os.Stat(arg); err == nil || !userfile.IsPattern(arg) {
			named = append(named, arg)
			continue
		}
		found, err := userfile.Expand(arg)
		if err != nil {
			return nil, nil, fmt.Errorf("recording: %w", err)
		}
		named = append(named, found...)
	}
	for _, arg := range named {
		switch {
		case collect.IsStore(arg):
			reports = append(reports, filepath.Join(arg, "reports"))
			found, err := cli.RecordingsBelow(filepath.Join(arg, "recordings"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			if len(found) > 0 {
				recordings = append(recordings, filepath.Join(arg, "recordings"))
			}
		case collect.HasReports(arg):
			reports = append(reports, arg)
		default:
			recordings = append(recordings, arg)
		}
	}
	return recordings, reports, nil
}

// readReports adds the reports in the directories. It skips those whose mapping is not there, and warns once for each
// such mapping.
func (g *grouping) readReports(ctx context.Context, stalls *group.Stalls, dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	o, err := g.naming.OpenAll(ctx, g.con)
	if err = errors.Join(err, o.Missing); err != nil {
		return err
	}
	absent, err := collect.AddReports(ctx, stalls.AddReport, dirs, o)
	for _, digest := range slices.Sorted(maps.Keys(absent)) {
		g.leftReports += absent[digest]
		g.con.Warn("skipped: %d reports of mapping %s, which is not in %s; add the mapping of their build, or use "+
			"--force to show IDs", absent[digest], digest, g.naming.Mapping)
	}
	return err
}
