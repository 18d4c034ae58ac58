package resolve

import "testing"

// TestSourceName: lambdas have the name of the function that they are in.
func TestSourceName(t *testing.T) {
	for _, c := range []struct{ class, name, want string }{
		{"app.Feed", "load", "app.Feed.load"},
		{"app.Feed$load$2", "invokeSuspend", "app.Feed.load (lambda 2)"},
		{"app.Feed$load$job$1", "invokeSuspend", "app.Feed.load (lambda job$1)"},
		{"app.MainKt$main$1$2", "invokeSuspend", "app.MainKt.main (lambda 1$2)"},
		{"app.Outer$Inner$run$1", "invokeSuspend", "app.Outer$Inner.run (lambda 1)"},
		{"app.Outer$1", "invokeSuspend", "app.Outer$1.invokeSuspend"},
		{"a.b", "invokeSuspend", "a.b.invokeSuspend"},
		{"kotlinx.coroutines.JobSupport", "await$suspendImpl", "await"},
	} {
		if got := (Method{Class: c.class, Name: c.name}).Source(); got != c.want {
			t.Errorf("%s.%s: %s, want %s", c.class, c.name, got, c.want)
		}
	}
}
