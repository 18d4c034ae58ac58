/* Tests of the touch hook on the stand-in libinput.so. Prints the name of each test that passed. */
#include "../src/touch.h"
#include "check.h"
#include "libinput.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

void other_got_install(const char *library, struct got_symbol *symbols, int count, struct got_result *result);
int other_got_remove(const char *library, struct got_symbol *symbols, int count);

static const char library[] = "libinput.so";

/*
 * What the hook calls in between, instead of libc's: they work and change errno, as a function may that succeeds. So a
 * hook that does not restore errno fails test_errno.
 */
ssize_t readlink(const char *path, char *out, size_t n) {
	ssize_t r = syscall(SYS_readlinkat, AT_FDCWD, path, out, n);
	errno = EXDEV;
	return r;
}

static int disturbing;

int clock_gettime(clockid_t clock, struct timespec *out) {
	int r = (int)syscall(SYS_clock_gettime, clock, out);
	if (disturbing) {
		errno = EXDEV;
	}
	return r;
}
#define HOUR (3600 * (int64_t)1000000000)

/* The layouts of InputMessage: up to Android 10, in Android 11, from Android 12 on. */
enum layout { OLD, ELEVEN, NEW };
enum { KEY, MOTION, FINISHED, FOCUS, TIMELINE = 6 };

struct message {
	uint32_t words[6];
};

static int size_of(enum layout l, int type) {
	return type == FINISHED && l != NEW ? 16 : 24;
}

static struct message message(enum layout l, int type, uint32_t number) {
	struct message m = {{(uint32_t)type + (l == OLD), 0, 0xabcd, 0, 0, 0}};
	m.words[l == NEW ? 1 : 2] = number;
	return m;
}

/* A connection: the dispatcher's end and the app's. */
struct connection {
	int system, app;
	enum layout layout;
};

static struct connection connect_app(enum layout l) {
	int ends[2];
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	return (struct connection){ends[0], ends[1], l};
}

static void disconnect(struct connection c) {
	close(c.system);
	close(c.app);
}

/* The dispatcher sends, and the app receives. */
static void event(struct connection c, int how, int type, uint32_t number) {
	struct message m = message(c.layout, type, number), got;
	EQUAL(send(c.system, &m, (size_t)size_of(c.layout, type), 0), size_of(c.layout, type));
	EQUAL(input_receive(how, c.app, &got, sizeof got, 0), size_of(c.layout, type));
	CHECK(memcmp(&m, &got, 12) == 0);
}

/* The app sends, and the dispatcher receives. */
static void reply(struct connection c, int how, int type, uint32_t number) {
	struct message m = message(c.layout, type, number), got;
	EQUAL(input_send(how, c.app, &m, (size_t)size_of(c.layout, type), 0), size_of(c.layout, type));
	EQUAL(recv(c.system, &got, sizeof got, 0), size_of(c.layout, type));
	CHECK(memcmp(&m, &got, 12) == 0);
}

static int waiting(void) {
	struct touch_pending p[300];
	return touch_read_pending(p, 300);
}

static int late(void) {
	struct touch_late l[100];
	return touch_read_late(l, 100);
}

static int install(int64_t nanos) {
	struct got_result r;
	touch_install(library, nanos, &r);
	EQUAL(r.libraries, 1);
	EQUAL(r.skipped, 0);
	return r.hooked + r.covered;
}

static void test_unsupported(void) {
	struct got_result r;
	touch_install("libnothing.so", 0, &r);
	EQUAL(r.libraries, 0);
	EQUAL(r.hooked, 0);
	/* A library that calls none of the functions. */
	touch_install("libnoinput.so", 0, &r);
	EQUAL(r.libraries, 1);
	EQUAL(r.hooked, 0);
	EQUAL(touch_remove("libnoinput.so"), 0);
}

