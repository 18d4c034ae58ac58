package foreign

import (
	"strconv"
	"strings"
)

// What is kept of a text. A real trace has some hundred threads.
const (
	maxProcesses    = 256
	maxThreads      = 1 << 14 // of all processes
	maxThreadFrames = 512     // of a thread
	maxLocked       = 256     // locks that a thread holds
	maxThreadText   = 1 << 10 // bytes of a name or a frame
)

// Dump is what a text has.
type Dump struct {
	// Processes are in the order of the text. Threads before the first head of a process are a process of their own.
	Processes []*Process
	// Omitted is set if the text has more processes or threads than are kept.
	Omitted bool
}

// Process has the threads of a process.
type Process struct {
	// PID is its ID, Time when the stacks were taken, as the text has it, and Command its command line; 0 or empty if
	// the text does not say.
	PID     int
	Time    string
	Command string
	// Threads are in the order of the text.
	Threads []*Thread
	// Truncated is set if the head of the process has no end mark: the text was cut off, and threads may be missing.
	Truncated bool
}

// Thread is a thread with its stack.
type Thread struct {
	// Name is its name, ID what locks call their holder in the text of ART: tid; 0 if the text does not say.
	Name string
	ID   uint64
	// State is its state as the text has it, such as Blocked, Native or BLOCKED.
	State string
	// Frames is its stack, the innermost frame first. Frames of native code are left out; Native says that there were
	// some above the first one.
	Frames []string
	Native bool
	// Waits is the lock that it waits for; nil if it waits for none, or if the text does not name the lock.
	Waits *Lock
	// Locked are the locks that it holds, as far as the text says so.
	Locked []Lock

	on string // the object that it waits on, whose lock it has released
}

// Lock is a monitor, or in a text of HotSpot also a lock of java.util.concurrent.
type Lock struct {
	// ID distinguishes it from others of its process, as the text has it: 0x0d2a. Class is its class, with dots.
	ID, Class string
	// Holder is the ID of the thread that holds it; 0 if the text does not say.
	Holder uint64
}

// ParseDump reads a text. It has no processes if the text has no threads.
func ParseDump(text string) *Dump {
	p := dumpParser{dump: &Dump{}}
	for line := range strings.Lines(text) {
		p.line(strings.TrimRight(line, "\r\n"))
	}
	p.end(true)
	return p.dump
}

// dumpParser reads line by line.
type dumpParser struct {
	dump    *Dump
	process *Process
	thread  *Thread
	threads int
	headed  bool // the process has a head, so that an end mark is due
	owned   bool // the lines are a list of locks that the thread owns
}

// end takes the process that was read. cut is whether its end mark is missing.
func (p *dumpParser) end(cut bool) {
	if q := p.process; q != nil && len(q.Threads) > 0 {
		q.Truncated = cut && p.headed
		for _, t := range q.Threads {
			t.release()
		}
		p.dump.Processes = append(p.dump.Processes, q)
	}
	p.process, p.thread, p.headed, p.owned = nil, nil, false, false
}

// release removes the lock that a thread has released to wait on it.
func (t *Thread) release() {
	kept := t.Locked[:0]
	for _, l := range t.Locked {
		if l.ID != t.on {
			kept = append(kept, l)
		}
	}
	t.Locked = kept
}

func (p *dumpParser) line(line string) {
	text := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(text, "----- pid "):
		p.end(true)
		p.begin()
		p.headed = true
		pid, rest, _ := strings.Cut(text[len("----- pid "):], " ")
		p.process.PID, _ = strconv.Atoi(pid)
		p.process.Time = bounded(strings.TrimSuffix(strings.TrimPrefix(rest, "at "), " -----"))
	case strings.HasPrefix(text, "----- end "):
		p.end(false)
	case strings.HasPrefix(text, "Cmd line: ") && p.process != nil:
		p.process.Command = bounded(text[len("Cmd line: "):])
	case strings.HasPrefix(line, `"`):
		p.begin()
		p.head(line)
	case p.thread != nil:
		p.detail(text)
	}
}

// begin begins a process, unless there is one.
func (p *dumpParser) begin() {
	if p.process != nil {
		return
	}
	p.process = &Process{}
	if len(p.dump.Processes) >= maxProcesses {
		p.dump.Omitted = true
		p.threads = maxThreads
	}
}

