package export_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tracegen/tracegen/internal/recording/export"
)

// TestLimited checks that no more than the limit is written.
func TestLimited(t *testing.T) {
	var out bytes.Buffer
	tooLarge := errors.New("too large")
	w := &export.Limited{W: &out, Left: 10, Err: tooLarge}
	for _, step := range []struct {
		text string
		err  error
	}{{"12345", nil}, {"67890", nil}, {"x", tooLarge}} {
		if _, err := w.Write([]byte(step.text)); !errors.Is(err, step.err) {
			t.Errorf("write %q: %v, want %v", step.text, err, step.err)
		}
	}
	if out.String() != "1234567890" {
		t.Errorf("written: %q", &out)
	}
}
