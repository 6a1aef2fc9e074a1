#pragma once
/* A file in the state folder that contains a list: {"version":1, "NAME":[...]}. Readers need no
 * lock; a change replaces the whole file at once, under a lock. */
#include <jansson.h>

#include "base/base.h"

struct ab_json_store {
	const char *file, *list;
	size_t max;	  /* bytes */
	const char *hint; /* for the error when the file is invalid */
};

/* Take the lock; closing the returned descriptor releases it. */
int ab_json_store_lock(const struct ab_json_store *store, int state, struct ab_error *err);
/* The entries (json_decref() them); NULL: the file does not exist. */
int ab_json_store_read(const struct ab_json_store *store, int state, json_t **ret,
		       struct ab_error *err);
/* With the lock held: begin, then for each entry ab_json_store_entry() followed by the caller's
 * JSON object, then replace. */
void ab_json_store_begin(const struct ab_json_store *store, struct ab_buf *text);
void ab_json_store_entry(struct ab_buf *text); /* a separator */
int ab_json_store_replace(const struct ab_json_store *store, int state, struct ab_buf *text,
			  struct ab_error *err);
/* Fail (-1) with `why`, the file and the hint. */
int ab_json_store_broken(const struct ab_json_store *store, const char *why, struct ab_error *err);

/* Open a regular file that we own and others cannot write. -1 with errno (EPERM if it is another
 * user's). */
int ab_private_file(int dir, const char *name);
/* Open a folder that is private to us: -1 with errno. `make`: create it if it is missing. */
int ab_private_folder(int dir, const char *name, bool make);
