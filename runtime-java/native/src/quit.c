#include "quit.h"

/* Read by the handler. They are written before the handler is installed. */
static _Atomic(struct sigaction *) previous;
static atomic_int catcher;
static atomic_int process;
static atomic_int pipe_read = -1, pipe_write = -1;

static atomic_int active;
static _Atomic int64_t handed_on;

/* Guarded by the lock. */
static atomic_int lock;
static int installed;
static int unblocked;
/* What previous points to. The other one is free: a handler may still read the one before. */
static struct sigaction kept[2];

static void keep(const struct sigaction *a) {
	struct sigaction *next = atomic_load(&previous) == &kept[0] ? &kept[1] : &kept[0];
	*next = *a;
	atomic_store(&previous, next);
}

static int has_handler(const struct sigaction *a) {
	return (a->sa_flags & SA_SIGINFO) != 0 || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

static void note(int64_t value) {
	/* If the pipe is full, the reader is far behind, and another signal says nothing new. */
	ssize_t ignored = write(atomic_load(&pipe_write), &value, sizeof value);
	(void)ignored;
}

/*
 * Calls only what is safe in a signal handler. In a child process that was forked the Signal Catcher does not exist,
 * and the pipe is the parent's.
 */
static void on_quit(int signal, siginfo_t *info, void *context) {
	int saved = errno;
	if (atomic_load(&active) && getpid() == atomic_load(&process)) {
		note(now_nanos());
	}
	const struct sigaction *before = atomic_load(&previous);
	if (has_handler(before)) {
		atomic_fetch_add(&handed_on, 1);
		errno = saved;
		if ((before->sa_flags & SA_SIGINFO) != 0) {
			before->sa_sigaction(signal, info, context);
		} else {
			before->sa_handler(signal);
		}
		return;
	}
	int pid = getpid();
	if (pid == atomic_load(&process) && syscall(SYS_tgkill, pid, atomic_load(&catcher), signal) == 0) {
		atomic_fetch_add(&handed_on, 1);
	} else {
		/* What would have happened without us, as soon as this handler returns and unblocks the signal. */
		sigaction(signal, before, NULL);
		syscall(SYS_tgkill, pid, syscall(SYS_gettid), signal);
	}
	errno = saved;
}

/* Returns the thread ID of the Signal Catcher, 0 if there is none. */
static int find_catcher(void) {
	static const char directory[] = "/proc/self/task/", name[] = "Signal Catcher";
	DIR *d = opendir(directory);
	if (d == NULL) {
		return 0;
	}
	int found = 0;
	struct dirent *e;
	while (found == 0 && (e = readdir(d)) != NULL) {
		char path[sizeof directory + 24], text[sizeof name + 1];
		size_t n = strlen(e->d_name);
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || n > 12) {
			continue;
		}
		memcpy(path, directory, sizeof directory);
		memcpy(path + sizeof directory - 1, e->d_name, n);
		memcpy(path + sizeof directory - 1 + n, "/comm", 6);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			continue;
		}
		ssize_t length = read(fd, text, sizeof text);
		close(fd);
		/* The name and a line end. */
		if (length == (ssize_t)sizeof name && memcmp(text, name, sizeof name - 1) == 0) {
			for (size_t i = 0; i < n; i++) {
				found = found * 10 + (e->d_name[i] - '0');
			}
		}
	}
	closedir(d);
	return found;
}

/* Makes the pipe once. It is never closed, because a handler may run at any time. */
static int make_pipe(void) {
	if (atomic_load(&pipe_write) >= 0 && atomic_load(&process) == getpid()) {
		return 1;
	}
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0) {
		return 0;
	}
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	atomic_store(&pipe_read, ends[0]);
	atomic_store(&pipe_write, ends[1]);
	return 1;
}

static int is_ours(const struct sigaction *a) {
	return (a->sa_flags & SA_SIGINFO) != 0 && a->sa_sigaction == on_quit;
}

