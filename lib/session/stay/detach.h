#pragma once
/*
 * The supervisor of a box that stays is a process of its own: another session, no terminal, no
 * descriptor of the caller on 0-2. Until the box is ready it reports to the process that started
 * it, which then becomes a client or exits.
 */
#include "base/base.h"

enum ab_level;

/* Forks: the pid in the caller, 0 in the supervisor, -1. Both get their end of the socket. */
pid_t ab_detach(int *ret_sock, struct ab_error *err);

/* In the supervisor. -1: the caller is gone. */
int ab_detach_say(int sock, enum ab_level level, const char *text);
int ab_detach_ready(int sock, const char *id);
void ab_detach_failed(int sock, const struct ab_error *err);

/* In the caller: pass on what the supervisor says, until the box is ready or has failed. */
int ab_detach_wait(int sock, void (*say)(void *arg, enum ab_level level, const char *text),
		   void *arg, char ret_id[8], struct ab_error *err);
