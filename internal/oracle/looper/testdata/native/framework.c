/*
 * The natives that Android's Looper, MessageQueue, Handler and Choreographer come down to, on Linux with glibc, so that
 * the classes of android-all run as they are. JNI finds a native by its name, and passes what its declaration says: a
 * function here may take fewer arguments than the class of some version declares.
 *
 * Time: uptimeMillis and System.nanoTime are one clock, CLOCK_MONOTONIC, as on a device. With two, Choreographer waits
 * for a frame that is never due.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ANDROID(type, name) JNIEXPORT type JNICALL Java_android_##name
#define OTHER(type, name) JNIEXPORT type JNICALL Java_##name

static jlong clock_nanos(clockid_t id) {
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/*
 * MessageQueue: an event descriptor that is polled for, as in system/core's Looper. DisplayEventReceiver: a display of
 * 60 Hz, whose vsyncs are due at whole multiples of their interval and come in by way of the queue's poll.
 */

static volatile jlong interval = 1000000000LL / 60;

/* How many vsyncs were requested. */
static volatile jlong vsyncs_requested;

struct receiver {
	jobject self, data; /* WeakReferences */
	jlong due;          /* 0: none is wanted */
};

struct queue {
	int event;
	volatile int polling;
	struct receiver *receiver;
};

static struct queue *queue_of(jlong ptr) { return (struct queue *)(intptr_t)ptr; }

static jclass device_class;

ANDROID(jlong, os_MessageQueue_nativeInit)(JNIEnv *env, jclass c) {
	struct queue *q = calloc(1, sizeof *q);
	q->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return (jlong)(intptr_t)q;
}

ANDROID(void, os_MessageQueue_nativeDestroy)(JNIEnv *env, jclass c, jlong ptr) {
	close(queue_of(ptr)->event);
	free(queue_of(ptr));
}

/* Whether a vsync was due, which then was given to its receiver. */
static int vsync(JNIEnv *env, struct receiver *r) {
	if (!r || !r->due || clock_nanos(CLOCK_MONOTONIC) < r->due)
		return 0;
	jlong due = r->due;
	r->due = 0;
	jmethodID give = (*env)->GetStaticMethodID(env, device_class, "vsync", "(Ljava/lang/ref/WeakReference;Ljava/lang/ref/WeakReference;JJ)V");
	(*env)->CallStaticVoidMethod(env, device_class, give, r->self, r->data, due, interval);
	return 1;
}

ANDROID(void, os_MessageQueue_nativePollOnce)(JNIEnv *env, jobject o, jlong ptr, jint timeout) {
	struct queue *q = queue_of(ptr);
	if (vsync(env, q->receiver))
		return;
	jlong wait = timeout < 0 ? -1 : timeout * 1000000LL;
	if (q->receiver && q->receiver->due) {
		jlong until = q->receiver->due - clock_nanos(CLOCK_MONOTONIC);
		if (until < 0)
			until = 0;
		if (wait < 0 || until < wait)
			wait = until;
	}
	struct timespec t = {wait / 1000000000, wait % 1000000000};
	struct pollfd p = {q->event, POLLIN, 0};
	q->polling = 1;
	int n = ppoll(&p, 1, wait < 0 ? 0 : &t, 0);
	q->polling = 0;
	uint64_t count;
	if (n > 0 && read(q->event, &count, sizeof count) < 0 && errno != EAGAIN)
		perror("nativePollOnce");
	vsync(env, q->receiver);
}

ANDROID(void, os_MessageQueue_nativeWake)(JNIEnv *env, jclass c, jlong ptr) {
	uint64_t one = 1;
	if (write(queue_of(ptr)->event, &one, sizeof one) < 0 && errno != EAGAIN)
		perror("nativeWake");
}

