/*
 * The messages are InputMessage of Android's frameworks/native/include/input/InputTransport.h. The app receives events
 * and sends FINISHED for each. The number of a message's type depends on the version of Android:
 *
 *     up to Android 10   KEY 1, MOTION 2, FINISHED 3
 *     from Android 11    KEY 0, MOTION 1, FINISHED 2, FOCUS 3, CAPTURE 4, DRAG 5, TIMELINE 6, TOUCH_MODE 7
 *
 * An app never receives FINISHED and never sends FOCUS, so that the direction tells both numberings apart: what is
 * received with 0, 1 or 2 is an event, and what is sent with 2 or 3 is an answer. The sequence number is the second
 * word of the message from Android 12 on, where FINISHED has 24 bytes, and the third word before, where it has 16.
 */
#include "touch.h"

#define LAST_TYPE 7
#define TYPE_TIMELINE 6

/* Events of one connection are in the WINDOW entries from a place that the file descriptor determines. */
#define PENDING 256
#define WINDOW 64
#define LATE 64

/* begin of an entry: 0 free, 1 being written, else the time. */
static struct {
	_Atomic int64_t begin;
	_Atomic int fd;
	_Atomic uint64_t inode;
	/* The second word of the message, and above it the third. */
	_Atomic uint64_t words;
} pending[PENDING];

/* A ring. stamp is the number of the entry and 1, or 0 while it is written. */
static struct {
	_Atomic uint64_t stamp;
	_Atomic int fd;
	_Atomic int64_t begin, end;
} late_answers[LATE];
static _Atomic uint64_t late_written;
static uint64_t late_read;

static atomic_int active;
static atomic_int flags;
static atomic_int numbers_match;
static _Atomic int64_t installed_at;
static _Atomic int64_t late_nanos;
static _Atomic int64_t lost;
static atomic_int lock;

static uint32_t word(const unsigned char *bytes, int index) {
	uint32_t w;
	memcpy(&w, bytes + 4 * index, sizeof w);
	return w;
}

/* Returns the inode of a socket, 0 if there is none. The name of the file is socket:[inode]. */
static uint64_t inode_of(int fd) {
	static const char directory[] = "/proc/self/fd/";
	char path[sizeof directory + 12], text[64], digits[12];
	memcpy(path, directory, sizeof directory);
	int n = 0;
	unsigned rest = (unsigned)fd;
	do {
		digits[n++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest != 0);
	char *p = path + sizeof directory - 1;
	while (n > 0) {
		*p++ = digits[--n];
	}
	*p = 0;
	ssize_t length = readlink(path, text, sizeof text);
	uint64_t inode = 0;
	for (ssize_t i = 0; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			inode = inode * 10 + (uint64_t)(text[i] - '0');
		}
	}
	return inode;
}

static int entry_at(int fd, int i) {
	return (int)(((unsigned)fd * 37u + (unsigned)i) % PENDING);
}

static void add_pending(int fd, uint64_t words, int64_t begin) {
	uint64_t inode = inode_of(fd);
	for (int i = 0; i < WINDOW; i++) {
		int at = entry_at(fd, i);
		int64_t empty = 0;
		if (atomic_load_explicit(&pending[at].begin, memory_order_relaxed) == 0
				&& atomic_compare_exchange_strong(&pending[at].begin, &empty, 1)) {
			atomic_store(&pending[at].fd, fd);
			atomic_store(&pending[at].inode, inode);
			atomic_store(&pending[at].words, words);
			atomic_store(&pending[at].begin, begin);
			return;
		}
	}
	atomic_fetch_add(&lost, 1);
}

static void add_late(int fd, int64_t begin, int64_t end) {
	uint64_t number = atomic_fetch_add(&late_written, 1);
	int at = (int)(number % LATE);
	atomic_store(&late_answers[at].stamp, 0);
	atomic_store(&late_answers[at].fd, fd);
	atomic_store(&late_answers[at].begin, begin);
	atomic_store(&late_answers[at].end, end);
	atomic_store(&late_answers[at].stamp, number + 1);
}

