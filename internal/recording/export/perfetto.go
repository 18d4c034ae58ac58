package export

import (
	"bufio"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tracegen/tracegen/internal/recording/evidence"
	"github.com/tracegen/tracegen/trace"
)

func perfettoFormat() Format {
	return Format{
		Name: "perfetto", Binary: true,
		Summary: "TrackEvents for ui.perfetto.dev and trace_processor: methods, messages, stalls, frames",
		start: func(w *bufio.Writer, o Options) exporter {
			return &perfetto{w: w, program: o.Program, methods: newMethods(), threads: map[*thread]*tracks{}}
		},
	}
}

// The fields of Perfetto's messages that are written; protos/perfetto/trace has them all.
const (
	tracePacket = 1

	packetClockSnapshot = 6
	packetTimestamp     = 8
	packetSequence      = 10
	packetTrackEvent    = 11
	packetInterned      = 12
	packetFlags         = 13
	packetTrack         = 60

	trackUUID    = 1
	trackName    = 2
	trackProcess = 3
	trackThread  = 4
	trackParent  = 5

	processPID    = 1
	processName   = 6
	processLabels = 8

	threadPID  = 1
	threadTID  = 2
	threadName = 5

	eventCategory   = 3
	eventAnnotation = 4
	eventType       = 9
	eventNameIID    = 10
	eventTrack      = 11
	eventName       = 23
	eventSourceIID  = 34
	eventFlow       = 47

	eventCategoryText = 22

	annotationBool   = 2
	annotationUint   = 3
	annotationInt    = 4
	annotationDouble = 5
	annotationString = 6
	annotationName   = 10

	internedCategories = 1
	internedNames      = 2
	internedSources    = 4
	internedIID        = 1
	internedText       = 2
	sourceFile         = 2
	sourceFunction     = 3
	sourceLine         = 4

	snapshotClock = 1
	clockID       = 1
	clockTime     = 2
	clockRealtime = 1
	clockBoottime = 6
)

// What TrackEvent.type and TracePacket.sequence_flags can be.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3

	stateCleared = 1
	stateNeeded  = 2
)

// The interned categories.
const (
	categoryMethod = iota + 1
	categoryMessage
	categoryFrame
	categoryStall
	categoryRecording
	categoryMerged
	categoryEstimated
)

// The last two are written where they are used.
var categories = []string{"method", "message", "frame", "stall", "recording"}

// perfetto is a Perfetto trace of one sequence of packets. Methods' names and places are interned: each is written
// once.
type perfetto struct {
	w        *bufio.Writer
	program  string
	methods  *methods
	interned int // how many of frames have been written
	uuid     uint64
	process  uint64 // the track of the recording
	lanes    []uint64
	threads  map[*thread]*tracks
	started  bool
	// mergedKnown is set if the categories of merged calls have been written.
	mergedKnown bool

	packet, body, inner, deep []byte
}

