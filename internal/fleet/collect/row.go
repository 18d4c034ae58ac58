package collect

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/tracegen/tracegen/internal/atomicfile"
	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// row is a report as it stands in a Parquet file. What is not known is null. Columns are added, never renamed or
// removed. The column not_counted says why the report does not count, as far as the report itself shows it. The columns
// app and mapping_digest repeat what the directories say, for a file that is read by itself.
type row struct {
	ID         string   `parquet:"id"`
	ReportKind string   `parquet:"report_kind,dict"`
	Detector   *string  `parquet:"detector,optional,dict"`
	Key        string   `parquet:"group_key,dict"`
	Named      bool     `parquet:"named"`
	Kind       string   `parquet:"kind,dict"`
	Verdict    string   `parquet:"verdict,dict"`
	Title      string   `parquet:"title,dict"`
	Method     *string  `parquet:"method,optional,dict"`
	HotPath    []string `parquet:"hot_path,list,dict"`
	Scene      *string  `parquet:"scene,optional,dict"`
	Foreground *bool    `parquet:"foreground,optional"`
	Thread     *string  `parquet:"thread,optional,dict"`
	Recording  string   `parquet:"recording,dict"`
	User       *string  `parquet:"user_id,optional,dict"`
	Session    *string  `parquet:"session,optional,dict"`
	App        *string  `parquet:"app,optional,dict"`
	Version    *string  `parquet:"version_name,optional,dict"`
	Code       *string  `parquet:"version_code,optional,dict"`
	BuildID    *string  `parquet:"build_id,optional,dict"`
	Mapping    *string  `parquet:"mapping_digest,optional,dict"`
	Maker      *string  `parquet:"manufacturer,optional,dict"`
	Device     *string  `parquet:"device,optional,dict"`
	ABI        *string  `parquet:"abi,optional,dict"`
	SDK        *int64   `parquet:"sdk,optional"`
	Began      *int64   `parquet:"began,optional,timestamp(millisecond)"`
	Received   int64    `parquet:"received,timestamp(millisecond)"`
	Duration   *int64   `parquet:"duration_ns,optional"`
	Suspended  *int64   `parquet:"suspended_ns,optional"`
	Wall       int64    `parquet:"wall_ns"`
	CPU        *int64   `parquet:"cpu_ns,optional"`
	GC         *int64   `parquet:"gc_ns,optional"`
	Ended      *bool    `parquet:"ended,optional"`
	NotCounted *string  `parquet:"not_counted,optional,dict"`
	Report     string   `parquet:"report"`
}

// newRow makes the row of a report, of which line is the text.
func newRow(r *devicereport.Report, line string, received int64, s *analysis.Row, named bool) row {
	return row{
		ID: r.ID, ReportKind: r.Kind, Detector: known(s.Detector), Key: s.Key, Named: named, Kind: string(s.Kind),
		Verdict: s.Verdict, Title: s.Title, Method: known(s.Method), HotPath: s.HotPath, Scene: known(s.Scene),
		Foreground: r.Foreground, Thread: known(r.Thread), Recording: r.Recording, User: known(s.User),
		Session: known(r.Session), App: known(r.Package), Version: known(s.Version), Code: known(s.Code),
		BuildID: known(r.BuildID), Mapping: known(r.Mapping), Maker: known(r.Manufacturer), Device: known(s.Device),
		ABI: known(r.ABI), SDK: r.SDK, Began: r.Began, Received: received, Duration: nanos(r.Duration),
		Suspended: nanos(r.Suspended), Wall: s.Wall, CPU: nanos(r.CPU), GC: nanos(r.GC), Ended: r.Ended,
		NotCounted: known(string(s.NotCounted)), Report: line,
	}
}

// known returns nil for an empty text.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func nanos(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := d.Nanoseconds()
	return &n
}

// rowGroupBytes is from how many bytes of reports on a row group is complete. The writer keeps one in memory.
const rowGroupBytes = 8 << 20

// rows writes a Parquet file under a temporary name.
type rows struct {
	file  *os.File
	out   *parquet.GenericWriter[row]
	bytes int // of the row group
}

func createRows(dir string) (*rows, error) {
	f, err := createTemp(dir, ".parquet")
	if err != nil {
		return nil, err
	}
	out := parquet.NewGenericWriter[row](f, parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}),
		parquet.CreatedBy("tracegen", "", ""))
	return &rows{file: f, out: out}, nil
}

func (w *rows) add(r row) error {
	if _, err := w.out.Write([]row{r}); err != nil {
		return err
	}
	if w.bytes += len(r.Report); w.bytes >= rowGroupBytes {
		w.bytes = 0
		return w.out.Flush()
	}
	return nil
}

// close completes the file, writes it to the disk, and returns its temporary name.
func (w *rows) close() (string, error) {
	err := w.out.Close()
	if err == nil {
		err = w.file.Sync()
	}
	return w.file.Name(), errors.Join(err, w.file.Close())
}

// abort removes the file.
func (w *rows) abort() {
	w.file.Close()
	os.Remove(w.file.Name())
}

// readRows calls each with every row of a Parquet file. Memory is that of some pages.
func readRows(path string, each func(*row) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Package parquet-go panics at some damaged files.
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("%s: not a Parquet file of tracegen collect, or damaged: %v", path, caught)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkFooter(f, info.Size()); err != nil {
		return fmt.Errorf("%s: not a Parquet file, or damaged: %w", path, err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: not a Parquet file, or damaged: %w", path, err)
	}
	in := parquet.NewGenericReader[row](file)
	defer in.Close()
	some := make([]row, 64)
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
			return fmt.Errorf("%s: %w", path, err)
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

// createTemp makes a file that is not complete yet. Its mode follows the umask, as that of the files of other programs
// does; [os.CreateTemp] would keep all others out.
func createTemp(dir, ending string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, temporary+rand.Text()+ending), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// makeDirs makes a directory below root and all between, and writes their entries to the disk. None of those between
// may be a symbolic link: what is stored stays in the store.
func makeDirs(root, dir string) error {
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	at := root
	for _, name := range strings.Split(below, string(filepath.Separator)) {
		parent := at
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a directory, as it must be in a store", at)
		case err == nil:
			continue
		}
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		atomicfile.SyncDirectory(parent)
	}
	return nil
}
