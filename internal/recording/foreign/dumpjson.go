package foreign

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// jsonHead is how JSON begins that jsonDump reads: it is read whole or not at all.
var jsonHead = glob.Regexp(`^\W*"threadDump"\s*:\s*\{`)

// jsonDump reads what jcmd Thread.dump_to_file -format=json writes. It reports whether the document is that.
func (p *dumpParser) jsonDump(document []byte) bool {
	var d struct {
		ThreadDump *struct {
			ProcessID        json.RawMessage
			Time             string
			RuntimeVersion   string
			ThreadContainers []struct{ Threads []jsonThread }
		}
	}
	if json.Unmarshal(document, &d) != nil || d.ThreadDump == nil {
		return false
	}
	of := d.ThreadDump
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
