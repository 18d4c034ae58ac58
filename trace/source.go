package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/internal/userfile"
)

// Accepted says what a [Source] can be made of.
const Accepted = "a recording of tracegen's runtime; a report of Matrix, as JSON, logged, or the lines of its stack; " +
	"a log of BlockCanary; stack traces; each plain or as .gz"

// sniffed is how many bytes of a text are searched for a report before it is refused.
const sniffed = 1 << 20

// Source is anything that can be replayed: a recording, the parts of one, or a text with reports of other tools in it.
type Source struct {
	reader *Reader
	parts  *partsReader
	text   *foreign.Reader
	closer io.Closer

	// Messages, if it is set, returns the methods whose calls are messages; by default [Meta.MessageMethods].
	Messages func(*Meta) []Method
}

// OpenSource opens a file of any kind that is [Accepted]. The caller closes the source. The error wraps [ErrFormat] if
// the file is none.
func OpenSource(path string) (*Source, error) {
	return OpenSourceWith(path, func(file io.Reader) io.Reader { return file })
}

// OpenSourceWith is [OpenSource] for a caller that watches how the file is read: watch gets the file, and what it
// returns is read.
func OpenSourceWith(path string, watch func(file io.Reader) io.Reader) (*Source, error) {
	f, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := NewSource(watch(f))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.closer = f
	return s, nil
}

// NewSource decides by the first bytes what in is. The error wraps [ErrFormat] if it is nothing that is [Accepted], and
// is in's own if reading fails.
func NewSource(in io.Reader) (*Source, error) {
	b := bufio.NewReaderSize(in, readStep)
	head, err := b.Peek(2)
	if err == nil && userfile.IsCompressed(head) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%w: it begins as .gz and goes on otherwise: %w", ErrFormat, err)
		}
		b = bufio.NewReaderSize(z, readStep)
	}
	head, err = b.Peek(len(magic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if string(head) == magic {
		r, err := NewReader(b)
		if err != nil {
			return nil, err
		}
		return &Source{reader: r}, nil
	}
	b = bufio.NewReaderSize(b, sniffed)
	head, err = b.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if bytes.IndexByte(head, 0) >= 0 || !foreign.Promising(string(head)) {
		return nil, fmt.Errorf("%w: there is none in it of what is accepted: %s", ErrFormat, Accepted)
	}
	return &Source{text: foreign.NewReader(b)}, nil
}

// Reader returns the recording's reader, nil if the source is a text or has several parts. The source does not replay
// the chunks that were read there.
func (s *Source) Reader() *Reader { return s.reader }

// Parts returns how many parts of a recording the source has, at least 1.
func (s *Source) Parts() int {
	if s.parts != nil {
		return len(s.parts.parts)
	}
	return 1
}

// Replay reads the source to its end and hands its calls to h, as [Replay] does. Of a text, each report is a segment of
// [SegmentReport] or [SegmentSamples], behind a [*Meta] if it says something new of itself, and before a [*StallChunk]
// with what it says of the message. Methods that only have a name are introduced.
func (s *Source) Replay(h Handler) error {
	if s.parts != nil {
		return replayChunks(s.parts, h, s.Messages)
	}
	if s.reader != nil {
		return replayChunks(s.reader, h, s.Messages)
	}
	return replayReports(s.text, h)
}

// Damage is [Reader.Damage], of several parts the sum. In a text there is SkippedBytes, for records that were cut off.
func (s *Source) Damage() Damage {
	if s.parts != nil {
		return s.parts.damage
	}
	if s.reader != nil {
		return s.reader.Damage()
	}
	return Damage{SkippedBytes: s.text.Skipped()}
}

// Close closes the file that [OpenSource] opened.
func (s *Source) Close() error {
	if s.parts != nil && s.parts.now != nil {
		return s.parts.now.Close()
	}
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}
