package wire

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/tracegen/tracegen/internal/userfile"
)

// Scan files and slices are of one form. Lines of text say what it is: the format and its number, the tool that
// wrote it, and the options that it was made with, one a line; an empty line ends them. Behind it are the number of
// bytes and, compressed, the bytes themselves; at the end the SHA-256 of all that is before.
//
//	tracegen-scan 1
//	tool "0.1.0"
//	exits "throws"
//	...

// Origin says which tool made a file, and with which options.
type Origin struct {
	Tool    string            // the version of tracegen
	Options map[string]string // what shapes the content, by the name of its flag
}

// Format is a kind of file; the number is raised by every change of what its bytes mean.
type Format struct {
	Name   string // begins the file
	Number int
}

const (
	toolKey = "tool"
	// maxRatio bounds what a file claims to decompress to. Content that compresses better is not compressed.
	maxRatio = 64
	slack    = 1 << 16
	// maxWindow is how far back compression looks.
	maxWindow = 8 << 20
)

// Sealed is the content of a file, with its origin.
type Sealed struct {
	Format  Format // of the file
	Origin  Origin // of the content
	Content []byte
}

// WriteTo implements io.WriterTo.
func (s *Sealed) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %d\n%s %s\n", s.Format.Name, s.Format.Number, toolKey, strconv.Quote(s.Origin.Tool))
	for _, name := range slices.Sorted(maps.Keys(s.Origin.Options)) {
		fmt.Fprintf(&b, "%s %s\n", name, strconv.Quote(s.Origin.Options[name]))
	}
	b.WriteByte('\n')
	// One goroutine and one call: the same bytes each time.
	window := min(max(1<<bits.Len(uint(len(s.Content))), zstd.MinWindowSize), maxWindow)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return 0, err
	}
	packed := encoder.EncodeAll(s.Content, nil)
	if len(packed) >= len(s.Content) || len(s.Content) > maxRatio*len(packed)+slack {
		packed = s.Content // a reader recognizes it by its size
	}
	b.Write(binary.AppendUvarint(nil, uint64(len(s.Content))))
	b.Write(packed)
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.WriteTo(w)
}

// Load reads a file of the format. Errors name it, and say what to do.
func Load(path string, want Format) (*Sealed, error) {
	data, err := userfile.Read(path, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	s, err := Unseal(data, want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ErrDamaged says that a file is not as it was written.
var ErrDamaged = errors.New("damaged: it is not as it was written; make it again")

// Unseal reads the bytes of a file of the format.
func Unseal(data []byte, want Format) (*Sealed, error) {
	line, _, found := bytes.Cut(data[:min(len(data), 100)], []byte("\n"))
	name, number, _ := strings.Cut(string(line), " ")
	if !found || name != want.Name {
		return nil, fmt.Errorf("not a %s file", want.Name)
	}
	if n, err := strconv.Atoi(number); err != nil || n != want.Number {
		return nil, fmt.Errorf("of format %s, this tracegen reads and writes %s %d; make it again with this one", line,
			want.Name, want.Number)
	}
	if len(data) < sha256.Size {
		return nil, ErrDamaged
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if is := sha256.Sum256(body); !bytes.Equal(is[:], sum) {
		return nil, ErrDamaged
	}
	s := &Sealed{Format: want, Origin: Origin{Options: make(map[string]string)}}
	text := bufio.NewReader(bytes.NewReader(body[len(line)+1:]))
	at := len(line) + 1
	for {
		option, err := text.ReadString('\n')
		if err != nil {
			return nil, ErrDamaged
		}
		at += len(option)
		if option == "\n" {
			break
		}
		name, quoted, _ := strings.Cut(option[:len(option)-1], " ")
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, ErrDamaged
		}
		if name == toolKey && s.Origin.Tool == "" {
			s.Origin.Tool = value
		} else {
			s.Origin.Options[name] = value
		}
	}
	var err error
	s.Content, err = unpackContent(body[at:])
	return s, err
}

func unpackContent(data []byte) ([]byte, error) {
	size, n := binary.Uvarint(data)
	packed := data[max(n, 0):]
	if n <= 0 || size > uint64(maxRatio*len(packed)+slack) {
		return nil, ErrDamaged
	}
	if size == uint64(len(packed)) {
		return packed, nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(max(size, slack)))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	content, err := decoder.DecodeAll(packed, make([]byte, 0, size))
	if err != nil || uint64(len(content)) != size {
		return nil, ErrDamaged
	}
	return content, nil
}

// CheckOrigin refuses to put together what was made with different options.
func CheckOrigin(a string, by Origin, b string, other Origin) error {
	names := slices.Concat(slices.Collect(maps.Keys(by.Options)), slices.Collect(maps.Keys(other.Options)))
	slices.Sort(names)
	for _, name := range names {
		x, hasX := by.Options[name]
		y, hasY := other.Options[name]
		if x != y || hasX != hasY {
			return fmt.Errorf("%s was made with %s %s, %s with %s; make both again with the same options", a, name,
				orNone(x), b, orNone(y))
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
