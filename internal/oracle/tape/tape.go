// Package tape makes recordings for tests from text that describes them. It is written from trace/FORMAT.md and
// trace/EVIDENCE.md alone and shares no code with package trace, which reads its recordings.
//
// A line describes a chunk: a word, and then fields, KEY=VALUE or KEY="VALUE WITH SPACES". Times are in milliseconds. A
// missing field is 0 or empty; cpu, gc and gcCount are then -1. Consecutive lines with the word message are one chunk,
// and lines with waits belong to the pending before them.
//
//	meta KEY=VALUE...                      mappingId and the rest are as given; tickNanos=1000000 if not
//	clock now= wall=
//	thread index= name= main=1
//	records thread= first= lost= list="+1@0 +2@5 -2@10 -1@20"    +ID or -ID, @ and the tick
//	marks thread= first= list="2:5:77@1 4:5@3"
//	                                       KIND:ID:HASH@RECORD; 0 lost (ID is how many), 1 continues, 2 starts,
//	                                       3 resumes, 4 suspends
//	composed thread= lost= list="a.B=4:0@1+2/5+7"
//	                                       COMPOSABLE=DIRTY1:DIRTY2@RECORD+RECORDS/BEGIN+DURATION, \_ is a space
//	message thread= kind= sequence= count= begin= wall= cpu= what=
//	sample time= thread= state=BLOCKED stack="a.B.c(B.java:7) a.B.run(B.java:1)" cpu= lock=CLASS owner=
//	                                       without an owner: it is not known
//	pending thread= message= available=1
//	waits due= what= target= callback= arg1= flags=
//	stall kind= thread= sequence= begin= wall= cpu= first= end= what= scene= foreground=1 gcCount= gc= state= owner= key=
//	alive now= wall= thread= message= begin= state= cpu= what=
//	suspended begin= end= cause=           1 frozen, 2 the device slept, 3 a debugger
//	late begin= end=
//	exit KEY=VALUE...                      in a value, \n is a line feed and ' is "
//	dropped thread= kind= count=           without a thread: of all threads
//	detectors NAME=STATE...
//	incident number= detector= kind= what= thread= begin= end= first= stop= scene= foreground=1
//	                                       without a thread: of the process; stop is the record behind the last
//	machine thread= message= time= facts="KEY VALUE, KEY VALUE"
//	fact KEY=VALUE...                      facts of the incident before it
//	stack thread= time= state= stack=      a stack of the incident before it; thread is a name
//	end
//
// A recording is of minor version 0, or of that of a first line header minor=. Empty lines and those that begin with #
// are skipped.
package tape

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The types of chunks.
const (
	meta = iota + 1
	clock
	threads
	stringTable
	records
	messages
	samples
	_ // frames
	stall
	pending
	end
	_ // gate
	alive
	_ // window
	_ // left out
	suspended
	late
	exit
	dropped
	incident
	detectors
	machine
	_ // stacks
	_ // let go
	marks
	_ // cost
	composed
)

// Make returns the recording that text describes. Its error names the line.
func Make(text string) ([]byte, error) {
	w := &writer{strings: map[string]uint64{"": 0}}
	var lines []line
	for i, l := range strings.Split(text, "\n") {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			parsed, err := parse(l)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			lines = append(lines, parsed)
		}
	}
	minor := uint64(0)
	if len(lines) > 0 && lines[0].word == "header" {
		minor, lines = lines[0].uint("minor"), lines[1:]
	}
	w.out = append(w.out, "TGD1"...)
	w.out = binary.LittleEndian.AppendUint16(w.out, 1)
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(minor))
	w.out = binary.LittleEndian.AppendUint32(w.out, 32)
	w.out = binary.LittleEndian.AppendUint64(w.out, 1)
	w.out = binary.LittleEndian.AppendUint64(w.out, 0)
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(w.out))
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && (lines[0].word == "message" && lines[n].word == "message" || lines[0].word == "pending" &&
			lines[n].word == "waits" || lines[0].word == "incident" &&
			(lines[n].word == "fact" || lines[n].word == "stack")) {
			n++
		}
		if err := w.chunk(lines[:n]); err != nil {
			return nil, err
		}
		lines = lines[n:]
	}
	return w.out, nil
}

