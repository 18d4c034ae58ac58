package devicereport

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/glob"
)

// The format that a report says it has.
const (
	Format  = "tracegen-report"
	Version = 1
)

// The kinds of stalls. A report of any other kind is about an incident.
const (
	KindMessage     = "message"
	KindIdleHandler = "idle-handler"
	KindInput       = "input"
)

// IsStall reports whether a report of that kind is about a stall, and not about an incident.
func IsStall(kind string) bool {
	return kind == KindMessage || kind == KindIdleHandler || kind == KindInput
}

// Report is what a device reports about one stall or incident. Texts that the device did not know are empty, and
// numbers nil.
type Report struct {
	// ID is unique: the recording's ID, "s" for a stall or "i" for an incident, its number, and its thread.
	// Recording is the recording's ID.
	ID, Recording string
	// Kind is a kind of stall, or that of an incident. Detector found it.
	Kind, Detector string

	// Package, VersionName and VersionCode are the app's; BuildID and Mapping, the mapping's digest, its build's.
	Package, VersionName, VersionCode, BuildID, Mapping string
	// Manufacturer, Device and ABI are the device's; SDK is its API level.
	Manufacturer, Device, ABI string
	SDK                       *int64
	// Process is its process, PID the number of that, Session random for each process, and User random for each
	// installation.
	Process, Session, User string
	PID                    *int64
	// Scene is where the app was, Foreground whether it was seen. Thread and What say what ran.
	Scene, Thread, What string
	Foreground          *bool

	// Began is when it began, in milliseconds since 1970 by the clock of the device.
	Began *int64
	// Duration is how long it lasted, and Suspended how much of that the process did not run.
	Duration, Suspended *time.Duration
	// CPU is how long its thread was on a processor, GC how long garbage was collected, GCCount how often.
	CPU, GC *time.Duration
	GCCount *int64
	// Ended is false if it lasted still.
	Ended *bool

	// HotPath has the IDs of the methods that lead to where the time went, the outermost first; Key is the device's
	// hash of them.
	HotPath []uint32
	Key     string
	// Calls are the longest calls, each behind its callers.
	Calls []Call
	// Samples are stacks that were taken, LockOwner is who held the lock that it waited for, PostedBy the ID of the
	// method that posted the message.
	Samples   []Sample
	LockOwner string
	PostedBy  *uint32
	// Facts is what the detector says of an incident.
	Facts map[string]string
}

// Call is the calls of a method that were reached the same way.
type Call struct {
	// ID is of the method, Depth how many callers it has, Count how many calls, Total their time.
	ID    uint32
	Depth int
	Count int64
	Total time.Duration
}

// Sample is a stack of a thread.
type Sample struct {
	// Thread is its name, State its state as Java names it.
	Thread, State string
	// Count is how many samples it stands for, at least 1.
	Count int64
	// Frames is the stack, the innermost frame first.
	Frames []string
}

// Ran returns how long it lasted without the time in which the process did not run; 0 if that is not known.
func (r *Report) Ran() time.Duration {
	if r.Duration == nil {
		return 0
	}
	ran := *r.Duration
	if r.Suspended != nil {
		ran -= min(*r.Suspended, ran)
	}
	return ran
}

// InvalidError is the error about a report that has an ID and breaks the schema.
type InvalidError struct {
	// ID is the report's, Why what is wrong with which field.
	ID, Why string
}

// Error names the report and the reason.
func (e *InvalidError) Error() string { return "report " + e.ID + ": " + e.Why }

var (
	reportID    = glob.Regexp(`^([0-9a-f]{1,32})-[si][0-9]{1,20}(-[0-9]{1,10})?$`)
	recordingID = glob.Regexp(`^[0-9a-f]{1,32}$`)
	packageName = glob.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
	digestText  = glob.Regexp(`^[0-9a-f]{1,64}$`)
	kindName    = glob.Regexp(`^[a-z0-9][a-z0-9-]{0,63}$`)
)

// maxName is how long a package name, a text and a frame may be, in bytes.
const (
	maxName = 200
	maxText = 4000
)

// IsRecordingID reports whether the text is the ID of a recording: 1 to 32 hexadecimal digits in lower case.
func IsRecordingID(text string) bool { return recordingID().MatchString(text) }

// IsPackage reports whether the text is a name of a package, which is also safe as a name of a directory: letters,
// digits, "_" and "-" in parts that dots separate, at most 200 bytes.
func IsPackage(text string) bool { return len(text) <= maxName && packageName().MatchString(text) }

// IsDigest reports whether the text is the digest of a mapping: 1 to 64 hexadecimal digits in lower case.
func IsDigest(text string) bool { return digestText().MatchString(text) }

// ErrNotReport is wrapped by the error about a JSON value that is no report.
var ErrNotReport = errors.New("not a report")

