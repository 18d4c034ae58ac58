package r8

import (
	"bufio"
	"io"
)

// maxLine is the length above which a line is passed on unread: no frame is as
// long, and memory must not depend on the text.
const maxLine = 64 << 10

// Retrace copies text from r to w, with all stack traces in it retraced; see
// [Stack]. It works line by line, and passes on what it has whenever r has
// nothing more at the moment.
func (m *Mapping) Retrace(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, maxLine)
	out := bufio.NewWriter(w)
	stack := m.Stack()
	var buf []byte
	long := false
	for {
		line, err := in.ReadSlice('\n')
		if long || err == bufio.ErrBufferFull {
			buf = append(buf[:0], line...)
		} else {
			buf = stack.AppendLine(buf[:0], line)
		}
		long = err == bufio.ErrBufferFull
		if _, err := out.Write(buf); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		switch err {
		case nil, bufio.ErrBufferFull:
		case io.EOF:
			return out.Flush()
		default:
			return err
		}
	}
}
