package foreign

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/internal/glob"
)

// mark is a line of a process, or of what the JVM says of its deadlocks.
type mark struct {
	pattern func() *regexp.Regexp
	take    func(p *dumpParser, m []string)
}

// marks has the lines in the order in which they are tried, before those of threads.
var marks = []mark{
	{glob.Regexp(`^----- pid (\d+)(?: at (.*?))? -----`), func(p *dumpParser, m []string) {
		p.end(true)
		p.begin()
		p.headed = true
		p.process.PID, _ = strconv.Atoi(m[1])
		p.process.Time = bounded(m[2])
	}},
	{glob.Regexp(`^----- end \d+ -----`), func(p *dumpParser, _ []string) { p.end(false) }},
	{glob.Regexp(`^(?:Cmd line|Cmdline): (.*)`), func(p *dumpParser, m []string) {
		if p.process != nil && len(p.process.Threads) == 0 {
			p.process.Command = bounded(m[1])
		}
	}},
	{glob.Regexp(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`), func(p *dumpParser, m []string) { p.time = m[0] }},
	{glob.Regexp(`(?i)^(?:=+ *)?Full thread dump\b`), func(p *dumpParser, _ []string) {
		p.end(true)
		p.begin()
		p.full, p.process.Time, p.time = true, p.time, ""
	}},
	{glob.Regexp(`^JNI global ref`), func(p *dumpParser, _ []string) {
		if p.process != nil {
			p.process.checked, p.headed, p.thread = p.headed, false, nil
		}
	}},
	{glob.Regexp(`^(?:\*\*\* ){8,}`), func(p *dumpParser, _ []string) { p.end(false) }},
	{glob.Regexp(`^JVM version is (?:(\d+)\S*\+)?`), func(p *dumpParser, m []string) { // of jhsdb
		p.end(true)
		p.begin()
		p.process.java, _ = strconv.Atoi(m[1])
	}},
	{glob.Regexp(`^No deadlocks found\.`), func(p *dumpParser, _ []string) {
		if p.begin(); len(p.process.Threads) == 0 {
			p.process.checked = true
		}
	}},
	{glob.Regexp(`^Found (?:one|a total of \d+|[1-9]\d*) (?:Java-level )?deadlocks?[:.]$`), func(p *dumpParser, m []string) {
		p.begin()
		p.link()
		p.process.Stated, p.stating, p.thread = true, !strings.HasSuffix(m[0], "."), nil
	}},
	{glob.Regexp(`^"(.*)":$`), func(p *dumpParser, m []string) { p.claims(bounded(m[1])) }},
	{glob.Regexp(`^waiting (?:to lock|to re-lock|for ownable synchronizer) .*?(0x[0-9a-f]+)\)?, \(?an? ([^),]+)`),
		func(p *dumpParser, m []string) { p.claim = Lock{ID: m[1], Class: strings.ReplaceAll(m[2], "/", ".")} }},
	{glob.Regexp(`^(?:in JNI, )?which is held by "(.*)"`), func(p *dumpParser, m []string) {
		if p.thread == nil || !p.stating || p.process.claims >= maxClaims {
			return
		}
		p.process.claims++
		claim := p.claim
		claim.Holder = bounded(m[1])
		for _, t := range p.process.Threads { // several may have the name
			if on := cmp.Or(t.Waits, t.on); t.Name == p.thread.Name && on != nil && on.ID == claim.ID {
				p.thread = t
				break
			}
		}
		p.thread.Waits = &claim
		p.circle = append(p.circle, p.thread)
	}},
}

// link says who holds the locks of a stated deadlock: each thread waits for the next. Several may have one name.
func (p *dumpParser) link() {
	for k, t := range p.circle {
		if next := p.circle[(k+1)%len(p.circle)]; t.Waits.Holder == next.Name {
			t.Waits.by = next
		}
	}
	p.circle = nil
}

// claims goes on with what the JVM says of a thread that is in a deadlock. It says it twice, the second time with the
// stack, which stands above as well unless the text begins with this.
func (p *dumpParser) claims(name string) {
	if p.process == nil || !p.stating || p.process.claims >= maxClaims {
		return
	}
	p.process.claims++
	p.thread, p.claim = nil, Lock{}
	for _, t := range p.process.Threads {
		if t.Name == name && (t.claimed || len(t.Locked) > 0 || t.Waits != nil || t.on != nil) {
			p.thread = t
			break
		}
	}
	if p.thread == nil {
		p.keep(name+"\x00", &Thread{Name: name, claimed: true})
	}
}

// mark reads a line of the process. It reports whether the line is one.
func (p *dumpParser) mark(text string) bool {
	for _, k := range marks {
		if m := k.pattern().FindStringSubmatch(text); m != nil {
			k.take(p, m)
			return true
		}
	}
	return false
}

// line takes a line without what stands around it.
func (p *dumpParser) line(text string) {
	below := strings.HasPrefix(text, "at ") || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "| ") // a head
	if !below && (p.mark(text) || p.head(text)) {
		return
	}
	if !below && unreadHead().MatchString(text) {
		p.begin()
		p.thread = nil
		p.unread(text)
	}
	if p.process == nil || p.thread == nil || p.stating && !p.thread.claimed { // its stack was read before
		return
	}
	if p.process.java == 0 {
		if m := javaVersion().FindStringSubmatch(text); m != nil {
			p.process.java, _ = strconv.Atoi(m[1])
		}
	}
	for _, d := range details {
		if m := d.pattern().FindStringSubmatch(text); m != nil {
			p.thread.detailed = true
			d.take(p, p.thread, m)
			return
		}
	}
	p.thread.detailed = p.thread.detailed || strings.HasPrefix(text, "| ")
}
