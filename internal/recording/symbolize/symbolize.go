package symbolize

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/mapping/r8"
)

// maxLine is the length above which a line is passed on unread.
const maxLine = 16 << 20

// Symbolizer puts names to IDs. The zero value has no names.
type Symbolizer struct {
	// Mapping has the names; without one no ID is looked for.
	Mapping *mapping.Mapping
	// R8 retraces stack traces, if it is not nil.
	R8 *r8.Mapping
}

// Counts says what was found in a text.
type Counts struct {
	IDs     int // different IDs
	Unknown int // those of them that the mapping does not have
	Frames  int // frames, exceptions and locks that were retraced
}

// Copy copies text from r to w, with names. It writes what r has at the moment before it waits for more, except for a
// block that is not decided yet.
func (s *Symbolizer) Copy(w io.Writer, r io.Reader) (Counts, error) {
	c := &copier{Symbolizer: s, out: bufio.NewWriter(w), ids: map[uint32]bool{}}
	if s.R8 != nil {
		c.stack = s.R8.Stack()
	}
	err := c.copy(bufio.NewReaderSize(r, 64<<10))
	return c.counts(), errors.Join(err, c.out.Flush())
}

// copier is the state of one copy.
type copier struct {
	*Symbolizer
	out   *bufio.Writer
	ids   map[uint32]bool // the IDs met, and whether they are known
	stack *r8.Stack
	buf   []byte

	object []string // lines of JSON since an opening brace, until it is known whether they are a frame

	announced bool   // records may follow, as the line before says
	table     bool   // so do lines of the table
	block     *block // lines of records, nil outside of one
}

func (c *copier) counts() Counts {
	n := Counts{IDs: len(c.ids)}
	for _, known := range c.ids {
		if !known {
			n.Unknown++
		}
	}
	if c.stack != nil {
		n.Frames = c.stack.Frames + c.stack.Headers
	}
	return n
}

func (c *copier) copy(in *bufio.Reader) error {
	for long := false; ; {
		line, err := readLine(in)
		if long || len(line) > maxLine {
			c.endObject()
			c.endBlock()
			c.out.Write(line)
		} else if len(line) > 0 {
			c.line(line)
		}
		long = len(line) > 0 && line[len(line)-1] != '\n' && err == nil
		if in.Buffered() == 0 {
			// A write error stays with the writer, and ends the copy here.
			if err := c.out.Flush(); err != nil {
				return err
			}
		}
		if err != nil {
			c.endObject()
			c.endBlock()
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// readLine reads a line with its end, or a piece of one above maxLine.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	whole := bytes.Clone(line)
	for err == bufio.ErrBufferFull && len(whole) <= maxLine {
		line, err = in.ReadSlice('\n')
		whole = append(whole, line...)
	}
	if err == bufio.ErrBufferFull {
		err = nil
	}
	return whole, err
}

// maxObject is how many lines an object in JSON has that may be a frame.
const maxObject = 64

// line copies one line, unless it is held back: an object of several lines may be a frame.
func (c *copier) line(line []byte) {
	text := strings.TrimSpace(string(line))
	opens, closes := strings.HasSuffix(text, "{"), strings.Contains(text, "}")
	if c.stack == nil || len(c.object) == 0 && !opens {
		c.oneLine(line)
		return
	}
	if opens || len(c.object) == maxObject {
		c.endObject()
	}
	if c.object = append(c.object, string(line)); closes {
		c.endObject()
	}
}

// endObject writes the lines that were held back.
func (c *copier) endObject() {
	whole := strings.Join(c.object, "")
	if len(frametext.Objects(whole)) > 0 {
		c.endBlock()
		c.announced = false
		c.out.Write(c.stack.AppendLine(c.buf[:0], []byte(whole)))
	} else {
		for _, line := range c.object {
			c.oneLine([]byte(line))
		}
	}
	c.object = c.object[:0]
}

// oneLine copies a line that is no part of an object.
func (c *copier) oneLine(line []byte) {
	text := string(bytes.TrimRight(line, "\r\n"))
	end := string(line[len(text):])
	if c.Mapping != nil && c.inBlock(text, end) {
		return
	}
	c.endBlock()
	announced := c.announced
	c.announced = false
	switch {
	case c.Mapping == nil:
	case strings.TrimSpace(text) == "":
		c.announced = announced
	case strings.Contains(text, foreign.TableHead):
		c.table = true
	case c.table:
		if named, ok := c.tableLine(text); ok {
			c.out.WriteString(named + end)
			return
		}
		c.table = false
		fallthrough
	default:
		text = c.keyed(text)
	}
	c.out.Write(c.retraced(text, end))
}

// retraced returns a line with its stack frames retraced.
func (c *copier) retraced(text, end string) []byte {
	c.buf = c.buf[:0]
	if c.stack == nil {
		return append(append(c.buf, text...), end...)
	}
	c.buf = c.stack.AppendLine(c.buf, []byte(text+end))
	return c.buf
}
