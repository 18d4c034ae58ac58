package export_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
	"github.com/tracegen/tracegen/internal/recording/export"
)

// export replays the recordings of files into a export.
func exported(t testing.TB, format string, files ...string) []byte {
	t.Helper()
	var recordings [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		recordings = append(recordings, data)
	}
	return exportBytes(t, format, nil, recordings...)
}

const vectors = "../../../trace/testdata/vectors/"

// TestSameBytes exports twice: nothing but what is replayed may matter.
//
// Invariant: Exporting a recording twice writes the same bytes.
func TestSameBytes(t *testing.T) {
	nightly.Only(t, "commands")
	for _, f := range export.Formats() {
		files := []string{vectors + "many.tgd", vectors + "open.tgd"}
		one := exported(t, f.Name, files...)
		if !bytes.Equal(one, exported(t, f.Name, files...)) {
			t.Errorf("%s: twice is not the same", f.Name)
		}
		if len(one) == 0 {
			t.Errorf("%s: nothing", f.Name)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	_, err := export.New("flame", nil, export.Options{})
	if err == nil || !strings.Contains(err.Error(), "use collapsed") {
		t.Error(err)
	}
}
