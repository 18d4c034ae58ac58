package foreign

import "strings"

// idleMethods are methods in which a thread waits for work, by the begin of "Class.method": servers for a connection,
// event loops for an event, workers for a task, and the JVM's and Android's own threads for what they are there for.
var idleMethods = []string{
	"java.net.ServerSocket.accept", "java.net.ServerSocket.implAccept", "sun.nio.ch.ServerSocketChannelImpl.accept",
	"android.net.LocalServerSocket.accept", "libcore.io.Linux.accept",
	"sun.nio.ch.SelectorImpl.", "sun.nio.ch.EPoll", "sun.nio.ch.KQueue", "sun.nio.ch.WEPoll", "sun.nio.ch.PollSelector",
	"io.netty.channel.epoll.Native.epollWait", "io.netty.channel.kqueue.Native.keventWait",
	"java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.ForkJoinPool.awaitWork",
	"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.", "java.util.TimerThread.mainLoop",
	"java.lang.ref.ReferenceQueue.", "java.lang.ref.Reference$ReferenceHandler.", "java.lang.ref.NativeReferenceQueue.",
	"java.lang.ref.Reference.waitForReferencePendingList", "java.lang.Daemons$",
	"android.os.MessageQueue.nativePollOnce", "android.os.MessageQueue.next",
}

// poolMethods run a task of a pool: what is called below them is work that a caller has handed in.
var poolMethods = []string{
	"java.util.concurrent.ThreadPoolExecutor.runWorker", "java.util.concurrent.FutureTask.run",
	"java.util.concurrent.ForkJoinTask.doExec", "java.util.concurrent.ThreadPerTaskExecutor",
}

// startMethods are between the begin of a thread and what it was started for.
var startMethods = []string{
	"java.lang.Thread.run", "java.lang.VirtualThread", "java.lang.ThreadBuilders", "jdk.internal.vm.",
	"java.lang.reflect.Method.invoke", "jdk.internal.reflect.", "sun.reflect.", "java.lang.invoke.",
	"kotlin.concurrent.ThreadsKt",
}

// IdleWait returns the method in which a thread with this stack waits for work; empty if it does not. Taking from a
// queue is waiting for work, but a task of a pool may wait for an answer, unless it lasts about forever.
func IdleWait(frames []string, forever bool) string {
	for _, f := range frames {
		method := FrameMethod(f)
		if beginsWith(method, idleMethods) || takesFromQueue(method) && (forever || !runByPool(frames)) {
			return method
		}
		if !OfPlatform(method) {
			break
		}
	}
	return ""
}

// takesFromQueue reports whether a method waits for an element of a queue.
func takesFromQueue(method string) bool {
	class, name := method[:strings.LastIndexByte(method, '.')+1], method[strings.LastIndexByte(method, '.')+1:]
	return strings.HasPrefix(class, "java.util.concurrent.") && (name == "take" || name == "poll" || name == "takeFirst")
}

// runByPool reports whether a stack is that of a task of a pool.
func runByPool(frames []string) bool {
	for _, f := range frames {
		if beginsWith(FrameMethod(f), poolMethods) {
			return true
		}
	}
	return false
}

// StartsThread reports whether a method is only there to begin what a thread was started for.
func StartsThread(method string) bool {
	return beginsWith(method, startMethods) || strings.Contains(method, "$$Lambda")
}

func beginsWith(method string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}
