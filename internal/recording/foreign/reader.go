package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tracegen/tracegen/internal/contract"
	"github.com/tracegen/tracegen/internal/frametext"
	"github.com/tracegen/tracegen/internal/glob"
)

// Reader finds the reports in a text, whatever stands around them. A report begins where a fact comes that the one
// before has already, and ends where something else shows it: the text has no other bounds.
type Reader struct {
	in      *bufio.Reader
	now     *Report
	done    []*Report // those that are over
	failed  error     // of in, or its end
	follow  follow
	skipped uint64
}

// follow says what the next lines may go on with.
type follow int

const (
	followNothing follow = iota
	followStack          // records, or times and stacks
	followTable
	followFrames // frames of the last stack, and what stands between them
)

// maxReportLine is what a line has at most; what is behind is passed over.
const maxReportLine = 16 << 20

// logcatPrefix is what logcat and its viewers put before each line.
const logcatPrefix = `^(?:\S{1,60} +){0,5}[VDIWEFA][ /][\w.$-]{1,60} *(?:\( *\d+\))?: ?`

var (
	logPrefix = glob.Regexp(logcatPrefix)
	headline  = glob.Regexp(`maybe happens (?:Jankiness|ANR)\D{0,9}(\d{1,12}) ?ms`)
	// lasted is in what other watchdogs and the system say of a thread, before its stack: those of Android ("Waited 5001ms
	// for MotionEvent"), Vert.x, Tomcat ("has been active for [61,234] milliseconds"), WebLogic, WebSphere and Eclipse.
	lasted = glob.Regexp(`(?i)\b(?:waited|(?:blocked|active|busy|running|stuck|frozen|hung|unresponsive|not respond\w*)\b` +
		`[^"\[]{0,60}? for(?: at least| more than)?|(?:freeze|delay) of|wait queue head age:) ["\[(]?(\d[\d,]{0,14}(?:\.\d{1,9})?)["\])]? ?` +
		`(ms|milliseconds?|s|sec|seconds?)\b`)
	// durationKey are the keys that have a duration and say in which unit.
	durationKey  = glob.Regexp(`(?i)^(?:duration|elapsed|blocked|stall|hang|anr|freeze|took|wall)_?(?:time|duration)?_?(?:ms|millis)$`)
	lastedThread = glob.Regexp(`(?i)\b(?:thread (?:"([^"]{1,200})"|(?:Thread)?\[(?:#\d+,)?([^,\]]{1,200}))|` +
		`on thread (\w{1,200})\b|(ExecuteThread: '\d+'))`)
	violation = glob.Regexp(`StrictMode policy violation; ~duration=(\d{1,12}) ms`)
	waited    = glob.Regexp(`Application Not Responding for at least (\d{1,12}) ms`)
	separator = glob.Regexp(`^\W*([*=-])(?:[*=-]){4,}\W*$`)
	written   = glob.Regexp(`^((\d{4})-\d\d-\d\d \d\d:\d\d:\d\d)\(write log time\)`)
	logClock  = glob.Regexp(`^\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$`)
	dumped    = glob.Regexp(`^([A-Za-z][\w-]*) ?[:=] ?(.*)$`)
	threadOf  = glob.Regexp(`^(?:Caused by: )?[\w.$]*(?:_Thread|Thread): (.+) \(state = (\w+)\)$`)
	threadRow = glob.Regexp(`^"([^"]+)".*\b(?:prio|tid)=`)
	// between is what stands among the frames of a stack and is none.
	between  = glob.Regexp(`^(?:- |\.\.\. \d+ |\| |native: |kernel: |#\d+ +pc )`)
	jsonKey  = glob.Regexp(`(\\*)"([A-Za-z_]\w{0,60})\\*"\s*:\s*`)
	jsonBare = glob.Regexp(`^[^\s,{}\[\]"\\]{1,60}`)
	// ownStack is in lines whose strings Matrix has written, which are read by their keys.
	ownStack   = glob.Regexp(`\\*"(?:threadStack\\*"|stack\\*"\s*:\s*\\*"\d+,)`)
	escapedEnd = glob.Regexp(`(?:\\+r)?\\+n`)
	escapedTab = glob.Regexp(`^(?:\\+[tr])+`)
	stateRow   = glob.Regexp(`^java\.lang\.Thread\.State: (\w+)`)
)

// NewReader returns a reader of a text.
func NewReader(in *bufio.Reader) *Reader {
	p := &Reader{in: in, now: newReport()}
	if head, _ := in.Peek(minDocument); startsDocument(head) && mayHaveStacks(string(head)) {
		p.takeDocument()
	}
	return p
}

