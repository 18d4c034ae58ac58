package mappingstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/fleet/objects"
)

// The file that marks an archive.
const (
	markName = "tracegen-archive"
	mark     = "tracegen-archive 2\n"
)

// IsArchive reports whether a directory is an archive.
func IsArchive(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, markName))
	return err == nil && strings.HasPrefix(string(data), "tracegen-archive ")
}

// checkMark returns an error if the archive is of another version. found is false if there is no archive.
func checkMark(ctx context.Context, s objects.Store) (found bool, err error) {
	data, err := objects.Get(ctx, s, markName, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && string(data) != mark {
		first, _, _ := strings.Cut(string(data[:min(len(data), 80)]), "\n")
		err = fmt.Errorf("%s has the text %q: the archive is of another version of tracegen; use that version, or push "+
			"to an empty location", markName, first)
	}
	return err == nil, err
}