ANDROID(jboolean, os_MessageQueue_nativeIsPolling)(JNIEnv *env, jclass c, jlong ptr) { return queue_of(ptr)->polling; }
ANDROID(void, os_MessageQueue_nativeSetSkipEpollWaitForZeroTimeout)(JNIEnv *env, jclass c, jlong ptr) {}

static jlong new_receiver(JNIEnv *env, jobject self, jobject data, jobject queue) {
	jclass c = (*env)->GetObjectClass(env, queue);
	struct receiver *r = calloc(1, sizeof *r);
	r->self = (*env)->NewGlobalRef(env, self);
	r->data = data ? (*env)->NewGlobalRef(env, data) : 0;
	queue_of((*env)->GetLongField(env, queue, (*env)->GetFieldID(env, c, "mPtr", "J")))->receiver = r;
	return (jlong)(intptr_t)r;
}

/* The queue is the second argument, or, in newer versions, the third, after the data. */
ANDROID(jlong, view_DisplayEventReceiver_nativeInit)(JNIEnv *env, jclass c, jobject self, jobject second, jobject third) {
	jclass queue = (*env)->FindClass(env, "android/os/MessageQueue");
	if ((*env)->IsInstanceOf(env, second, queue))
		return new_receiver(env, self, 0, second);
	return new_receiver(env, self, second, third);
}
ANDROID(void, view_DisplayEventReceiver_nativeDispose)(JNIEnv *env, jclass c, jlong ptr) {}
ANDROID(void, view_DisplayEventReceiver_nativeScheduleVsync)(JNIEnv *env, jclass c, jlong ptr) {
	vsyncs_requested++;
	((struct receiver *)(intptr_t)ptr)->due = (clock_nanos(CLOCK_MONOTONIC) / interval + 1) * interval;
}
ANDROID(jobject, view_DisplayEventReceiver_nativeGetLatestVsyncEventData)(JNIEnv *env, jclass c, jlong ptr) {
	jmethodID latest = (*env)->GetStaticMethodID(env, device_class, "latestVsync", "(JJ)Ljava/lang/Object;");
	return (*env)->CallStaticObjectMethod(env, device_class, latest, clock_nanos(CLOCK_MONOTONIC) / interval * interval, interval);
}
ANDROID(jlong, view_DisplayEventReceiver_nativeGetDisplayEventReceiverFinalizer)(JNIEnv *env, jclass c) { return (jlong)(intptr_t)free; }

/* Clocks. */

ANDROID(jlong, os_SystemClock_uptimeMillis)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_MONOTONIC) / 1000000; }
ANDROID(jlong, os_SystemClock_uptimeNanos)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_MONOTONIC); }
ANDROID(jlong, os_SystemClock_elapsedRealtime)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_BOOTTIME) / 1000000; }
ANDROID(jlong, os_SystemClock_elapsedRealtimeNanos)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_BOOTTIME); }
ANDROID(jlong, os_SystemClock_currentThreadTimeMillis)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_THREAD_CPUTIME_ID) / 1000000; }
ANDROID(jlong, os_Debug_threadCpuTimeNanos)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_THREAD_CPUTIME_ID); }

/* Properties are those of the build.prop in android-all, and what Device adds to them. */

