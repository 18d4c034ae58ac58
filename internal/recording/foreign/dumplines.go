package foreign

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// Threads are printed by HotSpot (jstack, jcmd Thread.print, SIGQUIT; jhsdb), by java.lang.management.ThreadInfo, by
// jcmd Thread.dump_to_file, by ART and Dalvik, debuggerd (tombstones), the Play console, Crashlytics and IntelliJ. All
// have a head for each thread and lines below it; what differs is in the two tables here.

// threadHead is the head of a thread in a notation without quotes around the name in front. Its groups are name, id,
// system, state, and process.
type threadHead struct {
	pattern func() *regexp.Regexp
	virtual bool // virtual threads are printed too
}

var threadHeads = []threadHead{
	// jcmd Thread.dump_to_file: #23 "three" virtual WAITING 2026-11-26T23:16:47.122536924Z
	{glob.Regexp(`^#(?P<id>\d+) "(?P<name>.*)"(?: virtual)?(?: (?P<state>[A-Z_]+))?(?: \d{4}-\d\d-\d\dT\S+)?$`), true},
	// Crashlytics: main (native):tid=1 systid=26052
	{glob.Regexp(`^(?P<name>\S.*?) \((?P<state>[\w ]+)\): ?tid=(?P<id>\d+) systid=(?P<system>\d+)`), false},
	// debuggerd: pid: 1234, tid: 1250, name: RenderThread  >>> shop.demo.app <<<
	{glob.Regexp(`^pid: (?P<process>\d+), tid: (?P<system>(?P<id>\d+)), name: (?P<name>.*?) +>>> `), false},
	// OpenJ9's javacore, without the tag of the line: "main" J9VMThread:0x01, ..., java/lang/Thread:0x02, state:B, prio=5
	{glob.Regexp(`^"(?P<name>.*)" J9VMThread:0x\w+,.* java/lang/Thread:(?P<id>0x\w+), state:(?P<state>[A-Z]+)`), false},
	// VisualVM: "http-1" - Thread t@30
	{glob.Regexp(`^"(?P<name>.*)" - Thread t@(?P<id>\d+)$`), false},
	// Thread.toString, before each of Thread.getAllStackTraces: Thread[#23,three,5,main]
	{glob.Regexp(`^(?:Virtual)?Thread\[(?:#(?P<id>\d+),)?(?P<name>.*?)(?:,\d+,[^,\]]*)?\](?:/\w+.*)?:?$`), false},
	// Spigot and Paper, with the state on the next line: Current Thread: Server thread
	{glob.Regexp(`^Current Thread: (?P<name>\S.*)$`), false},
	// YourKit: Thread-1 [BLOCKED] [DAEMON]
	{glob.Regexp(`^(?P<name>\S.*?) \[(?P<state>RUNNABLE|BLOCKED|WAITING|TIMED_WAITING|SLEEPING)\](?: \[DAEMON\])?$`), false},
	// jhsdb, of a thread without a name: Thread 4711: (state = BLOCKED)
	{glob.Regexp(`^(?P<name>Thread (?P<id>\d+)): \(state = (?P<state>\w+)\)`), false},
	// ANR-WatchDog: ...ANRError$$$_Thread: main (state = BLOCKED)
	{glob.Regexp(`^(?:Caused by: )?[\w.$]*_Thread: (?P<name>.+) \(state = (?P<state>\w+)\)$`), false},
}

