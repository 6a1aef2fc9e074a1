#pragma once
/*
 * Read the records of one run or of all runs, even while they are written, for
 * `log`. Nothing in the state folder is changed.
 */
#include "base/base.h"

struct ab_left_out; /* audit/read/collect.h */
struct ab_policy_input;
struct ab_records;

/* `run` is an id or a name, NULL: the newest; `all`: every run, oldest first. */
int ab_records_open(const struct ab_policy_input *input, const char *run, bool all,
		    struct ab_records **ret, struct ab_error *err);
/* Every record below a folder, in the order of their names. */
int ab_records_open_folder(const char *folder, struct ab_records **ret, struct ab_error *err);
void ab_records_close(struct ab_records *records);
/* In a folder: the path of the record whose line was returned last, as it is
 * named there, and how many there were so far. Else NULL. */
const char *ab_records_path(const struct ab_records *records, uint64_t *ret_number);
/* NULL if it is not a folder. */
const struct ab_left_out *ab_records_left_out(const struct ab_records *records);

/* 1: the next line, valid until the next call; 0: there is none (yet); -1: an
 * error. The text is hostile, and not followed by a NUL. */
int ab_records_next(struct ab_records *records, const char **ret_line, size_t *ret_len,
		    struct ab_error *err);
/* After a 0, and only for a single run: wait until there may be more. 0: the
 * run has ended, and all of it was read. */
int ab_records_wait(struct ab_records *records);
/* Is the run of the last line active? */
bool ab_records_active(const struct ab_records *records);
/* How many lines could not be read so far. */
uint64_t ab_records_lost(const struct ab_records *records);

/* Write a whole file (0600), or leave what was there as it was. */
int ab_records_save(const char *path, const char *data, size_t len, struct ab_error *err);
