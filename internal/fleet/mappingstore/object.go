package mappingstore

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// An object is a line of text and a frame of zstd:
//
//	tracegen-object 1 full SIZE BODY\n             the frame contains the file
//	tracegen-object 1 difference SIZE BODY BASE\n  the frame contains the difference to the file with this SHA-256
//
// SIZE is the size of the file and BODY that of the frame's content, in bytes.

const (
	objectMagic = "tracegen-object 1 "
	wordFull    = "full"
	wordDiff    = "difference"
	maxHeadLine = 200
)

// maxFile is the size in bytes up to which files are stored. It is that of a mapping (package mapping).
const maxFile = 1 << 30

// sum is a SHA-256.
type sum [sha256.Size]byte

func sumOf(data []byte) sum { return sha256.Sum256(data) }

// String returns the sum in hexadecimal.
func (s sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *sum) UnmarshalText(text []byte) error {
	if len(text) != 2*len(s) {
		return errors.New("a SHA-256 has 64 digits")
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// encodeFull returns an object with the content of a file.
func encodeFull(content []byte) ([]byte, error) {
	return encode(fmt.Sprintf("%s%s %d %d\n", objectMagic, wordFull, len(content), len(content)), content)
}

// encodeDifference returns an object with the difference of a file to its base.
func encodeDifference(base []byte, baseSum sum, content []byte) ([]byte, error) {
	body := difference(base, content)
	return encode(fmt.Sprintf("%s%s %d %d %s\n", objectMagic, wordDiff, len(content), len(body), baseSum), body)
}

// maxWindow is how far back the compression looks. More needs more memory and saves little.
const maxWindow = 8 << 20

func encode(head string, body []byte) ([]byte, error) {
	// One goroutine, so that equal content always results in equal bytes.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer e.Close()
	return e.EncodeAll(body, []byte(head)), nil
}

// object is an object whose first line was read.
type object struct {
	size, body int64
	base       sum // of a difference
	whole      bool
	frame      []byte
}

var errObject = errors.New("it is not an object of an archive")

// parseObject reads the first line of an object.
func parseObject(data []byte) (object, error) {
	end := bytes.IndexByte(data[:min(len(data), maxHeadLine)], '\n')
	rest, ok := strings.CutPrefix(string(data[:max(end, 0)]), objectMagic)
	if !ok {
		if strings.HasPrefix(string(data[:min(len(data), maxHeadLine)]), "tracegen-object ") {
			return object{}, errors.New("it is of a later version of tracegen; use that version")
		}
		return object{}, errObject
	}
	o := object{frame: data[end+1:]}
	words := strings.Split(rest, " ")
	var err error
	switch {
	case len(words) == 3 && words[0] == wordFull:
		o.whole = true
	case len(words) == 4 && words[0] == wordDiff:
		if err := o.base.UnmarshalText([]byte(words[3])); err != nil {
			return object{}, errObject
		}
	default:
		return object{}, errObject
	}
	if o.size, err = strconv.ParseInt(words[1], 10, 64); err != nil || o.size < 0 || o.size > maxFile {
		return object{}, errObject
	}
	// A difference is at most as long as the file and its instructions.
	if o.body, err = strconv.ParseInt(words[2], 10, 64); err != nil || o.body < 0 || o.body > 2*maxFile {
		return object{}, errObject
	}
	return o, nil
}

// decode returns the file of an object. base is the file that a difference is about.
func (o *object) decode(base []byte) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(o.frame), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	defer d.Close()
	// The buffer grows with what arrives: the length in the first line may be wrong.
	var body bytes.Buffer
	body.Grow(int(min(o.body, 64*int64(len(o.frame))) + bytes.MinRead))
	n, err := io.Copy(&body, io.LimitReader(d, o.body+1))
	if err != nil {
		return nil, fmt.Errorf("decompressing: %w", err)
	}
	if n != o.body {
		return nil, errors.New("it has another length than it says")
	}
	if !o.whole {
		return patch(base, body.Bytes(), o.size)
	}
	if n != o.size {
		return nil, errors.New("it has another length than it says")
	}
	return body.Bytes(), nil
}
