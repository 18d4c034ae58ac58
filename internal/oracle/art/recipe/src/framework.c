// The natives of the classes of android.os and android.util. MessageQueue waits with epoll on an eventfd and on the
// descriptors that are registered; the clocks are Linux's; Trace, Binder and Process do as little as they may.
#include <errno.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static jlong clock_ns(clockid_t c) {
  struct timespec t;
  clock_gettime(c, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct queue { int ep, ev; volatile int polling; };
static jmethodID dispatch_events;

static jlong mq_init(JNIEnv* e, jclass c) {
  struct queue* q = calloc(1, sizeof *q);
  struct epoll_event v = {EPOLLIN, {.fd = -1}};
  q->ep = epoll_create1(EPOLL_CLOEXEC);
  q->ev = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  epoll_ctl(q->ep, EPOLL_CTL_ADD, q->ev, &v);
  return (jlong)q;
}
static void mq_destroy(JNIEnv* e, jclass c, jlong p) {
  struct queue* q = (void*)p;
  close(q->ep);
  close(q->ev);
  free(q);
}
static void mq_poll(JNIEnv* e, jobject self, jlong p, jint timeout) {
  struct queue* q = (void*)p;
  struct epoll_event v[16];
  q->polling = 1;
  int n = epoll_wait(q->ep, v, 16, timeout);
  q->polling = 0;
  for (int i = 0; i < n; i++) {
    if (v[i].data.fd == -1) { uint64_t x; while (read(q->ev, &x, sizeof x) > 0) {} continue; }
    int events = (v[i].events & EPOLLIN ? 1 : 0) | (v[i].events & EPOLLOUT ? 2 : 0) |
                 (v[i].events & (EPOLLERR | EPOLLHUP) ? 4 : 0);
    int want = (*e)->CallIntMethod(e, self, dispatch_events, v[i].data.fd, events);
    if ((*e)->ExceptionCheck(e)) return;
    struct epoll_event w = {(want & 1 ? EPOLLIN : 0) | (want & 2 ? EPOLLOUT : 0), {.fd = v[i].data.fd}};
    epoll_ctl(q->ep, want ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, v[i].data.fd, &w);
  }
}
static void mq_wake(JNIEnv* e, jclass c, jlong p) {
  uint64_t one = 1;
  if (write(((struct queue*)p)->ev, &one, sizeof one) < 0) {}
}
static jboolean mq_polling(JNIEnv* e, jclass c, jlong p) { return ((struct queue*)p)->polling; }
static void mq_events(JNIEnv* e, jclass c, jlong p, jint fd, jint want) {
  struct queue* q = (void*)p;
  struct epoll_event w = {(want & 1 ? EPOLLIN : 0) | (want & 2 ? EPOLLOUT : 0), {.fd = fd}};
  if (!want) epoll_ctl(q->ep, EPOLL_CTL_DEL, fd, &w);
  else if (epoll_ctl(q->ep, EPOLL_CTL_MOD, fd, &w) != 0) epoll_ctl(q->ep, EPOLL_CTL_ADD, fd, &w);
}

// Critical natives have neither environment nor class.
static jlong uptime_ms(void) { return clock_ns(CLOCK_MONOTONIC) / 1000000; }
static jlong elapsed_ms(void) { return clock_ns(CLOCK_BOOTTIME) / 1000000; }
static jlong elapsed_ns(void) { return clock_ns(CLOCK_BOOTTIME); }
static jlong thread_ms(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000000; }
static jlong thread_us(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1000; }
static jlong wall_us(void) { return clock_ns(CLOCK_REALTIME) / 1000; }
static jlong zero_long(void) { return 0; }
// A Binder is made, and never called. Its registry frees what it holds.
static jlong binder_holder(void) { return (jlong)malloc(1); }
static jlong binder_free(void) { return (jlong)free; }
static jint zero_int(void) { return 0; }
static jint uid(void) { return getuid(); }
static jint pid(void) { return getpid(); }
static void nothing(void) {}

static jlong process_cpu_ms(JNIEnv* e, jobject c) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000; }
static void set_priority(JNIEnv* e, jobject c, jint p) {
  setpriority(PRIO_PROCESS, syscall(SYS_gettid), p < 0 ? 0 : p);
}
static void set_priority_of(JNIEnv* e, jobject c, jint tid, jint p) {
  setpriority(PRIO_PROCESS, tid, p < 0 ? 0 : p);
}
static jint get_priority(JNIEnv* e, jobject c, jint tid) { return getpriority(PRIO_PROCESS, tid); }

static jboolean log_loggable(JNIEnv* e, jclass c, jstring tag, jint level) { return level >= 4; }
static jint log_println(JNIEnv* e, jclass c, jint buffer, jint level, jstring tag, jstring text) {
  const char* t = tag ? (*e)->GetStringUTFChars(e, tag, NULL) : NULL;
  const char* s = (*e)->GetStringUTFChars(e, text, NULL);
  int n = fprintf(stderr, "%c/%s: %s\n", "??VDIWEA"[level & 7], t ? t : "", s);
  (*e)->ReleaseStringUTFChars(e, text, s);
  if (t) (*e)->ReleaseStringUTFChars(e, tag, t);
  return n;
}
static jint log_max(JNIEnv* e, jclass c) { return 4068; }
// What Android 11 says of itself. Build is not initialized without it.
static const char* const properties[][2] = {
    {"ro.build.version.sdk", "30"}, {"ro.build.version.release", "11"}, {"ro.build.version.codename", "REL"},
    {"ro.build.version.all_codenames", "REL"}, {"ro.product.cpu.abilist", "x86_64"},
    {"ro.product.cpu.abilist32", ""}, {"ro.product.cpu.abilist64", "x86_64"}};