static void test_every_way(void) {
	CHECK(install(0) >= 7);
	for (int l = OLD; l <= NEW; l++) {
		struct connection c = connect_app((enum layout)l);
		uint32_t number = 100;
		for (int r = 0; r < RECEIVE_WAYS; r++) {
			for (int s = 0; s < SEND_WAYS; s++, number++) {
				event(c, r, number % 2 ? KEY : MOTION, number);
				struct touch_pending p[2];
				EQUAL(touch_read_pending(p, 2), 1);
				EQUAL(p[0].fd, c.app);
				CHECK(p[0].begin <= now_nanos() && p[0].inode != 0);
				reply(c, s, FINISHED, number);
				EQUAL(waiting(), 0);
				struct touch_late a[2];
				EQUAL(touch_read_late(a, 2), 1);
				EQUAL(a[0].begin, p[0].begin);
				CHECK(a[0].end >= a[0].begin && a[0].fd == c.app);
			}
		}
		EQUAL(touch_flags(), 0);
		disconnect(c);
	}
	EQUAL(touch_remove(library), 0);
}

static void test_lag(void) {
	struct connection c = connect_app(NEW);
	install(20000000);
	event(c, 0, MOTION, 1);
	usleep(30000);
	struct touch_pending p;
	EQUAL(touch_read_pending(&p, 1), 1);
	CHECK(now_nanos() - p.begin >= 30000000);
	reply(c, 0, FINISHED, 1);
	EQUAL(late(), 1);
	install(HOUR);
	event(c, 0, MOTION, 2);
	reply(c, 0, FINISHED, 2);
	EQUAL(late(), 0);
	EQUAL(waiting(), 0);
	touch_remove(library);
	install(0);
	touch_remove(library);
	event(c, 0, MOTION, 3);
	EQUAL(waiting(), 0);
	reply(c, 0, FINISHED, 3);
	EQUAL(late(), 0);
	disconnect(c);
}

static void test_what_is_no_event(void) {
	install(0);
	for (int l = ELEVEN; l <= NEW; l++) {
		struct connection c = connect_app((enum layout)l);
		event(c, 0, FOCUS, 8);
		EQUAL(waiting(), 0);
		event(c, 0, MOTION, 9);
		reply(c, 0, TIMELINE, 9);
		EQUAL(waiting(), 1);
		reply(c, 0, FINISHED, 9);
		EQUAL(waiting(), 0);
		EQUAL(late(), 1);
		/* Now the numbers are known to match: the answer to FOCUS is not taken for another one. */
		event(c, 0, FOCUS, 10);
		event(c, 0, MOTION, 11);
		event(c, 0, KEY, 12);
		reply(c, 0, FINISHED, 10);
		EQUAL(waiting(), 2);
		reply(c, 0, FINISHED, 12);
		reply(c, 0, FINISHED, 11);
		EQUAL(waiting(), 0);
		EQUAL(late(), 2);
		struct message m = message(c.layout, MOTION, 13), got;
		CHECK(send(c.system, &m, sizeof m, 0) == sizeof m);
		CHECK(input_receive(0, c.app, &got, sizeof got, MSG_PEEK) == sizeof m);
		EQUAL(waiting(), 0);
		EQUAL(touch_flags(), 0);
		disconnect(c);
	}
	touch_remove(library);
}

static void test_unknown_format(void) {
	struct connection c = connect_app(NEW);
	install(0);
	event(c, 0, 99, 5);
	EQUAL(touch_flags(), TOUCH_UNKNOWN_TYPE);
	EQUAL(waiting(), 1);
	reply(c, 0, 98, 6);
	EQUAL(waiting(), 0);
	EQUAL(touch_flags(), TOUCH_UNKNOWN_TYPE | TOUCH_UNKNOWN_NUMBER);
	EQUAL(late(), 1);
	char byte = 1;
	CHECK(send(c.system, &byte, 1, 0) == 1 && input_receive(0, c.app, &byte, 1, 0) == 1);
	EQUAL(waiting(), 1);
	CHECK(input_send(0, c.app, &byte, 1, 0) == 1);
	EQUAL(waiting(), 0);
	disconnect(c);
	touch_remove(library);
	late();
}

