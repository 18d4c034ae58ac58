/* Tests of the SIGQUIT listener with a thread that does what ART's Signal Catcher does. */
#include "../src/quit.h"
#include "check.h"

#include <sys/prctl.h>
#include <sys/wait.h>

static atomic_int caught, noted, stopped;
static _Atomic int64_t last_noted;
static atomic_int end_catcher, catcher_ready;

static void *signal_catcher(void *arg) {
	prctl(PR_SET_NAME, "Signal Catcher");
	atomic_store(&catcher_ready, 1);
	sigset_t quit;
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	for (;;) {
		int signal;
		CHECK(sigwait(&quit, &signal) == 0 && signal == SIGQUIT);
		if (atomic_load(&end_catcher)) {
			return arg;
		}
		atomic_fetch_add(&caught, 1);
	}
}

static void *listener(void *arg) {
	int64_t last = 0;
	for (;;) {
		int64_t nanos = quit_wait();
		if (nanos == 0) {
			atomic_fetch_add(&stopped, 1);
			return arg;
		}
		CHECK(nanos >= last && nanos <= now_nanos());
		last = nanos;
		atomic_fetch_add(&noted, 1);
		atomic_store(&last_noted, nanos);
	}
}

/* Each signal is sent when the one before was caught: a second pending signal of the same number has no effect. */
static void *sender(void *arg) {
	int count = (int)(intptr_t)arg;
	for (int i = 0; i < count; i++) {
		int before = atomic_load(&caught);
#ifdef EMULATED
		/* While qemu still handles the signal before, the kernel gives the next one to the Signal Catcher itself. */
		usleep(100);
#endif
		CHECK(kill(getpid(), SIGQUIT) == 0);
		AWAIT(atomic_load(&caught) == before + 1);
	}
	return NULL;
}

/* The main thread sends to itself: the kernel delivers the signal before kill returns, if it is not blocked. */
static void send_signals(int count) {
	sender((void *)(intptr_t)count);
}

static void test_no_catcher(void) {
	struct sigaction a;
	EQUAL(quit_install(), QUIT_NO_CATCHER);
	CHECK(sigaction(SIGQUIT, NULL, &a) == 0 && a.sa_handler == SIG_DFL);
	EQUAL(quit_remove(), QUIT_OK);
}

static int is_blocked(void) {
	sigset_t set;
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGQUIT);
}

static void test_signals(void) {
	EQUAL(quit_install(), QUIT_OK);
	CHECK(!is_blocked());
	int before = atomic_load(&caught);
	send_signals(1000);
	EQUAL(atomic_load(&caught), before + 1000);
	AWAIT(atomic_load(&noted) == 1000);
	EQUAL(quit_handed_on(), before + 1000);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(is_blocked());
	send_signals(10);
	EQUAL(atomic_load(&noted), 1000);
	EQUAL(quit_handed_on(), before + 1000);
}

/*
 * Another thread sends. A signal that comes while the handler still runs goes to the Signal Catcher at once, and is
 * not noted. None is lost, and none comes twice.
 */
static void test_other_sender(void) {
	pthread_t t;
	int before = atomic_load(&caught), n = atomic_load(&noted);
	int64_t h = quit_handed_on();
	EQUAL(quit_install(), QUIT_OK);
	CHECK(pthread_create(&t, NULL, sender, (void *)1000) == 0);
	AWAIT(atomic_load(&caught) == before + 1000);
	pthread_join(t, NULL);
	EQUAL(quit_remove(), QUIT_OK);
	EQUAL(atomic_load(&caught), before + 1000);
	AWAIT(atomic_load(&noted) - n == quit_handed_on() - h);
	CHECK(atomic_load(&noted) > n);
}

static atomic_int end_signals;

static void *keep_sending(void *arg) {
	while (!atomic_load(&end_signals)) {
		sender((void *)1);
	}
	return arg;
}

static void test_cycles(void) {
	pthread_t t;
	int before = atomic_load(&caught);
	CHECK(pthread_create(&t, NULL, keep_sending, NULL) == 0);
	for (int i = 0; i < 1000; i++) {
		EQUAL(quit_install(), QUIT_OK);
		EQUAL(quit_install(), QUIT_OK);
		usleep(20);
		EQUAL(quit_remove(), QUIT_OK);
		EQUAL(quit_remove(), QUIT_OK);
	}
	AWAIT(atomic_load(&caught) > before + 10);
	atomic_store(&end_signals, 1);
	pthread_join(t, NULL);
	/* The listener may be behind. What the cycles wrote into the pipe comes before what is written now. */
	EQUAL(quit_install(), QUIT_OK);
	int64_t now = now_nanos();
	send_signals(1);
	AWAIT(atomic_load(&last_noted) >= now);
	EQUAL(quit_remove(), QUIT_OK);
}

