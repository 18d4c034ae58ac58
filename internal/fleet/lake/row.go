package lake

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/mapping/r8"
)

// Row is a row of the table: a report, or a stall or an incident of a recording. What is not known is null. Columns are
// added, never renamed or removed. The column not_counted says why the row does not count, as far as the report or the
// stall itself shows it. The columns app and mapping_digest repeat what the directories say, for a file that is read by
// itself. RecordingSHA256, Number and File are those of a stall of a recording alone, Report is empty there.
type Row struct {
	// ID is the report's. ReportKind is "message", "idle-handler", "input", or the kind of an incident, Detector what
	// found it. Key is the group's. Named is false if HotPath and Method have IDs, as the mapping was missing.
	ID         string  `parquet:"id"`
	ReportKind string  `parquet:"report_kind,dict"`
	Detector   *string `parquet:"detector,optional,dict"`
	Key        string  `parquet:"group_key,dict"`
	Named      bool    `parquet:"named"`
	// Kind is the cause, Verdict says it in words, Title what ran. HotPath leads to Method, the one to blame. Scene,
	// Foreground and Thread say where.
	Kind       string   `parquet:"kind,dict"`
	Verdict    string   `parquet:"verdict,dict"`
	Title      string   `parquet:"title,dict"`
	Method     *string  `parquet:"method,optional,dict"`
	HotPath    []string `parquet:"hot_path,list,dict"`
	Scene      *string  `parquet:"scene,optional,dict"`
	Foreground *bool    `parquet:"foreground,optional"`
	Thread     *string  `parquet:"thread,optional,dict"`
	// Recording is its ID, User the installation, Session the process.
	Recording string  `parquet:"recording,dict"`
	User      *string `parquet:"user_id,optional,dict"`
	Session   *string `parquet:"session,optional,dict"`
	// App, Version, Code, BuildID and Mapping are the build; Maker, Device, ABI and SDK the device.
	App     *string `parquet:"app,optional,dict"`
	Version *string `parquet:"version_name,optional,dict"`
	Code    *string `parquet:"version_code,optional,dict"`
	BuildID *string `parquet:"build_id,optional,dict"`
	Mapping *string `parquet:"mapping_digest,optional,dict"`
	Maker   *string `parquet:"manufacturer,optional,dict"`
	Device  *string `parquet:"device,optional,dict"`
	ABI     *string `parquet:"abi,optional,dict"`
	SDK     *int64  `parquet:"sdk,optional"`
	// Began and Received are milliseconds since 1970 by the clocks of the device and of the collector.
	Began    *int64 `parquet:"began,optional,timestamp(millisecond)"`
	Received int64  `parquet:"received,timestamp(millisecond)"`
	// Duration is how long it lasted, Suspended how much of that the process did not run, Wall the rest, CPU how long it
	// was on a processor, GC how long garbage was collected, in nanoseconds. Ended is false if it lasted still.
	Duration  *int64 `parquet:"duration_ns,optional"`
	Suspended *int64 `parquet:"suspended_ns,optional"`
	Wall      int64  `parquet:"wall_ns"`
	CPU       *int64 `parquet:"cpu_ns,optional"`
	GC        *int64 `parquet:"gc_ns,optional"`
	Ended     *bool  `parquet:"ended,optional"`
	// NotCounted is why it does not count. Report is the report itself.
	NotCounted *string `parquet:"not_counted,optional,dict"`
	Report     string  `parquet:"report"`
	// RecordingSHA256 is the recording's content, Number counts its stalls from 1.
	RecordingSHA256 *string `parquet:"recording_sha256,optional,dict"`
	Number          *int32  `parquet:"number,optional"`
	// File is the recording's name, LimitOf and ConfirmedBy what the detector anr says.
	File        *string `parquet:"file,optional,dict"`
	LimitOf     *string `parquet:"limit_of,optional,dict"`
	ConfirmedBy *string `parquet:"confirmed_by,optional,dict"`
}

// ReportRow makes the row of a report, of which line is the text. names are those of its build; without them, which
// named says, the row has IDs of methods. other is as for [analysis.RowOfReport].
func ReportRow(r *devicereport.Report, line string, received int64, names *resolve.Names, named bool,
	other *r8.Mapping) Row {
	s := analysis.RowOfReport(r, names, other)
	row := rowOf(&s)
	row.Named = named || len(r.HotPath) == 0
	row.Foreground, row.Thread, row.Session = r.Foreground, known(r.Thread), known(r.Session)
	row.Mapping, row.Maker, row.ABI, row.SDK = known(r.Mapping), known(r.Manufacturer), known(r.ABI), r.SDK
	row.Began, row.Received, row.Duration, row.Suspended = r.Began, received, nanos(r.Duration), nanos(r.Suspended)
	row.CPU, row.GC, row.Ended, row.Report = nanos(r.CPU), nanos(r.GC), r.Ended, line
	return row
}

// StallRow makes the row of a stall or an incident of a recording with that SHA-256 and those properties, received when
// it began. Its recording is the ID of the recording; one without an ID, or a stall without a report, gets one from the
// SHA-256.
func StallRow(sum [32]byte, meta map[string]string, s *analysis.Row) Row {
	row := rowOf(s)
	content, number := hex.EncodeToString(sum[:]), int32(s.Number)
	row.Named, row.Received, row.RecordingSHA256, row.Number = true, s.Time, &content, &number
	row.File, row.Recording = known(s.Recording), cmp.Or(meta["recordingId"], content[:32])
	row.Maker, row.ABI = known(meta["manufacturer"]), known(meta["abi"])
	if sdk, err := strconv.ParseInt(meta["sdk"], 10, 64); err == nil {
		row.SDK = &sdk
	}
	if row.ID == "" {
		of := "s"
		if s.Incident != "" {
			of = "i"
		}
		row.ID = fmt.Sprintf("%s-%s%d", content[:32], of, number)
	}
	if s.Lasted > 0 {
		row.Duration = &s.Lasted
	}
	return row
}

// Rename replaces the names in the row of a report by those of another mapping, which s has.
func (r *Row) Rename(s *analysis.Row) {
	r.Named, r.Key, r.Kind, r.Verdict, r.Title = true, s.Key, string(s.Kind), s.Verdict, s.Title
	r.Method, r.HotPath, r.Scene = known(s.Method), s.HotPath, known(s.Scene)
}

// rowOf has what reports and stalls of recordings have alike.
func rowOf(s *analysis.Row) Row {
	row := Row{ID: s.ReportID, ReportKind: s.ReportKind, Detector: known(s.Detector), Key: s.Key, Kind: string(s.Kind),
		Verdict: s.Verdict, Title: s.Title, Method: known(s.Method), HotPath: s.HotPath, Scene: known(s.Scene),
		Thread: known(s.Thread), Recording: s.Recording, User: known(s.User), App: known(s.App), Version: known(s.Version),
		Code: known(s.Code), BuildID: known(s.BuildID), Device: known(s.Device), Began: known(s.Time), Wall: s.Wall,
		NotCounted: known(string(s.NotCounted)), LimitOf: known(s.Fact("limit-of")),
		ConfirmedBy: known(s.Fact("confirmed-by"))}
	if s.CPU >= 0 {
		row.CPU = &s.CPU
	}
	return row
}

// known returns nil for the zero value.
func known[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

func nanos(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := d.Nanoseconds()
	return &n
}