static void test_errno(void) {
	struct connection c = connect_app(NEW);
	install(0);
	struct message m = message(NEW, FINISHED, 1);
	disturbing = 1;
	for (int how = 0; how < RECEIVE_WAYS; how++) {
		errno = 0;
		EQUAL(input_receive(how, c.app, &m, sizeof m, MSG_DONTWAIT), -1);
		EQUAL(errno, EAGAIN);
		errno = 1234;
		event(c, how, MOTION, 77);
		reply(c, how, FINISHED, 77);
		EQUAL(errno, 1234);
	}
	close(c.system);
	for (int how = 0; how < SEND_WAYS; how++) {
		EQUAL(input_send(how, c.app, &m, sizeof m, MSG_NOSIGNAL), -1);
		EQUAL(errno, EPIPE);
	}
	close(c.app);
	disturbing = 0;
	touch_remove(library);
	late();
}

static void test_closed_connections(void) {
	install(0);
	struct message m;
	/* The system closes: seen by receiving, and by reading without that. */
	struct connection c = connect_app(NEW);
	event(c, 0, MOTION, 1);
	close(c.system);
	EQUAL(input_receive(0, c.app, &m, sizeof m, 0), 0);
	EQUAL(waiting(), 0);
	close(c.app);
	c = connect_app(NEW);
	event(c, 0, MOTION, 1);
	close(c.system);
	EQUAL(waiting(), 0);
	close(c.app);
	/* The app closes, and another connection has its file descriptor. */
	c = connect_app(NEW);
	event(c, 0, MOTION, 1);
	struct connection d = connect_app(NEW);
	CHECK(dup2(d.app, c.app) == c.app);
	EQUAL(waiting(), 0);
	disconnect(d);
	disconnect(c);
	touch_remove(library);
}

static void test_bounds(void) {
	install(0);
	struct connection c = connect_app(NEW);
	int64_t before = touch_lost();
	for (uint32_t i = 1; i <= 1000; i++) {
		event(c, 0, MOTION, i);
	}
	EQUAL(waiting(), 64);
	EQUAL(touch_lost() - before, 1000 - 64);
	for (uint32_t i = 1; i <= 1000; i++) {
		reply(c, 0, FINISHED, i);
	}
	EQUAL(waiting(), 0);
	EQUAL(late(), 64);
	before = touch_lost();
	for (uint32_t i = 1; i <= 100; i++) {
		event(c, 0, MOTION, i);
		reply(c, 0, FINISHED, i);
	}
	EQUAL(late(), 64);
	EQUAL(touch_lost() - before, 100 - 64);
	disconnect(c);
	touch_remove(library);
}

static atomic_int other_calls;

static ssize_t other_recv(int fd, void *b, size_t n, int f);
static struct got_symbol other[] = {{"recv", (void *)other_recv, NULL}};

static ssize_t other_recv(int fd, void *b, size_t n, int f) {
	atomic_fetch_add(&other_calls, 1);
	return ((ssize_t(*)(int, void *, size_t, int))atomic_load(&other[0].original))(fd, b, n, f);
}

/* What the app's calls reach: 1 ours, 2 the other's, 3 both. */
static int reached(struct connection c) {
	static uint32_t number = 1;
	int calls = atomic_load(&other_calls), seen;
	event(c, 0, MOTION, number);
	seen = waiting();
	reply(c, 1, FINISHED, number++);
	late();
	return seen + 2 * (atomic_load(&other_calls) - calls);
}

static void test_other_library(void) {
	struct got_result r;
	struct connection c = connect_app(NEW);
	/* The other one comes later and goes first. */
	int all = install(0);
	other_got_install(library, other, 1, &r);
	CHECK(r.hooked > 0);
	EQUAL(reached(c), 3);
	EQUAL(other_got_remove(library, other, 1), 0);
	EQUAL(reached(c), 1);
	EQUAL(touch_remove(library), 0);
	EQUAL(reached(c), 0);
	/* The other one comes later and stays: ours stays below it as a pass-through, and works when switched on again. */
	EQUAL(install(0), all);
	other_got_install(library, other, 1, &r);
	EQUAL(touch_remove(library), r.hooked);
	EQUAL(reached(c), 2);
	for (int i = 0; i < 3; i++) {
		EQUAL(install(0), all);
		EQUAL(reached(c), 3);
		EQUAL(touch_remove(library), r.hooked);
		EQUAL(reached(c), 2);
	}
	/* It goes, and leaves ours in the slot: the next removal restores the function. */
	EQUAL(other_got_remove(library, other, 1), 0);
	EQUAL(reached(c), 0);
	EQUAL(touch_remove(library), 0);
	EQUAL(reached(c), 0);
	/* The other one was there before. */
	other_got_install(library, other, 1, &r);
	install(0);
	EQUAL(reached(c), 3);
	EQUAL(touch_remove(library), 0);
	EQUAL(reached(c), 2);
	EQUAL(other_got_remove(library, other, 1), 0);
	EQUAL(reached(c), 0);
	disconnect(c);
}

