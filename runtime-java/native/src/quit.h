/*
 * Notices SIGQUIT, by which the system asks an app for the stacks of its threads, at an ANR for instance.
 *
 * ART blocks SIGQUIT in all threads, and its thread "Signal Catcher" takes the signal by sigwait. The kernel hands a
 * signal for a process to the main thread if that does not block it. So the main thread unblocks it, and a handler
 * notes the time and hands the signal on to the Signal Catcher.
 */
#ifndef TRACEGEN_QUIT_H
#define TRACEGEN_QUIT_H

#include "sys.h"

enum quit_state {
	QUIT_OK = 0,
	/* There is no thread "Signal Catcher" and no other handler: nothing was installed. */
	QUIT_NO_CATCHER = 1,
	/* A system call failed: nothing was installed. */
	QUIT_FAILED = 2,
	/* Another library has installed its handler over ours. Ours runs only if that one calls it. */
	QUIT_COVERED = 3,
	/* There was no handler any more, because another library had restored an action of its own: ours is back. */
	QUIT_RESTORED = 4,
};

/* Installs the handler, and unblocks SIGQUIT in the calling thread, which must be the main thread. */
enum quit_state quit_install(void);

/*
 * Blocks SIGQUIT in the calling thread again if quit_install has unblocked it, and restores the handler that was there
 * before. If there is no handler any more, nothing is restored. If another library has installed a handler over ours,
 * both stay as they are, ours goes on to hand signals on, and the result is QUIT_COVERED. To be called in the thread
 * that has called quit_install.
 */
enum quit_state quit_remove(void);

/*
 * Checks, while it is on, whether the handler is still there. If the default action or "ignore" is in its place, which
 * would end the process or lose the signal, it installs the handler again (QUIT_RESTORED), and hands signals on to the
 * Signal Catcher from then on. Without a Signal Catcher it does not (QUIT_NO_CATCHER). On any thread.
 */
enum quit_state quit_look(void);

/*
 * Waits for the next signal and returns when it came, in CLOCK_MONOTONIC; 0 after quit_wake. For one thread at a time.
 */
int64_t quit_wait(void);

/* Lets quit_wait return 0 once. */
void quit_wake(void);

/* Returns how many signals were handed on to the Signal Catcher or to an earlier handler, since the library was loaded. */
int64_t quit_handed_on(void);

#endif
