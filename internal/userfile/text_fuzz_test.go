package userfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// encodings are the forms in which a text may be in a file.
var encodings = map[string]func(text string) []byte{
	"UTF-8":                  func(text string) []byte { return []byte(text) },
	"UTF-8, mark":            func(text string) []byte { return []byte("\uFEFF" + text) },
	"UTF-16LE, mark":         func(text string) []byte { return inUTF16(binary.LittleEndian, "\uFEFF"+text) },
	"UTF-16BE, mark":         func(text string) []byte { return inUTF16(binary.BigEndian, "\uFEFF"+text) },
	"UTF-16LE":               func(text string) []byte { return inUTF16(binary.LittleEndian, text) },
	"UTF-16BE":               func(text string) []byte { return inUTF16(binary.BigEndian, text) },
	"gzip":                   func(text string) []byte { return pack([]byte(text)) },
	"UTF-16LE, mark, gzip":   func(text string) []byte { return pack(inUTF16(binary.LittleEndian, "\uFEFF"+text)) },
	"UTF-8, mark, then gzip": func(text string) []byte { return pack([]byte("\uFEFF" + text)) },
}

func inUTF16(order binary.AppendByteOrder, text string) (out []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	w.Close()
	return b.Bytes()
}

// FuzzReadText reads any bytes as a file, and any text in each encoding.
//
// Invariant: A text is read as the same text from each encoding, compressed or not, and never as more bytes than the
// limit.
func FuzzReadText(f *testing.F) {
	f.Add([]byte("plain"), uint16(9))
	f.Add([]byte("# ä 漢 \U0001F600\r\nx"), uint16(40))
	f.Add(pack([]byte("compressed")), uint16(9))
	f.Add(pack(make([]byte, 1<<16)), uint16(100))
	f.Add([]byte("\xFF\xFEa"), uint16(100))
	f.Add([]byte("a\x00b\x00\x00\xD8"), uint16(100))
	f.Fuzz(func(t *testing.T, data []byte, limit uint16) {
		file := filepath.Join(t.TempDir(), "f")
		read := func(content []byte) ([]byte, error) {
			fixture.Write(t, file, content)
			text, err := ReadText(file, int64(limit))
			return []byte(text), err
		}
		if got, err := read(data); err == nil && len(got) > int(limit) {
			t.Errorf("%q is read as %q", data, got)
		}
		// Texts that tracegen reads begin with two ASCII characters that are not NUL.
		if !utf8.Valid(data) || len(data) < 2 || data[0] < '\t' || data[0] >= utf8.RuneSelf || data[1] < '\t' ||
			data[1] >= utf8.RuneSelf || strings.ContainsRune(string(data[:min(4, len(data))]), 0) {
			return
		}
		for name, encode := range encodings {
			got, err := read(encode(string(data)))
			if fits := len(data) <= int(limit); fits != (err == nil) || fits && !bytes.Equal(got, data) {
				t.Errorf("%q in %s is read as %q (%v)", data, name, got, err)
			}
		}
	})
}