static void unblock(void) {
	sigset_t quit, before;
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	if (pthread_sigmask(SIG_UNBLOCK, &quit, &before) == 0 && sigismember(&before, SIGQUIT)) {
		unblocked = 1;
	}
}

static int put(void) {
	struct sigaction ours;
	memset(&ours, 0, sizeof ours);
	ours.sa_sigaction = on_quit;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigemptyset(&ours.sa_mask);
	return sigaction(SIGQUIT, &ours, NULL) == 0;
}

/* Checks whether the handler that was installed is still there. */
static enum quit_state look(const struct sigaction *current) {
	if (is_ours(current)) {
		return QUIT_OK;
	}
	if (has_handler(current)) {
		return QUIT_COVERED;
	}
	int tid = find_catcher();
	if (tid == 0) {
		return QUIT_NO_CATCHER;
	}
	/* The handler that was there before may be gone with its library, and is not called any more. */
	atomic_store(&catcher, tid);
	keep(current);
	return put() ? QUIT_RESTORED : QUIT_FAILED;
}

static enum quit_state install(void) {
	struct sigaction current;
	if (sigaction(SIGQUIT, NULL, &current) != 0) {
		return QUIT_FAILED;
	}
	if (installed) {
		/* Left from an earlier installation, because another handler is over it, or was. */
		enum quit_state state = look(&current);
		if (state == QUIT_OK || state == QUIT_COVERED || state == QUIT_RESTORED) {
			unblock();
			atomic_store(&active, 1);
		}
		return state == QUIT_RESTORED ? QUIT_OK : state;
	}
	int tid = find_catcher();
	if (tid == 0 && !has_handler(&current)) {
		return QUIT_NO_CATCHER;
	}
	if (!make_pipe()) {
		return QUIT_FAILED;
	}
	atomic_store(&catcher, tid);
	atomic_store(&process, getpid());
	keep(&current);
	atomic_store(&active, 1);
	if (!put()) {
		atomic_store(&active, 0);
		return QUIT_FAILED;
	}
	installed = 1;
	unblock();
	return QUIT_OK;
}

enum quit_state quit_install(void) {
	lock_take(&lock);
	enum quit_state state = install();
	lock_release(&lock);
	return state;
}

enum quit_state quit_look(void) {
	enum quit_state state = QUIT_FAILED;
	struct sigaction current;
	lock_take(&lock);
	if (installed && sigaction(SIGQUIT, NULL, &current) == 0) {
		state = look(&current);
	}
	lock_release(&lock);
	return state;
}

/* Blocks SIGQUIT in this thread again. */
static void block(void) {
	if (unblocked) {
		sigset_t quit;
		sigemptyset(&quit);
		sigaddset(&quit, SIGQUIT);
		pthread_sigmask(SIG_BLOCK, &quit, NULL);
		unblocked = 0;
	}
}

enum quit_state quit_remove(void) {
	enum quit_state state = QUIT_OK;
	lock_take(&lock);
	atomic_store(&active, 0);
	struct sigaction current;
	if (installed && (sigaction(SIGQUIT, NULL, &current) != 0 || (!is_ours(&current) && has_handler(&current)))) {
		state = QUIT_COVERED;
	} else if (installed) {
		/* First block, then restore: a signal in between must not meet the default action, which ends the process. */
		block();
		if (is_ours(&current)) {
			sigaction(SIGQUIT, atomic_load(&previous), NULL);
		}
		installed = 0;
	}
	lock_release(&lock);
	return state;
}

int64_t quit_wait(void) {
	int64_t value = 0;
	int fd = atomic_load(&pipe_read);
	while (fd >= 0) {
		ssize_t n = read(fd, &value, sizeof value);
		if (n == (ssize_t)sizeof value) {
			return value;
		}
		if (n >= 0 || errno != EINTR) {
			return 0;
		}
	}
	return 0;
}

void quit_wake(void) {
	note(0);
}

int64_t quit_handed_on(void) {
	return atomic_load(&handed_on);
}
