/*
 * What the sources use of libc. The directory bionic declares the same for Android, for builds without the NDK.
 */
#ifndef TRACEGEN_SYS_H
#define TRACEGEN_SYS_H

#ifdef TRACEGEN_OWN_PROTOTYPES
#include "bionic.h"
#else
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#endif

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Returns CLOCK_MONOTONIC in nanoseconds, the time base of System.nanoTime on Android and of HotSpot on Linux. */
static inline int64_t now_nanos(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * A lock for installing and removing. It holds the process ID of its owner: a child process that was forked while
 * another thread held the lock may take it, because that thread does not exist in the child.
 */
static inline void lock_take(atomic_int *lock) {
	int self = getpid();
	for (;;) {
		int owner = 0;
		if (atomic_compare_exchange_strong(lock, &owner, self)) {
			return;
		}
		if (owner != self && atomic_compare_exchange_strong(lock, &owner, self)) {
			return;
		}
		sched_yield();
	}
}

static inline void lock_release(atomic_int *lock) {
	atomic_store(lock, 0);
}

#endif
