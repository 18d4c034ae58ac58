package collect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
)

// IsStore reports whether a directory is a store of tracegen collect.
func IsStore(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, reportsDir))
	return err == nil && info.IsDir() && isDatabase(filepath.Join(dir, database))
}

func isDatabase(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// HasReports reports whether a directory is one with the reports of a store, or a copy of it.
func HasReports(dir string) bool {
	apps, err := subdirectories(dir, "package=")
	return err == nil && len(apps) > 0
}

// FindReports returns the Parquet files in a directory and below it, in the order of their paths. A collector may add
// and merge files meanwhile.
func FindReports(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(path, ".parquet") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// ReadReports calls each with every report of a Parquet file.
func ReadReports(file string, each func(*devicereport.Report) error) error {
	return readRows(file, func(r *row) error {
		report, err := devicereport.Parse(r.Report)
		if err != nil {
			return err
		}
		return each(report)
	})
}
