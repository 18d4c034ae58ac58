package program_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/fixture"
	"github.com/tracegen/tracegen/internal/record/program"
)

// FuzzStatus reads any bytes as the status of a run, which another process writes meanwhile.
func FuzzStatus(f *testing.F) {
	file, err := program.NewStatus("classes")
	if err != nil {
		f.Fatal(err)
	}
	defer os.Remove(file)
	fresh := fixture.Read(f, file)
	f.Add(fresh)
	f.Add(fresh[:20])
	long := append([]byte(nil), fresh...)
	binary.BigEndian.PutUint16(long[20:], 0xffff)
	f.Add(long)
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "status")
		fixture.Write(t, file, data)
		c, err := program.ReadStatus(file)
		if err != nil {
			return
		}
		if c.JVMs < 0 || c.Replaced < 0 || c.Differing < 0 || len(c.First) > len(data) || strings.Contains(c.First, "/") {
			t.Errorf("%+v", c)
		}
	})
}