// minDocument is where the first frame of a document with frames is expected.
const minDocument = 1 << 20

// startsDocument reports whether a text may begin with JSON.
func startsDocument(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// takeDocument takes the document that a text begins with, which may have many lines. What is none is read by lines.
func (p *Reader) takeDocument() {
	var read bytes.Buffer
	var document json.RawMessage
	err := json.NewDecoder(io.TeeReader(io.LimitReader(p.in, maxReportLine), &read)).Decode(&document)
	if err == nil && p.document(string(document)) {
		read.Next(bytes.Index(read.Bytes(), document) + len(document))
	}
	p.in = bufio.NewReader(io.MultiReader(&read, p.in))
}

// Promising reports whether there seems to be a report in a text, and whether one is of a tool that measures how long
// something takes.
func Promising(head string) (found, measured bool) {
	p := NewReader(bufio.NewReaderSize(strings.NewReader(head), minDocument))
	for err := error(nil); err == nil; {
		var line string
		line, err = p.readLine()
		p.line(line)
		for _, r := range append(p.done, p.now) {
			found = found || r.hasStack
			measured = measured || r.hasStack && r.measured()
		}
		if p.done = p.done[:0]; measured {
			break
		}
	}
	return found, measured
}

// NamesMethods reports whether a text has a frame, if only in a sentence or where a log says who has written a line.
func NamesMethods(text string) bool {
	for line := range strings.Lines(text) {
		if len(frametext.In(strings.TrimRight(line, "\r\n"))) > 0 {
			return true
		}
	}
	return false
}

// Next returns the next report that has records or stacks. The error is [io.EOF] behind the last one, or that of the
// source.
func (p *Reader) Next() (*Report, error) {
	for {
		for len(p.done) > 0 {
			r := p.done[0]
			p.done = p.done[1:]
			p.skipped += r.skipped
			if r.hasStack { // other facts are of something else
				r.finish()
				return r, nil
			}
		}
		if p.failed != nil {
			return nil, p.failed
		}
		line, err := p.readLine()
		p.line(line)
		if err != nil {
			p.failed = err
			p.fresh()
		}
	}
}

// Skipped returns how many bytes of records were cut off, up to the report that Next returned last.
func (p *Reader) Skipped() uint64 { return p.skipped }

// readLine reads a line without its end. Of a line that is too long it returns the beginning.
func (p *Reader) readLine() (string, error) {
	var line []byte
	for {
		part, err := p.in.ReadSlice('\n')
		if len(line) < maxReportLine {
			line = append(line, part...)
		} else {
			p.skipped += uint64(len(part))
		}
		if err != bufio.ErrBufferFull {
			return strings.TrimRight(string(line), "\r\n"), err
		}
	}
}

// line takes a line.
func (p *Reader) line(line string) {
	if at := logPrefix().FindStringIndex(line[:min(len(line), 400)]); at != nil {
		line = line[at[1]:]
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "|*"))
	if text == "" {
		return // stands between records, and between a time and its stack
	}
	if (text[0] == '{' || text[0] == '[') && p.document(text) {
		return
	}
	if p.follow == followFrames || strings.Contains(text, "(") && !hasFrames(text) {
		if plain := bare(line); p.follow == followFrames || hasFrames(plain) {
			text = plain
		}
	}
	p.text(text, true)
}

// hasFrames reports whether a line is a frame or has a stack.
func hasFrames(text string) bool {
	_, _, ok := frametext.Line(text)
	return ok || len(frametext.Pieces(text)) > 0
}

// text takes what a line says. divide is whether it may have several frames, or one among other text.
func (p *Reader) text(text string, divide bool) {
	if ok, rest := p.follows(text); ok {
		if rest == "" {
			return
		}
		text = rest
	}
	if divide && !ownStack().MatchString(text) {
		if pieces := frametext.Pieces(text); len(pieces) > 0 {
			for _, piece := range pieces {
				if piece.Frame {
					piece.Text = "at " + piece.Text
				}
				p.text(piece.Text, false)
			}
			return
		}
	}
	p.follow = followNothing
	p.begins(text)
}

// follows reports whether a line goes on with a stack; behind that there may be a rest.
func (p *Reader) follows(text string) (ok bool, rest string) {
	switch p.follow {
	case followTable:
		r, name, ok := TableRow(text)
		if ok {
			p.add(r, name)
		}
		return ok, ""
	case followStack:
		if logClock().MatchString(text) {
			p.now.Stacks = append(p.now.Stacks, Stack{At: text})
			return true, ""
		}
		if n := p.records(text, len(p.now.Stacks) == 0); n > 0 {
			return true, text[n:]
		}
		return len(p.now.Stacks) > 0 && p.frame(text), ""
	case followFrames:
		if m := stateRow().FindStringSubmatch(text); m != nil {
			p.now.Stacks[len(p.now.Stacks)-1].State = m[1]
			return true, ""
		}
		return p.frame(text) || between().MatchString(text), ""
	}
	return false, ""
}

