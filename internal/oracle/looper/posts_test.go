package looper

import (
	"slices"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle/nightly"
)

// TestPosts runs an app whose methods post messages in all ways, and reads who posted the slow ones.
//
// Invariant: On real Android classes a slow message has the method that posted it, and none if that is not certain.
func TestPosts(t *testing.T) {
	nightly.Only(t, "looper")
	b := build(t)
	for _, p := range platforms {
		for _, w := range p.worlds() {
			t.Run(p.name+" "+string(w), func(t *testing.T) {
				t.Parallel()
				b.provePosts(t, p, w)
			})
		}
	}
}

// provePosts runs the proofs about posts, and checks who posted the slow messages of the recordings.
func (b bench) provePosts(t *testing.T, p platform, w world) {
	t.Helper()
	dir := b.prove(t, p, w, "PostProofs").recordings
	var posters []string
	for _, r := range readRecordings(t, dir) {
		for _, s := range r.stalls {
			if !strings.Contains(s.Description, "SlowTask") {
				continue
			}
			name := "none"
			if m, ok := b.methods.ByID(uint32(s.PostedBy)); ok {
				name = m.Name
			}
			if (s.Posted != 0) != (name != "none") || s.Posted > s.Begin {
				t.Errorf("a message of %d that %s posted at %d", s.Begin, name, s.Posted)
			}
			posters = append(posters, name)
		}
	}
	slices.Sort(posters)
	if want := []string{"none", "postDelayed"}; !slices.Equal(posters, want) {
		t.Errorf("the posters are %q, want %q", posters, want)
	}
}
