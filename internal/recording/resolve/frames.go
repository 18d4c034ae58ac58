package resolve

import (
	"strings"

	"github.com/tracegen/tracegen/internal/recording/foreign"
	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// FrameNames compares frames of stacks with the methods of a build. It implements [trace.FrameNames].
type FrameNames struct {
	*Names
	// Residual restores frames.
	Residual Residual
}

// ownClasses are what the names of the recorder's own classes begin with.
var ownClasses = []string{"dev.tracegen.runtime.", "dev.tracegen.agent.", "com.tencent.matrix.trace.core.AppMethodBeat."}

// Frames implements [trace.FrameNames].
func (n FrameNames) Frames(frames []string) (methods []string, own bool) {
	inner := 0 // how many frames the recorder has at the inner end, with what it called
	for i, f := range frames {
		method := foreign.FrameMethod(f)
		if isOwn(method) {
			inner = i + 1
		} else if !foreign.OfPlatform(method) {
			break
		}
	}
	for _, f := range n.Residual.Frames(frames[inner:]) {
		methods = append(methods, withoutNumbers(foreign.FrameMethod(f)))
	}
	return methods, inner > 0
}

func isOwn(method string) bool {
	for _, prefix := range ownClasses {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}

// withoutNumbers leaves out the numbers of a class of a lambda, which differ from run to run.
func withoutNumbers(method string) string {
	const lambda = "$$Lambda"
	class, rest, ok := strings.Cut(method, lambda)
	if !ok {
		return method
	}
	return class + lambda + rest[max(0, strings.LastIndexByte(rest, '.')):]
}

// Find implements [trace.FrameNames].
func (n FrameNames) Find(name string) (trace.Method, bool) {
	if n.mapping == nil {
		return 0, false
	}
	if n.byName == nil {
		n.index()
	}
	parsed := trace.ParseName(name)
	m, ok := n.byName[hashOf(parsed.Class, parsed.Method)]
	if !ok || m == trace.MethodNotRecorded {
		return 0, false
	}
	found, _ := n.Name(m)
	return m, found.String() == name
}

// index finds the methods by their names; [trace.MethodNotRecorded] stands for several of a name.
func (n *Names) index() {
	n.byName = make(map[uint64]trace.Method, n.mapping.Len())
	for e := range n.mapping.All() {
		hash := hashOf(mapping.Text(e.Class), mapping.Text(e.Name))
		if _, several := n.byName[hash]; several {
			n.byName[hash] = trace.MethodNotRecorded
		} else {
			n.byName[hash] = trace.Method(e.ID)
		}
	}
}
