// Natives that the runtime uses: the CPU time of the thread and of the process, and whether there is a debugger. On
// a device they are the same calls of the system. Weak: the natives of internal/oracle/looper may have them too.
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

__attribute__((weak)) JNIEXPORT jlong JNICALL
Java_android_os_Process_getElapsedCpuTime(JNIEnv *env, jclass type) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (jlong)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((weak)) JNIEXPORT jboolean JNICALL
Java_dalvik_system_VMDebug_isDebuggerConnected(JNIEnv *env, jclass type) {
    return JNI_FALSE;
}