// head reads the first line of a thread. A name may have quotes:
//
//	"main" prio=5 tid=1 Blocked
//	"main" #1 prio=5 os_prio=0 cpu=1.2ms elapsed=3.4s tid=0x00007f01 nid=0x1a waiting for monitor entry  [0x00007f02]
func (p *dumpParser) head(line string) {
	p.thread, p.owned = nil, false
	end := strings.LastIndex(line, `" `)
	if end < 1 {
		return
	}
	name, rest := line[1:end], strings.TrimSpace(line[end+2:])
	before, after, ok := strings.Cut(rest, "tid=")
	if !ok && !strings.HasPrefix(rest, "#") || ok && before != "" && !strings.Contains(before, "prio=") &&
		!strings.HasPrefix(before, "#") {
		return
	}
	if p.threads >= maxThreads {
		p.dump.Omitted = true
		return
	}
	p.threads++
	id, state, _ := strings.Cut(after, " ")
	t := &Thread{Name: bounded(name), State: bounded(strings.TrimSpace(state))}
	if n, err := strconv.ParseUint(id, 10, 32); err == nil {
		t.ID = n
	} else {
		t.State = "" // of HotSpot: a line of its own has it
	}
	p.thread = t
	p.process.Threads = append(p.process.Threads, t)
}

// detail reads a line below the first one of a thread.
func (p *dumpParser) detail(text string) {
	t := p.thread
	switch {
	case strings.HasPrefix(text, "at "):
		if len(t.Frames) < maxThreadFrames {
			t.Frames = append(t.Frames, bounded(text[len("at "):]))
		}
	case strings.HasPrefix(text, "native: ") || strings.HasPrefix(text, "#0"):
		t.Native = t.Native || len(t.Frames) == 0
	case strings.HasPrefix(text, "java.lang.Thread.State: "):
		t.State, _, _ = strings.Cut(bounded(text[len("java.lang.Thread.State: "):]), " ")
	case strings.HasPrefix(text, "Locked ownable synchronizers:"):
		p.owned = true
	case strings.HasPrefix(text, "- waiting to lock "):
		t.wait(text[len("- waiting to lock "):])
	case strings.HasPrefix(text, "- parking to wait for "):
		t.wait(strings.TrimSpace(text[len("- parking to wait for "):]))
	case strings.HasPrefix(text, "- waiting on "), strings.HasPrefix(text, "- sleeping on "):
		_, object, _ := strings.Cut(text, " on ")
		if l, _, ok := lockOf(object); ok && strings.HasPrefix(text, "- waiting on ") {
			t.on = l.ID
		}
	case strings.HasPrefix(text, "- locked "):
		if l, _, ok := lockOf(text[len("- locked "):]); ok && len(t.Locked) < maxLocked {
			t.Locked = append(t.Locked, l)
		}
	case strings.HasPrefix(text, "- <"):
		if l, _, ok := lockOf(text[len("- "):]); ok && p.owned && len(t.Locked) < maxLocked {
			t.Locked = append(t.Locked, l)
		}
	}
}

// wait reads the lock that a thread waits for: <0x0d2a> (a a.Lock) held by thread 12.
func (t *Thread) wait(text string) {
	l, rest, ok := lockOf(text)
	if !ok || t.Waits != nil {
		return
	}
	if by, held := strings.CutPrefix(strings.TrimSpace(rest), "held by "); held {
		for _, prefix := range []string{"thread ", "threadid=", "tid="} {
			digits, is := strings.CutPrefix(by, prefix)
			digits, _, _ = strings.Cut(digits, " ")
			if n, err := strconv.ParseUint(digits, 10, 32); is && err == nil {
				l.Holder = n
			}
		}
	}
	t.Waits = &l
}

// lockOf reads <0x0d2a> (a a.Lock), and returns what is behind it.
func lockOf(text string) (l Lock, rest string, ok bool) {
	if !strings.HasPrefix(text, "<") {
		return l, "", false
	}
	id, rest, ok := strings.Cut(text[1:], ">")
	if !ok || id == "" || len(id) > 32 {
		return l, "", false
	}
	l.ID = id
	if of, found := strings.CutPrefix(strings.TrimSpace(rest), "(a "); found {
		// The class may be one of a class: java.lang.Class<a.B>.
		end := strings.IndexByte(of, ')')
		if end < 0 {
			return l, "", true
		}
		l.Class, rest = bounded(of[:end]), of[end+1:]
	}
	return l, rest, true
}

// bounded returns a copy of a text, cut to what is kept.
func bounded(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxThreadText)]), "\uFFFD")
}