// Parse reads a report. The error is an [*InvalidError] if the text is JSON and has the ID of a report, but breaks the
// schema.
func Parse(text string) (*Report, error) {
	value, large, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	v, ok := value.(object)
	if !ok {
		return nil, fmt.Errorf("%s where an object is expected: %w", kindOf(value), ErrNotReport)
	}
	r := &Report{}
	format, _ := v["format"].(string)
	id, _ := v["id"].(string)
	if r.ID, r.Recording, err = identify(format, id); err != nil {
		return nil, err
	}
	d := decoder{}
	d.report(v, r)
	if large != "" {
		d.fault("the number %s is larger than a 64-bit floating point number can be", large)
	}
	if d.why != "" {
		return nil, &InvalidError{r.ID, d.why}
	}
	return r, nil
}

// ID returns the ID of a report that is too long to be parsed. It does not keep the rest of the text, and does not
// check it by the schema.
func ID(text string) (string, error) {
	var head map[string]shortText
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		return "", err
	}
	id, _, err := identify(string(head["format"]), string(head["id"]))
	return id, err
}

// shortText is a string of JSON, empty for a long one and for any other value.
type shortText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *shortText) UnmarshalJSON(b []byte) error {
	if len(b) > maxName || b[0] != '"' {
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// identify returns the IDs of a report and of its recording.
func identify(format, text string) (id, recording string, err error) {
	if format != Format {
		return "", "", fmt.Errorf("no field \"format\" with the value %q: %w", Format, ErrNotReport)
	}
	if text == "" {
		return "", "", fmt.Errorf("no field \"id\": %w", ErrNotReport)
	}
	match := reportID().FindStringSubmatch(text)
	if match == nil {
		return "", "", fmt.Errorf("the id %q is not of the form RECORDING-s1 or RECORDING-i1: %w", short(text),
			ErrNotReport)
	}
	text = strings.Clone(text)
	return text, text[:len(match[1])], nil
}

// kindOf names the type of a JSON value.
func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	case object:
		return "an object"
	}
	return "null"
}

// decoder takes over fields. why is the first fault.
type decoder struct{ why string }

func (d *decoder) fault(format string, args ...any) {
	if d.why == "" {
		d.why = fmt.Sprintf(format, args...)
	}
}

// field returns the member with that name; ok is false if it is absent or null, or has another type, which is a fault.
func field[T any](d *decoder, of object, path, name string) (v T, ok bool) {
	value := of[name]
	if v, ok = value.(T); !ok && value != nil {
		d.fault("%s%s is %s, not %s", path, name, kindOf(value), kindOf(v))
	}
	return v, ok
}

func (d *decoder) text(of object, path, name string) string {
	text, _ := field[string](d, of, path, name)
	if len(text) > maxText {
		d.fault("%s%s has %d bytes; at most %d are taken", path, name, len(text), maxText)
		return ""
	}
	if strings.IndexByte(text, 0) >= 0 {
		d.fault("%s%s has a character of code 0", path, name)
		return ""
	}
	return strings.Clone(text) // a report may be kept longer than its text
}

// matching is a text that must satisfy a condition.
func (d *decoder) matching(of object, path, name string, is func(string) bool) string {
	text := d.text(of, path, name)
	if text != "" && !is(text) {
		d.fault("%s%s is %q, which is not allowed there", path, name, short(text))
	}
	return text
}

func (d *decoder) boolean(of object, path, name string) *bool {
	if v, ok := field[bool](d, of, path, name); ok {
		return &v
	}
	return nil
}

// integer is a whole number from low to high.
func (d *decoder) integer(of object, path, name string, low, high int64) *int64 {
	v, ok := field[json.Number](d, of, path, name)
	if !ok {
		return nil
	}
	n, err := v.Int64()
	if err != nil {
		f, err := v.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			d.fault("%s%s is %s, which is no whole number", path, name, v)
			return nil
		}
		n = int64(f)
	}
	if n < low || n > high {
		d.fault("%s%s is %s, which is not between %d and %d", path, name, v, low, high)
		return nil
	}
	return &n
}

// maxMillis is the longest duration that is taken: ten years.
const maxMillis = 10 * 366 * 24 * 3600 * 1000

func (d *decoder) millis(of object, path, name string) *time.Duration {
	v, ok := field[json.Number](d, of, path, name)
	if !ok {
		return nil
	}
	f, err := v.Float64()
	if err != nil || f < 0 || f > maxMillis {
		d.fault("%s%s is %s, which is not between 0 and %d", path, name, v, int64(maxMillis))
		return nil
	}
	of64 := time.Duration(math.Round(f * 1e6))
	return &of64
}

// method is the ID of a method.
func (d *decoder) method(v any, path string) uint32 {
	number, _ := v.(json.Number)
	n, err := strconv.ParseUint(string(number), 10, 32)
	if err != nil || n >= 1<<20 {
		d.fault("%s is no ID of a method, a number below %d", path, 1<<20)
		return 0
	}
	return uint32(n)
}

