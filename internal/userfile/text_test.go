package userfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadText(t *testing.T) {
	const text = "a mapping\n"
	whole := compressed(t, text)
	for name, c := range map[string]struct {
		data  []byte
		want  string
		error string
	}{
		"plain":           {[]byte(text), text, ""},
		"empty":           {nil, "", ""},
		"one byte":        {[]byte{0x1F}, "\x1F", ""},
		"compressed":      {whole, text, ""},
		"several members": {append(bytes.Clone(whole), whole...), text + text, ""},
		"cut off":         {whole[:len(whole)-4], "", "compressed with gzip, and damaged or cut off: unexpected EOF"},
		"bad header":      {[]byte("\x1F\x8Bxxxxxxxxxxxx"), "", "compressed with gzip, and damaged or cut off"},
		"too large":       {compressed(t, strings.Repeat("x", 2<<20)), "", "longer than 1 MiB; check the path"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			fixture.Write(t, path, c.data)
			got, err := ReadText(path, 1<<20)
			if c.error == "" && (err != nil || string(got) != c.want) {
				t.Errorf("got %q, %v", got, err)
			}
			if c.error != "" && (err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
				!strings.Contains(err.Error(), c.error)) {
				t.Errorf("error %v, want %s", err, c.error)
			}
		})
	}
	if _, err := ReadText(filepath.Join(t.TempDir(), "none"), 1); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
}