static jstring property(JNIEnv *env, jstring key, jstring def) {
	jmethodID get = (*env)->GetStaticMethodID(env, device_class, "property", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;");
	return (*env)->CallStaticObjectMethod(env, device_class, get, key, def);
}

static jlong number(JNIEnv *env, jstring key, jlong def) {
	jstring value = property(env, key, 0);
	if (!value)
		return def;
	const char *s = (*env)->GetStringUTFChars(env, value, 0);
	jlong n = strcmp(s, "true") == 0 ? 1 : strtoll(s, 0, 10);
	(*env)->ReleaseStringUTFChars(env, value, s);
	return n;
}

ANDROID(jboolean, os_SystemProperties_native_1get_1boolean)(JNIEnv *env, jclass c, jstring key, jboolean def) { return number(env, key, def) != 0; }
ANDROID(jint, os_SystemProperties_native_1get_1int)(JNIEnv *env, jclass c, jstring key, jint def) { return number(env, key, def); }
ANDROID(jlong, os_SystemProperties_native_1get_1long)(JNIEnv *env, jclass c, jstring key, jlong def) { return number(env, key, def); }
ANDROID(jstring, os_SystemProperties_native_1get__Ljava_lang_String_2Ljava_lang_String_2)(JNIEnv *env, jclass c, jstring key, jstring def) { return property(env, key, def); }
ANDROID(jstring, os_SystemProperties_native_1get__Ljava_lang_String_2)(JNIEnv *env, jclass c, jstring key) { return property(env, key, (*env)->NewStringUTF(env, "")); }
ANDROID(jlong, os_SystemProperties_native_1find)(JNIEnv *env, jclass c, jstring key) { return 0; }
ANDROID(void, os_SystemProperties_native_1add_1change_1callback)(JNIEnv *env, jclass c) {}

/* The log goes to standard error, where a failed test shows it. */

ANDROID(jboolean, util_Log_isLoggable)(JNIEnv *env, jclass c, jstring tag, jint level) { return level >= 4; }
ANDROID(jint, util_Log_println_1native)(JNIEnv *env, jclass c, jint buffer, jint priority, jstring tag, jstring text) {
	const char *t = tag ? (*env)->GetStringUTFChars(env, tag, 0) : "", *s = (*env)->GetStringUTFChars(env, text, 0);
	int n = fprintf(stderr, "log %d %s: %s\n", priority, t, s);
	if (tag)
		(*env)->ReleaseStringUTFChars(env, tag, t);
	(*env)->ReleaseStringUTFChars(env, text, s);
	return n;
}
ANDROID(jint, util_Log_logger_1entry_1max_1payload_1native)(JNIEnv *env, jclass c) { return 4000; }

/* Tracing is off. */

ANDROID(jlong, os_Trace_nativeGetEnabledTags)(JNIEnv *env, jclass c) { return 0; }
ANDROID(jboolean, os_Trace_nativeIsTagEnabled)(JNIEnv *env, jclass c, jlong tag) { return JNI_FALSE; }
ANDROID(void, os_Trace_nativeSetAppTracingAllowed)(JNIEnv *env, jclass c, jboolean allowed) {}
ANDROID(void, os_Trace_nativeSetTracingEnabled)(JNIEnv *env, jclass c, jboolean enabled) {}

/* Who we are. */

ANDROID(jlong, os_Process_getElapsedCpuTime)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_PROCESS_CPUTIME_ID) / 1000000; }
ANDROID(jint, os_Process_myTid)(JNIEnv *env, jclass c) { return syscall(SYS_gettid); }
ANDROID(jint, os_Process_myPid)(JNIEnv *env, jclass c) { return getpid(); }
ANDROID(jint, os_Process_myUid)(JNIEnv *env, jclass c) { return 10001; }
ANDROID(void, os_Process_setThreadPriority__I)(JNIEnv *env, jclass c, jint priority) {}
ANDROID(void, os_Process_setThreadPriority__II)(JNIEnv *env, jclass c, jint tid, jint priority) {}
ANDROID(void, os_Process_setThreadPriorityNative)(JNIEnv *env, jclass c, jint tid, jint priority) {}
OTHER(jint, libcore_io_Posix_gettid)(JNIEnv *env, jobject o) { return syscall(SYS_gettid); }
OTHER(jint, libcore_io_Linux_gettid)(JNIEnv *env, jobject o) { return syscall(SYS_gettid); }
OTHER(jint, libcore_io_Linux_getuid)(JNIEnv *env, jobject o) { return 10001; }
OTHER(jint, libcore_io_Linux_nativeGettid)(JNIEnv *env, jobject o) { return syscall(SYS_gettid); }
OTHER(jint, libcore_io_Linux_nativeGetpid)(JNIEnv *env, jobject o) { return getpid(); }
OTHER(jint, libcore_io_Linux_nativeGetuid)(JNIEnv *env, jobject o) { return 10001; }

