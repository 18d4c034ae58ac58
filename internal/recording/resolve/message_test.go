package resolve

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/mapping/r8"
)

// TestParseMessage has the texts that Android's Looper prints, with and without what the runtime takes out, and those
// of the runtime itself.
func TestParseMessage(t *testing.T) {
	by, err := r8.Parse("r8.txt", "com.example.FeedHandler -> a.b:\ncom.example.Task -> a.c:\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		">>>>> Dispatching to Handler (android.os.Handler) {1a2b} null: 0": "message of android.os.Handler, what 0",
		"Handler (android.view.Choreographer$FrameHandler) android.view.Choreographer$FrameDisplayEventReceiver: " +
			"0": "message of android.view.Choreographer$FrameHandler, callback " +
			"android.view.Choreographer$FrameDisplayEventReceiver, what 0",
		"Handler (android.os.Handler) {1a2b} a.c@3c4d: -7": "message of android.os.Handler, " +
			"callback com.example.Task, what -7",
		"Handler (android.app.ActivityThread$H) null: 159": "message of android.app.ActivityThread$H, " +
			"what 159 (EXECUTE_TRANSACTION)",
		"Handler (com.example.H) null: 159": "message of com.example.H, what 159",
		"a.b: 3":                            "message of com.example.FeedHandler, what 3",
		"a.b a.c: 3": "message of com.example.FeedHandler, " +
			"callback com.example.Task, what 3",
		"(no handler) a.c: 0": "message, callback com.example.Task, what 0",
		"Handler (a.b) something of its own: with colons: 4": "message of com.example.FeedHandler, " +
			"callback something of its own: with colons, what 4",
		"IdleHandler a.b": "idle handler com.example.FeedHandler",
		"method 17":       "call of #17",
		"method x":        "method x",
		"whatever\x1b[2J": "whatever\uFFFD[2J",
		"":                "not recorded",
	} {
		if got := ParseMessage(text, NewNames(nil, nil), Residual{By: by}).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestResidual(t *testing.T) {
	by, err := r8.Parse("r8.txt",
		"com.example.Store -> a.c:\n    1:1:void com.example.Lock.take():5:5 -> a\n    1:1:void "+
			"read():9 -> a\n")
	if err != nil {
		t.Fatal(err)
	}
	r := Residual{By: by}
	if got := r.Owner("main holds a.c"); got != "main holds com.example.Store" {
		t.Errorf("owner %q", got)
	}
	if got := r.Owner("a holds b holds a.d"); got != "a holds b holds a.d" {
		t.Errorf("owner %q", got)
	}
	want := "com.example.Lock.take(Lock.java:5) com.example.Store.read(Store.java:9) a.d.x(Y:1)"
	if got := strings.Join(r.Frames([]string{"a.c.a(SourceFile:1)", "a.d.x(Y:1)"}), " "); got != want {
		t.Errorf("frames %q, want %q", got, want)
	}
}
