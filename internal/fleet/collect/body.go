package collect

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

const (
	// bodyBudget is how many bytes the inflated bodies of all requests that are in progress may have together, and how
	// many those that arrive, beyond the first freeBytes of each. A device sends less than these, so clients that send
	// large bodies slowly keep no device out.
	bodyBudget = 64 << 20
	freeBytes  = 64 << 10
	// maxInflated is how many times the limit of a body its inflated size may be.
	maxInflated = 16
	// maxRatio is how many times larger than its compressed bytes a body may become, after ratioStart bytes. Reports,
	// which repeat names, reach about 30; gzip can reach 1,032.
	maxRatio   = 200
	ratioStart = 1 << 20
	// maxReports is how many reports a body may have. The shortest one has about 40 bytes, and takes several times as many
	// in memory and in the answer.
	maxReports = 10_000
)

// statusError is an error with the status of the answer.
type statusError struct {
	status int
	why    string
	retry  int // after how many seconds the client should come again; 0 if the status does not say so
}

func (e *statusError) Error() string { return e.why }

func refused(status int, format string, args ...any) error {
	return &statusError{status: status, why: fmt.Sprintf(format, args...)}
}

// budget limits a sum that several goroutines take from.
type budget struct {
	left atomic.Int64
}

func newBudget(n int64) *budget {
	b := &budget{}
	b.left.Store(n)
	return b
}

// take takes n, or nothing.
func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

func (b *budget) put(n int64) { b.left.Add(n) }

// receive reads all of a body as it arrives. The caller puts taken back.
func receive(body io.Reader, from *budget) (packed []byte, taken int64, err error) {
	var b bytes.Buffer
	for {
		n, err := io.CopyN(&b, body, freeBytes)
		switch {
		case errors.Is(err, io.EOF):
			return b.Bytes(), taken, nil
		case err != nil:
			return nil, taken, bodyError(err)
		case !from.take(n):
			return nil, taken, ErrBusy
		}
		taken += n
	}
}

// counter counts the bytes that were read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// inflater reads the one gzip member (RFC 1952) that a body is. Its errors have the status of the answer.
type inflater struct {
	raw   *counter
	in    *bufio.Reader
	z     *gzip.Reader // nil for a body that is not compressed
	most  int64        // inflated bytes
	total int64
	end   bool
}

// inflate returns a reader of a body, which has at most most bytes when it is inflated. The body itself must be
// limited by http.MaxBytesReader.
func inflate(body io.Reader, encoding string, most int64) (*inflater, error) {
	i := &inflater{raw: &counter{Reader: body}, most: most}
	i.in = bufio.NewReaderSize(i.raw, 4096)
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(i.in)
		if err != nil {
			return nil, bodyError(err)
		}
		z.Multistream(false)
		i.z = z
	default:
		return nil, refused(http.StatusBadRequest, "the header Content-Encoding must be gzip")
	}
	return i, nil
}

// bodyError returns the error for a body that cannot be read.
func bodyError(err error) error {
	large, timeout := (*http.MaxBytesError)(nil), interface{ Timeout() bool }(nil)
	switch {
	case errors.As(err, &large):
		return refused(http.StatusRequestEntityTooLarge, "the body has more than %d bytes; send less at a time", large.Limit)
	case errors.As(err, &timeout) && timeout.Timeout():
		return refused(http.StatusRequestTimeout, "the body did not arrive in time; send it again")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return refused(http.StatusBadRequest, "the body is not gzip, or damaged: %s", err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		// A body that is shorter than its Content-Length ends in the same error; the connection is broken then.
		return refused(http.StatusBadRequest, "the body is cut off")
	}
	return refused(http.StatusBadRequest, "the body cannot be read: %s", err)
}

// Read reads inflated bytes.
func (i *inflater) Read(p []byte) (int, error) {
	if i.end {
		return 0, io.EOF
	}
	var n int
	var err error
	if i.z != nil {
		n, err = i.z.Read(p)
	} else {
		n, err = i.in.Read(p)
	}
	if i.total += int64(n); i.total > i.most {
		return 0, refused(http.StatusRequestEntityTooLarge, "the body has more than %d bytes when it is inflated; send less "+
			"at a time", i.most)
	}
	if i.total > ratioStart && i.total/maxRatio > i.raw.n {
		return 0, refused(http.StatusRequestEntityTooLarge, "the body inflates to more than %d times its size", maxRatio)
	}
	switch {
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, bodyError(err)
	}
	i.end = true
	if i.z != nil {
		switch _, err := i.in.ReadByte(); {
		case err == nil:
			return 0, refused(http.StatusBadRequest, "more bytes follow the end of the gzip member; a body is one member")
		case !errors.Is(err, io.EOF):
			return 0, bodyError(err)
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// readText reads all of a body, and takes its size from the budget. The caller puts taken back.
func readText(in io.Reader, from *budget) (text string, taken int64, err error) {
	var b strings.Builder
	chunk := make([]byte, 32<<10)
	for {
		n, err := in.Read(chunk)
		if n > 0 {
			if !from.take(int64(n)) {
				return "", taken, ErrBusy
			}
			taken += int64(n)
			b.Write(chunk[:n])
		}
		if errors.Is(err, io.EOF) {
			return b.String(), taken, nil
		}
		if err != nil {
			return "", taken, err
		}
	}
}
