#pragma once
/* A request that is answered once, by a child process: check and doctor. */
#include <jansson.h>

#include "base/base.h"

struct ab_serve_request;

struct ab_task {
	struct ab_task *next;
	json_t *id;
	pid_t pid;
	int reply; /* a file in memory */
};

int ab_task_start(const struct ab_serve_request *request, const sigset_t *before,
		  struct ab_task **ret, struct ab_error *err);
/* It has ended: the members of the reply after "id". */
void ab_task_reply(struct ab_task *task, struct ab_buf *ret);
void ab_task_free(struct ab_task *task);

/* "ok":false and the rest of an error, as members. */
void ab_serve_error(struct ab_buf *b, const struct ab_error *err);
