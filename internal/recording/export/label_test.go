package export

import "testing"

// TestClassInLabel: the page writes a method and behind it its class, also of a coroutine, whose label has another
// class.
func TestClassInLabel(t *testing.T) {
	for _, test := range []struct{ label, class, method, want string }{
		{"a.Feed.load", "a.Feed", "load", "a.Feed"},
		{"a.Feed.load(int)", "a.Feed", "load", "a.Feed"},
		{"a.Feed.load{coroutine 1}", "a.Feed$load$1", "invokeSuspend", "a.Feed"},
		{"a.Feed$load$1.invokeSuspend", "a.Feed$load$1", "invokeSuspend", "a.Feed$load$1"},
		{"#17", "", "#17", ""},
	} {
		if got := classIn(test.label, test.class, test.method); got != test.want {
			t.Errorf("%s: %q, want %q", test.label, got, test.want)
		}
	}
}