/* Binders are made, and never called. What is freed with them is nothing. */

static void nothing(void *p) {}

OTHER(jobject, com_android_internal_os_BinderInternal_getContextObject)(JNIEnv *env, jclass c) { return 0; }
ANDROID(void, os_Binder_init)(JNIEnv *env, jobject o) {}
ANDROID(void, os_Binder_destroy)(JNIEnv *env, jobject o) {}
ANDROID(jlong, os_Binder_getNativeBBinderHolder)(JNIEnv *env, jclass c) { return 1; }
ANDROID(jlong, os_Binder_getNativeFinalizer)(JNIEnv *env, jclass c) { return (jlong)(intptr_t)nothing; }
ANDROID(jlong, os_Parcel_nativeCreate)(JNIEnv *env, jclass c) { return 1; }
ANDROID(void, os_Binder_flushPendingCommands)(JNIEnv *env, jclass c) {}
ANDROID(jlong, os_Binder_clearCallingIdentity)(JNIEnv *env, jclass c) { return 1; }
ANDROID(void, os_Binder_restoreCallingIdentity)(JNIEnv *env, jclass c, jlong token) {}
ANDROID(void, graphics_HardwareRenderer_nSetRtAnimationsEnabled)(JNIEnv *env, jclass c, jboolean enabled) {}
ANDROID(void, view_ThreadedRenderer_nHackySetRTAnimationsEnabled)(JNIEnv *env, jclass c, jboolean enabled) {}
ANDROID(jlong, graphics_ColorSpace_00024Rgb_nativeCreate)(JNIEnv *env, jclass c) { return 1; }
ANDROID(jlong, graphics_ColorSpace_00024Rgb_00024Native_nativeCreate)(JNIEnv *env, jclass c) { return 1; }
ANDROID(jlong, graphics_ColorSpace_00024Rgb_00024Native_nativeGetNativeFinalizer)(JNIEnv *env, jclass c) { return (jlong)(intptr_t)nothing; }
ANDROID(jlong, graphics_ColorSpace_00024Rgb_nativeGetNativeFinalizer)(JNIEnv *env, jclass c) { return (jlong)(intptr_t)nothing; }

/* The app's assets are files of a directory, which Device reads. Older versions have other names for the same. */

static jlong open_asset(JNIEnv *env, jstring name) {
	jmethodID open = (*env)->GetStaticMethodID(env, device_class, "openAsset", "(Ljava/lang/String;)J");
	return (*env)->CallStaticLongMethod(env, device_class, open, name);
}
static jint read_asset(JNIEnv *env, jlong asset, jbyteArray b, jint off, jint len) {
	jmethodID read = (*env)->GetStaticMethodID(env, device_class, "readAsset", "(J[BII)I");
	return (*env)->CallStaticIntMethod(env, device_class, read, asset, b, off, len);
}
ANDROID(jlong, content_res_AssetManager_openAsset)(JNIEnv *env, jobject o, jstring name, jint mode) { return open_asset(env, name); }
ANDROID(jlong, content_res_AssetManager_nativeOpenAsset)(JNIEnv *env, jclass c, jlong manager, jstring name, jint mode) { return open_asset(env, name); }
ANDROID(jint, content_res_AssetManager_readAsset)(JNIEnv *env, jobject o, jlong asset, jbyteArray b, jint off, jint len) { return read_asset(env, asset, b, off, len); }
ANDROID(jint, content_res_AssetManager_nativeAssetRead)(JNIEnv *env, jclass c, jlong asset, jbyteArray b, jint off, jint len) { return read_asset(env, asset, b, off, len); }
ANDROID(jlong, content_res_AssetManager_getAssetLength)(JNIEnv *env, jobject o, jlong asset) { return 1 << 20; }
ANDROID(jlong, content_res_AssetManager_nativeAssetGetLength)(JNIEnv *env, jclass c, jlong asset) { return 1 << 20; }
ANDROID(void, content_res_AssetManager_destroyAsset)(JNIEnv *env, jobject o, jlong asset) {}
ANDROID(void, content_res_AssetManager_nativeAssetDestroy)(JNIEnv *env, jclass c, jlong asset) {}

