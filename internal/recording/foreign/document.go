package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tracegen/tracegen/internal/frametext"
)

// document takes JSON that has stacks, and no records of Matrix. It reports whether the text is such a document.
func (p *Reader) document(text string) bool {
	if !mayHaveStacks(text) || ownStack().MatchString(text) || !json.Valid([]byte(text)) {
		return false
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil || len(stackOf(list)) > 0 {
		list = []json.RawMessage{json.RawMessage(text)}
	}
	for _, event := range list { // each is of its own
		p.now.over = p.now.over || p.now.hasStack
		d := documentReader{p, map[string]bool{}}
		d.value(event, 0)
	}
	p.now.over, p.follow = p.now.over || p.now.hasStack, followNothing
	return true
}

// mayHaveStacks reports whether JSON has frames, as objects or in strings.
func mayHaveStacks(text string) bool {
	return len(frametext.Objects(text)) > 0 || len(frametext.In(text)) > 0
}

// documentReader hands what a document has to the reader, as the lines of a text would. A stack that it has in several
// places is handed on once: Sentry and Bugsnag have that of the main thread of an ANR twice.
type documentReader struct {
	*Reader
	seen map[string]bool
}

// maxDepth is how deep values of a document are nested.
const maxDepth = 64

func (d documentReader) value(raw json.RawMessage, depth int) {
	var text string
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case depth > maxDepth:
	case json.Unmarshal(raw, &text) == nil:
		for line := range strings.Lines(text) {
			d.line(line)
		}
	case json.Unmarshal(raw, &list) == nil:
		if stack := stackOf(list); stack != nil {
			d.stack("", "", stack)
			return
		}
		for _, element := range list {
			d.value(element, depth+1)
		}
	case json.Unmarshal(raw, &object) == nil:
		d.object(object, depth)
	}
}

// object takes an object: what it says first, then its stack, which is that of a thread if it has a name, then others.
func (d documentReader) object(object map[string]json.RawMessage, depth int) {
	var stack []string
	said := map[string]string{}
	keys := slices.Sorted(maps.Keys(object))
	rest := keys[:0]
	for _, key := range keys {
		raw := object[key]
		var text string
		var list []json.RawMessage
		var inner struct{ Frames []json.RawMessage } // Sentry's {"stacktrace":{"frames":[...]}}
		switch {
		case json.Unmarshal(raw, &text) == nil && stack == nil && stackIn(text) != nil:
			stack = stackIn(text)
		case json.Unmarshal(raw, &text) == nil:
			said[key] = text
			d.value(raw, depth+1)
		case raw[0] != '[' && raw[0] != '{':
			said[key] = string(raw)
		case json.Unmarshal(raw, &list) == nil || json.Unmarshal(raw, &inner) == nil:
			if found := stackOf(append(list, inner.Frames...)); stack == nil && found != nil {
				stack = found
				break
			}
			rest = append(rest, key)
		default:
			rest = append(rest, key)
		}
	}
	for key, value := range said {
		if durationKey().MatchString(key) || known(key) && key != "time" {
			d.fact(key, value)
		}
	}
	if stack != nil {
		d.stack(threadIn(said), firstOf(said, "state", "threadState"), stack)
	}
	for _, key := range rest {
		d.value(object[key], depth+1)
	}
}

// threadIn returns the name of a thread that an object has. Other things have names too, but no number and no state.
func threadIn(said map[string]string) string {
	if firstOf(said, "id", "tid", "state", "crashed") != "" {
		return firstOf(said, "name", "threadName", "thread_name")
	}
	return firstOf(said, "threadName", "thread_name", "thread")
}

// stack takes a stack of a thread, or of what has no name.
func (d documentReader) stack(thread, state string, frames []string) {
	text := strings.Join(frames, "\n")
	if d.seen[text] {
		return
	}
	d.seen[text] = true
	d.follow = followNothing
	if thread != "" {
		if state == "" || strings.ContainsFunc(state, func(r rune) bool { return r != '_' && (r < 'A' || r > 'z') }) {
			state = "UNKNOWN"
		}
		d.text(fmt.Sprintf("Thread: %s (state = %s)", thread, strings.ToUpper(state)), false)
	}
	for _, f := range frames {
		d.text("at "+f, false)
	}
}

// stackIn returns the frames of a string that has nothing else; nil if it does.
func stackIn(text string) []string {
	var frames []string
	for line := range strings.Lines(text) {
		f, sure, ok := frametext.Line(strings.TrimSpace(line))
		if !ok || !sure {
			return nil
		}
		frames = append(frames, f)
	}
	return frames
}

// stackOf returns the frames of a list of objects or strings, the innermost first; nil if there are others.
func stackOf(list []json.RawMessage) []string {
	var frames []string
	outerFirst := false
	for _, raw := range list {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			f := stackIn(text)
			if len(f) != 1 {
				return nil
			}
			frames = append(frames, f[0])
			continue
		}
		objects := frametext.Objects(withoutInner(raw))
		if len(objects) != 1 {
			return nil
		}
		outerFirst = outerFirst || objects[0].OuterFirst
		frames = append(frames, objects[0].String())
	}
	if outerFirst {
		slices.Reverse(frames)
	}
	return frames
}

// withoutInner returns an object without the objects and lists that it has, and without the escapes of letters that
// Gson writes: \u003cinit\u003e.
func withoutInner(raw json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(raw, &object) != nil {
		return ""
	}
	maps.DeleteFunc(object, func(_ string, v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(object) != nil {
		return ""
	}
	return b.String()
}

// firstOf returns the value of the first key that there is.
func firstOf(said map[string]string, keys ...string) string {
	for _, key := range keys {
		if v := said[key]; v != "" {
			return v
		}
	}
	return ""
}