static const char* property_value(JNIEnv* e, jstring key) {
  const char* found = NULL;
  const char* s = (*e)->GetStringUTFChars(e, key, NULL);
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    if (strcmp(s, properties[i][0]) == 0) found = properties[i][1];
  (*e)->ReleaseStringUTFChars(e, key, s);
  return found;
}
static jstring property(JNIEnv* e, jclass c, jstring key, jstring def) {
  const char* v = property_value(e, key);
  return v ? (*e)->NewStringUTF(e, v) : def;
}
static jlong property_long(JNIEnv* e, jclass c, jstring key, jlong def) {
  const char* v = property_value(e, key);
  return v ? atoll(v) : def;
}
static jint property_int(JNIEnv* e, jclass c, jstring key, jint def) { return property_long(e, c, key, def); }
static jboolean property_bool(JNIEnv* e, jclass c, jstring key, jboolean def) { return def; }

#define N(name, sig, f) {name, sig, (void*)f}
static const JNINativeMethod queue_methods[] = {
    N("nativeInit", "()J", mq_init),
    N("nativeDestroy", "(J)V", mq_destroy),
    N("nativePollOnce", "(JI)V", mq_poll),
    N("nativeWake", "(J)V", mq_wake),
    N("nativeIsPolling", "(J)Z", mq_polling),
    N("nativeSetFileDescriptorEvents", "(JII)V", mq_events)};
static const JNINativeMethod clock_methods[] = {
    N("uptimeMillis", "()J", uptime_ms),
    N("elapsedRealtime", "()J", elapsed_ms),
    N("elapsedRealtimeNanos", "()J", elapsed_ns),
    N("currentThreadTimeMillis", "()J", thread_ms),
    N("currentThreadTimeMicro", "()J", thread_us),
    N("currentTimeMicro", "()J", wall_us)};
static const JNINativeMethod process_methods[] = {
    N("getElapsedCpuTime", "()J", process_cpu_ms),
    N("setThreadPriority", "(I)V", set_priority),
    N("setThreadPriority", "(II)V", set_priority_of),
    N("getThreadPriority", "(I)I", get_priority)};
static const JNINativeMethod binder_methods[] = {
    N("clearCallingIdentity", "()J", zero_long),
    N("restoreCallingIdentity", "(J)V", nothing),
    N("getCallingUid", "()I", uid),
    N("getCallingPid", "()I", pid),
    N("isHandlingTransaction", "()Z", zero_int),
    N("flushPendingCommands", "()V", nothing),
    N("getNativeBBinderHolder", "()J", binder_holder),
    N("getFinalizer", "()J", zero_long),
    N("getNativeFinalizer", "()J", binder_free)};
static const JNINativeMethod trace_methods[] = {
    N("nativeGetEnabledTags", "()J", zero_long),
    N("nativeSetAppTracingAllowed", "(Z)V", nothing),
    N("nativeSetTracingEnabled", "(Z)V", nothing)};
static const JNINativeMethod log_methods[] = {
    N("isLoggable", "(Ljava/lang/String;I)Z", log_loggable),
    N("println_native", "(IILjava/lang/String;Ljava/lang/String;)I", log_println),
    N("logger_entry_max_payload_native", "()I", log_max)};
static const JNINativeMethod property_methods[] = {
    N("native_get", "(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;", property),
    N("native_get_int", "(Ljava/lang/String;I)I", property_int),
    N("native_get_long", "(Ljava/lang/String;J)J", property_long),
    N("native_get_boolean", "(Ljava/lang/String;Z)Z", property_bool)};

#define CLASS(name, methods) {name, methods, sizeof methods / sizeof *methods}
static const struct { const char* name; const JNINativeMethod* methods; int count; } classes[] = {
    CLASS("android/util/Log", log_methods),
    CLASS("android/os/SystemProperties", property_methods),
    CLASS("android/os/Trace", trace_methods),
    CLASS("android/os/SystemClock", clock_methods),
    CLASS("android/os/Process", process_methods),
    CLASS("android/os/Binder", binder_methods),
    CLASS("android/os/MessageQueue", queue_methods)};

// Gives the android.os classes their natives if they are on the boot class path. A class or a method that is missing
// there is left out.
void register_framework(JNIEnv* e) {
  jclass queue = (*e)->FindClass(e, "android/os/MessageQueue");
  if (queue == NULL) { (*e)->ExceptionClear(e); return; }
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    jclass c = (*e)->FindClass(e, classes[i].name);
    if (c == NULL) { (*e)->ExceptionClear(e); continue; }
    for (int m = 0; m < classes[i].count; m++)
      if ((*e)->RegisterNatives(e, c, classes[i].methods + m, 1) != 0) (*e)->ExceptionClear(e);
  }
  dispatch_events = (*e)->GetMethodID(e, queue, "dispatchEvents", "(II)I");
}
