// Starts ART in this process: launcher [-option...] Main [argument...]. Every option goes to JNI_CreateJavaVM as it is.
#define _GNU_SOURCE
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void register_framework(JNIEnv*);

int main(int argc, char** argv) {
  JavaVMOption o[200];
  JavaVMInitArgs a = {JNI_VERSION_1_6, 0, o, JNI_FALSE};
  int i = 1;
  const char* cp = "";
  for (; i < argc && argv[i][0] == '-' && a.nOptions < 198; i++) {
    if (strcmp(argv[i], "-cp") == 0 && i + 1 < argc) { cp = argv[++i]; continue; }
    o[a.nOptions].optionString = argv[i];
    o[a.nOptions++].extraInfo = NULL;
  }
  if (asprintf(&o[a.nOptions].optionString, "-Djava.class.path=%s", cp) < 0) return 3;
  o[a.nOptions++].extraInfo = NULL;
  JavaVM* vm;
  JNIEnv* env;
  jint r = JNI_CreateJavaVM(&vm, &env, &a);
  if (r != JNI_OK) { fprintf(stderr, "JNI_CreateJavaVM: %d\n", r); return 3; }
  register_framework(env);
  if (i >= argc) return 0;
  // The class comes from the class path, so the system class loader loads it.
  jclass cl = (*env)->FindClass(env, "java/lang/ClassLoader");
  jmethodID system_loader = (*env)->GetStaticMethodID(env, cl, "getSystemClassLoader", "()Ljava/lang/ClassLoader;");
  jmethodID load = (*env)->GetMethodID(env, cl, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  jobject loader = (*env)->CallStaticObjectMethod(env, cl, system_loader);
  jclass main = (*env)->CallObjectMethod(env, loader, load, (*env)->NewStringUTF(env, argv[i]));
  int status = 0;
  jmethodID m = main ? (*env)->GetStaticMethodID(env, main, "main", "([Ljava/lang/String;)V") : NULL;
  if (m) {
    jobjectArray args = (*env)->NewObjectArray(env, argc - i - 1, (*env)->FindClass(env, "java/lang/String"), NULL);
    for (int k = i + 1; k < argc; k++) {
      (*env)->SetObjectArrayElement(env, args, k - i - 1, (*env)->NewStringUTF(env, argv[k]));
    }
    (*env)->CallStaticVoidMethod(env, main, m, args);
  }
  if ((*env)->ExceptionCheck(env)) { (*env)->ExceptionDescribe(env); (*env)->ExceptionClear(env); status = 1; }
  // As an exit does, this runs the hooks, which DestroyJavaVM of ART does not. Other threads are not waited for.
  jclass system = (*env)->FindClass(env, "java/lang/System");
  (*env)->CallStaticVoidMethod(env, system, (*env)->GetStaticMethodID(env, system, "exit", "(I)V"), status);
  return status;
}
