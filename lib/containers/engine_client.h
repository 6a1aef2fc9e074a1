#pragma once
/*
 * Our own requests to the container engine, one after the other, each with a time limit: to list
 * and to remove the containers of a run.
 */
#include "base/base.h"

/* A non-blocking socket connected to the engine; -1 with errno, EAGAIN: try again. */
int ab_engine_connect(const char *path);

/* The ids of all containers with the label of this run. */
int ab_engine_list(const char *path, const char *run, struct ab_strv *ret, struct ab_error *err);
/* Remove them, with the volumes that go with them. *ret_removed is set on failure, too. */
int ab_engine_sweep(const char *path, const char *run, size_t *ret_removed, struct ab_error *err);
