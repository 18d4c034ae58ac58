package foreign

import (
	"slices"
	"strings"
)

// Activity is what a stack says that its thread was doing.
type Activity string

// The activities. A thread that is RUNNABLE and in none of the others is running, or waits for a processor.
const (
	ActivityRunning  Activity = "running"
	ActivityLock     Activity = "lock"          // waits for a lock that another thread has
	ActivitySleep    Activity = "sleep"         // sleeps of its own will
	ActivityWait     Activity = "wait"          // waits until another thread notifies it
	ActivityFile     Activity = "file"          // reads, writes or lists files
	ActivityNetwork  Activity = "network"       // waits for the network, or talks over it
	ActivityDatabase Activity = "database"      // is in SQLite
	ActivityBinder   Activity = "binder"        // waits for another process of Android
	ActivityProcess  Activity = "process"       // waits for a process that it has started
	ActivityGC       Activity = "gc"            // waits until garbage was collected
	ActivityClasses  Activity = "class-loading" // loads classes
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

// Runs reports whether the thread needs a processor.
func (a Activity) Runs() bool { return a == ActivityRunning || a == ActivityClasses }

// nearTop is how many frames on top of a stack can be a system call: its native method and what prepares it.
const nearTop = 3

// ActivityOf returns what a thread with a state and a stack was doing. Its innermost frames, as far as they are the
// platform's, show it. The first that waits says only that, and one further out for what. Of a thread that is RUNNABLE
// only the top counts: further out may be whatever has called what it computes. Classes are loaded by many methods of
// the platform, so that one further out says that.
func ActivityOf(state string, frames []string) Activity {
	found, loads := ActivityUnknown, false
	for i, f := range frames {
		method := FrameMethod(f)
		row := waitOf(method)
		if row == nil && !OfPlatform(method) {
			break
		}
		switch {
		case row == nil:
		case row.activity == ActivityClasses:
			loads = true
		case state == "RUNNABLE" && i >= nearTop:
		case found == ActivityUnknown, found == ActivityWait && row.activity != ActivityWait,
			found == ActivitySleep && row.activity == ActivityGC:
			found = row.activity
		}
	}
	switch {
	case state == "BLOCKED":
		return ActivityLock
	case state == "RUNNABLE" && (found.IsIO() || found == ActivitySleep || found == ActivityGC):
		return found // in a system call, the JVM does not know that it waits
	case state == "RUNNABLE" && loads:
		return ActivityClasses
	case state == "RUNNABLE":
		return ActivityRunning
	case found == ActivityUnknown && (state == "WAITING" || state == "TIMED_WAITING"):
		return ActivityWait
	}
	return found
}

// OfPlatform reports whether a method is the JDK's or Android's own.
func OfPlatform(method string) bool { return beginsWith(method, platformPrefixes) }

var platformPrefixes = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "androidx.sqlite.",
	"dalvik.", "libcore.", "com.android.", "org.conscrypt.", "org.sqlite.", "io.requery."}

// OfLibrary reports whether a method is the platform's, or that of a library that is known for suspend functions.
func OfLibrary(method string) bool { return OfPlatform(method) || beginsWith(method, libraryPrefixes) }

var libraryPrefixes = []string{"kotlin.", "kotlinx.", "androidx.", "io.ktor.", "okhttp3.", "okio.", "retrofit2.",
	"coil.", "coil3.", "arrow.", "app.cash.", "io.netty.", "io.grpc.", "io.micronaut.", "io.vertx.", "reactor.",
	"org.jetbrains.exposed.", "org.springframework.", "com.google.android.gms."}

// OfTool reports whether a method is that of a runtime, tracegen's or Matrix's.
func OfTool(method string) bool {
	return slices.ContainsFunc(toolPrefixes, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

var toolPrefixes = []string{"dev.tracegen.runtime.", "dev.tracegen.agent.", "com.tencent.matrix.trace."}

// WithoutTool returns a stack without the innermost frames, if they are those of a runtime and of what it has called:
// the thread was reporting the begin or the end of the call below. It also leaves out how the JVM calls the agent.
func WithoutTool(frames []string) []string {
	inner := 0
	for i, f := range frames {
		if method := FrameMethod(f); OfTool(method) {
			inner = i + 1
		} else if !OfPlatform(method) {
			break
		}
	}
	for inner > 0 && inner < len(frames) && beginsWith(FrameMethod(frames[inner]), instrumentPrefixes) {
		inner++
	}
	return frames[inner:]
}

var instrumentPrefixes = []string{"java.lang.instrument.", "sun.instrument."}

func beginsWith(method string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
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

// CalledPlatform returns the method of the platform that the innermost method of the program has called; empty if there
// is none.
func CalledPlatform(frames []string) string {
	called := ""
	for _, f := range frames {
		m := FrameMethod(f)
		if !OfPlatform(m) {
			break
		}
		called = m
	}
	return called
}

// AppMethods returns "Class.method" of the innermost frames of a stack that are the app's, at most n, the innermost
// first: neither the platform's nor those of the runtime, which the app's methods call at their begin and end. Of a
// stack that has none it returns the innermost frames.
func AppMethods(frames []string, n int) []string {
	var app, all []string
	for _, f := range frames {
		method := FrameMethod(f)
		if len(all) < n {
			all = append(all, method)
		}
		if OfApp(method) && len(app) < n {
			app = append(app, method)
		}
	}
	if len(app) > 0 {
		return app
	}
	return all
}

// activityTexts say what a thread does in a method of the platform.
var activityTexts = map[Activity]string{ActivityRunning: "running", ActivityLock: "waiting for a lock",
	ActivitySleep: "sleeping", ActivityWait: "waiting", ActivityFile: "file I/O", ActivityNetwork: "network I/O",
	ActivityDatabase: "database", ActivityBinder: "waiting for another process", ActivityProcess: "waiting for a process",
	ActivityGC: "waiting for the garbage collector", ActivityClasses: "loading classes",
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

// InRunBlocking reports whether a stack waits in runBlocking for a coroutine.
func InRunBlocking(frames []string) bool {
	return slices.ContainsFunc(frames, func(f string) bool {
		return FrameMethod(f) == "kotlinx.coroutines.BlockingCoroutine.joinBlocking"
	})
}
