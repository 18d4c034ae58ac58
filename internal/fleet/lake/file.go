package lake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowGroupBytes is from how many bytes of reports on a row group is complete, maxGroupRows from how many rows. The
// writer keeps one row group in memory.
const (
	rowGroupBytes = 8 << 20
	maxGroupRows  = 100_000
)

// Writer writes rows as a Parquet file. Its memory is that of one row group.
type Writer struct {
	out   *parquet.GenericWriter[Row]
	bytes int // of the row group
}

// NewWriter begins a file.
func NewWriter(w io.Writer) *Writer {
	return &Writer{out: parquet.NewGenericWriter[Row](w, parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.CreatedBy("tracegen", "", ""), parquet.MaxRowsPerRowGroup(maxGroupRows))}
}

// Add writes a row.
func (w *Writer) Add(r *Row) error {
	if _, err := w.out.Write([]Row{*r}); err != nil {
		return err
	}
	if w.bytes += len(r.Report); w.bytes >= rowGroupBytes {
		w.bytes = 0
		return w.out.Flush()
	}
	return nil
}

// Close completes the file; it does not close what NewWriter got.
func (w *Writer) Close() error { return w.out.Close() }

// origin has the columns that say whose a row is.
type origin struct {
	User      *string `parquet:"user_id,optional"`
	Session   *string `parquet:"session,optional"`
	Recording string  `parquet:"recording"`
}

// readFile calls each with the columns that T has of every row of a Parquet file. Memory is that of some pages. The row
// is valid during the call.
func readFile[T any](f *os.File, name string, each func(*T) error) (err error) {
	// Package parquet-go panics at some damaged files.
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("%s: not a Parquet file of tracegen collect, or damaged: %v", name, caught)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(f, info.Size()); err != nil {
		return fmt.Errorf("%s: not a Parquet file, or damaged: %w", name, err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: not a Parquet file, or damaged: %w", name, err)
	}
	in := parquet.NewGenericReader[T](file)
	defer in.Close()
	some := make([]T, 64)
	for {
		n, err := in.Read(some)
		for i := range some[:n] {
			if err := each(&some[i]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		clear(some)
	}
}

// checkFooter checks the length of the footer at the end of a Parquet file: parquet-go allocates that many bytes before
// it reads them.
func checkFooter(f io.ReaderAt, size int64) error {
	const ends = 12 // magic at both ends, and the length
	var last [8]byte
	if size < ends {
		return fmt.Errorf("%d bytes are too few", size)
	}
	if _, err := f.ReadAt(last[:], size-int64(len(last))); err != nil {
		return err
	}
	if length := int64(binary.LittleEndian.Uint32(last[:])); length > size-ends {
		return fmt.Errorf("a footer of %d bytes in a file of %d", length, size)
	}
	return nil
}