static void test_fork(void) {
	install(0);
	struct connection c = connect_app(NEW);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		event(c, 0, MOTION, 1);
		EQUAL(waiting(), 1);
		reply(c, 0, FINISHED, 1);
		EQUAL(late(), 1);
		EQUAL(touch_remove(library), 0);
		_exit(0);
	}
	int status;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	disconnect(c);
	touch_remove(library);
}

#define THREADS 4
#define CONNECTIONS 3
static atomic_int stop_load;
static atomic_long messages;
static atomic_int seen; // of the two threads that install

static void *load(void *arg) {
	struct connection c[CONNECTIONS];
	for (int i = 0; i < CONNECTIONS; i++) {
		c[i] = connect_app((enum layout)((int)(intptr_t)arg % 3));
	}
	for (uint32_t n = 1; !atomic_load(&stop_load); n++) {
		for (int i = 0; i < CONNECTIONS; i++) {
			event(c[i], (int)n, MOTION, n);
		}
		for (int i = CONNECTIONS; i-- > 0;) {
			reply(c[i], (int)n, FINISHED, n);
		}
		atomic_fetch_add(&messages, 1);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		disconnect(c[i]);
	}
	return NULL;
}

static void *cycle_too(void *arg) {
	while (!atomic_load(&stop_load)) {
		struct got_result r;
		touch_install(library, 0, &r);
		usleep(100);
		atomic_fetch_add(&seen, waiting());
		touch_remove(library);
		usleep(100);
	}
	return arg;
}

static void test_cycles_under_load(void) {
	pthread_t threads[THREADS + 1];
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_create(&threads[i], NULL, load, (void *)(intptr_t)i) == 0);
	}
	CHECK(pthread_create(&threads[THREADS], NULL, cycle_too, NULL) == 0);
	AWAIT(atomic_load(&messages) > 100);
	for (int i = 0; i < 1000; i++) {
		struct got_result r;
		long before = atomic_load(&messages);
		touch_install(library, 0, &r);
		EQUAL(r.skipped + r.covered, 0);
		if (i % 50 == 0) {
			AWAIT(atomic_load(&messages) > before + 2);
		}
		atomic_fetch_add(&seen, waiting() + late());
		EQUAL(touch_remove(library), 0);
	}
	AWAIT(atomic_load(&seen) > 0); // the other thread goes on
	atomic_store(&stop_load, 1);
	for (int i = 0; i <= THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	struct connection c = connect_app(NEW);
	touch_remove(library);
	late();
	EQUAL(reached(c), 0);
	install(0);
	EQUAL(reached(c), 1);
	EQUAL(touch_remove(library), 0);
	disconnect(c);
}

int main(void) {
	struct {
		const char *name;
		void (*run)(void);
	} tests[] = {{"unsupported", test_unsupported}, {"every way", test_every_way}, {"lag", test_lag},
			{"what is no event", test_what_is_no_event}, {"unknown format", test_unknown_format},
			{"errno", test_errno}, {"closed connections", test_closed_connections}, {"bounds", test_bounds},
			{"other library", test_other_library}, {"fork", test_fork},
			{"1000 cycles under load", test_cycles_under_load}};
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		tests[i].run();
		printf("ok: %s\n", tests[i].name);
		fflush(stdout);
	}
	return 0;
}