static atomic_int earlier, later;
static struct sigaction below;

static void on_earlier(int signal) {
	(void)signal;
	atomic_fetch_add(&earlier, 1);
	atomic_fetch_add(&caught, 1);
}

static void on_later(int signal, siginfo_t *info, void *context) {
	atomic_fetch_add(&later, 1);
	below.sa_sigaction(signal, info, context);
}

/* An earlier handler is called, and it alone decides what happens to the signal. */
static void test_earlier_handler(void) {
	struct sigaction a, was;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_earlier;
	CHECK(sigaction(SIGQUIT, &a, &was) == 0);
	int n = atomic_load(&noted);
	EQUAL(quit_install(), QUIT_OK);
	send_signals(10);
	EQUAL(atomic_load(&earlier), 10);
	AWAIT(atomic_load(&noted) == n + 10);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(sigaction(SIGQUIT, &was, &a) == 0 && a.sa_handler == on_earlier);
}

/* A later handler stays, and ours goes on to hand signals on below it. */
static void test_later_handler(void) {
	EQUAL(quit_install(), QUIT_OK);
	struct sigaction a, got;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = on_later;
	a.sa_flags = SA_SIGINFO;
	CHECK(sigaction(SIGQUIT, &a, &below) == 0);
	int n = atomic_load(&noted);
	send_signals(10);
	EQUAL(atomic_load(&later), 10);
	AWAIT(atomic_load(&noted) == n + 10);
	EQUAL(quit_remove(), QUIT_COVERED);
	CHECK(sigaction(SIGQUIT, NULL, &got) == 0 && got.sa_sigaction == on_later);
	send_signals(10);
	EQUAL(atomic_load(&later), 20);
	EQUAL(atomic_load(&noted), n + 10);
	EQUAL(quit_install(), QUIT_COVERED);
	send_signals(10);
	AWAIT(atomic_load(&noted) == n + 20);
	/* It goes, and ours can be removed. */
	CHECK(sigaction(SIGQUIT, &below, NULL) == 0);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(sigaction(SIGQUIT, NULL, &got) == 0 && got.sa_handler == SIG_DFL);
	CHECK(is_blocked());
}

static void on_selfish(int signal) {
	(void)signal;
	atomic_fetch_add(&later, 1);
	atomic_fetch_add(&caught, 1);
}

/* A later handler that hands nothing on: ours gets nothing and says so, until the other one is gone. */
static void test_selfish_handler(void) {
	struct sigaction a, ours;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_selfish;
	EQUAL(quit_install(), QUIT_OK);
	EQUAL(quit_look(), QUIT_OK);
	CHECK(sigaction(SIGQUIT, &a, &ours) == 0);
	EQUAL(quit_look(), QUIT_COVERED);
	int n = atomic_load(&noted), l = atomic_load(&later);
	send_signals(10);
	EQUAL(atomic_load(&later), l + 10);
	EQUAL(quit_look(), QUIT_COVERED);
	CHECK(sigaction(SIGQUIT, &ours, NULL) == 0);
	EQUAL(quit_look(), QUIT_OK);
	int64_t now = now_nanos();
	send_signals(10);
	AWAIT(atomic_load(&noted) >= n + 10 && atomic_load(&last_noted) >= now);
	EQUAL(atomic_load(&noted), n + 10);
	EQUAL(atomic_load(&later), l + 10);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(is_blocked());
}

/* One handler below ours, and one above: a signal passes through all three, and the lowest decides. */
static void test_between_handlers(void) {
	struct sigaction a, was;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_earlier;
	CHECK(sigaction(SIGQUIT, &a, &was) == 0);
	EQUAL(quit_install(), QUIT_OK);
	memset(&a, 0, sizeof a);
	a.sa_sigaction = on_later;
	a.sa_flags = SA_SIGINFO;
	CHECK(sigaction(SIGQUIT, &a, &below) == 0);
	int n = atomic_load(&noted), e = atomic_load(&earlier), l = atomic_load(&later);
	send_signals(10);
	EQUAL(atomic_load(&earlier), e + 10);
	EQUAL(atomic_load(&later), l + 10);
	AWAIT(atomic_load(&noted) == n + 10);
	CHECK(sigaction(SIGQUIT, &below, NULL) == 0);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(sigaction(SIGQUIT, &was, &a) == 0 && a.sa_handler == on_earlier);
}