/* What ART gives its class library. */

OTHER(jobject, dalvik_system_VMRuntime_newUnpaddedArray)(JNIEnv *env, jobject o, jclass element, jint n) {
	jclass array = (*env)->FindClass(env, "java/lang/reflect/Array");
	jmethodID make = (*env)->GetStaticMethodID(env, array, "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;");
	return (*env)->CallStaticObjectMethod(env, array, make, element, n);
}
OTHER(jlong, dalvik_system_VMDebug_threadCpuTimeNanos)(JNIEnv *env, jclass c) { return clock_nanos(CLOCK_THREAD_CPUTIME_ID); }
OTHER(jboolean, dalvik_system_VMDebug_isDebuggerConnected)(JNIEnv *env, jclass c) { return JNI_FALSE; }
OTHER(jboolean, dalvik_system_VMRuntime_is64Bit)(JNIEnv *env, jobject o) { return JNI_TRUE; }
OTHER(jint, dalvik_system_VMRuntime_getNotifyNativeInterval)(JNIEnv *env, jclass c) { return 1 << 30; }
OTHER(void, dalvik_system_VMRuntime_notifyNativeAllocationsInternal)(JNIEnv *env, jobject o) {}
OTHER(void, dalvik_system_VMRuntime_registerNativeAllocation)(JNIEnv *env, jobject o) {}
OTHER(void, dalvik_system_VMRuntime_registerNativeFree)(JNIEnv *env, jobject o) {}
OTHER(void, libcore_util_NativeAllocationRegistry_applyFreeFunction)(JNIEnv *env, jclass c, jlong function, jlong ptr) {}

OTHER(jlong, dev_tracegen_device_Device_vsyncsRequested)(JNIEnv *env, jclass c) { return vsyncs_requested; }
OTHER(void, dev_tracegen_device_Device_setInterval)(JNIEnv *env, jclass c, jlong nanos) { interval = nanos; }

OTHER(void, dev_tracegen_device_Device_setDevice)(JNIEnv *env, jclass c) { device_class = (*env)->NewGlobalRef(env, c); }
OTHER(void, dev_tracegen_device_Device_bindAssets)(JNIEnv *env, jclass c, jclass manager) {
	JNINativeMethod methods[] = {
		{"nativeOpenAsset", "(JLjava/lang/String;I)J", Java_android_content_res_AssetManager_nativeOpenAsset},
		{"nativeAssetRead", "(J[BII)I", Java_android_content_res_AssetManager_nativeAssetRead},
		{"nativeAssetGetLength", "(J)J", Java_android_content_res_AssetManager_nativeAssetGetLength},
		{"nativeAssetDestroy", "(J)V", Java_android_content_res_AssetManager_nativeAssetDestroy},
	};
	(*env)->RegisterNatives(env, manager, methods, sizeof methods / sizeof *methods);
}

/* A class that ART's boot class path has and the JDK's has not. */
OTHER(jclass, dev_tracegen_device_Device_defineBootClass)(JNIEnv *env, jclass c, jstring name, jbyteArray bytes) {
	const char *s = (*env)->GetStringUTFChars(env, name, 0);
	jbyte *b = (*env)->GetByteArrayElements(env, bytes, 0);
	jclass defined = (*env)->DefineClass(env, s, 0, b, (*env)->GetArrayLength(env, bytes));
	(*env)->ReleaseByteArrayElements(env, bytes, b, JNI_ABORT);
	(*env)->ReleaseStringUTFChars(env, name, s);
	return defined;
}
