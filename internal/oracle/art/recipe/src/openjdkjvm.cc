// The JVM_ functions that the core library calls, with plain C, JNI, and two symbols of libart.
#include <errno.h>
#include <fcntl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <sys/time.h>
#include <unistd.h>
#include <jni.h>

// Only the shape of the call matters: the object is the JavaVM itself.
namespace art {
class JavaVMExt {
 public:
  bool LoadNativeLibrary(JNIEnv*, const std::string&, jobject loader, jclass caller, std::string* error);
};
}  // namespace art

#define E extern "C" __attribute__((visibility("default")))
template <typename F> static auto again(F f) {
  decltype(f()) r;
  do r = f();
  while (r == -1 && errno == EINTR);
  return r;
}

E jint JVM_Open(const char* name, jint flags, jint mode) {
  int fd = again([&] { return open(name, flags & ~0x10000000, mode); });  // JVM_O_DELETE is a flag of its own
  if (fd >= 0) return fd;
  return errno == EEXIST ? -100 : -1;
}
E jint JVM_Close(jint fd) { return close(fd); }
E jint JVM_Read(jint fd, char* b, jint n) { return again([&] { return (int)read(fd, b, n); }); }
E jint JVM_Write(jint fd, char* b, jint n) { return again([&] { return (int)write(fd, b, n); }); }
E jlong JVM_Lseek(jint fd, jlong o, jint w) { return lseek(fd, o, w); }
E jint JVM_Sync(jint fd) { return again([&] { return fsync(fd); }); }
E char* JVM_NativePath(char* p) { return p; }
E jint JVM_GetLastErrorString(char* b, int n) {
  if (errno == 0 || n < 1) return 0;
  const char* s = strerror(errno);
  int k = strlen(s);
  if (k >= n) k = n - 1;
  memcpy(b, s, k);
  b[k] = 0;
  return k;
}
E void* JVM_RawMonitorCreate() { auto m = new pthread_mutex_t; pthread_mutex_init(m, nullptr); return m; }
E void JVM_RawMonitorDestroy(void* m) { pthread_mutex_destroy((pthread_mutex_t*)m); delete (pthread_mutex_t*)m; }
E jint JVM_RawMonitorEnter(void* m) { return pthread_mutex_lock((pthread_mutex_t*)m); }
E void JVM_RawMonitorExit(void* m) { pthread_mutex_unlock((pthread_mutex_t*)m); }
E jlong JVM_CurrentTimeMillis(JNIEnv*, jclass) {
  timeval t;
  gettimeofday(&t, nullptr);
  return t.tv_sec * 1000LL + t.tv_usec / 1000;
}
E void JVM_Exit(jint status) { fflush(nullptr); _exit(status); }
E void* JVM_FindLibraryEntry(void* h, const char* name) { return dlsym(h, name); }
E jint JVM_InitializeSocketLibrary() { return 0; }
E jboolean JVM_IsNaN(jdouble d) { return d != d; }
E jlong JVM_FreeMemory() { return 256 << 20; }   // not read from the heap: constants
E jlong JVM_TotalMemory() { return 512 << 20; }
E jlong JVM_MaxMemory() { return 512 << 20; }
E void JVM_GC() {
  JavaVM* vm; jsize n;
  if (JNI_GetCreatedJavaVMs(&vm, 1, &n) != 0 || n != 1) return;
  JNIEnv* env;
  if (vm->GetEnv((void**)&env, JNI_VERSION_1_6) != 0) return;
  jclass c = env->FindClass("dalvik/system/VMRuntime");
  jobject r = env->CallStaticObjectMethod(c, env->GetStaticMethodID(c, "getRuntime", "()Ldalvik/system/VMRuntime;"));
  env->CallVoidMethod(r, env->GetMethodID(c, "concurrentGC", "()V"));
}
E jstring JVM_NativeLoad(JNIEnv* env, jstring file, jobject loader, jclass caller) {
  const char* f = env->GetStringUTFChars(file, nullptr);
  std::string name(f), error;
  env->ReleaseStringUTFChars(file, f);
  JavaVM* vm;
  env->GetJavaVM(&vm);
  if (reinterpret_cast<art::JavaVMExt*>(vm)->LoadNativeLibrary(env, name, loader, caller, &error)) return nullptr;
  env->ExceptionClear();
  return env->NewStringUTF(error.c_str());
}
E int jio_vsnprintf(char* b, size_t n, const char* f, va_list a) { return vsnprintf(b, n, f, a); }
E int jio_snprintf(char* b, size_t n, const char* f, ...) {
  va_list a;
  va_start(a, f);
  int r = vsnprintf(b, n, f, a);
  va_end(a);
  return r;
}
E int jio_fprintf(FILE* o, const char* f, ...) {
  va_list a;
  va_start(a, f);
  int r = vfprintf(o, f, a);
  va_end(a);
  return r;
}
