package resolve

import "testing"

// TestSourceName shortens methods of Kotlin's library only.
func TestSourceName(t *testing.T) {
	for _, c := range []struct{ class, name, label, want string }{
		{"app.Feed", "load", "", "app.Feed.load"},
		{"app.Feed$load$2", "invokeSuspend", "app.Feed.load{coroutine 2}", "app.Feed.load{coroutine 2}"},
		{"kotlinx.coroutines.JobSupport", "await$suspendImpl", "", "await"},
	} {
		if got := (Method{Class: c.class, Name: c.name, Label: c.label}).Source(); got != c.want {
			t.Errorf("%s.%s: %s, want %s", c.class, c.name, got, c.want)
		}
	}
}
