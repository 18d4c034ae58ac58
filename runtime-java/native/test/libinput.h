#ifndef TRACEGEN_TEST_LIBINPUT_H
#define TRACEGEN_TEST_LIBINPUT_H

#include <sys/types.h>

#define RECEIVE_WAYS 5
#define SEND_WAYS 4

/* The way is taken modulo the number of ways. */
ssize_t input_receive(int how, int fd, void *out, size_t size, int flags);
ssize_t input_send(int how, int fd, const void *bytes, size_t size, int flags);

#endif
