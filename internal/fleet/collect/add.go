package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
)

// AddReports passes the reports in the directories to add, with the names of methods by o. It skips reports whose
// mapping is not there, and returns their number by the digest of the mapping.
func AddReports(ctx context.Context, add func(*analysis.Row) error, dirs []string, o analysis.Options) (
	absent map[string]int, err error) {
	absent = map[string]int{}
	for _, dir := range dirs {
		files, err := FindReports(dir)
		if err != nil {
			return nil, fmt.Errorf("reports: %w", err)
		}
		for _, file := range files {
			err := ReadReports(file, func(r *devicereport.Report) error {
				if err := ctx.Err(); err != nil {
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
				return add(&row)
			})
			// A collector that runs removes files that it has merged; it has read them into others.
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%w; the collector has merged files meanwhile, run group again", err)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return absent, nil
}