var (
	// attribute is what stands behind a name in quotes, one after the other, before the state.
	attribute = glob.Regexp(`^(?:(#\d+)|\[\d+\]|daemon|virtual|\(not attached\)|([A-Za-z_]+)=("[^"]*"|\S+))(?: +|$)`)
	// ownedHead is a head that names the owner of the lock, whose name is in quotes too.
	ownedHead = glob.Regexp(`^(".*?" .*?) ?owned by "(.*)" (?:Id|tid)=(\S+)(.*)$`)
	onLock    = glob.Regexp(`^([A-Z_]+)(?: +on +(?:lock=)?(\S+))?`)
	bracket   = glob.Regexp(` *\[0x[0-9a-f]+\]$`)
	// unreadHead is in a line that is the head of a thread, in whatever notation.
	unreadHead = glob.Regexp(`"[^"]*" .*\b(?:tid|nid|sysTid|prio|Id)=\w|^#\d+ "`)
	// runningState are the other states, of Java, HotSpot, ART and Dalvik.
	runningState = glob.Regexp(`(?i)^(?:new|runnable|running|timed[_ ]?wait(?:ing)?|terminated|allocated|initialized|sleeping|` +
		`zombie|waiting on condition|at breakpoint|native|suspended|starting|initializing|vmwait|nativeforabort|` +
		`waiting(?:for|performing|in|weak)\w+)$`)
	// lockClass are the classes of what a thread parks for and that another thread holds.
	lockClass = glob.Regexp(`Lock(?:\$|$)|Mutex|Semaphore`)
	acquiring = glob.Regexp(`\.(?:AbstractQueued(?:Long)?Synchronizer\.(?:acquire|doAcquire)(?:Queued)?|` +
		`StampedLock\.acquire(?:Read|Write))$`)
	nativeLock  = glob.Regexp(`(?i)mutex\w*lock|mutex::\w*lock|rwlock_\w*lock`)
	javaVersion = glob.Regexp(`\bjava\.base@(\d+)`)
	// slashes is the method of a frame of OpenJ9: a module before a class has dots behind its slash.
	slashes    = glob.Regexp(`^(?:[\pL\pN_$-]+/)+[\pL\pN_$]+\.[^./]+$`)
	nativeLine = glob.Regexp(`^(?:native: |kernel: |#\d+ +pc ).*`)
	javaSymbol = glob.Regexp(`(?:\.(?:odex|oat|vdex|dex|jar|apk)|memfd:\S*|\[anon:dalvik[^\]]*\]) \(([\w$]+(?:\.[\w$<>]+)+)(?: ?\+ ?\d+)?\)`)
)

// letters are the states that OpenJ9 has letters for.
var letters = map[string]string{"B": "BLOCKED", "CW": "WAITING", "P": "WAITING", "R": "RUNNABLE", "S": "SUSPENDED"}

// symbolOf returns the frame of Java that a line of a native stack has; empty if there is none.
func symbolOf(line string) string {
	if nativeLine().MatchString(line) {
		if m := javaSymbol().FindStringSubmatch(line); m != nil {
			return m[1] + "(Native Method)"
		}
	}
	return ""
}

// head reads the first line of a thread.
//
//	"main" prio=5 tid=1 Blocked
//	"main" #1 prio=5 os_prio=0 cpu=1.2ms elapsed=3.4s tid=0x00007f01 nid=0x1a waiting for monitor entry  [0x00007f02]
//	"main" prio=5 Id=1 BLOCKED on a.Lock@1a2b owned by "other" Id=2
func (p *dumpParser) head(line string) bool {
	for _, h := range threadHeads {
		pattern := h.pattern()
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if k := pattern.SubexpIndex(name); k >= 0 {
				return bounded(m[k])
			}
			return ""
		}
		state := group("state")
		p.add(&Thread{Name: group("name"), ID: group("id"), State: cmp.Or(letters[state], state), system: group("system")})
		p.process.allShown = p.process.allShown || h.virtual
		if pid, err := strconv.Atoi(group("process")); err == nil {
			p.process.PID = pid
		}
		return true
	}
	if !strings.HasPrefix(line, `"`) {
		return false
	}
	var owner Lock
	if m := ownedHead().FindStringSubmatch(line); m != nil {
		line, owner.Holder, owner.HolderID = m[1]+m[4], m[2], m[3]
	}
	end := strings.LastIndex(line, `" `)
	if end < 1 {
		return false
	}
	t := &Thread{Name: bounded(line[1:end])}
	rest, known := t.attributes(strings.TrimSpace(line[end+2:]))
	if !known {
		return false
	}
	rest = bracket().ReplaceAllString(rest, "")
	if m := onLock().FindStringSubmatch(strings.TrimPrefix(rest, "in ")); m != nil && m[2] != "" {
		rest = m[1]
		l, _, _ := lockOf(m[2])
		l.Holder, l.HolderID = owner.Holder, owner.HolderID
		t.on = &l
	}
	p.headed = p.headed || p.full && strings.Contains(line, " nid=")
	state, _, _ := strings.Cut(rest, " (")
	t.State, t.inWait = bounded(state), state == "in Object.wait()"
	if t.on != nil && t.Kind() == Blocked {
		t.Waits, t.on = t.on, nil
	}
	if t.on == nil && t.Waits == nil && owner.Holder != "" {
		t.on = &owner // the lock itself stands below
	}
	p.add(t)
	return true
}

// attributes reads what stands between a name and a state. known is whether there is something that only a thread has.
func (t *Thread) attributes(text string) (rest string, known bool) {
	for {
		m := attribute().FindStringSubmatch(text)
		if m == nil {
			return strings.TrimSpace(text), known
		}
		text = text[len(m[0]):]
		switch {
		case m[1] != "":
			t.ID = m[1][1:]
		case m[2] == "tid" || m[2] == "Id":
			_, err := strconv.Atoi(m[3])
			t.initShown = t.initShown || m[2] == "tid" && err == nil // of ART
			if t.ID == "" {
				t.ID = bounded(m[3])
			}
		case m[2] == "sysTid":
			t.ID, t.system = bounded(m[3]), bounded(m[3])
		case m[2] == "nid":
			t.initShown = m[3] != "NA" // of HotSpot
		case m[2] != "prio" && m[0][0] != '(':
			continue
		}
		known = true
	}
}