/*
 * An earlier handler goes and restores what it had found, the default action, which takes ours away too. Ours comes
 * back, does not call the other one any more, and hands signals on to the Signal Catcher.
 */
static void test_restored_action(void) {
	struct sigaction a, was;
	memset(&a, 0, sizeof a);
	a.sa_handler = on_earlier;
	CHECK(sigaction(SIGQUIT, &a, &was) == 0);
	EQUAL(quit_install(), QUIT_OK);
	CHECK(sigaction(SIGQUIT, &was, NULL) == 0);
	EQUAL(quit_look(), QUIT_RESTORED);
	EQUAL(quit_look(), QUIT_OK);
	int n = atomic_load(&noted), e = atomic_load(&earlier);
	send_signals(10);
	AWAIT(atomic_load(&noted) == n + 10);
	EQUAL(atomic_load(&earlier), e);
	/* Once more, and ours is removed before it has looked: the signal is blocked, and the default action stays. */
	CHECK(sigaction(SIGQUIT, &was, NULL) == 0);
	EQUAL(quit_remove(), QUIT_OK);
	CHECK(is_blocked());
	CHECK(sigaction(SIGQUIT, NULL, &a) == 0 && a.sa_handler == SIG_DFL);
	send_signals(10);
	EQUAL(atomic_load(&noted), n + 10);
}

/* The handler does not change errno, also if it cannot write because the pipe is full. */
static void test_errno(void) {
	EQUAL(quit_install(), QUIT_OK);
	for (int i = 0; i < 10000; i++) {
		quit_wake();
	}
	errno = 1234;
	CHECK(kill(getpid(), SIGQUIT) == 0);
	EQUAL(errno, 1234);
	AWAIT(atomic_load(&caught) == 1);
	EQUAL(quit_handed_on(), 1);
	/* Now there is room: the kernel frees a page of the pipe when all of it was read. The signal is behind the rest. */
	for (int i = 0; i < 2000; i++) {
		EQUAL(quit_wait(), 0);
	}
	int64_t now = now_nanos();
	int64_t nanos = 0;
	send_signals(1);
	while (nanos == 0) {
		nanos = quit_wait();
	}
	CHECK(nanos >= now);
	EQUAL(quit_remove(), QUIT_OK);
}

/* A forked child has no Signal Catcher: the signal ends it, as without us, and the parent does not see it. */
static void test_fork(void) {
#ifdef __SANITIZE_THREAD__
	return; /* ThreadSanitizer delays signals in a forked child for ever. */
#endif
	EQUAL(quit_install(), QUIT_OK);
	int n = atomic_load(&noted), c = atomic_load(&caught);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		raise(SIGQUIT);
		for (;;) {
			usleep(1000);
		}
	}
	int status;
	EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGQUIT);
	/* What the child would have written into the pipe comes before what is written now. */
	int64_t now = now_nanos();
	send_signals(1);
	AWAIT(atomic_load(&last_noted) >= now);
	EQUAL(atomic_load(&noted), n + 1);
	EQUAL(atomic_load(&caught), c + 1);
	EQUAL(quit_remove(), QUIT_OK);
}

int main(void) {
	sigset_t quit;
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	pthread_sigmask(SIG_BLOCK, &quit, NULL);
	test_no_catcher();
	printf("ok: no catcher\n");
	fflush(stdout);
	pthread_t threads[2];
	CHECK(pthread_create(&threads[0], NULL, signal_catcher, NULL) == 0);
	AWAIT(atomic_load(&catcher_ready));
	test_errno(); /* The pipe exists from here on. */
	printf("ok: errno\n");
	fflush(stdout);
	CHECK(pthread_create(&threads[1], NULL, listener, NULL) == 0);
	struct {
		const char *name;
		void (*run)(void);
	} tests[] = {{"1000 signals", test_signals}, {"1000 signals of another thread", test_other_sender},
			{"1000 cycles under signals", test_cycles},
			{"earlier handler", test_earlier_handler}, {"later handler", test_later_handler},
			{"later handler that hands nothing on", test_selfish_handler},
			{"handlers below and above", test_between_handlers}, {"restored action", test_restored_action},
			{"fork of a process", test_fork}};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		tests[i].run();
		printf("ok: %s\n", tests[i].name);
		fflush(stdout);
	}
	quit_wake();
	AWAIT(atomic_load(&stopped) == 1);
	pthread_join(threads[1], NULL);
	atomic_store(&end_catcher, 1);
	kill(getpid(), SIGQUIT);
	pthread_join(threads[0], NULL);
	return 0;
}