/* Frees an entry and keeps the event if it was answered late. Another thread may be faster. */
static void answer(int at, int64_t begin, int fd, int64_t now) {
	if (atomic_compare_exchange_strong(&pending[at].begin, &begin, 0) && now - begin >= atomic_load(&late_nanos)) {
		add_late(fd, begin, now);
	}
}

static void forget(int fd) {
	for (int i = 0; i < WINDOW; i++) {
		int at = entry_at(fd, i);
		int64_t begin = atomic_load(&pending[at].begin);
		if (begin > 1 && atomic_load(&pending[at].fd) == fd) {
			atomic_compare_exchange_strong(&pending[at].begin, &begin, 0);
		}
	}
}

static void received(int fd, const unsigned char *bytes, ssize_t n, int64_t now) {
	uint32_t type = n >= 4 ? word(bytes, 0) : UINT32_MAX;
	if (type > LAST_TYPE) {
		atomic_fetch_or(&flags, TOUCH_UNKNOWN_TYPE);
	} else if (type > 2) {
		return;
	}
	add_pending(fd, n >= 12 ? (uint64_t)word(bytes, 2) << 32 | word(bytes, 1) : 0, now);
}

static void sent(int fd, const unsigned char *bytes, ssize_t n, int64_t now) {
	uint32_t type = n >= 4 ? word(bytes, 0) : UINT32_MAX;
	if (type == TYPE_TIMELINE) {
		return;
	}
	if (type != 2 && type != 3) {
		atomic_fetch_or(&flags, TOUCH_UNKNOWN_TYPE);
	}
	int third = n < 24; /* The size of FINISHED, see above. */
	uint32_t number = n >= 12 ? word(bytes, third ? 2 : 1) : 0;
	int oldest = -1;
	int64_t oldest_begin = INT64_MAX;
	for (int i = 0; i < WINDOW; i++) {
		int at = entry_at(fd, i);
		int64_t begin = atomic_load(&pending[at].begin);
		if (begin <= 1 || atomic_load(&pending[at].fd) != fd) {
			continue;
		}
		uint64_t words = atomic_load(&pending[at].words);
		if (number != 0 && (uint32_t)(third ? words >> 32 : words) == number) {
			atomic_store(&numbers_match, 1);
			answer(at, begin, fd, now);
			return;
		}
		if (begin < oldest_begin) {
			oldest = at;
			oldest_begin = begin;
		}
	}
	/* FOCUS and the like are answered too, and are no events. So this says nothing once numbers did match. */
	if (oldest >= 0 && !atomic_load(&numbers_match)) {
		atomic_fetch_or(&flags, TOUCH_UNKNOWN_NUMBER);
		answer(oldest, oldest_begin, fd, now);
	}
}

static void after_receive(int fd, const void *bytes, ssize_t n, int peek) {
	if (!atomic_load_explicit(&active, memory_order_acquire)) {
		return;
	}
	int saved = errno;
	if (n > 0 && !(peek & MSG_PEEK)) {
		received(fd, bytes, n, now_nanos());
	} else if (n == 0 || (n < 0 && saved != EAGAIN && saved != EINTR)) {
		forget(fd); /* The system has closed the connection: no answer will follow. */
	}
	errno = saved;
}

/*
 * Is called after the message was sent, with the time before: the answer is not late because sending blocks. Makes no
 * system call, so that errno stays.
 */
static void after_send(int fd, const void *bytes, ssize_t n, int64_t now) {
	if (n > 0 && now != 0) {
		sent(fd, bytes, n, now);
	}
}

static int64_t send_time(void) {
	if (!atomic_load_explicit(&active, memory_order_acquire)) {
		return 0;
	}
	int saved = errno;
	int64_t now = now_nanos();
	errno = saved;
	return now;
}

