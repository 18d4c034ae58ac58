// Package source opens what can be analyzed, and replays all of it in one way: a recording, the parts of one recording,
// and a text with reports of other tools, each plain or compressed with gzip.
//
// Package trace reads recordings. Package foreign recognises the reports in a text; here they become segments for the
// same [trace.Handler], report by report.
package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/userfile"
	"github.com/tracegen/tracegen/trace"
)

// Accepted says what a [Source] can be made of.
const Accepted = "a recording of tracegen's runtime; a report of Matrix, as JSON, logged, or the lines of its stack; " +
	"a log of BlockCanary; stack traces, also on one line and in JSON; for analyze, the stacks of all threads; each " +
	"plain or as .gz"

// ErrThreads is wrapped by the error of a text that has the stacks of all threads at one moment, and nothing that took
// time. It wraps [trace.ErrFormat].
var ErrThreads = fmt.Errorf("%w: it has the stacks of all threads at one moment, which only analyze reads",
	trace.ErrFormat)

// readStep is how many bytes are asked for at once.
const readStep = 64 << 10

// Sniffed is how many bytes of a text are searched for a report before it is refused.
const Sniffed = 1 << 20

// Source is anything that can be replayed: a recording, the parts of one, or a text with reports of other tools in it.
type Source struct {
	reader *trace.Reader
	parts  *partsReader
	text   *foreign.Reader
	closer io.Closer

	// Messages, if it is set, returns the methods whose calls are messages; by default [trace.Meta.MessageMethods].
	Messages func(*trace.Meta) []trace.Method
	// Frames, if it is set, returns what compares frames of steady samples with calls: see [trace.ReplayOptions].
	Frames func() trace.FrameNames
	// Restorer, if it is set, restores the names in a text before anything is made of them.
	Restorer Restorer
}

// Restorer restores names that R8 has changed: of classes, and in the frames of stacks.
type Restorer interface {
	// Class restores the name of a class.
	Class(name string) string
	// Frames restores a stack, the innermost frame first.
	Frames(frames []string) []string
}

// Open opens a file of any kind that is [Accepted]. The caller closes the source. The error wraps [trace.ErrFormat] if
// the file is none.
func Open(path string) (*Source, error) {
	return OpenWith(path, func(file io.Reader) io.Reader { return file })
}

// OpenWith is [Open] for a caller that watches how the file is read: watch gets the file, and what it
// returns is read.
func OpenWith(path string, watch func(file io.Reader) io.Reader) (*Source, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := New(watch(f))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.closer = f
	return s, nil
}

// New decides by the first bytes what in is. The error wraps [trace.ErrFormat] if it is nothing that is [Accepted], and
// is in's own if reading fails.
func New(in io.Reader) (*Source, error) {
	b := bufio.NewReader(in) // what asks for more at once gets it from in
	head, err := b.Peek(2)
	if err == nil && userfile.IsCompressed(head) {
		z, err := gzip.NewReader(bufio.NewReaderSize(b, readStep))
		if err != nil {
			return nil, fmt.Errorf("%w: it begins as .gz and goes on otherwise: %w", trace.ErrFormat, err)
		}
		b = bufio.NewReaderSize(z, readStep)
	}
	head, err = b.Peek(len(trace.Magic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(head) == trace.Magic {
		r, err := trace.NewReader(b)
		if err != nil {
			return nil, err
		}
		return &Source{reader: r}, nil
	}
	if b, err = userfile.Decode(b); err != nil {
		return nil, err
	}
	b = bufio.NewReaderSize(b, Sniffed)
	if err := checkText(b); err != nil {
		return nil, err
	}
	return &Source{text: foreign.NewReader(b)}, nil
}

// checkText returns an error if a text has no report at its beginning.
func checkText(b *bufio.Reader) error {
	head, err := b.Peek(Sniffed)
	if err != nil && err != io.EOF {
		return err
	}
	found, measured := foreign.Promising(string(head))
	switch {
	case !measured && foreign.HasDump(string(head)):
		return ErrThreads
	case !found && foreign.NamesMethods(string(head)):
		return fmt.Errorf("%w: it names methods in its lines, and has no stack, whose frames follow each other; "+
			"tracegen symbolize restores names in any text", trace.ErrFormat)
	case !found || bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("%w: there is none in it of what is accepted: %s", trace.ErrFormat, Accepted)
	}
	return nil
}

// Check returns the error that [New] would return for a reader, of whose bytes it takes none. The reader must have room
// for [Sniffed] bytes.
func Check(b *bufio.Reader) error {
	head, err := b.Peek(Sniffed)
	if err != nil && err != io.EOF {
		return err
	}
	_, err = New(bytes.NewReader(head))
	return err
}

// Reader returns the recording's reader, nil if the source is a text or has several parts. The source does not replay
// the chunks that were read there.
func (s *Source) Reader() *trace.Reader { return s.reader }

// Parts returns how many parts of a recording the source has, at least 1.
func (s *Source) Parts() int {
	if s.parts != nil {
		return len(s.parts.parts)
	}
	return 1
}

// Replay reads the source to its end and hands its calls to h, as [trace.Replay] does. Of a text, each report is a
// segment of [trace.SegmentReport] or [trace.SegmentSamples], behind a [*trace.Meta] if it says something new of
// itself, and before a [*trace.StallChunk] with what it says of the message. Methods that only have a name are
// introduced.
func (s *Source) Replay(h trace.Handler) error {
	o := trace.ReplayOptions{Messages: s.Messages, Frames: s.Frames}
	switch {
	case s.parts != nil:
		return trace.Replay(s.parts, h, o)
	case s.reader != nil:
		return trace.Replay(s.reader, h, o)
	}
	return replayReports(s.text, h, s.Restorer)
}

// Damage is [trace.Reader.Damage], of several parts the sum. In a text there is SkippedBytes, for records that were cut
// off.
func (s *Source) Damage() trace.Damage {
	if s.parts != nil {
		return s.parts.damage
	}
	if s.reader != nil {
		return s.reader.Damage()
	}
	return trace.Damage{SkippedBytes: s.text.Skipped()}
}

// Close closes the file that [Open] opened.
func (s *Source) Close() error {
	if s.parts != nil && s.parts.now != nil {
		return s.parts.now.Close()
	}
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
