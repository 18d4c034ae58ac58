/* The native methods of dev.tracegen.runtime.detector.NativeLibrary. */
#include <jni.h>

#include "quit.h"
#include "touch.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_dev_tracegen_runtime_detector_NativeLibrary_##name

#define EVENTS 64

static int copy_name(JNIEnv *env, jbyteArray name, char *out, int size) {
	jsize n = (*env)->GetArrayLength(env, name);
	if (n >= size) {
		return 0;
	}
	(*env)->GetByteArrayRegion(env, name, 0, n, (jbyte *)out);
	out[n] = 0;
	return 1;
}

/* counts: libraries, hooked, covered, skipped, packed. */
NATIVE(void, touchInstall)(JNIEnv *env, jclass type, jbyteArray library, jlong late, jintArray counts) {
	(void)type;
	char name[64];
	if (!copy_name(env, library, name, sizeof name)) {
		return;
	}
	struct got_result r;
	touch_install(name, late, &r);
	jint out[] = {r.libraries, r.hooked, r.covered, r.skipped, r.packed};
	(*env)->SetIntArrayRegion(env, counts, 0, 5, out);
}

NATIVE(jint, touchRemove)(JNIEnv *env, jclass type, jbyteArray library) {
	(void)type;
	char name[64];
	return copy_name(env, library, name, sizeof name) ? touch_remove(name) : 0;
}

/* Each event: file descriptor, inode, begin. */
NATIVE(jint, touchPending)(JNIEnv *env, jclass type, jlongArray out) {
	(void)type;
	struct touch_pending p[EVENTS];
	int n = touch_read_pending(p, EVENTS);
	for (int i = 0; i < n; i++) {
		jlong values[] = {p[i].fd, (jlong)p[i].inode, p[i].begin};
		(*env)->SetLongArrayRegion(env, out, 3 * i, 3, values);
	}
	return n;
}

/* Each event: file descriptor, begin, end. */
NATIVE(jint, touchLate)(JNIEnv *env, jclass type, jlongArray out) {
	(void)type;
	struct touch_late l[EVENTS];
	int n = touch_read_late(l, EVENTS);
	for (int i = 0; i < n; i++) {
		jlong values[] = {l[i].fd, l[i].begin, l[i].end};
		(*env)->SetLongArrayRegion(env, out, 3 * i, 3, values);
	}
	return n;
}

NATIVE(jint, touchFlags)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return touch_flags();
}

NATIVE(jint, quitInstall)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return (jint)quit_install();
}

NATIVE(jint, quitRemove)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return (jint)quit_remove();
}

NATIVE(jint, quitLook)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return (jint)quit_look();
}

NATIVE(jlong, quitWait)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return quit_wait();
}

NATIVE(void, quitWake)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	quit_wake();
}
