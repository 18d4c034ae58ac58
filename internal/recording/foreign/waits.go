package foreign

import (
	"strings"
)

// wait is a row of the table of frames: methods in which a thread waits, those whose "Class.method" begins with prefix.
type wait struct {
	prefix string
	// activity is what a thread does there.
	activity Activity
	// why says what it waits for; of a row that is idle in words that follow "idle: waits for".
	why string
	// idle is whether the thread has nothing to do meanwhile.
	idle idleness
}

// idleness is whether a thread that is in a method has nothing to do.
type idleness int

const (
	busy idleness = iota // another thread, or a user, waits for what it does
	// idle: the method waits for the next thing to do, and calls nothing else.
	idle
	// loop: the method waits for the next thing to do, and does it too. The thread is idle while all further in is the
	// platform's and waits.
	loop
)

// waits has the methods of the JDK from 8 to 25, of Android from 5 to 17 and of widespread libraries in which threads
// wait. The first row that fits a frame counts.
var waits = []wait{
	// Servers and event loops. These rows precede those of the system calls that they make.
	{"java.net.ServerSocket.accept", ActivityNetwork, "a connection", idle},
	{"java.net.ServerSocket.implAccept", ActivityNetwork, "a connection", idle},
	{"java.net.PlainSocketImpl.socketAccept", ActivityNetwork, "a connection", idle},
	{"java.net.AbstractPlainSocketImpl.accept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.ServerSocketChannelImpl.accept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.ServerSocketChannelImpl.implAccept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.NioSocketImpl.accept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.Net.accept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.UnixDomainSockets.accept", ActivityNetwork, "a connection", idle},
	{"libcore.io.Linux.accept", ActivityNetwork, "a connection", idle},
	{"sun.nio.ch.SelectorImpl.", ActivityNetwork, "an event of its event loop", idle},
	{"sun.nio.ch.EPoll", ActivityNetwork, "an event of its event loop", idle},
	{"sun.nio.ch.KQueue", ActivityNetwork, "an event of its event loop", idle},
	{"sun.nio.ch.WEPoll", ActivityNetwork, "an event of its event loop", idle},
	{"sun.nio.ch.Poller.", ActivityNetwork, "an event for virtual threads", busy},
	{"io.netty.channel.epoll.Native.epollWait", ActivityNetwork, "an event of its event loop", idle},
	{"io.netty.channel.epoll.Native.epollBusyWait", ActivityNetwork, "an event of its event loop", idle},
	{"io.netty.channel.kqueue.Native.keventWait", ActivityNetwork, "an event of its event loop", idle},
	{"io.netty.channel.uring.Native.ioUringEnter", ActivityNetwork, "an event of its event loop", idle},
	{"io.netty.util.concurrent.SingleThreadEventExecutor.takeTask", ActivityWait, "the next task of its event loop", idle},
	{"io.netty.util.concurrent.GlobalEventExecutor.takeTask", ActivityWait, "the next task of its event loop", idle},
	{"io.netty.util.HashedWheelTimer$Worker.waitForNextTick", ActivitySleep, "the next tick of its timer", idle},
	{"okhttp3.internal.concurrent.TaskRunner.awaitTaskToRun", ActivityWait, "the next task of OkHttp", idle},
	{"okhttp3.internal.concurrent.TaskRunner$RealBackend.coordinatorWait", ActivityWait, "the next task of OkHttp", idle},
	{"okhttp3.internal.http2.Http2Reader.nextFrame", ActivityNetwork, "the next frame of its connection", idle},
	{"okhttp3.internal.ws.WebSocketReader.readHeader", ActivityNetwork, "the next frame of its connection", idle},
	{"okio.AsyncTimeout.awaitTimeout", ActivityWait, "the next timeout", idle},
	{"okio.AsyncTimeout$Companion.awaitTimeout", ActivityWait, "the next timeout", idle},
	{"org.apache.catalina.core.StandardServer.await", ActivitySleep, "the end of the server", idle},
	{"org.apache.tomcat.util.threads.TaskQueue.take", ActivityWait, "the next task of its pool", idle},
	{"org.apache.tomcat.util.threads.TaskQueue.poll", ActivityWait, "the next task of its pool", idle},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", ActivityWait, "the next task of its pool", idle},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker", ActivityWait, "the next task of its pool", loop},
	{"org.apache.coyote.http11.Http11InputBuffer.parseRequestLine", ActivityNetwork, "the next request", idle},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll", ActivityWait, "the next task of its pool", idle},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll", ActivityWait, "the next task of its pool", idle},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool.join", ActivityWait, "the end of the server", idle},
	{"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait", ActivityWait,
		"the next task of its pool", idle},
	{"org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.waitForTask", ActivityWait,
		"the next task of its pool", idle},
	{"org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run", ActivityWait, "the next task of its pool", loop},
	{"org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.park", ActivityWait, "the next task of its pool", idle},
	{"org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.waitUntil", ActivityWait, "the next task of its pool", idle},
	{"io.grpc.internal.ServerImpl.awaitTermination", ActivityWait, "the end of the server", idle},
	{"sun.net.httpserver.Request.", ActivityNetwork, "the next request", idle},
	{"sun.rmi.transport.tcp.TCPTransport$AcceptLoop.", ActivityNetwork, "a connection", loop},
	{"org.apache.kafka.common.network.Selector.poll", ActivityNetwork, "an event of its event loop", idle},
	{"com.rabbitmq.client.impl.SocketFrameHandler.readFrame", ActivityNetwork, "the next frame of its connection", idle},
	{"com.lmax.disruptor.ProcessingSequenceBarrier.waitFor", ActivityWait, "the next event of its ring", idle},
	{"akka.dispatch.forkjoin.ForkJoinPool.awaitWork", ActivityWait, "the next task of its pool", idle},
	{"scala.concurrent.forkjoin.ForkJoinPool.awaitWork", ActivityWait, "the next task of its pool", idle},
	{"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.park", ActivityWait, "the next task of its pool", idle},
	{"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.tryPark", ActivityWait, "the next task of its pool", idle},
	{"kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.run", ActivityWait, "the next task of its pool", loop},
	{"kotlinx.coroutines.DefaultExecutor.run", ActivityWait, "the next timer of coroutines", loop},
	{"java.awt.EventQueue.getNextEvent", ActivityWait, "the next event of the window system", idle},
	{"sun.awt.X11.XToolkit.waitForEvents", ActivityWait, "the next event of the window system", idle},
	{"sun.awt.windows.WToolkit.eventLoop", ActivityWait, "the next event of the window system", idle},
	{"android.os.MessageQueue.nativePollOnce", ActivityWait, "the next message of its looper", idle},

	// Threads of the JVM and of ART, and pools of the JDK.
	{"java.util.concurrent.ThreadPoolExecutor.getTask", ActivityWait, "the next task of its pool", idle},
	{"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take", ActivityWait,
		"the next task of its pool", idle},
	{"java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.poll", ActivityWait,
		"the next task of its pool", idle},
	{"java.util.concurrent.ForkJoinPool.awaitWork", ActivityWait, "the next task of its pool", idle},
	{"java.util.concurrent.ForkJoinPool.runWorker", ActivityWait, "the next task of its pool", loop},
	{"java.util.TimerThread.mainLoop", ActivityWait, "the next task of its timer", loop},
	{"java.lang.ref.ReferenceQueue.remove", ActivityWait, "the next reference to clean up", idle},
	{"java.lang.ref.Reference.waitForReferencePendingList", ActivityWait, "the next reference to clean up", idle},
	{"java.lang.ref.Reference$ReferenceHandler.run", ActivityWait, "the next reference to clean up", loop},
	{"java.lang.Daemons$", ActivityWait, "work of the runtime", loop},
	{"jdk.internal.net.http.HttpClientImpl$SelectorManager.run", ActivityNetwork, "an event of its event loop", loop},
	{"sun.java2d.Disposer.run", ActivityWait, "the next reference to clean up", loop},

	// Garbage collections, which other frames hide: a thread sleeps until the collector has freed its memory.
	{"java.lang.Runtime.gc", ActivityGC, "a garbage collection that it asked for", busy},
	{"java.lang.Runtime.nativeGc", ActivityGC, "a garbage collection that it asked for", busy},
	{"java.nio.Bits.reserveMemory", ActivityGC, "direct memory that only a collection frees", busy},
	{"dalvik.system.VMRuntime.registerNativeAllocation", ActivityGC, "a collection of native memory", busy},
	{"dalvik.system.VMRuntime.notifyNativeAllocation", ActivityGC, "a collection of native memory", busy},

	// Class loading.
	{"java.lang.ClassLoader.", ActivityClasses, "a class", busy},
	{"java.lang.Class.forName", ActivityClasses, "a class", busy},
	{"java.security.SecureClassLoader.", ActivityClasses, "a class", busy},
	{"java.net.URLClassLoader.", ActivityClasses, "a class", busy},
	{"jdk.internal.loader.", ActivityClasses, "a class", busy},
	{"sun.misc.Launcher$", ActivityClasses, "a class", busy},
	{"sun.misc.URLClassPath", ActivityClasses, "a class", busy},
	{"dalvik.system.BaseDexClassLoader.", ActivityClasses, "a class", busy},
	{"dalvik.system.DexPathList", ActivityClasses, "a class", busy},
	{"dalvik.system.DexFile.", ActivityClasses, "a class", busy},

	// What waits for the system.
	{"java.lang.Thread.sleep", ActivitySleep, "a time", busy},
	{"java.util.concurrent.TimeUnit.sleep", ActivitySleep, "a time", busy},
	{"android.os.SystemClock.sleep", ActivitySleep, "a time", busy},
	{"android.os.BinderProxy.transact", ActivityBinder, "another process of Android", busy},
	{"android.database.sqlite.", ActivityDatabase, "SQLite", busy},
	{"androidx.sqlite.", ActivityDatabase, "SQLite", busy},
	{"io.requery.android.database.sqlite.", ActivityDatabase, "SQLite", busy},
	{"org.sqlite.", ActivityDatabase, "SQLite", busy},
	{"java.lang.ProcessImpl.waitFor", ActivityProcess, "the end of a process", busy},
	{"java.lang.UNIXProcess.waitFor", ActivityProcess, "the end of a process", busy},
	{"java.lang.ProcessManager$ProcessImpl.waitFor", ActivityProcess, "the end of a process", busy},
	{"java.lang.ProcessHandleImpl.waitForProcessExit", ActivityProcess, "the end of a process", busy},
	{"java.net.Socket", ActivityNetwork, "a socket", busy},
	{"java.net.ServerSocket", ActivityNetwork, "a socket", busy},
	{"java.net.PlainSocketImpl", ActivityNetwork, "a socket", busy},
	{"java.net.AbstractPlainSocketImpl", ActivityNetwork, "a socket", busy},
	{"java.net.SocksSocketImpl", ActivityNetwork, "a socket", busy},
	{"java.net.PlainDatagramSocketImpl", ActivityNetwork, "a socket", busy},
	{"java.net.Datagram", ActivityNetwork, "a socket", busy},
	{"java.net.Inet", ActivityNetwork, "the address of a host", busy},
	{"java.net.NetworkInterface", ActivityNetwork, "the network's settings", busy},
	{"sun.security.ssl.", ActivityNetwork, "a socket, encrypted", busy},
	{"com.android.org.conscrypt.", ActivityNetwork, "a socket, encrypted", busy},
	{"org.conscrypt.", ActivityNetwork, "a socket, encrypted", busy},
	{"sun.nio.ch.Socket", ActivityNetwork, "a socket", busy},
	{"sun.nio.ch.ServerSocket", ActivityNetwork, "a socket", busy},
	{"sun.nio.ch.Net", ActivityNetwork, "a socket", busy},
	{"sun.nio.ch.NioSocketImpl", ActivityNetwork, "a socket", busy},
	{"sun.nio.ch.Datagram", ActivityNetwork, "a socket", busy},
	{"sun.nio.ch.UnixDomainSockets", ActivityNetwork, "a socket", busy},
	{"libcore.io.Linux.recv", ActivityNetwork, "a socket", busy},
	{"libcore.io.Linux.send", ActivityNetwork, "a socket", busy},
	{"libcore.io.Linux.connect", ActivityNetwork, "a socket", busy},
	{"libcore.io.Linux.poll", ActivityNetwork, "a socket", busy},
	{"libcore.io.Linux.android_getaddrinfo", ActivityNetwork, "the address of a host", busy},
	{"libcore.io.Linux.", ActivityFile, "a file", busy},
	{"libcore.io.ForwardingOs.", ActivityFile, "a file", busy},
	{"java.io.PipedInputStream.", ActivityWait, "the thread at the other end of a pipe", busy},
	{"java.io.PipedOutputStream.", ActivityWait, "the thread at the other end of a pipe", busy},
	{"java.io.PipedReader.", ActivityWait, "the thread at the other end of a pipe", busy},
	{"java.io.FileInputStream.", ActivityFile, "a file", busy},
	{"java.io.FileOutputStream.", ActivityFile, "a file", busy},
	{"java.io.FileDescriptor.", ActivityFile, "a file", busy},
	{"java.io.RandomAccessFile.", ActivityFile, "a file", busy},
	{"java.io.UnixFileSystem.", ActivityFile, "a file", busy},
	{"java.io.WinNTFileSystem.", ActivityFile, "a file", busy},
	{"sun.nio.fs.", ActivityFile, "a file", busy},
	{"sun.nio.ch.File", ActivityFile, "a file", busy},
	{"sun.nio.ch.UnixFile", ActivityFile, "a file", busy},

	// What waits for other threads.
	{"java.util.concurrent.locks.ReentrantLock", ActivityLock, "a lock", busy},
	{"java.util.concurrent.locks.ReentrantReadWriteLock", ActivityLock, "a lock", busy},
	{"java.util.concurrent.locks.StampedLock.", ActivityLock, "a lock", busy},
	{"java.lang.Object.wait", ActivityWait, "a notification", busy},
	{"java.lang.Thread.join", ActivityWait, "the end of a thread", busy},
	{"java.util.concurrent.locks.LockSupport.park", ActivityWait, "another thread", busy},
	{"jdk.internal.misc.Unsafe.park", ActivityWait, "another thread", busy},
	{"sun.misc.Unsafe.park", ActivityWait, "another thread", busy},
}

