#pragma once
/*
 * Cleanup by a run's broker when it is idle.
 *
 * Looking at all records takes time in proportion to their number, so only one run an hour does it.
 * It leaves the names of those that are due in a file. A run that lasts removes some of them at each
 * of its looks at the host. A short run would wait for it, so most of them remove nothing, and one in
 * sixteen more than all of these add.
 */
#include "base/base.h"

struct ab_gc_rule;
struct ab_run;
struct stat;

enum {
	AB_HOURLY_STEP = 4,  /* at a look while the command runs */
	AB_HOURLY_TURN = 32, /* after a short run whose turn it is */
};

/* Pure: whether it is the turn of a short run with this id. Ids are random. */
bool ab_hourly_is_turn(const char *id);

/* Remove up to `most` folders. */
void ab_hourly_cleanup(const struct ab_run *run, const struct ab_gc_rule *rule, size_t most);

/* The file whose time is that of the last look, locked, so that one process works at a time; others
 * leave it to that one: -1. */
int ab_hourly_open(int dir, const char *name, struct stat *ret);
/* Was the last look an hour ago? */
bool ab_hourly_is_due(const struct stat *st);
