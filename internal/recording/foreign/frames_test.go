package foreign

import (
	"slices"
	"strings"
	"testing"
)

// TestWithoutTool: the frames of the runtime and of what it called are taken off the inner end, and no others.
func TestWithoutTool(t *testing.T) {
	const (
		beat  = "dev.tracegen.runtime.AppMethodBeat.i(A.java:1)"
		put   = "dev.tracegen.runtime.FastPath.put(F.java:1)"
		nano  = "java.base/java.lang.System.nanoTime(Native Method)"
		app   = "app//a.B.work(B.java:1)"
		main  = "app//a.B.main(B.java:1)"
		sleep = "java.lang.Thread.sleep(Native Method)"
		agent = "dev.tracegen.agent.Agent.transform(Agent.java:1)"
		form  = "java.instrument/java.lang.instrument.ClassFileTransformer.transform(ClassFileTransformer.java:1)"
		calls = "java.instrument/sun.instrument.InstrumentationImpl.transform(InstrumentationImpl.java:1)"
		loads = "java.base/java.lang.ClassLoader.defineClass1(Native Method)"
	)
	for _, c := range []struct{ stack, want []string }{
		{[]string{app, main}, []string{app, main}},
		{[]string{sleep, app, main}, []string{sleep, app, main}},
		{[]string{beat, app, main}, []string{app, main}},
		{[]string{nano, put, beat, app, main}, []string{app, main}},
		{[]string{"com.tencent.matrix.trace.core.AppMethodBeat.o(A.java:1)", app}, []string{app}},
		{[]string{app, beat, main}, []string{app, beat, main}}, // what a listener of the runtime runs
		{[]string{nano, put}, []string{}},
		{[]string{nano, agent, form, calls, loads, app}, []string{loads, app}},
		{[]string{nano, form, calls, loads, app}, []string{nano, form, calls, loads, app}}, // another agent
		{nil, nil},
	} {
		if got := WithoutTool(c.stack); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %s, want %s", strings.Join(c.stack, " "), got, c.want)
		}
	}
}

// TestFrameMethodOfHiddenClass: a class that the JDK makes has a number, which differs from run to run.
func TestFrameMethodOfHiddenClass(t *testing.T) {
	for frame, want := range map[string]string{
		"java.base@17/java.lang.LambdaForm$MH/0x00007f28.invoke(LambdaForm$MH)": "java.lang.LambdaForm$MH.invoke",
		"app//a.B$$Lambda/0x0a.run(Unknown Source)":                             "a.B$$Lambda/0x0a.run",
		"app//a.B.c(B.java:1)": "a.B.c",
	} {
		if got := FrameMethod(frame); got != want {
			t.Errorf("%s: got %s, want %s", frame, got, want)
		}
	}
}
