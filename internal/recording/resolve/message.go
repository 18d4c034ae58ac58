package resolve

import (
	"strconv"
	"strings"

	"github.com/tracegen/tracegen/trace"
)

// Message says what ran, as far as its text shows.
type Message struct {
	// Kind is "message" for one of a Handler, "idle handler", "call" for an outermost call of a thread without a
	// looper, "other" for a text of another form, and "unknown" if nothing was recorded.
	Kind string `json:"kind"`
	// Handler and Callback are classes, or what a callback calls itself; empty if there is none.
	Handler  string `json:"handler,omitempty"`
	Callback string `json:"callback,omitempty"`
	// What is Message.what; only a message has one.
	What *int64 `json:"what,omitempty"`
	// WhatName is what Android's ActivityThread means by What.
	WhatName string `json:"whatName,omitempty"`
	// Method is that of a call.
	Method *Method `json:"method,omitempty"`
	// Text is what was recorded, without addresses.
	Text string `json:"text,omitempty"`
}

// activityThread is the handler of what the system wants of an app.
const activityThread = "android.app.ActivityThread$H"

// activityThreadWhats are the messages of ActivityThread.H that are slow most often, of all versions since API 16: none
// has had another meaning in between.
var activityThreadWhats = map[int64]string{
	100: "LAUNCH_ACTIVITY", 101: "PAUSE_ACTIVITY", 102: "PAUSE_ACTIVITY_FINISHING", 103: "STOP_ACTIVITY_SHOW",
	104: "STOP_ACTIVITY_HIDE", 107: "RESUME_ACTIVITY", 108: "SEND_RESULT", 109: "DESTROY_ACTIVITY",
	110: "BIND_APPLICATION",
	111: "EXIT_APPLICATION", 112: "NEW_INTENT", 113: "RECEIVER", 114: "CREATE_SERVICE", 115: "SERVICE_ARGS",
	116: "STOP_SERVICE", 118: "CONFIGURATION_CHANGED", 121: "BIND_SERVICE", 122: "UNBIND_SERVICE", 124: "LOW_MEMORY",
	126: "RELAUNCH_ACTIVITY", 137: "SLEEPING", 145: "INSTALL_PROVIDER", 149: "ENTER_ANIMATION_COMPLETE",
	159: "EXECUTE_TRANSACTION", 160: "RELAUNCH_ACTIVITY",
}

// ParseMessage reads a message's text, as the Looper's Printer gets it or as the runtime makes it:
//
//	Handler (CLASS) {HASH} CALLBACK: WHAT
//	CLASS CALLBACK: WHAT
//	IdleHandler CLASS
//	method ID
func ParseMessage(text string, names *Names, by Residual) Message {
	m := Message{Kind: "other", Text: Printable(text)}
	text = strings.TrimPrefix(text, ">>>>> Dispatching to ")
	if text == "" {
		m.Kind = "unknown"
		return m
	}
	if class, ok := strings.CutPrefix(text, "IdleHandler "); ok {
		m.Kind, m.Handler = "idle handler", by.Class(class)
		return m
	}
	if id, ok := trace.DescribedMethod(text); ok {
		method := names.Method(id)
		m.Kind, m.Method = "call", &method
		return m
	} else if strings.HasPrefix(text, "method ") {
		return m
	}
	target, digits, ok := cutLast(text, ": ")
	what, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return m
	}
	var handler, callback string
	if rest, printed := strings.CutPrefix(target, "Handler ("); printed {
		handler, callback, _ = strings.Cut(rest, ")")
	} else if rest, none := strings.CutPrefix(target, "(no handler)"); none {
		callback = rest
	} else {
		handler, callback, _ = strings.Cut(target, " ")
	}
	callback = withoutHash(strings.TrimSpace(callback))
	if callback == "null" {
		callback = ""
	}
	m.Kind, m.Handler, m.Callback, m.What = "message", by.Class(handler), by.Class(callback), &what
	if handler == activityThread {
		m.WhatName = activityThreadWhats[what]
	}
	return m
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, ok bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// withoutHash takes off what Looper puts before a callback, {1a2b}, and Object.toString behind it, @1a2b: the next run
// has another.
func withoutHash(s string) string {
	if strings.HasPrefix(s, "{") {
		if i := strings.IndexByte(s, '}'); i >= 0 {
			s = strings.TrimSpace(s[i+1:])
		}
	}
	if before, hash, ok := cutLast(s, "@"); ok && before != "" && strings.Trim(hash, "0123456789abcdef") == "" {
		return before
	}
	return s
}

// String says it in a line.
func (m Message) String() string {
	switch m.Kind {
	case "message":
		s := "message"
		if m.Handler != "" {
			s += " of " + m.Handler
		}
		if m.Callback != "" {
			s += ", callback " + m.Callback
		}
		s += ", what " + strconv.FormatInt(*m.What, 10)
		if m.WhatName != "" {
			s += " (" + m.WhatName + ")"
		}
		return s
	case "idle handler":
		return "idle handler " + m.Handler
	case "call":
		return "call of " + m.Method.String()
	case "other":
		return m.Text
	}
	return "not recorded"
}