// waitOf returns the row of a method; nil if there is none.
func waitOf(method string) *wait {
	for k := range waits {
		if strings.HasPrefix(method, waits[k].prefix) {
			return &waits[k]
		}
	}
	return nil
}

// Idle returns what a thread with such a stack waits for while it has nothing to do: a server for a connection, an
// event loop for an event, a worker of a pool for a task, a thread whose run takes from a queue for the next element.
// It is empty for any other thread: another one may wait for what it does. A method that takes from a queue may have
// been called for its result, unless forever is set, because it lasts about as long as the program.
func Idle(frames []string, forever bool) string {
	own, taken := false, false // a frame so far is not the platform's; the platform's take from a queue
	for i, f := range frames {
		method := FrameMethod(f)
		if row := waitOf(method); row != nil &&
			(row.idle == idle || row.idle == loop && !own && waiting(frames[:i])) {
			return row.why
		}
		switch {
		case OfPlatform(method):
			taken = taken || takesFromQueue(method)
		case !own && taken && (forever || rootOfThread(frames[i:])):
			return "the next element of its queue"
		default:
			own = true
		}
	}
	return ""
}

// IdleCall returns what a call of a method waits for that does nothing else, empty for other methods. Such a call shows
// that its thread was idle where no stack was taken.
func IdleCall(method string) string {
	if row := waitOf(method); row != nil && row.idle == idle {
		return row.why
	}
	return ""
}