type line struct {
	word   string
	fields map[string]string
}

var field = regexp.MustCompile(`^([^\s="]+)=("[^"]*"|[^\s"]*)\s*`)

func parse(text string) (line, error) {
	word, rest, _ := strings.Cut(text, " ")
	l := line{word, map[string]string{}}
	for rest = strings.TrimSpace(rest); rest != ""; {
		m := field.FindStringSubmatch(rest)
		if m == nil {
			return l, fmt.Errorf("want KEY=VALUE, got %q", rest)
		}
		l.fields[m[1]] = strings.Trim(m[2], `"`)
		rest = rest[len(m[0]):]
	}
	return l, nil
}

// number returns the number in a field, or standard if the field is missing.
func (l line) number(key string, standard float64) float64 {
	text, ok := l.fields[key]
	if !ok {
		return standard
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Errorf("%s %s=%s: %w", l.word, key, text, err))
	}
	return n
}

// nanos returns the time in a field; -1 stays -1.
func (l line) nanos(key string, standard float64) int64 {
	ms := l.number(key, standard)
	if ms == -1 {
		return -1
	}
	return int64(ms * 1e6)
}

// writer appends chunks to a recording.
type writer struct {
	out     []byte
	chunks  uint32
	records uint64
	strings map[string]uint64
	fresh   []string
}

func (w *writer) chunk(lines []line) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	l := lines[0]
	p := &payload{w: w}
	kind := uint16(0)
	switch l.word {
	case "meta":
		kind = meta
		p.meta(l)
	case "clock":
		kind = clock
		now := l.nanos("now", 0)
		p.sv(now).sv(now).sv(int64(l.number("wall", 0))).sv(0).str("UTC")
	case "thread":
		kind = threads
		p.uv(1).uv(l.uint("index")).sv(int64(l.uint("index"))).str(l.fields["name"]).u8(byte(l.uint("main")))
	case "records":
		kind = records
		p.records(l)
	case "marks":
		kind = marks
		p.marks(l)
	case "composed":
		kind = composed
		p.composed(l)
	case "message":
		kind = messages
		p.uv(l.uint("thread")).uv(uint64(len(lines)))
		for _, m := range lines {
			p.u8(byte(m.uint("kind"))).uv(m.uint("sequence")).uv(uint64(m.number("count", 1))).sv(m.nanos("begin", 0)).
				uv(uint64(m.nanos("wall", 0))).sv(m.nanos("cpu", -1)).name(m.fields["what"])
		}
	case "sample":
		kind = samples
		stack := strings.Fields(l.fields["stack"])
		p.sv(l.nanos("time", 0)).uv(l.uint("thread")).u8(state(l.fields["state"])).uv(uint64(len(stack)))
		for _, f := range stack {
			p.name(f)
		}
		if lock := l.fields["lock"]; lock != "" || l.fields["cpu"] != "" {
			p.sv(l.nanos("cpu", -1))
			if lock != "" {
				p.name(lock)
				p.bytes = binary.LittleEndian.AppendUint32(p.bytes, 0)
				p.uv(uint64(l.number("owner", -1) + 1))
			}
		}
	case "pending":
		kind = pending
		p.uv(l.uint("thread")).uv(l.uint("message")).u8(byte(l.uint("available"))).uv(uint64(len(lines) - 1))
		for _, m := range lines[1:] {
			p.sv(m.nanos("due", 0)).sv(int64(m.number("what", 0))).name(m.fields["target"]).name(m.fields["callback"]).
				sv(int64(m.number("arg1", 0))).u8(byte(m.uint("flags")))
		}
	case "stall":
		kind = stall
		p.stall(l)
	case "alive":
		kind = alive
		p.sv(l.nanos("now", 0)).sv(int64(l.number("wall", 0))).uv(1).uv(l.uint("thread")).uv(l.uint("message")).
			sv(l.nanos("begin", 0)).u8(state(l.fields["state"])).sv(l.nanos("cpu", -1)).name(l.fields["what"])
	case "suspended":
		kind = suspended
		p.uv(1).sv(l.nanos("begin", 0)).sv(l.nanos("end", 0)).u8(byte(l.uint("cause")))
	case "late":
		kind = late
		p.uv(1).sv(l.nanos("begin", 0)).sv(l.nanos("end", 0))
	case "exit":
		kind = exit
		p.values(l)
	case "dropped":
		kind = dropped
		p.uv(1).uv(uint64(l.number("thread", -1) + 1)).u8(byte(l.uint("kind"))).uv(l.uint("count"))
	case "detectors":
		kind = detectors
		p.values(l)
	case "machine":
		kind = machine
		facts := strings.Split(l.fields["facts"], ", ")
		p.uv(l.uint("thread")).uv(l.uint("message")).sv(l.nanos("time", 0)).uv(uint64(len(facts)))
		for _, f := range facts {
			key, value, _ := strings.Cut(f, " ")
			p.name(key).str(value)
		}
	case "incident":
		kind = incident
		p.incident(lines)
	case "end":
		kind = end
		p.uv(uint64(w.chunks)).uv(w.records).uv(0).u8(uint8(l.number("more", 0)))
	default:
		return fmt.Errorf("the format has no chunk %q", l.word)
	}
	w.freshStrings()
	w.frame(kind, p.bytes)
	return nil
}

