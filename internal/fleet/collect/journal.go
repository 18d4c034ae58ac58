package collect

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// journalTime is for how long a [Journal] only counts a message that it has logged, and journalKinds how many it
	// distinguishes meanwhile.
	journalTime  = time.Minute
	journalKinds = 64
)

// Journal logs what clients can make happen any number of times: a message at once, and how often it came again after
// a minute. So an attack does not fill the disk with messages about it. No message has a token, a user, or a report. It
// is safe for several goroutines.
type Journal struct {
	log   *slog.Logger
	mu    sync.Mutex
	again map[string]int // by message: how often it came again since it was logged
	total int
}

// NewJournal returns a journal that logs to log.
func NewJournal(log *slog.Logger) *Journal { return &Journal{log: log, again: map[string]int{}} }

// Fault logs what failed behind a request that was answered. What stands behind the first colon may be another name of
// a file each time.
func (j *Journal) Fault(err error) {
	message, detail, _ := strings.Cut(err.Error(), ": ")
	j.warn(message, 1, "error", detail)
}

// warn logs a message that stands for n events. Its attributes are those of the first one.
func (j *Journal) warn(message string, n int, attributes ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.total += n
	if len(j.again) == 0 {
		time.AfterFunc(journalTime, j.flush)
	}
	if _, logged := j.again[message]; !logged && len(j.again) >= journalKinds {
		message, attributes = "there are more kinds of messages than are logged", nil
	}
	if _, logged := j.again[message]; logged {
		j.again[message] += n
		return
	}
	j.again[message] = 0
	if n > 1 {
		attributes = append([]any{"times", n}, attributes...)
	}
	j.log.Warn(message, attributes...)
}

// flush logs how often messages came again, and begins anew.
func (j *Journal) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, message := range slices.Sorted(maps.Keys(j.again)) {
		if n := j.again[message]; n > 0 {
			j.log.Warn(message, "again", n)
		}
	}
	clear(j.again)
}

// Write is for the [log.Logger] of [http.Server], whose lines are about connections that fail.
func (j *Journal) Write(line []byte) (int, error) {
	j.warn("a connection failed", 1, "error", strings.TrimSpace(string(line)))
	return len(line), nil
}