// detail is a line below the head of a thread, and what it says.
type detail struct {
	pattern func() *regexp.Regexp
	take    func(p *dumpParser, t *Thread, m []string)
}

// details has the lines in the order in which they are tried.
var details = []detail{
	{glob.Regexp(`^at (.+)$`), func(_ *dumpParser, t *Thread, m []string) { t.frame(m[1]) }},
	{glob.Regexp(`^java\.lang\.Thread\.State: (\w+)`), func(_ *dumpParser, t *Thread, m []string) { t.State = m[1] }},
	{nativeLine, func(_ *dumpParser, t *Thread, m []string) {
		t.Native = t.Native || len(t.Frames) == 0
		t.mutex = t.mutex || nativeLock().MatchString(m[0])
		if s := symbolOf(m[0]); s != "" && len(t.symbols) < maxThreadFrames {
			t.symbols = append(t.symbols, bounded(s))
		}
	}},
	{glob.Regexp(`^- (\S+\(.*\)) @bci=-?\d+(?:, line=(\d+))?`), func(_ *dumpParser, t *Thread, m []string) {
		method, _, _ := strings.Cut(m[1], "(")
		t.frame(method + "(SourceFile:" + m[2] + ")")
	}},
	{glob.Regexp(`^- waiting on the Class initialization monitor for (\S+)$`),
		func(_ *dumpParser, t *Thread, m []string) {
			t.Waits = &Lock{ID: bounded(m[1]), Class: bounded(m[1]), Init: true}
		}},
	{glob.Regexp(`^- *(?:waiting to lock|waiting for lock inflation of|blocked on) +(.+)$`),
		func(p *dumpParser, t *Thread, m []string) { t.waits(p.lock(m[1])) }},
	// JDK 9 to 13 say so also of a thread that was not notified.
	{glob.Regexp(`^- *waiting to re-?lock in wait\(\) +(.+)$`), func(p *dumpParser, t *Thread, m []string) {
		if t.Kind() == Blocked {
			t.waits(p.lock(m[1]))
		}
	}},
	{glob.Regexp(`^- *(?:waiting on|parking to wait for) +(.+)$`), func(p *dumpParser, t *Thread, m []string) {
		if l, rest, ok := p.lock(m[1]); ok {
			l.heldBy(rest, t.on)
			t.on = &l
		}
	}},
	{glob.Regexp(`^- *locked +(.+)$`), func(p *dumpParser, t *Thread, m []string) {
		if l, _, ok := p.lock(m[1]); ok {
			t.hold(l)
		}
	}},
	// IntelliJ names the holder with its number, as in the head.
	{glob.Regexp(`^waiting for (.+) to release lock on (.+)$`), func(p *dumpParser, t *Thread, m []string) {
		if l, _, ok := p.lock(m[2]); ok {
			l.Holder = bounded(m[1])
			t.Waits = &l
		}
	}},
	{glob.Regexp(`^owned by "?(.*?)"? Id=(\d+)$`), func(_ *dumpParser, t *Thread, m []string) {
		for _, l := range []*Lock{t.Waits, t.on} {
			if l != nil {
				l.Holder, l.HolderID = bounded(m[1]), bounded(m[2])
			}
		}
	}},
	// OpenJ9: Blocked on: a/Lock@0x01 Owned by: "t2" (J9VMThread:0x02, java/lang/Thread:0x03)
	{glob.Regexp(`^(?:Blocked|Waiting|Parked) on: (\S+) Owned by: (?:"(.*)" \(J9VMThread:.*java/lang/Thread:(0x\w+)\)|<\w+>)`),
		func(p *dumpParser, t *Thread, m []string) {
			if l, _, ok := p.lock(strings.ReplaceAll(m[1], "/", ".")); ok {
				l.Holder, l.HolderID = bounded(m[2]), bounded(m[3])
				t.on = &l
			}
		}},
	{glob.Regexp(`^\(entered lock: ([^,\s]+), entry count: \d+\)$`), func(p *dumpParser, t *Thread, m []string) {
		if l, _, ok := p.lock(strings.ReplaceAll(m[1], "/", ".")); ok {
			t.hold(l)
		}
	}},
	{glob.Regexp(`^(?:Locked ownable synchronizers:|Number of locked synchronizers)`),
		func(p *dumpParser, _ *Thread, _ []string) { p.owned = true }},
	{glob.Regexp(`^- (?:<.+|[\w.$]+@[0-9a-f]+)`), func(p *dumpParser, t *Thread, m []string) {
		if l, _, ok := lockOf(m[0][len("- "):]); ok && p.owned {
			t.hold(l)
		}
	}},
	{glob.Regexp(`^PID: \d+ \| Suspended: .*\| State: ([A-Z_]+)$`), func(_ *dumpParser, t *Thread, m []string) { t.State = m[1] }},
	// Paper says where the monitors are held, and not which ones.
	{glob.Regexp(`^(?:Thread is waiting on monitor\(s\):|Locked on:.*|Stack:)$`), func(*dumpParser, *Thread, []string) {}},
	{glob.Regexp(`^(?:Carrying|Mounted) virtual thread #`),
		func(p *dumpParser, t *Thread, _ []string) { p.process.virtual, t.State = true, "RUNNABLE" }},
	{glob.Regexp(`^(?:- sleeping on |- eliminated |- None$|blocks |locked ownable)`),
		func(*dumpParser, *Thread, []string) {}},
	// jcmd Thread.dump_to_file of JDK 21 has no "at".
	{glob.Regexp(`^(?:[\w.@-]+/)*[\pL\pN_$]+(?:\.[\pL\pN_$<>/-]+)+\([^()]*\)$`),
		func(_ *dumpParser, t *Thread, m []string) { t.frame(m[0]) }},
	{glob.Regexp(`(?i)^(?:[-^*+]+ *(?:waiting|blocked|locked|parking|owned|held|owner|holding|trying)\b.*|` +
		`(?:waiting (?:to|for|on)|blocked (?:by|on)|parking to|owned by|held by)\b.*)$`), func(p *dumpParser, _ *Thread, m []string) { p.unread(m[0]) }},
}

