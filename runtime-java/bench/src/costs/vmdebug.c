// The native method below android.os.Debug.threadCpuTimeNanos, which the runtime calls for every message. On a device it
// is the same call of the system. Weak: the natives of internal/oracle/looper may have it too.
#include <jni.h>
#include <time.h>

__attribute__((weak)) JNIEXPORT jlong JNICALL
Java_dalvik_system_VMDebug_threadCpuTimeNanos(JNIEnv *env, jclass type) {
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) {
        return -1;
    }
    return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}
