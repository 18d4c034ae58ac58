/* What the proof on a JVM needs: connections whose app side calls the stand-in libinput.so. */
#include <jni.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libinput.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_dev_tracegen_runtime_detector_NativeProof_##name

static int ends[2];

NATIVE(jint, connect)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0 ? ends[1] : -1;
}

/* The app receives a MOTION as Android 12 sends it. */
NATIVE(void, receive)(JNIEnv *env, jclass type, jint number) {
	(void)env;
	(void)type;
	uint32_t m[6] = {1, (uint32_t)number};
	if (send(ends[0], m, sizeof m, 0) > 0) {
		input_receive(0, ends[1], m, sizeof m, 0);
	}
}

NATIVE(void, answer)(JNIEnv *env, jclass type, jint number) {
	(void)env;
	(void)type;
	uint32_t m[6] = {2, (uint32_t)number};
	input_send(0, ends[1], m, sizeof m, 0);
}

NATIVE(void, quit)(JNIEnv *env, jclass type) {
	(void)env;
	(void)type;
	kill(getpid(), SIGQUIT);
}