// frame adds a frame to the last stack.
func (p *Reader) frame(text string) bool {
	s := &p.now.Stacks[len(p.now.Stacks)-1]
	to := &s.Frames
	f, _, ok := frametext.Line(text)
	if !ok {
		to, f = &s.symbols, symbolOf(text)
	}
	if f != "" && len(*to) < maxFrames {
		*to = append(*to, strings.Clone(f))
	}
	return f != ""
}

const (
	maxLines  = 1 << 18 // in a report
	maxFrames = 4096    // in a stack
	maxStacks = 1 << 12 // in a report
	maxFacts  = 256     // of a report
	maxFact   = 4096    // bytes
)

// begins takes a line that no stack goes on with.
func (p *Reader) begins(text string) {
	r, n := cutFields(text)
	switch {
	case separator().MatchString(text):
		p.now.over = p.now.hasStack
	case strings.Contains(text, TableHead):
		p.stack()
		p.follow, p.now.over = followTable, true
	case strings.ToLower(text) == Columns:
		p.stack()
		p.follow, p.now.over = followStack, true
	case n > 0 && r.Depth == 0 && (n == len(text) || text[n] == ','):
		p.stack()
		p.records(text, true)
		p.follow, p.now.over = followStack, true
	default:
		p.beginsStack(text)
	}
}

// beginsStack takes the beginning of a stack trace, a headline, or else facts.
func (p *Reader) beginsStack(text string) {
	for _, pattern := range []*regexp.Regexp{headline(), waited(), violation()} {
		if m := pattern.FindStringSubmatch(text); m != nil {
			p.fresh()
			p.now.Wall, _ = strconv.ParseInt(m[1], 10, 64)
			return
		}
	}
	if m := lasted().FindStringSubmatch(text); m != nil {
		p.fresh()
		p.now.Wall, p.now.mentioned = lastedMillis(m), true
		if m := lastedThread().FindStringSubmatch(text); m != nil {
			p.now.thread = cmp.Or(m[1:]...)
		}
		p.facts(text)
		return
	}
	thread, state := "", ""
	if m := threadOf().FindStringSubmatch(text); m != nil {
		thread, state = m[1], m[2]
	} else if m := threadRow().FindStringSubmatch(text); m != nil {
		thread = m[1]
	} else if _, sure, ok := frametext.Line(text); !(ok && sure) && symbolOf(text) == "" {
		p.facts(text)
		return
	}
	if thread = cmp.Or(thread, p.now.thread); thread == "main" {
		thread = ""
	}
	again := slices.ContainsFunc(p.now.Stacks, func(s Stack) bool { return s.Thread == thread })
	if p.now.over || again || len(p.now.Lines) > 0 || len(p.now.Stacks) == maxStacks {
		p.fresh()
	}
	p.now.Stacks = append(p.now.Stacks, Stack{Thread: thread, State: state})
	p.frame(text)
	p.now.hasStack, p.follow = true, followFrames
}

// lastedMillis returns the milliseconds of a match of lasted; -1 if they are too many.
func lastedMillis(m []string) int64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	if strings.HasPrefix(strings.ToLower(m[2]), "s") {
		n *= 1000
	}
	if err != nil || n > MaxMillis {
		return -1
	}
	return int64(n)
}

// fresh begins another report.
func (p *Reader) fresh() { p.done, p.now = append(p.done, p.now), newReport() }

// stack begins the stack of the report, or of another if it has one.
func (p *Reader) stack() {
	if p.now.hasStack || p.now.over {
		p.fresh()
	}
	p.now.hasStack = true
}

// add adds a record. In lines that have no key another dispatch begins another report.
func (p *Reader) add(r Record, name string) {
	if r.ID == contract.DispatchID && r.Depth == 0 && p.now.over && len(p.now.Lines) > 0 {
		p.stack()
		p.now.over = true
	}
	if len(p.now.Lines) == maxLines {
		p.now.skipped++
		return
	}
	p.now.Lines = append(p.now.Lines, Line{r, strings.Clone(name)})
}

