package resolve

import (
	"slices"
	"testing"

	"github.com/tracegen/tracegen/mapping"
	"github.com/tracegen/tracegen/trace"
)

// TestFrameNames compares frames with the methods of a mapping.
//
// Invariant: A frame has the name of its method in the mapping, whatever the loader, the module, the line and the
// numbers of hidden classes are, and an overloaded method is not guessed.
func TestFrameNames(t *testing.T) {
	m, err := mapping.Parse("test", `1,1,a.B <init> ()V
2,1,a.B <clinit> ()V
3,1,a.B one (I)V
4,1,a.B two (I)V
5,1,a.B two (J)V
6,1,a.B$C lambda$one$0 ()V
`)
	if err != nil {
		t.Fatal(err)
	}
	n := FrameNames{Names: NewNames(m, nil)}
	for _, row := range []struct {
		frame, name string
		method      trace.Method
	}{
		{"a.B.<init>(B.java:3)", "a.B.<init>", 1},
		{"app//a.B.<clinit>(B.java)", "a.B.<clinit>", 2},
		{"app/mod@1.0/a.B.one(Unknown Source)", "a.B.one", 3},
		{"a.B.two(B.java:7)", "a.B.two", 0},
		{"a.B$C.lambda$one$0(B.java:9)", "a.B$C.lambda$one$0", 6},
		{"a.B$$Lambda$14/0x00007f0f1c006000.run(Unknown Source)", "a.B$$Lambda.run", 0},
		{"a.B$$Lambda/0x00007f0f1c006000.run(Unknown Source)", "a.B$$Lambda.run", 0},
		{"java.base/java.lang.invoke.LambdaForm$MH/0x00007f0f1c006000.invoke(LambdaForm$MH)",
			"java.lang.invoke.LambdaForm$MH.invoke", 0},
		{"java.base@17.0.15/java.util.HashMap.merge(HashMap.java:1)", "java.util.HashMap.merge", 0},
		{"java.lang.Thread.sleep(Native Method)", "java.lang.Thread.sleep", 0},
	} {
		names, own := n.Frames([]string{row.frame})
		if !slices.Equal(names, []string{row.name}) || own {
			t.Errorf("%s: %q, %t, want %s", row.frame, names, own, row.name)
		}
		if got, ok := n.Find(row.name); got != row.method || ok != (row.method > 0) {
			t.Errorf("%s: method %d, %t, want %d", row.name, got, ok, row.method)
		}
	}
	for m, want := range map[trace.Method]string{1: "a.B.<init>", 6: "a.B$C.lambda$one$0"} {
		if name, ok := n.Name(m); !ok || name.String() != want {
			t.Errorf("%d: %s, want %s", m, name, want)
		}
	}
}

// TestFramesOfRecorder leaves out what the recorder did, and what it called, but not the program's calls around it.
func TestFramesOfRecorder(t *testing.T) {
	n := FrameNames{Names: NewNames(nil, nil)}
	for _, row := range []struct {
		frames, want []string
		own          bool
	}{
		{[]string{"java.lang.Thread.currentThread(Thread.java)", "dev.tracegen.runtime.AppMethodBeat.i(AppMethodBeat.java)",
			"a.B.one(B.java)"}, []string{"a.B.one"}, true},
		{[]string{"a.B.two(B.java)", "dev.tracegen.agent.Start.run(Start.java)", "a.B.one(B.java)"},
			[]string{"a.B.two", "dev.tracegen.agent.Start.run", "a.B.one"}, false},
		{[]string{"java.lang.Object.wait(Object.java)", "a.B.one(B.java)"}, []string{"java.lang.Object.wait", "a.B.one"},
			false},
		{nil, nil, false},
	} {
		if names, own := n.Frames(row.frames); !slices.Equal(names, row.want) || own != row.own {
			t.Errorf("%q: %q, %t, want %q, %t", row.frames, names, own, row.want, row.own)
		}
	}
}