func (l line) uint(key string) uint64 { return uint64(l.number(key, 0)) }

var states = []string{"", "NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED"}

func state(name string) byte {
	k := slices.Index(states, name)
	if k < 0 {
		panic("there is no state " + name)
	}
	return byte(k)
}

// freshStrings writes the strings that are new, before the chunk that refers to them.
func (w *writer) freshStrings() {
	if len(w.fresh) == 0 {
		return
	}
	p := &payload{w: w}
	p.uv(uint64(len(w.strings) - len(w.fresh))).uv(uint64(len(w.fresh)))
	for _, s := range w.fresh {
		p.str(s)
	}
	w.fresh = nil
	w.frame(stringTable, p.bytes)
}

func (w *writer) frame(kind uint16, body []byte) {
	head := binary.LittleEndian.AppendUint16(nil, kind)
	head = binary.LittleEndian.AppendUint16(head, 0)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(body)))
	head = binary.LittleEndian.AppendUint32(head, w.chunks)
	w.chunks++
	w.out = append(append(w.out, "TGCK"...), head...)
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(slices.Concat(head, body)))
	w.out = append(w.out, body...)
	for len(w.out)%4 != 0 {
		w.out = append(w.out, 0)
	}
}

// payload is the content of a chunk.
type payload struct {
	w     *writer
	bytes []byte
}

func (p *payload) u8(v byte) *payload {
	p.bytes = append(p.bytes, v)
	return p
}

func (p *payload) uv(v uint64) *payload {
	p.bytes = binary.AppendUvarint(p.bytes, v)
	return p
}

func (p *payload) sv(v int64) *payload {
	p.bytes = binary.AppendVarint(p.bytes, v)
	return p
}

func (p *payload) str(s string) *payload {
	p.uv(uint64(len(s)))
	p.bytes = append(p.bytes, s...)
	return p
}

func (p *payload) name(s string) *payload {
	id, known := p.w.strings[s]
	if !known {
		id = uint64(len(p.w.strings))
		p.w.strings[s] = id
		p.w.fresh = append(p.w.fresh, s)
	}
	return p.uv(id)
}

func (p *payload) meta(l line) {
	if l.fields["tickNanos"] == "" {
		l.fields["tickNanos"] = "1000000"
	}
	p.values(l)
}

func (p *payload) values(l line) {
	keys := make([]string, 0, len(l.fields))
	for k := range l.fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	p.uv(uint64(len(keys)))
	for _, k := range keys {
		p.str(k).str(strings.NewReplacer(`\n`, "\n", "'", `"`).Replace(l.fields[k]))
	}
}

