#ifndef TRACEGEN_TEST_CHECK_H
#define TRACEGEN_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

#define EQUAL(got, want) \
	do { \
		long long g_ = (long long)(got), w_ = (long long)(want); \
		if (g_ != w_) { \
			fprintf(stderr, "%s:%d: %s = %lld, want %lld\n", __FILE__, __LINE__, #got, g_, w_); \
			exit(1); \
		} \
	} while (0)

/* Waits for a condition. The bound is far beyond what a busy machine needs; it ends a test that hangs. */
#define AWAIT(condition) \
	do { \
		time_t until_ = time(NULL) + 300; \
		while (!(condition)) { \
			if (time(NULL) > until_) { \
				fprintf(stderr, "%s:%d: did not become true: %s\n", __FILE__, __LINE__, #condition); \
				exit(1); \
			} \
			usleep(50); \
		} \
	} while (0)

#endif
