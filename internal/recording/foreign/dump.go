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
	maxClaims       = 1 << 12 // that a thread is in a deadlock, of a process
)

// Dump is what a text has.
type Dump struct {
	// Processes are in the order of the text. Threads before the first head of a process are a process of their own.
	Processes []*Process
	// Omitted is set if the text has more processes or threads than are kept.
	Omitted bool
}

// Process has the threads of a process at one moment.
type Process struct {
	// PID is its ID, Time when the stacks were taken, as the text has it, and Command its command line; 0 or empty if
	// the text does not say.
	PID     int
	Time    string
	Command string
	// Threads are in the order of the text.
	Threads []*Thread
	// Truncated is set if the text has the head of the process and no end mark: it was cut off, and threads may be
	// missing.
	Truncated bool
	// Stated is set if the text says itself that there is a deadlock.
	Stated bool
	// Unread is how many lines look as if they said something about threads or locks and were not understood. UnreadLine
	// is the first of them.
	Unread     int
	UnreadLine string

	checked  bool // the JVM has looked for deadlocks and found none, unless Stated is set
	java     int  // the version of the JVM; 0 if the text does not say
	virtual  bool // it has virtual threads
	claims   int  // how often the JVM has named a thread of a deadlock
	allShown bool // the text has virtual threads that wait
	named    map[string]*Thread
}

// Thread is a thread with its stack.
type Thread struct {
	// Name is its name, ID what distinguishes it from others of that name, and what locks call their holder; empty if the
	// text does not say.
	Name, ID string
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

	on        *Lock    // what it waits on or has parked for: a monitor that it has released, or a lock
	inWait    bool     // HotSpot says that it is in Object.wait, of its own will or for the initialization of a class
	parked    bool     // Waits is a lock of java.util.concurrent
	symbols   []string // frames of Java that stand among those of native code
	mutex     bool     // it waits for a lock of native code
	system    string   // its ID in the system
	initShown bool     // if it waited for the initialization of a class, the text would say so
	detailed  bool     // something was said of it behind its head
	claimed   bool     // it is known by name only, from what the JVM says of a deadlock
}

// Lock is a monitor, a lock of java.util.concurrent, or the initialization of a class.
type Lock struct {
	// ID distinguishes it from others of its process, as the text has it: 0x0d2a. Class is its class, with dots.
	ID, Class string
	// HolderID and Holder are the ID and the name of the thread that holds it; empty if the text does not say.
	HolderID, Holder string
	// Init is set if it is the initialization of Class.
	Init bool

	by *Thread // the thread that holds it, if the JVM says that it is in a deadlock
}

// ParseDump reads a text, whatever stands around its lines. It has no processes if the text has no threads.
func ParseDump(text string) *Dump {
	p := dumpParser{dump: &Dump{}}
	unwrap(text, p.line, p.jsonDump)
	p.end(true)
	return p.dump
}

// HasDump reports whether a text that may go on has threads.
func HasDump(text string) bool {
	return jsonHead().MatchString(text) || len(ParseDump(text).Processes) > 0
}

// dumpParser reads line by line.
type dumpParser struct {
	dump    *Dump
	process *Process
	thread  *Thread
	threads int
	headed  bool      // the process has a head, so that an end mark is due
	full    bool      // it is headed as HotSpot does, and other programs, which print no end mark
	owned   bool      // the lines are a list of locks that the thread owns
	stating bool      // the lines are what the JVM says of a deadlock
	time    string    // of the next process
	circle  []*Thread // of a stated deadlock
	claim   Lock      // what the last thread of a stated deadlock waits for
}

// end takes the process that was read. cut is whether its end mark is missing.
func (p *dumpParser) end(cut bool) {
	p.link()
	if q := p.process; q != nil && len(q.Threads) > 0 {
		q.Truncated = q.Truncated || cut && p.headed
		for _, t := range q.Threads {
			t.finish()
		}
		p.dump.Processes = append(p.dump.Processes, q)
	}
	p.process, p.thread, p.headed, p.full, p.owned, p.stating = nil, nil, false, false, false, false
}

// begin begins a process, unless there is one.
func (p *dumpParser) begin() {
	if p.process != nil {
		return
	}
	p.process = &Process{named: map[string]*Thread{}}
	if len(p.dump.Processes) >= maxProcesses {
		p.dump.Omitted = true
		p.threads = maxThreads
	}
}

// add begins a thread. One that the process has already is of the next dump of that process, but for two heads that
// follow each other: the Play console prints each head twice.
func (p *dumpParser) add(t *Thread) {
	p.owned, p.stating = false, false
	key := t.Name + "\x00" + t.ID
	if p.process != nil && t.ID != "" {
		if before := p.process.named[key]; before != nil {
			if before == p.thread && !before.detailed {
				before.State = t.State
				return
			}
			p.end(true)
		}
	}
	p.begin()
	p.process.virtual = p.process.virtual || strings.HasPrefix(t.Name, "VirtualThread-")
	if before := p.process.named[t.Name+"\x00"]; before != nil && before.claimed {
		before.claimed, before.ID, before.State, before.inWait = false, t.ID, t.State, t.inWait
		p.process.named[key], p.thread = before, before
		return
	}
	p.keep(key, t)
}

