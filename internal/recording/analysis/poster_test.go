package analysis

import (
	"testing"
	"time"

	"github.com/tracegen/tracegen/internal/recording/resolve"
	"github.com/tracegen/tracegen/trace"
)

// TestPoster: the method that posted a message is shown by its name, and when it did only if that is certain.
func TestPoster(t *testing.T) {
	names := resolve.NewNames(nil, nil)
	names.Named(7, "com.example.Feed.load")
	for _, row := range []struct {
		stall trace.StallChunk
		want  string
	}{
		{trace.StallChunk{Begin: 2_000_000_000, PostedBy: 7, Posted: 1_880_000_000},
			"com.example.Feed.load, 120 ms before it began"},
		{trace.StallChunk{Begin: 2_000_000_000, PostedBy: 7}, "com.example.Feed.load"},
		{trace.StallChunk{Begin: 2_000_000_000, PostedBy: 7, Posted: 2_000_000_001}, "com.example.Feed.load"},
	} {
		if got := posterOf(&row.stall, names); got == nil || got.String() != row.want {
			t.Errorf("%+v: got %v, want %q", row.stall, got, row.want)
		}
	}
	for _, id := range []trace.Method{0, 1_048_574, 1_048_575} {
		if got := posterOf(&trace.StallChunk{Begin: 1, PostedBy: id}, names); got != nil {
			t.Errorf("%d: got %v", id, got)
		}
	}
	if got := posterOf(&trace.StallChunk{Begin: 5, PostedBy: 7, Posted: 5}, names); got.Before != time.Duration(0) {
		t.Errorf("got %v", got.Before)
	}
}
