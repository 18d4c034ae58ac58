package pipeline

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Scan files and slices are of one form. Lines of text say what it is: the format and its number, the tool that
// wrote it, and the options that it was made with, one a line; an empty line ends them. Behind it are the number of
// bytes and, compressed, the bytes themselves; at the end the SHA-256 of all that is before.
//
//	tracegen-scan 1
//	tool "0.1.0"
//	exits "throws"
//	...

// Origin says by what a scan file or slice was made.
type Origin struct {
	Tool    string            // the version of tracegen
	Options map[string]string // what shapes the content, by the name of its flag
}

// format is a kind of file; the number is raised by every change of what its bytes mean.
type format struct {
	name   string
	number int
}

var (
	scanFormat  = format{"tracegen-scan", 1}
	sliceFormat = format{"tracegen-ids", 1}
)

const (
	toolKey = "tool"
	// maxRatio bounds what a file claims to decompress to. Content that compresses better is not compressed.
	maxRatio = 64
	slack    = 1 << 16
	// maxWindow is how far back compression looks.
	maxWindow = 8 << 20
)

// sealed is the content of a file with what says where it comes from.
type sealed struct {
	format  format
	origin  Origin
	content []byte
}

// WriteTo implements io.WriterTo.
func (s *sealed) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\n%s %s\n", s.format.name, s.format.number, toolKey, strconv.Quote(s.origin.Tool))
	for _, name := range slices.Sorted(maps.Keys(s.origin.Options)) {
		fmt.Fprintf(&b, "%s %s\n", name, strconv.Quote(s.origin.Options[name]))
	}
	b.WriteByte('\n')
	// One goroutine and one call: the same bytes each time.
	window := min(max(1<<bits.Len(uint(len(s.content))), zstd.MinWindowSize), maxWindow)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return 0, err
	}
	packed := encoder.EncodeAll(s.content, nil)
	if len(packed) >= len(s.content) || len(s.content) > maxRatio*len(packed)+slack {
		packed = s.content // of the size that it says: how a reader knows it
	}
	b.Write(appendUvarint(nil, uint64(len(s.content))))
	b.Write(packed)
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.WriteTo(w)
}

// loadSealed reads a file of the format. Errors name it, and say what to do.
func loadSealed(path string, want format) (*sealed, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := unseal(data, want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

var errDamaged = errors.New("damaged: it is not as it was written; make it again")

func unseal(data []byte, want format) (*sealed, error) {
	line, _, found := bytes.Cut(data[:min(len(data), 100)], []byte("\n"))
	name, number, _ := strings.Cut(string(line), " ")
	if !found || name != want.name {
		return nil, fmt.Errorf("not a %s file", want.name)
	}
	if n, err := strconv.Atoi(number); err != nil || n != want.number {
		return nil, fmt.Errorf("of format %s, this tracegen reads and writes %s %d; make it again with this one", line, want.name, want.number)
	}
	if len(data) < sha256.Size {
		return nil, errDamaged
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if is := sha256.Sum256(body); !bytes.Equal(is[:], sum) {
		return nil, errDamaged
	}
	s := &sealed{format: want, origin: Origin{Options: make(map[string]string)}}
	text := bufio.NewReader(bytes.NewReader(body[len(line)+1:]))
	at := len(line) + 1
	for {
		option, err := text.ReadString('\n')
		if err != nil {
			return nil, errDamaged
		}
		at += len(option)
		if option == "\n" {
			break
		}
		name, quoted, _ := strings.Cut(option[:len(option)-1], " ")
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, errDamaged
		}
		if name == toolKey && s.origin.Tool == "" {
			s.origin.Tool = value
		} else {
			s.origin.Options[name] = value
		}
	}
	var err error
	s.content, err = unpackContent(body[at:])
	return s, err
}

func unpackContent(data []byte) ([]byte, error) {
	r := unpacker{data: data}
	size := r.uvarint()
	if r.failed || size > uint64(maxRatio*len(r.data)+slack) {
		return nil, errDamaged
	}
	if size == uint64(len(r.data)) {
		return r.data, nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, slack)))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	content, err := decoder.DecodeAll(r.data, make([]byte, 0, size))
	if err != nil || uint64(len(content)) != size {
		return nil, errDamaged
	}
	return content, nil
}

// checkOrigin refuses to put together what was made by different tools or with different options.
func checkOrigin(a string, by Origin, b string, other Origin) error {
	if by.Tool != other.Tool {
		return fmt.Errorf("%s was made by tracegen %s, %s by %s; make both again with one of them", a, by.Tool, b, other.Tool)
	}
	names := slices.Concat(slices.Collect(maps.Keys(by.Options)), slices.Collect(maps.Keys(other.Options)))
	slices.Sort(names)
	for _, name := range names {
		x, hasX := by.Options[name]
		y, hasY := other.Options[name]
		if x != y || hasX != hasY {
			return fmt.Errorf("%s was made with --%s %s, %s with %s; make both again with the same options", a, name, orNone(x), b, orNone(y))
		}
	}
	return nil
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
