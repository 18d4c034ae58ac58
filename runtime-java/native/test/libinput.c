/*
 * Stands in for Android's libinput.so: it receives and sends messages, in every way that the hook covers. It is built
 * with immediate and with lazy binding, and without a procedure linkage table.
 */
#include "libinput.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

extern ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);

/* Relocated as data, not as calls. */
static ssize_t (*volatile const receive_pointer)(int, void *, size_t, int) = recv;
static ssize_t (*volatile const send_pointer)(int, const void *, size_t, int) = send;

ssize_t input_receive(int how, int fd, void *out, size_t size, int flags) {
	/* The pieces of a message are split inside its first words. */
	struct iovec parts[] = {{out, 6}, {(char *)out + 6, size - 6}};
	struct msghdr m;
	switch (how % RECEIVE_WAYS) {
	case 0: return recv(fd, out, size, flags);
	case 1: return recvfrom(fd, out, size, flags, NULL, NULL);
	case 2: return __recvfrom_chk(fd, out, size, size, flags, NULL, NULL);
	case 3: return receive_pointer(fd, out, size, flags);
	default:
		memset(&m, 0, sizeof m);
		m.msg_iov = parts;
		m.msg_iovlen = 2;
		return recvmsg(fd, &m, flags);
	}
}

ssize_t input_send(int how, int fd, const void *bytes, size_t size, int flags) {
	struct iovec parts[] = {{(void *)bytes, 6}, {(char *)bytes + 6, size - 6}};
	struct msghdr m;
	switch (how % SEND_WAYS) {
	case 0: return send(fd, bytes, size, flags);
	case 1: return sendto(fd, bytes, size, flags, NULL, 0);
	case 2: return send_pointer(fd, bytes, size, flags);
	default:
		memset(&m, 0, sizeof m);
		m.msg_iov = parts;
		m.msg_iovlen = 2;
		return sendmsg(fd, &m, flags);
	}
}
