package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tracegen/tracegen/trace"
)

// TestRoles has a stall of a second for each role, by what its stack shows.
//
// Invariant: main, what a thread was started for, and a wait for work are distinguished from slow calls; a message is
// always a stall.
func TestRoles(t *testing.T) {
	const (
		start = " java.base/java.lang.Thread.run(Thread.java:840)"
		pool  = " java.util.concurrent.ThreadPoolExecutor.runWorker(T.java:1)" + start
		work  = " a.B.work(B.java:1)"
		main  = " a.B.main(B.java:1)"
		loop  = work + " x.Loop.run(L.java:1)" + start
		park  = "jdk.internal.misc.Unsafe.park(Native)"
		queue = park + " java.util.concurrent.LinkedBlockingQueue.take(Q.java:1)"
	)
	for _, c := range []struct {
		name, method, stack string
		want                Role
		awaited             string
	}{
		{"main", "main", "java.lang.Object.wait(Native)" + main, RoleRun, ""},
		{"main of a launcher", "main", main + " java.lang.reflect.Method.invoke(M.java) x.L.main(L.java:1)", RoleRun, ""},
		{"main that waits for connections", "main", "java.net.ServerSocket.accept(S.java:1)" + main, RoleRun, ""},
		{"a thread's run", "work", work + start, RoleRun, ""},
		{"by a lambda", "work", work + " a.B.lambda$main$0(B.java:2) a.B$$Lambda/0x01.run(Unknown)" + start, RoleRun, ""},
		{"by a class within it", "work", work + " a.B$1.run(B.java:2)" + start, RoleRun, ""},
		{"a virtual thread", "work", work + " java.lang.VirtualThread.run(V.java:1)", RoleRun, ""},
		{"a library's loop", "work", loop, RoleStall, ""},
		{"a task of a pool", "work", work + pool, RoleStall, ""},
		{"a task of a pool that waits for an answer", "work", queue + work + pool, RoleStall, ""},
		{"accept", "work", "sun.nio.ch.Net.accept(Native) java.net.ServerSocket.implAccept(S.java:1)" + work + start,
			RoleIdle, "a connection"},
		{"select", "work", "sun.nio.ch.EPoll.wait(Native) sun.nio.ch.SelectorImpl.select(S.java:1)" + loop,
			RoleIdle, "an event of its event loop"},
		{"a library's epoll", "work", "io.netty.channel.epoll.Native.epollWait(Native)" + loop,
			RoleIdle, "an event of its event loop"},
		{"take", "run", queue + " a.B.run(B.java:1)" + start, RoleIdle, "the next element of its queue"},
		{"take for a library's loop, perhaps of an answer", "work", queue + loop, RoleStall, ""},
		{"a pool's own wait", "work", park + " java.util.concurrent.ThreadPoolExecutor.getTask(T.java:1)" + loop,
			RoleIdle, "the next task of its pool"},
		{"references", "work", "java.lang.Object.wait(Native) java.lang.ref.ReferenceQueue.remove(R.java:1)" + loop,
			RoleIdle, "the next reference to clean up"},
		{"Android's looper", "work", "android.os.MessageQueue.nativePollOnce(Native) android.os.Looper.loop(L.java:1)" + loop,
			RoleIdle, "the next message of its looper"},
		{"a sleep is no wait for work", "work", "java.lang.Thread.sleep(Native)" + loop, RoleStall, ""},
		{"a call out of a queue's method", "work", work + " " + queue + " x.Y.z(Y.java:1)", RoleStall, ""},
		{"no stack", "work", "", RoleStall, ""},
		{"no stack, of run", "run", "", RoleRun, ""},
	} {
		if s := stallWith(t, c.method, "", c.stack); s.Role != c.want || s.Awaited != c.awaited {
			t.Errorf("%s: %s for %q, want %s for %q", c.name, s.Role, s.Awaited, c.want, c.awaited)
		}
	}
	const accept = "java.net.ServerSocket.accept(S.java:1) a.B.work(B.java:1) x.Loop.run(L.java:1)"
	if s := stallWith(t, "work", "messageMethods=17", accept); s.Role != RoleStall {
		t.Errorf("a message: %s", s.Role)
	}
	if s := stallWith(t, "work", "", accept, "a.B.work(B.java:1) x.Loop.run(L.java:1)"); s.Role != RoleStall {
		t.Errorf("a call that waits for work and then takes longer than the threshold: %s", s.Role)
	}
}

// names are names by ID.
type names map[trace.Method]trace.Name

// Name implements [trace.Names].
func (n names) Name(m trace.Method) (trace.Name, bool) {
	name, ok := n[m]
	return name, ok
}

// TestWorkersWithoutStacks has a worker of a pool whose own methods are traced, on a machine that is too busy for
// stacks. Its calls alone say that it waited for work. With ktor, 29 such workers were stalls of 3 s.
func TestWorkersWithoutStacks(t *testing.T) {
	const worker = "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker"
	for _, c := range []struct {
		name    string
		parked  int // milliseconds of 2,000
		class   string
		want    Role
		awaited string
	}{
		{"idle", 1900, worker, RoleIdle, "the next task of its pool"},
		{"busy", 100, worker, RoleRun, "the next task of its pool"},
		{"a class that is no worker", 1900, "a.B", RoleStall, ""},
	} {
		text := fmt.Sprintf(`meta slowMillis=700 records=all
clock now=0
thread index=0 name=main main=1
thread index=1 name=worker
records thread=0 first=0 list="+20@0 -20@10000"
records thread=1 first=0 list="+17@1000 +18@1050 -18@%d -17@3000"
end`, 1050+c.parked)
		var found *Stall
		of := names{17: {Class: c.class, Method: "runWorker"}, 18: {Class: c.class, Method: "park"},
			20: {Class: "a.B", Method: "x"}}
		analyze(t, "a", text, Options{Names: of, Stall: func(s *Stall) error {
			if s.Thread.Index == 1 {
				found = s
			}
			return nil
		}})
		if found == nil {
			t.Fatalf("%s: no stall", c.name)
		}
		if found.Role != c.want || found.Awaited != c.awaited {
			t.Errorf("%s: %s for %q, want %s for %q", c.name, found.Role, found.Awaited, c.want, c.awaited)
		}
	}
}

// stallWith returns the stall that a call of a method of a.B is in a longer recording, for a second while it has one
// stack, and for another one while it has the next.
func stallWith(t *testing.T, method, meta string, stacks ...string) *Stall {
	t.Helper()
	text := "meta slowMillis=700 records=all " + meta + `
clock now=0
thread index=0 name=main main=1
thread index=1 name=worker
records thread=0 first=0 list="+18@0 -18@10000"
`
	for i, stack := range stacks {
		if stack != "" {
			text += fmt.Sprintf("sample time=%d thread=1 state=RUNNABLE stack=%q\n", 1500+1000*i, strings.TrimSpace(stack))
		}
	}
	text += fmt.Sprintf("records thread=1 first=0 list=\"+17@1000 -17@%d\"\nend", 1000+1000*len(stacks))
	var found *Stall
	names := names{17: {Class: "a.B", Method: method}, 18: {Class: "a.B", Method: "x"}}
	analyze(t, "a", text, Options{Names: names, Stall: func(s *Stall) error {
		if s.Thread.Index == 1 {
			found = s
		}
		return nil
	}})
	if found == nil {
		t.Fatalf("%s: no stall", stacks)
	}
	return found
}
