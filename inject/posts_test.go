package inject_test

import (
	"strings"
	"testing"

	"github.com/tracegen/tracegen/classfile/verify/equivalence"
	"github.com/tracegen/tracegen/inject"
	"github.com/tracegen/tracegen/internal/build/plan"
	"github.com/tracegen/tracegen/internal/oracle/assembly"
)

// probeShapes are calls with their operands, and the code that they become with the probe, but for the entry and exit
// call, which are before and behind it.
var probeShapes = []struct {
	name, code, probed string
	stack, need        int
}{
	{"post", "aload_0 | aload_0 | invokevirtual android/os/Handler.post(Ljava/lang/Runnable;)Z | pop",
		"4: aload_0 | 5: aload_0 | 6: dup2 | 7: iconst_5 | 8: invokestatic OBJECT | 11: CALL | 14: pop", 2, 5},
	{"postDelayed of a View",
		"aload_0 | aload_0 | lconst_1 | invokevirtual app/MyView.postDelayed(Ljava/lang/Runnable;J)Z | pop",
		"4: aload_0 | 5: aload_0 | 6: lconst_1 | 7: dup2_x2 | 8: pop2 | 9: dup2_x2 | 10: iconst_5 | " +
			"11: invokestatic OBJECT | 14: CALL | 17: pop", 4, 7},
	{"sendMessage of an own class",
		"aload_0 | aload_0 | invokevirtual app/MyHandler.sendMessage(Landroid/os/Message;)Z | pop",
		"4: aload_0 | 5: aload_0 | 6: dup2 | 7: iconst_5 | 8: invokestatic OBJECT | 11: CALL | 14: pop", 2, 5},
	{"sendEmptyMessage", "aload_0 | iconst_3 | invokevirtual android/os/Handler.sendEmptyMessage(I)Z | pop",
		"4: aload_0 | 5: iconst_3 | 6: dup2 | 7: iconst_5 | 8: invokestatic WHAT | 11: CALL | 14: pop", 2, 5},
	{"sendEmptyMessageAtTime",
		"aload_0 | iconst_3 | lconst_1 | invokevirtual android/os/Handler.sendEmptyMessageAtTime(IJ)Z | pop",
		"4: aload_0 | 5: iconst_3 | 6: lconst_1 | 7: dup2_x2 | 8: pop2 | 9: dup2_x2 | 10: iconst_5 | " +
			"11: invokestatic WHAT | 14: CALL | 17: pop", 4, 7},
	{"sendToTarget", "aload_0 | invokevirtual android/os/Message.sendToTarget()V",
		"4: aload_0 | 5: dup | 6: dup | 7: iconst_5 | 8: invokestatic OBJECT | 11: CALL", 1, 4},
	{"execute", "aload_0 | aload_0 | invokevirtual java/util/concurrent/ThreadPoolExecutor.execute(Ljava/lang/Runnable;)V",
		"4: aload_0 | 5: aload_0 | 6: dup2 | 7: iconst_5 | 8: invokestatic OBJECT | 11: CALL", 2, 5},
	{"execute of another descriptor", "aload_0 | aload_0 | invokevirtual app/Task.execute(Ljava/lang/Object;)V",
		"4: aload_0 | 5: aload_0 | 6: CALL", 2, 2},
	{"super.post", "aload_0 | aload_0 | invokespecial android/os/Handler.post(Ljava/lang/Runnable;)Z | pop",
		"4: aload_0 | 5: aload_0 | 6: CALL | 9: pop", 2, 2},
	{"dispatch", "aload_0 | aload_0 | aload_0 | invokevirtual kotlinx/coroutines/CoroutineDispatcher.dispatch" +
		"(Lkotlin/coroutines/CoroutineContext;Ljava/lang/Runnable;)V",
		"4: aload_0 | 5: aload_0 | 6: aload_0 | 7: dup | 8: dup | 9: iconst_5 | 10: invokestatic OBJECT | 13: CALL", 3, 6},
}

// Invariant: With posts traced, each call that posts a message has one probe directly in front of it, of the form that
// its operands need, and nothing else has one.
func TestProbes(t *testing.T) {
	const object = inject.DefaultRuntimeClass + ".posted(Ljava/lang/Object;Ljava/lang/Object;I)V"
	const what = inject.DefaultRuntimeClass + ".posted(Ljava/lang/Object;II)V"
	for _, shape := range probeShapes {
		c := assembly.Class{Name: "T", Major: 48, Methods: []assembly.Method{{Access: static, Name: "f",
			Descriptor: "(Ljava/lang/Object;)V", Stack: uint16(shape.stack), Locals: 1,
			Code: shape.code + " | return"}}}.Parse()
		for _, exits := range inject.ExitModes() {
			t.Run(shape.name+"/"+exits.String(), func(t *testing.T) {
				o := inject.Options{Exits: exits, Posts: true}
				out := rewrite(t, c, o, traced(5, 0))
				call := ""
				for part := range strings.SplitSeq(shape.code, " | ") {
					if strings.HasPrefix(part, "invoke") {
						call = part
					}
				}
				want := strings.NewReplacer("OBJECT", object, "WHAT", what, "CALL", call).Replace(shape.probed)
				got := assembly.Listing(out, &out.Methods()[0], "")
				entry := "0: iconst_5 | 1: invokestatic " + inject.DefaultRuntimeClass + ".i(I)V | "
				if !strings.HasPrefix(got, entry+want+" | ") {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if body, _, _ := out.Code(&out.Methods()[0]); int(body.MaxStack) != shape.need {
					t.Errorf("max_stack %d, want %d", body.MaxStack, shape.need)
				}
				if findings := equivalence.Check(c, out, plan.Expected(o, traced(5, 0))); len(findings) > 0 {
					t.Error(findings[0])
				}
				stripped, _, err := equivalence.Strip(out, inject.DefaultRuntimeClass)
				if err != nil || string(stripped) != string(c.Bytes()) {
					t.Errorf("strip: %v, or other bytes than the original's", err)
				}
				without := rewrite(t, c, inject.Options{Exits: exits}, traced(5, 0))
				if strings.Contains(listing(t, without, 0), "posted") {
					t.Error("a probe without the option")
				}
			})
		}
	}
}

// TestNoProbeWhereNoPathLeads: without a depth there is no certainty that the operands are on the stack.
func TestNoProbeWhereNoPathLeads(t *testing.T) {
	c := assembly.Class{Name: "T", Major: 48, Methods: []assembly.Method{{Access: static, Name: "f", Descriptor: "()V",
		Stack: 2, Code: "return | invokevirtual android/os/Handler.post(Ljava/lang/Runnable;)Z | pop | return"}}}.Parse()
	o := inject.Options{Posts: true}
	out := rewrite(t, c, o, traced(5, 0))
	if got := listing(t, out, 0); strings.Contains(got, "posted") {
		t.Errorf("got %s", got)
	}
	if findings := equivalence.Check(c, out, plan.Expected(o, traced(5, 0))); len(findings) > 0 {
		t.Error(findings[0])
	}
}