/* Copies the first bytes of a message in several pieces. */
static ssize_t gather(unsigned char *out, const struct msghdr *m, ssize_t n) {
	ssize_t have = 0, want = n < 12 ? n : 12;
	for (size_t i = 0; i < (size_t)m->msg_iovlen && have < want; i++) {
		size_t part = m->msg_iov[i].iov_len;
		if (part > (size_t)(want - have)) {
			part = (size_t)(want - have);
		}
		memcpy(out + have, m->msg_iov[i].iov_base, part);
		have += (ssize_t)part;
	}
	return n;
}

static ssize_t on_recv(int fd, void *b, size_t n, int f);
static ssize_t on_recvfrom(int fd, void *b, size_t n, int f, void *a, void *l);
static ssize_t on_recvfrom_chk(int fd, void *b, size_t n, size_t size, int f, void *a, void *l);
static ssize_t on_recvmsg(int fd, struct msghdr *m, int f);
static ssize_t on_send(int fd, const void *b, size_t n, int f);
static ssize_t on_sendto(int fd, const void *b, size_t n, int f, const void *a, unsigned l);
static ssize_t on_sendto_chk(int fd, const void *b, size_t n, size_t size, int f, const void *a, unsigned l);
static ssize_t on_sendmsg(int fd, const struct msghdr *m, int f);

enum { RECV, RECVFROM, RECVFROM_CHK, RECVMSG, SEND, SENDTO, SENDTO_CHK, SENDMSG, SYMBOLS };

static struct got_symbol symbols[SYMBOLS] = {
	[RECV] = {"recv", (void *)on_recv, NULL},
	[RECVFROM] = {"recvfrom", (void *)on_recvfrom, NULL},
	[RECVFROM_CHK] = {"__recvfrom_chk", (void *)on_recvfrom_chk, NULL},
	[RECVMSG] = {"recvmsg", (void *)on_recvmsg, NULL},
	[SEND] = {"send", (void *)on_send, NULL},
	[SENDTO] = {"sendto", (void *)on_sendto, NULL},
	[SENDTO_CHK] = {"__sendto_chk", (void *)on_sendto_chk, NULL},
	[SENDMSG] = {"sendmsg", (void *)on_sendmsg, NULL},
};

#define ORIGINAL(number, type) ((type)atomic_load_explicit(&symbols[number].original, memory_order_acquire))

static ssize_t on_recv(int fd, void *b, size_t n, int f) {
	ssize_t r = ORIGINAL(RECV, ssize_t(*)(int, void *, size_t, int))(fd, b, n, f);
	after_receive(fd, b, r, f);
	return r;
}

static ssize_t on_recvfrom(int fd, void *b, size_t n, int f, void *a, void *l) {
	ssize_t r = ORIGINAL(RECVFROM, ssize_t(*)(int, void *, size_t, int, void *, void *))(fd, b, n, f, a, l);
	after_receive(fd, b, r, f);
	return r;
}

static ssize_t on_recvfrom_chk(int fd, void *b, size_t n, size_t size, int f, void *a, void *l) {
	ssize_t r = ORIGINAL(RECVFROM_CHK, ssize_t(*)(int, void *, size_t, size_t, int, void *, void *))(
			fd, b, n, size, f, a, l);
	after_receive(fd, b, r, f);
	return r;
}

static ssize_t on_recvmsg(int fd, struct msghdr *m, int f) {
	ssize_t r = ORIGINAL(RECVMSG, ssize_t(*)(int, struct msghdr *, int))(fd, m, f);
	unsigned char head[12];
	after_receive(fd, head, r > 0 ? gather(head, m, r) : r, f);
	return r;
}

static ssize_t on_send(int fd, const void *b, size_t n, int f) {
	int64_t now = send_time();
	ssize_t r = ORIGINAL(SEND, ssize_t(*)(int, const void *, size_t, int))(fd, b, n, f);
	after_send(fd, b, r, now);
	return r;
}

static ssize_t on_sendto(int fd, const void *b, size_t n, int f, const void *a, unsigned l) {
	int64_t now = send_time();
	ssize_t r = ORIGINAL(SENDTO, ssize_t(*)(int, const void *, size_t, int, const void *, unsigned))(
			fd, b, n, f, a, l);
	after_send(fd, b, r, now);
	return r;
}