// records adds records at the start of a text, with names or without, divided by \n with any number of backslashes, and
// returns where they end. The last one may be cut off where it must have an end and has none.
func (p *Reader) records(text string, ends bool) (n int) {
	for {
		r, length := cutFields(text[n:])
		if length == 0 {
			return n
		}
		rest := text[n+length:]
		name := ""
		if strings.HasPrefix(rest, ",") {
			end := strings.IndexAny(rest, "\\\" \t")
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[1:end], rest[end:]
		}
		if rest == "" && !ends {
			p.now.skipped += uint64(length)
			return len(text)
		}
		p.add(r, name)
		n = len(text) - len(rest)
		end := CutNewline(rest)
		if end == 0 {
			return n
		}
		n += end
	}
}

// facts takes the keys and values of a line.
func (p *Reader) facts(text string) {
	if text == "{" || text == "[{" || strings.Contains(text, `{"`) || strings.Contains(text, `{\"`) {
		p.now.over = p.now.over || p.now.hasStack
	}
	if m := written().FindStringSubmatch(text); m != nil {
		p.fact("year", m[2])
		p.now.written, _ = time.Parse(time.DateTime, m[1])
		return
	}
	at := jsonKey().FindStringSubmatchIndex(text)
	if m := dumped().FindStringSubmatch(text); at == nil && m != nil && known(m[1]) {
		p.value(m[1], strings.TrimSpace(m[2]), false)
	}
	for at != nil {
		key := text[at[4]:at[5]]
		value, closed, n := cutValue(text[at[1]:])
		p.value(key, value, closed)
		text = text[at[1]+n:]
		at = jsonKey().FindStringSubmatchIndex(text)
	}
	if strings.HasSuffix(text, "}") || strings.HasSuffix(text, "}]") {
		p.now.over = p.now.over || p.now.hasStack
	}
}

// known are the keys that are taken as facts where they stand without quotes: many a line has a colon.
func known(key string) bool {
	switch key {
	case "machine", "cpu_app", "mem", "mem_free", "detail", "cost", "usage", "scene", "Scene", "Foreground", "stack",
		"stackKey",
		"StackKey", "tag", "process", "subType", "threadStack", "processPriority", "processNice", "isProcessForeground",
		"qua", "versionName", "versionCode", "network", "model", "api-level", "cpu-core", "freeMemory", "totalMemory", "time",
		"thread-time", "time-start", "time-end", "cpu-busy", "cpu-rate":
		return true
	}
	return false
}

// cutValue reads a value of JSON, which may be in a string itself, so that its quotes have backslashes. It returns
// a string without its quotes, whether it ends with one, and the length of what was read.
func cutValue(text string) (value string, closed bool, n int) {
	bare := strings.TrimLeft(text, `\`)
	level := len(text) - len(bare)
	if !strings.HasPrefix(bare, `"`) {
		value = jsonBare().FindString(text)
		return value, true, len(value)
	}
	from := level + 1
	for i := from; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		before := i - len(strings.TrimRight(text[from:i], `\`)) - from
		if before == level || level == 0 && before%2 == 0 {
			return text[from : i-min(before, level)], true, i + 1
		}
	}
	return text[from:], false, len(text)
}

// value takes what a report says of a key. A string that is not closed goes on in the next line, or was cut off.
func (p *Reader) value(key, value string, closed bool) {
	switch key {
	case "stack":
		p.stack()
		cut := !closed && strings.Contains(value, `\n`) // within escaped text no line ends
		if !closed && !cut {
			p.follow = followStack
		}
		if logClock().MatchString(value) {
			p.now.Stacks = append(p.now.Stacks, Stack{At: value})
			return
		}
		p.records(value, !cut)
	case "stackKey", "StackKey":
		p.now.Key = strings.TrimRight(value, `\n `)
	case "threadStack":
		p.threadStack(value)
	default:
		if strings.HasPrefix(value, "{") {
			p.facts(value) // it is JSON in a string
		} else if value != "" {
			p.fact(key, value)
		}
	}
}

// threadStack takes a stack trace in a string.
func (p *Reader) threadStack(value string) {
	if len(p.now.Stacks) == maxStacks {
		return
	}
	p.now.Stacks = append(p.now.Stacks, Stack{})
	for _, line := range escapedEnd().Split(value, maxFrames) {
		p.frame(escapedTab().ReplaceAllString(strings.TrimSpace(line), ""))
	}
}

// fact takes a fact. One that the report has already is of the next.
func (p *Reader) fact(key, value string) {
	if _, again := p.now.Facts[key]; again || p.now.over {
		p.fresh()
	}
	if n, ok := millis(value); ok && durationKey().MatchString(key) {
		p.now.Wall, p.now.mentioned = n, true
	}
	if len(p.now.Facts) < maxFacts && len(value) < maxFact {
		if text, err := strconv.Unquote(`"` + value + `"`); err == nil {
			value = text
		}
		p.now.Facts[key] = strings.Clone(value)
	}
}
