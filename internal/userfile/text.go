package userfile

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// IsCompressed reports whether a file that begins with these bytes is compressed.
func IsCompressed(head []byte) bool { return len(head) >= 2 && head[0] == 0x1F && head[1] == 0x8B }

// Text returns a reader of the text that r contains: inflated if it is compressed, in UTF-8, and without a byte order
// mark. The error of a Read says if the compressed data are damaged.
func Text(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !IsCompressed(head) {
		return Decode(b)
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, damaged(err)
	}
	return Decode(bufio.NewReader(inflating{z}))
}

// Decode returns a reader of the text that b contains, in UTF-8 and without a byte order mark. PowerShell and Notepad
// write UTF-16, or UTF-8 with such a mark. Text in UTF-16 without a mark is known by its first two characters, which
// are ASCII in every text that tracegen understands. Bytes of other encodings stay as they are.
func Decode(b *bufio.Reader) (*bufio.Reader, error) {
	head, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	is := func(mark string) bool { return strings.HasPrefix(string(head), mark) }
	ascii := func(c byte) bool { return c >= '\t' && c < utf8.RuneSelf }
	decoder := unicode.BOMOverride(transform.Nop)
	switch {
	case is("\xEF\xBB\xBF"), is("\xFE\xFF"), is("\xFF\xFE"):
	case len(head) < 4:
		return b, nil
	case ascii(head[0]) && head[1] == 0 && ascii(head[2]) && head[3] == 0:
		decoder = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case head[0] == 0 && ascii(head[1]) && head[2] == 0 && ascii(head[3]):
		decoder = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	default:
		return b, nil
	}
	return bufio.NewReader(transform.NewReader(b, decoder)), nil
}

// inflating is a reader whose errors say what was read.
type inflating struct{ z *gzip.Reader }

func (i inflating) Read(p []byte) (int, error) {
	n, err := i.z.Read(p)
	if err != nil && err != io.EOF {
		err = damaged(err)
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("compressed with gzip, and damaged or cut off: %w", err)
}

// TextFile is a file whose text is read, see [Text].
type TextFile struct {
	io.Reader
	file *os.File
}

// OpenText opens the file at path.
func OpenText(path string) (*TextFile, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	r, err := Text(f)
	if err != nil {
		f.Close()
		return nil, Named(path, err)
	}
	return &TextFile{r, f}, nil
}

// Close closes the file.
func (f *TextFile) Close() error { return f.file.Close() }

// Stat returns what the system says of the file.
func (f *TextFile) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// ReadText returns the text in the file at path, see [Text]. It fails if that has more than limit bytes.
func ReadText(path string, limit int64) (string, error) {
	f, err := OpenText(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := ReadAll(f, path, limit)
	return unsafe.String(unsafe.SliceData(data), len(data)), err // nothing else has the data
}

// ReadSettings is [ReadText] with the limit [MaxSettings].
func ReadSettings(path string) ([]byte, error) {
	text, err := ReadText(path, MaxSettings)
	return []byte(text), err
}
