package group

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"github.com/tracegen/tracegen/internal/fleet/devicereport"
	"github.com/tracegen/tracegen/internal/recording/analysis"
)

// bucketSpans has when stalls were, so that an incident of a report is found to be covered by one: the recording's ID,
// the name of the thread, and the begin and the end in nanoseconds since 1970. There are no values. A stall of a
// recording and its report may both be there.
var bucketSpans = []byte("spans")

// maxSpans is how many stalls that begin before the middle of an incident are compared with it. Stalls of one thread
// follow each other, but for input events in a message, so that the last ones decide.
const maxSpans = 1000

const (
	// maxThreadName is the longest name of a thread in a key, in bytes; a database limits keys.
	maxThreadName = 4000
	// maxTime is the latest begin of a span, in milliseconds since 1970: in the year 2116. docs/sql/reports.sql has the
	// same limit.
	maxTime = math.MaxInt64 / 2 / int64(time.Millisecond)
)

// spanOf returns when a stall or an incident of a thread was, in nanoseconds since 1970; false if that is not known.
func spanOf(c *analysis.Row) (begin, end int64, known bool) {
	if c.Time <= 0 || c.Time > maxTime || c.Thread == "" ||
		len(c.Thread) > maxThreadName || c.Lasted < 0 {
		return 0, 0, false
	}
	begin = c.Time * int64(time.Millisecond)
	return begin, begin + min(c.Lasted, math.MaxInt64/4), true
}

func spanPrefix(recording, thread string) []byte {
	return append(append(append([]byte(recording), 0), thread...), 0)
}

// putSpan notes when a stall of a recording with an ID was. It notes nothing for an incident.
func putSpan(tx *transaction, recording string, c *analysis.Row) error {
	begin, end, known := spanOf(c)
	if recording == "" || !known || !devicereport.IsStall(c.ReportKind) {
		return nil
	}
	key := binary.BigEndian.AppendUint64(spanPrefix(recording, c.Thread), uint64(begin))
	return tx.table(bucketSpans).put(binary.BigEndian.AppendUint64(key, uint64(end)), []byte{})
}

// covered reports whether a stall that is known covers the incident of a report. An incident of a recording was
// compared with the stalls of the recording when it was read.
func covered(tx *transaction, c *analysis.Row) bool {
	begin, end, known := spanOf(c)
	if !known || !ofReport(c) || devicereport.IsStall(c.ReportKind) {
		return false
	}
	prefix := spanPrefix(c.Recording, c.Thread)
	// A stall that begins behind the middle of the incident does not cover it.
	at := binary.BigEndian.AppendUint64(bytes.Clone(prefix), uint64(begin+(end-begin)/2+1))
	cursor := tx.Bucket(bucketSpans).Cursor()
	key, _ := cursor.Seek(at)
	if key == nil {
		key, _ = cursor.Last()
	} else {
		key, _ = cursor.Prev()
	}
	for range maxSpans {
		if !bytes.HasPrefix(key, prefix) || len(key) != len(prefix)+16 {
			return false
		}
		if analysis.Covers(int64(binary.BigEndian.Uint64(key[len(prefix):])),
			int64(binary.BigEndian.Uint64(key[len(prefix)+8:])), begin, end) {
			return true
		}
		key, _ = cursor.Prev()
	}
	return false
}
