package group

import (
	"encoding/hex"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// row is a stall as it stands in a table of a data warehouse. Names are those of SQL; columns are added, never renamed
// or removed.
type row struct {
	Key       string   `parquet:"group_key,dict"`
	User      *string  `parquet:"user_id,optional"`
	Recording string   `parquet:"recording,dict"`
	Content   string   `parquet:"recording_sha256,dict"`
	Number    int32    `parquet:"number"`
	App       *string  `parquet:"app,optional,dict"`
	Version   *string  `parquet:"version_name,optional,dict"`
	Code      *string  `parquet:"version_code,optional,dict"`
	BuildID   *string  `parquet:"build_id,optional,dict"`
	Device    *string  `parquet:"device,optional,dict"`
	Time      *int64   `parquet:"began,optional,timestamp(millisecond)"`
	Wall      int64    `parquet:"wall_ns"`
	CPU       *int64   `parquet:"cpu_ns,optional"`
	Kind      string   `parquet:"kind,dict"`
	Verdict   string   `parquet:"verdict,dict"`
	Title     string   `parquet:"title,dict"`
	Scene     *string  `parquet:"scene,optional,dict"`
	Method    *string  `parquet:"method,optional,dict"`
	HotPath   []string `parquet:"hot_path,list,dict"`
}

// Table writes a row for each stall as Parquet, so that a data warehouse can ask what this package does and more. What
// is not known is null. Memory is that of one row group.
type Table struct{ out *parquet.GenericWriter[row] }

// NewTable begins a table.
func NewTable(w io.Writer) *Table {
	return &Table{parquet.NewGenericWriter[row](w, parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("tracegen", "", ""), parquet.MaxRowsPerRowGroup(100_000))}
}

// Add adds a stall of a recording, as [Stalls.Each] gets it.
func (t *Table) Add(d Digest, c *analysis.Row) error {
	r := row{
		Key: c.Key, User: known(c.User), Recording: c.Recording, Content: hex.EncodeToString(d[:]), Number: int32(c.Number),
		App: known(c.App), Version: known(c.Version), Code: known(c.Code), BuildID: known(c.BuildID), Device: known(c.Device),
		Time: known(c.Time), Wall: c.Wall, Kind: string(c.Kind), Verdict: c.Verdict, Title: c.Title, Scene: known(c.Scene),
		Method: known(c.Method), HotPath: c.HotPath,
	}
	if c.CPU >= 0 {
		r.CPU = &c.CPU
	}
	_, err := t.out.Write([]row{r})
	return err
}

// Close completes the table.
func (t *Table) Close() error { return t.out.Close() }

// known returns nil for the zero value.
func known[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
