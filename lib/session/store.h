#ifndef AB_SESSION_STORE_H
#define AB_SESSION_STORE_H
/*
 * A file of ours in the state folder that holds a list: {"version":1,
 * "NAME":[...]}. It is read as it is, and replaced at once under a lock.
 */
#include <jansson.h>
#include <stddef.h>

struct ab_buf;
struct ab_error;

struct ab_store {
	const char *file, *list;
	size_t max;		/* bytes */
	const char *hint;	/* what holds while it is broken */
};

/* For a change: until it is closed. On a description of its own, so that it
 * ends with it. */
int ab_store_lock(const struct ab_store *store, int state,
		  struct ab_error *err);
/* The entries; NULL where there is no file. To be let go (json_decref). */
int ab_store_read(const struct ab_store *store, int state, json_t **ret,
		  struct ab_error *err);
/* Behind the lock. Entries are objects, written by the caller between these. */
void ab_store_begin(const struct ab_store *store, struct ab_buf *text);
void ab_store_entry(struct ab_buf *text);	/* in front of each */
int ab_store_replace(const struct ab_store *store, int state,
		     struct ab_buf *text, struct ab_error *err);
/* -1: it cannot be used. */
int ab_store_broken(const struct ab_store *store, const char *why,
		    struct ab_error *err);

#endif