// IsWorkerLoop reports whether a method is what a thread of a pool was started for: it waits for work and does it,
// until the thread ends.
func IsWorkerLoop(method string) bool {
	row := waitOf(method)
	return row != nil && row.idle == loop
}

// waiting reports whether frames, which are the platform's, show that their thread waits.
func waiting(frames []string) bool {
	switch ActivityOf("", frames) {
	case ActivityWait, ActivitySleep, ActivityNetwork:
		return true
	}
	return false
}

// takesFromQueue reports whether a method waits for an element of a queue of the JDK.
func takesFromQueue(method string) bool {
	class, name := cutName(method)
	return strings.HasPrefix(class, "java.util.concurrent.") &&
		(strings.HasSuffix(class, "Queue") || strings.HasSuffix(class, "Deque")) &&
		(strings.HasPrefix(name, "take") || strings.HasPrefix(name, "poll"))
}

// rootOfThread reports whether frames are the whole of a thread's run: the method itself, a lambda, or its proxy. A
// method that they call may have been called for its result, so it is none.
func rootOfThread(frames []string) bool {
	for _, f := range frames {
		method := FrameMethod(f)
		class, name := cutName(method)
		if name != "run" && name != "invoke" && !strings.HasPrefix(name, "lambda$") && class != "java.lang.Thread" &&
			!strings.HasPrefix(class, "java.lang.VirtualThread") && class != "jdk.internal.vm.Continuation" {
			return false
		}
	}
	return true
}

// cutName returns the class and the name of a method.
func cutName(method string) (class, name string) {
	k := max(0, strings.LastIndexByte(method, '.'))
	return method[:k], strings.TrimPrefix(method[k:], ".")
}

// startMethods are between the begin of a thread and what it was started for.
var startMethods = []string{
	"java.lang.Thread.run", "java.lang.VirtualThread", "java.lang.ThreadBuilders", "jdk.internal.vm.",
	"java.lang.reflect.Method.invoke", "jdk.internal.reflect.", "sun.reflect.", "java.lang.invoke.",
	"kotlin.concurrent.ThreadsKt",
}

// StartsThread reports whether a method is only there to begin what a thread was started for.
func StartsThread(method string) bool {
	return beginsWith(method, startMethods) || strings.Contains(method, "$$Lambda")
}