// keep adds a thread to the process, unless it has too many.
func (p *dumpParser) keep(key string, t *Thread) {
	if p.thread = nil; p.threads >= maxThreads {
		p.dump.Omitted = true
		return
	}
	p.threads++
	p.process.named[key], p.thread = t, t
	p.process.Threads = append(p.process.Threads, t)
}

// frame adds a frame to the stack.
func (t *Thread) frame(text string) {
	if len(t.Frames) >= maxThreadFrames {
		return
	}
	// The Play console prints "a.B.c (B.java:1)", old versions of ART "java.lang.Object.wait!(Native method)".
	// OpenJ9 "java/lang/Thread.run(Thread.java:1(Compiled Code))".
	method, place, found := strings.Cut(text, "(")
	if found {
		place = strings.Replace(place[:strings.LastIndexByte(place, ')')+1], "(Compiled Code)", "", 1)
		if slashes().MatchString(method) {
			method = strings.ReplaceAll(method, "/", ".")
		}
		text = strings.TrimRight(method, " !") + "(" + place
	}
	t.Frames = append(t.Frames, bounded(text))
}

// hold adds a lock to those that a thread holds.
func (t *Thread) hold(l Lock) {
	if len(t.Locked) < maxLocked {
		t.Locked = append(t.Locked, l)
	}
}

// finish decides what a thread waits for, now that all is known of it.
func (t *Thread) finish() {
	if len(t.Frames) == 0 && len(t.symbols) > 0 {
		t.Frames, t.Native = t.symbols, false
	}
	if t.on != nil && t.Waits == nil {
		if l, ok := t.initialization(); ok {
			t.Waits = &l
		} else if t.parked = t.on.HolderID != "" || t.acquires(); t.parked || t.Kind() == Blocked {
			t.Waits = t.on // if it is blocked, it was notified
		}
	}
	kept := t.Locked[:0]
	for _, l := range t.Locked {
		// To wait on an object is to release its lock, which HotSpot lists nevertheless.
		if (t.on == nil || l.key() != t.on.key()) && (t.Waits == nil || l.key() != t.Waits.key()) {
			kept = append(kept, l)
		}
	}
	t.Locked = kept
}

// initialization returns the class that a thread of ART waits for: it waits on the class, and not in Object.wait.
func (t *Thread) initialization() (l Lock, ok bool) {
	class, ok := strings.CutPrefix(t.on.Class, "java.lang.Class<")
	if !ok || len(t.Frames) == 0 || FrameMethod(t.Frames[0]) == "java.lang.Object.wait" {
		return l, false
	}
	class = strings.TrimSuffix(class, ">")
	return Lock{ID: class, Class: class, Init: true}, true
}

// nearLock is how many frames on top of a stack can be those of a lock of java.util.concurrent.
const nearLock = 12

// acquires reports whether a thread waits for a lock of java.util.concurrent, by its stack or by the class of the lock.
func (t *Thread) acquires() bool {
	if len(t.Frames) > 0 && strings.HasPrefix(FrameMethod(t.Frames[0]), "java.lang.Object.wait") {
		return false // of a monitor, whatever its class is called
	}
	if t.on != nil && lockClass().MatchString(t.on.Class) {
		return true
	}
	found := false
	for _, f := range t.Frames[:min(len(t.Frames), nearLock)] {
		m := FrameMethod(f)
		if m == "java.util.concurrent.CountDownLatch.await" {
			return false
		}
		found = found || acquiring().MatchString(m)
	}
	return found
}

// Kind is what a state says.
type Kind int

// The kinds. A thread that is Running may also sleep, be in native code, or wait for some time only.
const (
	Unsaid Kind = iota
	Running
	Blocked
	Waiting
)

// Kind returns what the state of a thread says.
func (t *Thread) Kind() Kind {
	switch strings.ToLower(t.State) {
	case "blocked", "monitor", "waitingforlockinflation", "waiting for monitor entry":
		return Blocked
	case "waiting", "wait", "in object.wait()":
		return Waiting
	}
	if runningState().MatchString(t.State) {
		return Running
	}
	return Unsaid
}

// Main returns the main thread; nil if there is none.
func (p *Process) Main() *Thread {
	for _, t := range p.Threads {
		name, _, _ := strings.Cut(t.Name, "@") // IntelliJ adds a number
		if name == "main" || t.system != "" && t.system == strconv.Itoa(p.PID) {
			return t
		}
	}
	return nil
}

// bounded returns a copy of a text, cut to what is kept.
func bounded(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxThreadText)]), "\uFFFD")
}