// lock reads a lock. That a text says nothing of one is no line that was not understood.
func (p *dumpParser) lock(text string) (l Lock, rest string, ok bool) {
	l, rest, ok = lockOf(text)
	if !ok && !noLock().MatchString(text) {
		p.unread(text)
	}
	return l, rest, ok
}

// unread counts a line that was not understood.
func (p *dumpParser) unread(line string) {
	if p.process.Unread++; p.process.Unread == 1 {
		p.process.UnreadLine = bounded(line)
	}
}

// waits reads the lock that a thread waits for: <0x0d2a> (a a.Lock) held by thread 12. That of its head counts, but for
// what a head leaves out.
func (t *Thread) waits(l Lock, rest string, ok bool) {
	if !ok {
		return
	}
	l.heldBy(rest, t.Waits, t.on)
	t.Waits, t.on = &l, nil
}

// heldBy takes who holds the lock from the text behind it, or from what the head says of it.
func (l *Lock) heldBy(rest string, heads ...*Lock) {
	if m := heldBy().FindStringSubmatch(rest); m != nil {
		l.HolderID = m[1]
	}
	for _, head := range heads {
		if head != nil && l.HolderID == "" {
			l.Holder, l.HolderID = head.Holder, head.HolderID
		}
	}
}

var (
	heldBy   = glob.Regexp(`(?:held by (?:thread |threadid=|tid=)|owner #|owned by ".*" t@)(\d+)`)
	hashLock = glob.Regexp(`^<?([\pL\pN_.$/\[;<>]+)@((?:0x)?[0-9a-fA-F]+)>?`)
	noLock   = glob.Regexp(`^(?:<no object reference|<owner is scalar|an unknown object)`)
	addressd = glob.Regexp(`^<(@addr=)?([^<>\s]{1,32})>(?: \((?:a )?([^)]*)\)?)?`)
)

// lockOf reads a lock, as <0x0d2a> (a a.Lock) or a.Lock@1a2b, and returns what is behind it.
func lockOf(text string) (l Lock, rest string, ok bool) {
	if m := hashLock().FindStringSubmatch(text); m != nil {
		return Lock{ID: bounded(m[2]), Class: bounded(m[1])}, text[len(m[0]):], true
	}
	m := addressd().FindStringSubmatch(text)
	if m == nil {
		return l, "", false
	}
	l.ID, l.Class = m[2], strings.ReplaceAll(bounded(m[3]), "/", ".") // jhsdb has slashes
	if class, found := strings.CutPrefix(l.Class, "java.lang.Class for "); found {
		l.Class = "java.lang.Class<" + class + ">" // as ART prints it
	}
	return l, text[len(m[0]):], true
}
