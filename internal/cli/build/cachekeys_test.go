package build

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/tracegen/tracegen/internal/cache"
	"github.com/tracegen/tracegen/internal/oracle/fixture"
)

// TestExecutableSum checks that the sum stands for the content of the program: one that was built again is another one.
func TestExecutableSum(t *testing.T) {
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data := fixture.Read(t, file)
	sum := sha256.Sum256(data)
	want := fmt.Sprint(cache.KeyOf("file", string(sum[:])))
	kept, err := cache.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []*cache.Cache{nil, kept, kept} {
		if got, err := executableSum(in); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
