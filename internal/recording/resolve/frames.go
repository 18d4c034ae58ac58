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

// Frames implements [trace.FrameNames].
func (n FrameNames) Frames(frames []string) (methods []string, own bool) {
	program := foreign.WithoutTool(frames)
	for _, f := range n.Residual.Frames(program) {
		methods = append(methods, foreign.FrameMethod(withoutNumbers(f)))
	}
	return methods, len(program) < len(frames)
}

// withoutNumbers leaves out the numbers in the name of a hidden class and of a lambda, which differ from run to run:
// a.B$$Lambda$14/0x00007f0f1c006000.run.
func withoutNumbers(frame string) string {
	method, source, _ := strings.Cut(frame, "(")
	dot := strings.LastIndexByte(method, '.')
	if dot < 0 {
		return frame
	}
	class, hidden := method[:dot], false
	if i := strings.LastIndexByte(class, '/'); i >= 0 && strings.Trim(class[i+1:], "0123456789abcdefx") == "" {
		class, hidden = class[:i], true
	}
	if i := strings.LastIndex(class, "$$Lambda$"); i >= 0 {
		class, hidden = class[:i+len("$$Lambda")], true
	}
	if !hidden {
		return frame
	}
	return class + method[dot:] + "(" + source
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
