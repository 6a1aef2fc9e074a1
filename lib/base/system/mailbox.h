#pragma once
/*
 * Letters from any thread to the thread that reads them. The reader watches the
 * descriptor and takes all letters when it is readable. Not for the hot path: each
 * letter takes a lock.
 */
#include <pthread.h>

#include "base/data/libc.h"

struct ab_error;

struct ab_letter {
	struct ab_letter *next;
	int kind;
	int value;
	int fd;	    /* -1: none; the reader owns it */
	void *data; /* the reader owns it */
};

struct ab_mailbox {
	int fd; /* readable when there are letters */
	pthread_mutex_t lock;
	struct ab_letter *first, **end;
};

int ab_mailbox_init(struct ab_mailbox *box, struct ab_error *err);
void ab_mailbox_post(struct ab_mailbox *box, int kind, int value, int fd, void *data);
/* The oldest letter, which the caller must free; NULL if there is none. */
struct ab_letter *ab_mailbox_take(struct ab_mailbox *box);
void ab_mailbox_fini(struct ab_mailbox *box);
