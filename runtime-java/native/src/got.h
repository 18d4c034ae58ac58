/*
 * Replaces functions that one shared library calls, by changing the library's global offset table.
 */
#ifndef TRACEGEN_GOT_H
#define TRACEGEN_GOT_H

#include "sys.h"

/* A function to replace. */
struct got_symbol {
	const char *name;
	void *replacement;
	/* What the replacement calls. It is set before the first slot is changed, and never cleared. */
	_Atomic(void *) original;
};

/* What an installation found. */
struct got_result {
	/* Libraries of that name. */
	int libraries;
	/* Slots that hold a replacement now. */
	int hooked;
	/* Slots in which another library has put its own function over a replacement of an earlier installation. */
	int covered;
	/* Slots left alone: two slots of one function held different functions, or memory could not be written. */
	int skipped;
	/* 1 if the library has packed relocations. They are not read: slots for function pointers may be missing. */
	int packed;
};

/*
 * Puts the replacements into all slots of the loaded libraries with that file name. The list of symbols must be the
 * same at every call.
 */
void got_install(const char *library, struct got_symbol *symbols, int count, struct got_result *result);

/*
 * Restores each slot that still holds the replacement. A slot in which another library has put its own function stays
 * as it is, because that function may call the replacement. Returns the number of such slots.
 */
int got_remove(const char *library, struct got_symbol *symbols, int count);

#endif