func (p *payload) records(l line) {
	list := strings.Fields(l.fields["list"])
	p.uv(l.uint("thread")).uv(l.uint("first")).uv(l.uint("lost")).uv(uint64(len(list)))
	for _, text := range list {
		id, tick, ok := strings.Cut(text[1:], "@")
		method, err1 := strconv.ParseUint(id, 10, 20)
		ticks, err2 := strconv.ParseUint(tick, 10, 43)
		if !ok || err1 != nil || err2 != nil || text[0] != '+' && text[0] != '-' {
			panic("want +ID@TICK or -ID@TICK, got " + text)
		}
		r := method<<43 | ticks
		if text[0] == '+' {
			r |= 1 << 63
		}
		p.bytes = binary.LittleEndian.AppendUint64(p.bytes, r)
	}
	p.w.records += uint64(len(list))
}

func (p *payload) composed(l line) {
	list := strings.Fields(l.fields["list"])
	p.uv(l.uint("thread")).uv(l.uint("lost")).uv(uint64(len(list)))
	var record, begin int64
	for _, text := range list {
		name, rest, _ := strings.Cut(text, "=")
		var n [6]int64
		if k, err := fmt.Sscanf(rest, "%d:%d@%d+%d/%d+%d", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); k != len(n) {
			panic(fmt.Sprint("want COMPOSABLE=DIRTY1:DIRTY2@RECORD+RECORDS/BEGIN+DURATION, got ", text, err))
		}
		p.name(strings.ReplaceAll(name, `\_`, " "))
		p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(n[0]))
		p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(n[1]))
		p.sv((n[4] - begin) * 1e6).uv(uint64(n[5] * 1e6)).sv(n[2] - record).uv(uint64(n[3]))
		record, begin = n[2], n[4]
	}
}

func (p *payload) marks(l line) {
	p.uv(l.uint("thread")).uv(l.uint("first"))
	list := strings.Fields(l.fields["list"])
	p.uv(uint64(len(list)))
	before := int64(0)
	for _, text := range list {
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ':' || r == '@' })
		if len(fields) == 3 {
			fields = []string{fields[0], fields[1], "0", fields[2]}
		}
		var n [4]int64
		for i, f := range fields {
			number, err := strconv.ParseInt(f, 10, 64)
			if err != nil || i == len(n) || len(fields) < len(n) {
				panic("want KIND:ID:HASH@RECORD, got " + text)
			}
			n[i] = number
		}
		p.sv(n[3] - before).u8(byte(n[0])).uv(uint64(n[1]))
		p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(n[2]))
		before = n[3]
	}
}

// incident writes an incident; lines has the lines with its facts and stacks behind its own.
func (p *payload) incident(lines []line) {
	l := lines[0]
	p.uv(l.uint("number")).name(l.fields["detector"]).name(l.fields["kind"]).name(l.fields["what"]).
		uv(uint64(l.number("thread", -1) + 1)).sv(l.nanos("begin", 0)).sv(l.nanos("end", 0)).uv(l.uint("first")).
		uv(l.uint("stop")).name(l.fields["scene"]).u8(byte(l.uint("foreground")))
	var facts [][2]string
	var stacks []line
	for _, more := range lines[1:] {
		if more.word == "stack" {
			stacks = append(stacks, more)
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(more.fields)) {
			facts = append(facts, [2]string{key, more.fields[key]})
		}
	}
	p.uv(uint64(len(facts)))
	for _, f := range facts {
		p.name(f[0]).str(f[1])
	}
	p.uv(uint64(len(stacks)))
	for _, s := range stacks {
		frames := strings.Fields(s.fields["stack"])
		p.name(s.fields["thread"]).sv(s.nanos("time", 0)).u8(state(s.fields["state"])).uv(uint64(len(frames)))
		for _, f := range frames {
			p.name(f)
		}
	}
}

func (p *payload) stall(l line) {
	p.uv(l.uint("thread")).u8(byte(l.uint("kind"))).uv(l.uint("sequence")).sv(l.nanos("begin",
		0)).uv(uint64(l.nanos("wall", 0))).sv(l.nanos("cpu", -1)).
		uv(l.uint("first")).uv(l.uint("end")).name(l.fields["what"]).name(l.fields["scene"]).u8(byte(l.uint("foreground"))).
		sv(int64(l.number("gcCount", -1))).sv(int64(l.number("gc", -1))).u8(state(l.fields["state"])).name(l.fields["owner"]).
		str(l.fields["key"]).uv(0)
}