// tracks are the tracks of one thread; 0 where there is none yet.
type tracks struct{ calls, messages, stalls uint64 }

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func double(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

// write writes p.packet as one of the trace.
func (p *perfetto) write() error {
	p.body = message(p.body[:0], tracePacket, p.packet)
	_, err := p.w.Write(p.body)
	return err
}

func (p *perfetto) begin(r *recording) error {
	p.lanes = nil
	flags := uint64(stateNeeded)
	if !p.started {
		p.started = true
		flags |= stateCleared
		p.packet = p.packet[:0]
		if wall, ok := r.WallMillis(); ok {
			p.packet = message(p.packet, packetClockSnapshot, p.clocks(max(0, wall)))
			if err := p.write(); err != nil {
				return err
			}
		}
		p.inner = p.inner[:0]
		for k, name := range categories {
			p.inner = message(p.inner, internedCategories, text(number(nil, internedIID, uint64(k+1)), internedText,
				name))
		}
		p.packet = message(number(number(p.packet[:0], packetSequence, 1), packetFlags, flags), packetInterned, p.inner)
		if err := p.write(); err != nil {
			return err
		}
	}
	process := text(number(nil, processPID, uint64(r.pid())), processName, clean(r.process()))
	if r.Name != "" {
		process = text(process, processLabels, clean(r.Name))
	}
	p.process = p.track(message(nil, trackProcess, process))
	return nil
}

// clocks says what the wall clock showed when the trace's was 0.
func (p *perfetto) clocks(wall int64) []byte {
	clock := func(id, time uint64) []byte {
		return message(nil, snapshotClock, number(number(nil, clockID, id), clockTime, time))
	}
	return append(clock(clockBoottime, 0), clock(clockRealtime, uint64(wall)*1_000_000)...)
}

// track introduces a track. What it is, its number aside, is in rest. A writer that fails says so later.
func (p *perfetto) track(rest []byte) uint64 {
	p.uuid++
	descriptor := append(number(nil, trackUUID, p.uuid), rest...)
	p.packet = message(number(p.packet[:0], packetSequence, 1), packetTrack, descriptor)
	p.write()
	return p.uuid
}

// child introduces a track with a name below another.
func (p *perfetto) child(parent uint64, name string) uint64 {
	return p.track(number(text(nil, trackName, name), trackParent, parent))
}

func (p *perfetto) thread(t *thread) error {
	id := text(number(number(nil, threadPID, uint64(t.of.pid())), threadTID, uint64(t.tid)), threadName, clean(t.Label))
	p.threads[t] = &tracks{calls: p.track(number(message(nil, trackThread, id), trackParent, p.process))}
	return nil
}

// trackEvent begins p.inner as a TrackEvent. What it begins is finished by emit.
func (p *perfetto) trackEvent(kind, track uint64) {
	p.inner = number(number(p.inner[:0], eventType, kind), eventTrack, track)
}

// emit writes p.inner as a TrackEvent. interned is what has to be known first, or empty.
func (p *perfetto) emit(at int64, interned []byte) error {
	p.packet = number(p.packet[:0], packetTimestamp, uint64(at))
	p.packet = number(number(p.packet, packetSequence, 1), packetFlags, stateNeeded)
	if len(interned) > 0 {
		p.packet = message(p.packet, packetInterned, interned)
	}
	p.packet = message(p.packet, packetTrackEvent, p.inner)
	return p.write()
}

// annotate appends facts to p.inner.
func (p *perfetto) annotate(facts []fact) {
	for _, f := range facts {
		p.deep = text(p.deep[:0], annotationName, f.key)
		switch v := f.value.(type) {
		case string:
			p.deep = text(p.deep, annotationString, v)
		case bool:
			p.deep = number(p.deep, annotationBool, protowire.EncodeBool(v))
		case int64:
			p.deep = number(p.deep, annotationInt, uint64(v))
		case uint64:
			p.deep = number(p.deep, annotationUint, v)
		case float64:
			p.deep = double(p.deep, annotationDouble, v)
		}
		p.inner = message(p.inner, eventAnnotation, p.deep)
	}
}

func (p *perfetto) segment(t *thread, s *trace.Segment) error {
	track, flows := p.threads[t].calls, flows(t.of, s)
	s.Walk(func(i int) {
		c := &s.Calls[i]
		k := p.methods.of(t.of, c.Method, 0)
		f := &p.methods.list[k]
		p.trackEvent(sliceBegin, track)
		p.inner = number(number(p.inner, eventNameIID, uint64(k)+1), eventCategory, categoryMethod)
		if f.File != "" {
			p.inner = number(p.inner, eventSourceIID, uint64(k)+1)
		}
		p.annotate(callFacts(c))
		if id := flows[i]; id != 0 {
			p.flow(id)
		}
		p.emit(t.at(c.Begin), p.intern())
	}, func(i int) {
		c := &s.Calls[i]
		p.trackEvent(sliceEnd, track)
		if c.Marks&trace.MarkResumed != 0 {
			p.annotate(callFacts(c))
		}
		p.emit(t.at(c.End), nil)
	})
	_, err := p.w.Write(nil)
	return err
}

// intern returns the names and places of methods that no packet has had.
func (p *perfetto) intern() []byte {
	var b []byte
	for ; p.interned < len(p.methods.list); p.interned++ {
		f, iid := &p.methods.list[p.interned], uint64(p.interned)+1
		b = message(b, internedNames, text(number(nil, internedIID, iid), internedText, f.label))
		if f.File != "" {
			place := text(text(number(nil, internedIID, iid), sourceFile, f.File), sourceFunction, f.label)
			b = message(b, internedSources, number(place, sourceLine, uint64(f.Line)))
		}
	}
	return b
}

func (p *perfetto) event(e *event) error {
	switch e.kind {
	case eventMessage:
		return p.slice(e, p.messages(e.thread), categoryMessage)
	case eventFrame:
		for len(p.lanes) <= e.lane {
			p.lanes = append(p.lanes, p.child(p.process, "frames"))
		}
		return p.slice(e, p.lanes[e.lane], categoryFrame)
	default:
		of := p.threads[e.thread]
		if of.stalls == 0 {
			of.stalls = p.child(of.calls, "stalls")
		}
		p.head(instant, of.stalls, e, categoryStall)
		p.annotate(e.facts)
		return p.emit(e.begin, nil)
	}
}

// messages is the track of a thread's messages.
func (p *perfetto) messages(t *thread) uint64 {
	of := p.threads[t]
	if of.messages == 0 {
		of.messages = p.child(of.calls, "messages")
	}
	return of.messages
}

// head begins an event that has a name of its own.
func (p *perfetto) head(kind, track uint64, e *event, category uint64) {
	p.trackEvent(kind, track)
	p.inner = number(text(p.inner, eventName, e.name), eventCategory, category)
}

// slice writes an event that lasts.
func (p *perfetto) slice(e *event, track, category uint64) error {
	p.head(sliceBegin, track, e, category)
	p.annotate(e.facts)
	if err := p.emit(e.begin, nil); err != nil {
		return err
	}
	p.trackEvent(sliceEnd, track)
	return p.emit(e.end, nil)
}

// grafted writes the merged calls of a thread, with those that only samples show, on a track of their own.
func (p *perfetto) grafted(r *recording, g *grafted) {
	track := p.child(p.threads[g.thread].calls, "with estimated calls, merged")
	g.layOut(func(n *evidence.Node, at int64) {
		k := p.methods.node(r, n)
		category := uint64(categoryMerged)
		if n.Grafted.Estimated {
			category = categoryEstimated
		}
		p.trackEvent(sliceBegin, track)
		p.inner = number(number(p.inner, eventNameIID, uint64(k)+1), eventCategory, category)
		p.annotate(nodeFacts(n))
		p.emit(at, append(p.mergedCategories(), p.intern()...))
	}, func(_ *evidence.Node, at int64) {
		p.trackEvent(sliceEnd, track)
		p.emit(at, nil)
	})
}

// mergedCategories returns the names of the categories of merged calls, once.
func (p *perfetto) mergedCategories() (b []byte) {
	if p.mergedKnown {
		return nil
	}
	p.mergedKnown = true
	for k, name := range []string{"merged", "estimated"} {
		b = message(b, internedCategories, text(number(nil, internedIID, uint64(categoryMerged+k)), internedText, name))
	}
	return b
}

// end writes the recording's facts, as an instant at its begin.
func (p *perfetto) end(r *recording) error {
	for _, g := range r.grafted() {
		p.grafted(r, &g)
	}
	p.asyncTracks(r)
	p.head(instant, p.child(p.process, "recording"), &event{name: "recording"}, categoryRecording)
	p.annotate(append([]fact{{"program", p.program}}, r.facts()...))
	return p.emit(0, nil)
}

func (p *perfetto) close() error { return nil }
