#pragma once
/*
 * Containers whose filter could not remove them: it was killed, or the engine did not answer. Each run
 * with a filter has a file in the state folder, which names the engine's socket and is locked while
 * the filter lives. One that nobody has locked is what a dead filter left.
 */
#include "base/base.h"

/* The descriptor holds the lock, for the filter's process; -1: failed. */
int ab_left_containers_claim(int state, const char *run, const char *socket, struct ab_error *err);
/* The containers are gone. */
void ab_left_containers_forget(int state, const char *run);
/* Remove what dead filters left; *notes: sentences. Asks no engine if there is nothing. */
void ab_left_containers_sweep(int state, struct ab_strv *notes);
