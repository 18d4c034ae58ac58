package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// jsonHead is how JSON begins that jsonDump reads: it is read whole or not at all.
var jsonHead = glob.Regexp(`^\W*"(?:threadDump"\s*:\s*\{|threads"\s*:\s*\[\s*\{\s*"threadName")`)

// jsonDump reads what jcmd Thread.dump_to_file -format=json writes, and what Spring Boot's threaddump endpoint returns,
// which is java.lang.management.ThreadInfo. It reports whether the document is one of them.
func (p *dumpParser) jsonDump(document []byte) bool {
	var d struct {
		ThreadDump *struct {
			ProcessID        json.RawMessage
			Time             string
			ThreadContainers []struct{ Threads []jsonThread }
		}
		Threads []jsonInfo
	}
	if json.Unmarshal(document, &d) != nil {
		return false
	}
	if of := d.ThreadDump; of != nil {
		p.end(true)
		p.begin()
		p.process.PID, _ = strconv.Atoi(strings.Trim(string(of.ProcessID), `"`))
		p.process.Time, p.process.allShown = bounded(of.Time), true
		for _, c := range of.ThreadContainers {
			for _, t := range c.Threads {
				p.jsonThread(&t)
			}
		}
		p.end(false)
		return true
	}
	if !slices.ContainsFunc(d.Threads, func(t jsonInfo) bool { return t.ThreadName != "" && t.ThreadState != "" }) {
		return false
	}
	p.end(true)
	for _, t := range d.Threads {
		p.jsonInfo(&t)
	}
	p.end(false)
	return true
}

// jsonThread is a thread of a dump to a file.
type jsonThread struct {
	TID         json.RawMessage // a string up to JDK 25
	Name, State string
	Stack       []string
	ParkBlocker *struct {
		Object string
		Owner  json.RawMessage
	}
	BlockedOn, WaitingOn string
	MonitorsOwned        []struct{ Locks []*string }
}

func (p *dumpParser) jsonThread(j *jsonThread) {
	p.add(&Thread{Name: bounded(j.Name), ID: strings.Trim(string(j.TID), `"`), State: bounded(j.State)})
	t := p.thread
	if t == nil {
		return
	}
	t.detailed = true
	for _, f := range j.Stack {
		t.frame(f)
	}
	if l, _, ok := lockOf(j.BlockedOn); ok {
		t.Waits = &l
	}
	on := j.WaitingOn
	if j.ParkBlocker != nil {
		on = j.ParkBlocker.Object
	}
	if l, _, ok := lockOf(on); ok {
		if j.ParkBlocker != nil {
			l.HolderID = strings.Trim(string(j.ParkBlocker.Owner), `"`)
		}
		t.on = &l
	}
	for _, m := range j.MonitorsOwned {
		for _, text := range m.Locks {
			if text == nil {
				continue // one that the compiler has eliminated
			}
			if l, _, ok := lockOf(*text); ok {
				t.hold(l)
			}
		}
	}
}

// jsonLock is a LockInfo.
type jsonLock struct {
	ClassName        string
	IdentityHashCode int64
}

func (j jsonLock) lock() Lock {
	return Lock{ID: strconv.FormatUint(uint64(uint32(j.IdentityHashCode)), 16), Class: bounded(j.ClassName)}
}

// jsonInfo is a ThreadInfo.
type jsonInfo struct {
	ThreadName, ThreadState string
	ThreadID                int64
	LockInfo                *jsonLock
	LockOwnerID             int64
	LockOwnerName           string
	LockedMonitors          []jsonLock
	LockedSynchronizers     []jsonLock
	StackTrace              []struct {
		ClassName, MethodName, FileName string
		LineNumber                      int
		NativeMethod                    bool
	}
}

func (p *dumpParser) jsonInfo(j *jsonInfo) {
	p.add(&Thread{Name: bounded(j.ThreadName), ID: strconv.FormatInt(j.ThreadID, 10), State: bounded(j.ThreadState)})
	t := p.thread
	if t == nil {
		return
	}
	t.detailed = true
	for _, f := range j.StackTrace {
		place := fmt.Sprintf("%s:%d", f.FileName, f.LineNumber)
		if f.NativeMethod {
			place = "Native Method"
		}
		t.frame(fmt.Sprintf("%s.%s(%s)", f.ClassName, f.MethodName, place))
	}
	if j.LockInfo != nil {
		l := j.LockInfo.lock()
		if j.LockOwnerID > 0 {
			l.Holder, l.HolderID = bounded(j.LockOwnerName), strconv.FormatInt(j.LockOwnerID, 10)
		}
		if t.Kind() == Blocked {
			t.Waits = &l
		} else {
			t.on = &l
		}
	}
	for _, l := range slices.Concat(j.LockedMonitors, j.LockedSynchronizers) {
		t.hold(l.lock())
	}
}
