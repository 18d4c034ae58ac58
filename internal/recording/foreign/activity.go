package foreign

import (
	"strings"
)

// Activity is what a stack says that its thread was doing.
type Activity string

// The activities. A thread that is RUNNABLE and in none of the others is running, or waits for a processor.
const (
	ActivityRunning  Activity = "running"
	ActivityLock     Activity = "lock"     // waits for a lock that another thread has
	ActivitySleep    Activity = "sleep"    // sleeps of its own will
	ActivityWait     Activity = "wait"     // waits until another thread notifies it
	ActivityFile     Activity = "file"     // reads, writes or lists files
	ActivityNetwork  Activity = "network"  // waits for the network, or talks over it
	ActivityDatabase Activity = "database" // is in SQLite
	ActivityBinder   Activity = "binder"   // waits for another process of Android
	ActivityProcess  Activity = "process"  // waits for a process that it has started
	ActivityUnknown  Activity = "unknown"
)

// IsIO reports whether the thread waits for something outside of the program.
func (a Activity) IsIO() bool {
	switch a {
	case ActivityFile, ActivityNetwork, ActivityDatabase, ActivityBinder, ActivityProcess:
		return true
	}
	return false
}

// systemMethods are methods that end in the system, those whose "Class.method" begins with prefix, and what a thread
// does in them.
type systemMethods struct {
	prefix   string
	activity Activity
}

// systemMethodTable has the methods of the JDK from 8 to 25 and of Android from 5 to 17 that end in the system. The
// first row that fits a frame counts.
var systemMethodTable = []systemMethods{
	{"java.lang.Thread.sleep", ActivitySleep},
	{"java.util.concurrent.TimeUnit.sleep", ActivitySleep},
	{"android.os.SystemClock.sleep", ActivitySleep},
	{"android.os.BinderProxy.transact", ActivityBinder},
	{"android.database.sqlite.", ActivityDatabase},
	{"androidx.sqlite.", ActivityDatabase},
	{"io.requery.android.database.sqlite.", ActivityDatabase},
	{"org.sqlite.", ActivityDatabase},
	{"java.lang.ProcessImpl.waitFor", ActivityProcess},
	{"java.lang.UNIXProcess.waitFor", ActivityProcess},
	{"java.lang.ProcessManager$ProcessImpl.waitFor", ActivityProcess},
	{"java.lang.ProcessHandleImpl.waitForProcessExit", ActivityProcess},
	{"java.net.Socket", ActivityNetwork},
	{"java.net.ServerSocket", ActivityNetwork},
	{"java.net.PlainSocketImpl", ActivityNetwork},
	{"java.net.AbstractPlainSocketImpl", ActivityNetwork},
	{"java.net.SocksSocketImpl", ActivityNetwork},
	{"java.net.PlainDatagramSocketImpl", ActivityNetwork},
	{"java.net.Datagram", ActivityNetwork},
	{"java.net.Inet", ActivityNetwork},
	{"java.net.NetworkInterface", ActivityNetwork},
	{"sun.security.ssl.", ActivityNetwork},
	{"com.android.org.conscrypt.", ActivityNetwork},
	{"org.conscrypt.", ActivityNetwork},
	{"sun.nio.ch.Socket", ActivityNetwork},
	{"sun.nio.ch.ServerSocket", ActivityNetwork},
	{"sun.nio.ch.Net", ActivityNetwork},
	{"sun.nio.ch.NioSocketImpl", ActivityNetwork},
	{"sun.nio.ch.Datagram", ActivityNetwork},
	{"sun.nio.ch.UnixDomainSockets", ActivityNetwork},
	{"sun.nio.ch.EPoll", ActivityNetwork},
	{"sun.nio.ch.KQueue", ActivityNetwork},
	{"sun.nio.ch.WEPoll", ActivityNetwork},
	{"sun.nio.ch.SelectorImpl", ActivityNetwork},
	{"libcore.io.Linux.recv", ActivityNetwork},
	{"libcore.io.Linux.send", ActivityNetwork},
	{"libcore.io.Linux.connect", ActivityNetwork},
	{"libcore.io.Linux.accept", ActivityNetwork},
	{"libcore.io.Linux.poll", ActivityNetwork},
	{"libcore.io.Linux.android_getaddrinfo", ActivityNetwork},
	{"libcore.io.Linux.", ActivityFile},
	{"libcore.io.ForwardingOs.", ActivityFile},
	{"java.io.PipedInputStream.", ActivityWait},
	{"java.io.PipedOutputStream.", ActivityWait},
	{"java.io.PipedReader.", ActivityWait},
	{"java.io.FileInputStream.", ActivityFile},
	{"java.io.FileOutputStream.", ActivityFile},
	{"java.io.FileDescriptor.", ActivityFile},
	{"java.io.RandomAccessFile.", ActivityFile},
	{"java.io.UnixFileSystem.", ActivityFile},
	{"java.io.WinNTFileSystem.", ActivityFile},
	{"sun.nio.fs.", ActivityFile},
	{"sun.nio.ch.File", ActivityFile},
	{"sun.nio.ch.UnixFile", ActivityFile},
	{"java.util.concurrent.locks.ReentrantLock", ActivityLock},
	{"java.util.concurrent.locks.ReentrantReadWriteLock", ActivityLock},
	{"java.util.concurrent.locks.StampedLock.", ActivityLock},
	{"java.lang.Object.wait", ActivityWait},
	{"java.lang.Thread.join", ActivityWait},
	{"java.util.concurrent.locks.LockSupport.park", ActivityWait},
	{"jdk.internal.misc.Unsafe.park", ActivityWait},
	{"sun.misc.Unsafe.park", ActivityWait},
}

