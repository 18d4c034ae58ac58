package foreign

import (
	"strings"
	"testing"
)

// TestIdle has stacks of threads that wait, as real programs have them, and what each is idle for.
func TestIdle(t *testing.T) {
	const park = "jdk.internal.misc.Unsafe.park java.util.concurrent.locks.LockSupport.park "
	const condition = park + "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await "
	const worker = "java.util.concurrent.ThreadPoolExecutor.runWorker java.lang.Thread.run"
	const task = "the next task of its pool"
	for _, c := range []struct{ name, frames, want string }{
		{"worker of a pool", condition + "java.util.concurrent.LinkedBlockingQueue.take " +
			"java.util.concurrent.ThreadPoolExecutor.getTask " + worker, task},
		{"the same in a named module", "java.base@17.0.1/jdk.internal.misc.Unsafe.park " +
			"java.base@17.0.1/java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1062)", task},
		{"task of a pool that takes", condition + "java.util.concurrent.LinkedBlockingQueue.take app.Client.reply " + worker,
			""},
		{"scheduled pool", park + "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take " +
			"java.util.concurrent.ThreadPoolExecutor.getTask " + worker, task},
		{"fork-join worker", park + "java.util.concurrent.ForkJoinPool.awaitWork java.util.concurrent.ForkJoinPool.runWorker",
			task},
		{"fork-join worker of JDK 11", park + "java.util.concurrent.ForkJoinPool.runWorker", task},
		{"task of a fork-join pool", park + "java.util.concurrent.CompletableFuture.get app.Work.step " +
			"java.util.concurrent.ForkJoinPool.runWorker", ""},
		{"fork-join task that computes", "java.util.Arrays.sort java.util.concurrent.ForkJoinPool.runWorker", ""},
		{"timer", "java.lang.Object.wait java.lang.Object.wait java.util.TimerThread.mainLoop java.util.TimerThread.run",
			"the next task of its timer"},
		{"task of a timer", "java.lang.Thread.sleep app.Task.run java.util.TimerThread.mainLoop", ""},
		{"accept", "sun.nio.ch.Net.accept sun.nio.ch.NioSocketImpl.accept java.net.ServerSocket.implAccept " +
			"java.net.ServerSocket.accept app.Server.main", "a connection"},
		{"accept on a virtual thread", "java.lang.VirtualThread.park java.lang.System$2.parkVirtualThread " +
			"sun.nio.ch.NioSocketImpl.park sun.nio.ch.NioSocketImpl.accept java.net.ServerSocket.accept app.Server.loop",
			"a connection"},
		{"select", "sun.nio.ch.EPoll.wait sun.nio.ch.EPollSelectorImpl.doSelect sun.nio.ch.SelectorImpl.select app.Loop.run",
			"an event of its event loop"},
		{"read of a reply", "sun.nio.ch.Net.poll sun.nio.ch.NioSocketImpl.park java.net.Socket$SocketInputStream.read " +
			"app.Client.call", ""},
		{"looper", "android.os.MessageQueue.nativePollOnce android.os.MessageQueue.next android.os.Looper.loop",
			"the next message of its looper"},
		{"message of a looper", "java.lang.Thread.sleep app.Main.work android.os.Handler.dispatchMessage " +
			"android.os.Looper.loop", ""},
		{"coroutines", park + "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.park " +
			"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.run", task},
		{"Netty", "io.netty.channel.epoll.Native.epollWait0 io.netty.channel.epoll.EpollEventLoop.run",
			"an event of its event loop"},
		{"Tomcat", condition + "java.util.concurrent.LinkedBlockingQueue.take " +
			"org.apache.tomcat.util.threads.TaskQueue.take org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", task},
		{"worker of Tomcat", park + "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker java.lang.Thread.run", task},
		{"reserved thread of Jetty 12", park + "java.util.concurrent.Semaphore.tryAcquire " +
			"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.waitForTask", task},
		{"worker of Undertow", park + "org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.park " +
			"org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run", task},
		{"OkHttp", "java.lang.Object.wait okhttp3.internal.concurrent.TaskRunner$RealBackend.coordinatorWait",
			"the next task of OkHttp"},
		{"thread that takes from its queue", condition + "java.util.concurrent.LinkedBlockingQueue.take app.Consumer.run " +
			"java.lang.Thread.run", "the next element of its queue"},
		{"lambda that takes from its queue", condition + "java.util.concurrent.ArrayBlockingQueue.poll " +
			"app.Main.lambda$main$0 app.Main$$Lambda$14/0x0a.run java.lang.Thread.run", "the next element of its queue"},
		{"main that takes a result", condition + "java.util.concurrent.LinkedBlockingQueue.take app.Main.main", ""},
		{"method of a thread that takes a result", condition + "java.util.concurrent.LinkedBlockingQueue.take " +
			"app.Main.result app.Main.run java.lang.Thread.run", ""},
		{"reference handler", "java.lang.ref.Reference.waitForReferencePendingList " +
			"java.lang.ref.Reference$ReferenceHandler.run", "the next reference to clean up"},
		{"sleep", "java.lang.Thread.sleep app.Main.main", ""},
		{"nothing", "", ""},
	} {
		if got := Idle(strings.Fields(c.frames), false); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWaitsAreReached: no row of the table hides a later one, so that each decides something, and each has its reason.
func TestWaitsAreReached(t *testing.T) {
	for k := range waits {
		if w := waitOf(waits[k].prefix); w != &waits[k] || w.why == "" || w.activity == "" {
			t.Errorf("%s: the row of %s counts, for %q", waits[k].prefix, w.prefix, w.why)
		}
	}
}