func (d *decoder) report(v object, r *Report) {
	version := d.integer(v, "", "version", 0, math.MaxInt64)
	if version == nil || *version != Version {
		d.fault("the version of the format is not %d; update tracegen", Version)
	}
	r.Kind = d.matching(v, "", "kind", kindName().MatchString)
	if r.Kind == "" {
		d.fault("kind is missing")
	}
	r.Detector = d.text(v, "", "detector")
	if recording := d.text(v, "", "recording"); recording != "" && recording != r.Recording {
		d.fault("recording is %q, and the id is of recording %s", short(recording), r.Recording)
	}
	group := func(name string) object {
		of, _ := field[object](d, v, "", name)
		return of
	}
	d.basic(group("basic"), r)
	d.timing(group("timing"), r)
	d.stack(group("stack"), r)
	group("cpu")
	group("detectors")
	if facts := group("facts"); facts != nil {
		r.Facts = make(map[string]string, len(facts))
		for name := range facts {
			if len(name) > maxName {
				d.fault("facts has a name of %d bytes; at most %d are taken", len(name), maxName)
			}
			r.Facts[strings.Clone(name)] = d.text(facts, "facts.", name)
		}
	}
}

func (d *decoder) basic(of object, r *Report) {
	const path = "basic."
	r.Package = d.matching(of, path, "package", IsPackage)
	r.Mapping = d.matching(of, path, "mapping", IsDigest)
	for _, t := range []struct {
		name string
		to   *string
	}{{"versionName", &r.VersionName}, {"versionCode", &r.VersionCode}, {"buildId", &r.BuildID},
		{"manufacturer", &r.Manufacturer}, {"device", &r.Device}, {"abi", &r.ABI}, {"process", &r.Process},
		{"session", &r.Session}, {"user", &r.User}, {"scene", &r.Scene}, {"thread", &r.Thread}, {"what", &r.What}} {
		*t.to = d.text(of, path, t.name)
	}
	r.SDK = d.integer(of, path, "sdk", 0, 1e6)
	r.PID = d.integer(of, path, "pid", 0, math.MaxInt64)
	r.Foreground = d.boolean(of, path, "foreground")
}

func (d *decoder) timing(of object, r *Report) {
	const path = "timing."
	r.Began = d.integer(of, path, "wallMillis", 0, 253_402_300_799_999) // until the year 9999
	r.Duration = d.millis(of, path, "durationMillis")
	r.Suspended = d.millis(of, path, "suspendedMillis")
	r.CPU = d.millis(of, path, "cpuMillis")
	r.GC = d.millis(of, path, "gcMillis")
	r.GCCount = d.integer(of, path, "gcCount", 0, math.MaxInt64)
	r.Ended = d.boolean(of, path, "ended")
}

// The most that are taken of a stack.
const (
	maxHotPath = 1000
	maxSamples = 1000
	maxFrames  = 2000
	maxCalls   = 30
)

func (d *decoder) stack(of object, r *Report) {
	const path = "stack."
	r.Key = d.text(of, path, "key")
	r.LockOwner = d.text(of, path, "lockOwner")
	if v, ok := field[json.Number](d, of, path, "postedBy"); ok {
		id := d.method(v, path+"postedBy")
		r.PostedBy = &id
	}
	calls, _ := field[[]any](d, of, path, "calls")
	r.Calls = callsOf(calls)
	for i, v := range d.array(of, path, "hotPath", maxHotPath) {
		r.HotPath = append(r.HotPath, d.method(v, fmt.Sprintf("%shotPath[%d]", path, i)))
	}
	for i, v := range d.array(of, path, "samples", maxSamples) {
		at := fmt.Sprintf("%ssamples[%d].", path, i)
		sample, ok := v.(object)
		if !ok {
			d.fault("%s is no object", strings.TrimSuffix(at, "."))
			return
		}
		s := Sample{Thread: d.text(sample, at, "thread"), State: d.text(sample, at, "state"), Count: 1}
		if n := d.integer(sample, at, "count", 1, math.MaxInt32); n != nil {
			s.Count = *n
		}
		for k, f := range d.array(sample, at, "frames", maxFrames) {
			if f, ok := f.(string); !ok || len(f) > maxText || strings.IndexByte(f, 0) >= 0 {
				d.fault("%sframes[%d] is no text of at most %d bytes", at, k, maxText)
			} else {
				s.Frames = append(s.Frames, strings.Clone(f))
			}
		}
		r.Samples = append(r.Samples, s)
	}
}

// callsOf returns the calls that are right: stores have reports in which nothing was checked of them.
func callsOf(values []any) (calls []Call) {
	for _, v := range values[:min(len(values), maxCalls)] {
		d := decoder{}
		of, _ := v.(object)
		c := Call{ID: d.method(of["id"], "")}
		depth, count, took := d.integer(of, "", "depth", 0, maxHotPath), d.integer(of, "", "count", 1, math.MaxInt64),
			d.millis(of, "", "millis")
		if d.why == "" && depth != nil && count != nil && took != nil {
			c.Depth, c.Count, c.Total = int(*depth), *count, *took
			calls = append(calls, c)
		}
	}
	return calls
}

// array is a field with at most that many items.
func (d *decoder) array(of object, path, name string, most int) []any {
	v, _ := field[[]any](d, of, path, name)
	if len(v) > most {
		d.fault("%s%s has %d items; at most %d are taken", path, name, len(v), most)
		return nil
	}
	return v
}