// nearTop is how many frames on top of a stack can be a system call: its native method and what prepares it.
const nearTop = 3

// ActivityOf returns what a thread with a state and a stack was doing. Its innermost frames, as far as they are the
// platform's, show it. The first that waits says only that, and one further out for what. Of a thread that is RUNNABLE
// only the top counts: further out may be whatever has called what it computes.
func ActivityOf(state string, frames []string) Activity {
	found := ActivityUnknown
	for i, f := range frames {
		method := FrameMethod(f)
		if !OfPlatform(method) || state == "RUNNABLE" && i == nearTop {
			break
		}
		a := activityOfMethod(method)
		if found == ActivityUnknown || found == ActivityWait && a != ActivityUnknown && a != ActivityWait &&
			a != ActivitySleep {
			found = a
		}
	}
	switch {
	case state == "BLOCKED":
		return ActivityLock
	case state == "RUNNABLE" && (found.IsIO() || found == ActivitySleep):
		return found // in a system call, the JVM does not know that it waits
	case state == "RUNNABLE":
		return ActivityRunning
	case found == ActivityUnknown && (state == "WAITING" || state == "TIMED_WAITING"):
		return ActivityWait
	}
	return found
}

func activityOfMethod(method string) Activity {
	for _, t := range systemMethodTable {
		if strings.HasPrefix(method, t.prefix) {
			return t.activity
		}
	}
	return ActivityUnknown
}

// OfPlatform reports whether a method is the JDK's or Android's own.
func OfPlatform(method string) bool { return beginsWith(method, platformPrefixes) }

var platformPrefixes = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "androidx.sqlite.",
	"dalvik.", "libcore.", "com.android.", "org.conscrypt.", "org.sqlite.", "io.requery."}

// OfTool reports whether a method is that of a runtime, tracegen's or Matrix's.
func OfTool(method string) bool { return beginsWith(method, toolPrefixes) }

var toolPrefixes = []string{"dev.tracegen.runtime.", "dev.tracegen.agent.", "com.tencent.matrix.trace."}

// WithoutTool returns a stack without the innermost frames, if they are those of a runtime and of what it has called: the
// thread was reporting the begin or the end of the call below.
func WithoutTool(frames []string) []string {
	inner := 0
	for i, f := range frames {
		if method := FrameMethod(f); OfTool(method) {
			inner = i + 1
		} else if !OfPlatform(method) {
			break
		}
	}
	return frames[inner:]
}

// OfApp reports whether a method is neither the platform's nor that of a runtime.
func OfApp(method string) bool { return !OfPlatform(method) && !OfTool(method) }

// FirstOfApp returns the innermost frame that is not the platform's; empty if there is none.
func FirstOfApp(frames []string) string {
	for _, f := range frames {
		if !OfPlatform(FrameMethod(f)) {
			return f
		}
	}
	return ""
}

// activityTexts say what a thread does in a method of the platform.
var activityTexts = map[Activity]string{ActivityRunning: "running", ActivityLock: "waiting for a lock",
	ActivitySleep: "sleeping", ActivityWait: "waiting", ActivityFile: "file I/O", ActivityNetwork: "network I/O",
	ActivityDatabase: "database", ActivityBinder: "waiting for another process", ActivityProcess: "waiting for a process",
	ActivityUnknown: "state unknown"}

// Text says what a thread does in a method, which may be empty.
func (a Activity) Text(in string) string {
	if a == ActivityRunning || in == "" {
		return activityTexts[a]
	}
	return activityTexts[a] + " in " + WithoutPackage(in)
}

// WithoutPackage returns "Thread.sleep" for "java.lang.Thread.sleep".
func WithoutPackage(method string) string {
	parts := strings.Split(method, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}
