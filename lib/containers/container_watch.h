#pragma once
/*
 * The supervisor's side of the container filter: starts it, gives it the box's socket, writes its
 * notes to the record, and waits for it at the end. An allowed request is a "container"; a denied one
 * is a "violation" with the id RUN-cN, and they become a few lines for the user at the end of the run.
 */
#include "base/base.h"

struct ab_container_filter_setup;
struct ab_container_watch;
struct ab_log;
struct ab_loop;

/* Before the supervisor locks itself in. `strict`: a note that cannot be recorded is an error. */
int ab_container_watch_start(const struct ab_container_filter_setup *setup, struct ab_log *log,
			     bool strict, struct ab_container_watch **ret, struct ab_error *err);
/* `fail` is called once, with such an error. */
int ab_container_watch_attach(struct ab_container_watch *watch, struct ab_loop *loop,
			      void (*fail)(void *arg, const struct ab_error *err), void *arg,
			      struct ab_error *err);
/* The socket that listens in the box. */
void ab_container_watch_listen(struct ab_container_watch *watch, int fd);

/* The box is gone: let the filter remove the run's containers. It works between the two calls. */
void ab_container_watch_end(struct ab_container_watch *watch);
/* Wait for that, and free the watch. *ret_denied: lines about denials; *ret_left: why containers may be
 * left, or NULL. -1: a note could not be recorded. */
int ab_container_watch_ended(struct ab_container_watch *watch, struct ab_strv *ret_denied,
			     char **ret_left, struct ab_error *err);
