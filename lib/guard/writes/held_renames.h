#pragma once
/*
 * Renames that the broker carries out (guard/walls/rename_wire.h), because the kernel would refuse
 * them: the caller waits for the answer. Without one the kernel decides.
 */
#include "base/base.h"

struct ab_guard;
struct ab_held;
struct ab_held_renames;

/* A name of the call. */
struct ab_call_name {
	int dir; /* of the caller, or AT_FDCWD */
	const char *text;
	const char *place; /* by its text, or NULL */
	bool created;	   /* if it does not exist */
};

/* The real path of the folder that contains the name, as the caller sees it; NULL: there is none. What
 * it is and a descriptor for it, unless these are NULL. */
const char *ab_call_find_folder(const struct ab_held *call, const struct ab_call_name *name,
				struct stat *ret_st, int *ret_fd);

/* NULL: there is no broker to ask. */
struct ab_held_renames *ab_held_renames_open(struct ab_guard *guard);
/* True: the caller still waits, and the broker was asked, so the call is answered later. */
bool ab_held_renames_ask(struct ab_held_renames *renames, const struct ab_held *call,
			 const void *ask, size_t len, const int *fds, size_t nfds);
