/*
 * Measures how long the app takes to answer the events that the system's input dispatcher sends it.
 */
#ifndef TRACEGEN_TOUCH_H
#define TRACEGEN_TOUCH_H

#include "got.h"

/* An event that the app has received and not answered. */
struct touch_pending {
	int fd;
	/* The inode of the socket; 0 if unknown. With the file descriptor it identifies the connection. */
	uint64_t inode;
	int64_t begin;
};

/* An event that was answered late. */
struct touch_late {
	int fd;
	int64_t begin, end;
};

/* Bits of touch_flags. */
enum {
	/* A message of an unknown type came. All messages of such types count as events or as answers. */
	TOUCH_UNKNOWN_TYPE = 1,
	/* An answer had the number of no event, before any answer had one: events are answered in their order then. */
	TOUCH_UNKNOWN_NUMBER = 2,
};

/*
 * Replaces recv*, send* of the library with that file name. late is the time in nanoseconds from which an answer is
 * kept for touch_late.
 */
void touch_install(const char *library, int64_t late, struct got_result *result);

/* Ends measuring, and forgets all events. Returns the number of slots that stay, see got_remove. */
int touch_remove(const char *library);

/* Writes the events without an answer and returns their number, at most max. Connections that ended are left out. */
int touch_read_pending(struct touch_pending *out, int max);

/* Writes the late answers since the last call, the oldest first, and returns their number. For one thread at a time. */
int touch_read_late(struct touch_late *out, int max);

/* Returns the bits above, since the last installation. */
int touch_flags(void);

/* Returns how many events and late answers were not kept, because there was no room, since the library was loaded. */
int64_t touch_lost(void);

#endif
