package corpus

import (
	"os"
	"testing"

	"github.com/tracegen/tracegen/internal/oracle"
)

// IsFull reports whether TRACEGEN_CORPUS selects the whole corpus, as make corpus does. Other runs use the small set.
func IsFull() bool { return os.Getenv("TRACEGEN_CORPUS") == "full" }

// Need fetches rows for a test, whatever their set. The test cannot go on without them.
func Need(t testing.TB, names ...string) []Jar {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	jars, err := c.Fetch(t.Context(), names...)
	oracle.Require(t, err)
	return jars
}

// NeedAll is [Need] for the small set, or for the full one if [IsFull].
func NeedAll(t testing.TB) []Jar {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return Need(t, c.Names(IsFull())...)
}