static ssize_t on_sendto_chk(int fd, const void *b, size_t n, size_t size, int f, const void *a, unsigned l) {
	int64_t now = send_time();
	ssize_t r = ORIGINAL(SENDTO_CHK, ssize_t(*)(int, const void *, size_t, size_t, int, const void *, unsigned))(
			fd, b, n, size, f, a, l);
	after_send(fd, b, r, now);
	return r;
}

static ssize_t on_sendmsg(int fd, const struct msghdr *m, int f) {
	int64_t now = send_time();
	ssize_t r = ORIGINAL(SENDMSG, ssize_t(*)(int, const struct msghdr *, int))(fd, m, f);
	unsigned char head[12];
	after_send(fd, head, r > 0 ? gather(head, m, r) : r, now);
	return r;
}

void touch_install(const char *library, int64_t late, struct got_result *result) {
	lock_take(&lock);
	atomic_store(&late_nanos, late);
	if (!atomic_load(&active)) {
		atomic_store(&flags, 0);
		atomic_store(&numbers_match, 0);
		atomic_store(&installed_at, now_nanos());
	}
	got_install(library, symbols, SYMBOLS, result);
	atomic_store(&active, result->hooked + result->covered > 0);
	lock_release(&lock);
}

int touch_remove(const char *library) {
	lock_take(&lock);
	atomic_store(&active, 0);
	int covered = got_remove(library, symbols, SYMBOLS);
	for (int i = 0; i < PENDING; i++) {
		int64_t begin = atomic_load(&pending[i].begin);
		if (begin > 1) {
			atomic_compare_exchange_strong(&pending[i].begin, &begin, 0);
		}
	}
	lock_release(&lock);
	return covered;
}

/* Reports whether the connection on which an event came is still open at both ends. */
static int is_open(int fd, uint64_t inode) {
	struct pollfd p = {.fd = fd, .events = 0};
	if (poll(&p, 1, 0) < 0 || (p.revents & (POLLNVAL | POLLHUP | POLLERR)) != 0) {
		return 0;
	}
	return inode == inode_of(fd);
}

int touch_read_pending(struct touch_pending *out, int max) {
	int n = 0;
	int64_t since = atomic_load(&installed_at);
	for (int i = 0; i < PENDING && n < max; i++) {
		int64_t begin = atomic_load(&pending[i].begin);
		if (begin <= 1) {
			continue;
		}
		struct touch_pending p = {atomic_load(&pending[i].fd), atomic_load(&pending[i].inode), begin};
		/* An event that came while the hook was removed may be left from an earlier installation. */
		if (begin < since || !is_open(p.fd, p.inode)) {
			atomic_compare_exchange_strong(&pending[i].begin, &begin, 0);
		} else if (atomic_load(&pending[i].begin) == begin) {
			out[n++] = p;
		}
	}
	return n;
}

int touch_read_late(struct touch_late *out, int max) {
	int n = 0;
	uint64_t written = atomic_load(&late_written);
	if (written - late_read > LATE) {
		atomic_fetch_add(&lost, (int64_t)(written - late_read - LATE));
		late_read = written - LATE;
	}
	for (; late_read < written && n < max; late_read++) {
		int at = (int)(late_read % LATE);
		uint64_t stamp = atomic_load(&late_answers[at].stamp);
		if (stamp < late_read + 1) {
			break; /* Being written. */
		}
		struct touch_late l = {atomic_load(&late_answers[at].fd), atomic_load(&late_answers[at].begin),
				atomic_load(&late_answers[at].end)};
		/* A writer clears the stamp before it changes the rest. */
		if (atomic_load(&late_answers[at].stamp) == late_read + 1) {
			out[n++] = l;
		} else {
			atomic_fetch_add(&lost, 1);
		}
	}
	return n;
}

int touch_flags(void) {
	return atomic_load(&flags);
}

int64_t touch_lost(void) {
	return atomic_load(&lost);
}
